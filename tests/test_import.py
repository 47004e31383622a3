"""Importing costs little and needs no extra."""

import subprocess
import sys

EXTRAS = (
    "embreex lightning_fabric matplotlib PIL rich safetensors sklearn torchmetrics trimesh typer onnx onnxruntime scipy"
)

HIDE_EXTRAS = f"""
import sys
for name in {EXTRAS.split()!r}:
    sys.modules[name] = None
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


def test_import_works_without_the_extras() -> None:
    done = run(HIDE_EXTRAS + "import torch, ringconv\nringconv.nn.RingConv2d(1, 1, 3)(torch.zeros(1, 4, 4))")
    assert done.returncode == 0, done.stderr


def test_the_command_without_the_extras_says_what_to_install() -> None:
    done = run(HIDE_EXTRAS + "from ringconv.cli import main\nmain(['doctor'])")
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr == "ringconv: the command line needs typer, which is not installed: pip install 'ringconv[app]'\n"
    )


def test_import_takes_less_than_a_third_of_a_second_beyond_torch() -> None:
    """The processor's time, not the clock's: a busy machine makes no import slow. One of three, for a cold disk."""
    code = "import time, torch; a = time.process_time(); import ringconv; print(time.process_time() - a)"
    assert any(float(run(code).stdout) < 0.3 for _ in range(3))
