"""Who is looking: every mode and transform is noticed."""

import pytest
import torch
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils.flop_counter import FlopCounterMode

from ringconv.algorithms.eager import eager

from .. import helpers


def seen(use):
    """What ``eager`` answers inside ``use``, which is given a function of one tensor."""
    answers = []

    def f(x):
        answers.append(eager(x))
        return x * 2

    use(f)
    return answers


class Stranger(torch.Tensor):
    pass


def counted(f):
    with FlopCounterMode(display=False):
        f(torch.ones(2))


def faked(f):
    with FakeTensorMode():
        f(torch.ones(2))


def dual(f):
    with torch.autograd.forward_ad.dual_level():
        f(torch.ones(2))


WATCHED = {
    "vmap": lambda f: torch.func.vmap(f)(torch.ones(2, 2)),
    "grad": lambda f: torch.func.grad(lambda x: f(x).sum())(torch.ones(2)),
    "jvp": lambda f: torch.func.jvp(f, (torch.ones(2),), (torch.ones(2),)),
    "trace": lambda f: torch.jit.trace(f, torch.ones(2), check_trace=False),
    "make_fx": lambda f: make_fx(f)(torch.ones(2)),
    "fake": faked,
    "counter": counted,
    "forward mode": dual,
    "subclass": lambda f: f(torch.ones(2).as_subclass(Stranger)),
    "fake outside of its mode": lambda f: f(FakeTensorMode().from_tensor(torch.ones(2))),
}


@helpers.scripts
@pytest.mark.parametrize("use", WATCHED.values(), ids=WATCHED)
def test_watched(use):
    answers = seen(use)
    assert answers
    assert not any(answers)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_alone(mode):
    with mode():
        assert eager(torch.ones(2), None, torch.nn.Parameter(torch.ones(2)))


def test_compiled():
    helpers.check_compiled(lambda x: x * 2 if eager(x) else x * 3, torch.ones(2), tolerance=float("inf"))
    compiled = torch.compile(lambda x: x * 2 if eager(x) else x * 3, backend="eager", fullgraph=True)
    assert compiled(torch.ones(2)).sum() == 6
