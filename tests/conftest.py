"""What every test starts from: the same draws on every run, and on every machine."""

import pytest
import torch
from hypothesis import HealthCheck, settings

settings.register_profile(
    "ringconv", derandomize=True, deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("ringconv")


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)
