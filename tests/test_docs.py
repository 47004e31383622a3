"""What README and docs tell people to type works as printed."""

from __future__ import annotations

import io
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from importlib.metadata import metadata
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#]+)")


def blocks(page: Path, *languages: str) -> list[str]:
    return [code for language, code in BLOCK.findall(page.read_text()) if language in languages]


def commands(page: Path) -> list[str]:
    lines = [line for code in blocks(page, "bash", "console", "sh") for line in code.splitlines()]
    inline = re.findall(r"`((?:python|ringconv|make|pip) [^`]+)`", BLOCK.sub("", page.read_text()))
    return [command for line in [*lines, *inline] if (command := line.split(" #")[0].strip())]


def ringconv_commands(page: Path) -> list[str]:
    return [command for command in commands(page) if command.startswith("ringconv ")]


OURS = {command for page in PAGES for command in ringconv_commands(page)}


def ids(value: object) -> str:
    return str(value.relative_to(ROOT)) if isinstance(value, Path) else str(value)


def pages_with(find: object) -> list[Path]:
    return [page for page in PAGES if find(page)]  # type: ignore[operator]


@pytest.mark.parametrize("page", pages_with(lambda page: blocks(page, "python")), ids=ids)
def test_python_blocks_run_one_after_the_other(page: Path) -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    with redirect_stdout(io.StringIO()):
        for code in blocks(page, "python"):
            exec(compile(code, str(page), "exec"), names)


@pytest.mark.parametrize("page", pages_with(lambda page: BLOCK.search(page.read_text())), ids=ids)
def test_every_block_says_its_language(page: Path) -> None:
    known = {"python", "bash", "text", "bibtex", "{math}", "{eval-rst}", "{toctree}"}
    languages = re.findall(r"^```(\S+)$", page.read_text(), re.MULTILINE)
    assert len(languages) * 2 == len(re.findall(r"^```", page.read_text(), re.MULTILINE))
    assert set(languages) <= known


@pytest.mark.parametrize(
    "command", sorted({c for page in PAGES for c in commands(page) if c[:9] != "ringconv "}), ids=ids
)
def test_commands_work_as_printed(command: str, tmp_path: Path) -> None:
    program, *arguments = shlex.split(command)
    if program == "make":
        subprocess.run(["make", "-n", *arguments], cwd=ROOT, check=True, capture_output=True)
    elif program == "pip":
        check_install(arguments)
    elif program == "pre-commit":
        assert (ROOT / ".pre-commit-config.yaml").exists()
    elif program == "python" and arguments[0].startswith(("experiments/", "benchmarks/")):
        # The whole run of an experiment takes up to hours: here it shows that it knows its options, then runs a little.
        script, *options = arguments
        understood = run_python(script, "--help").stdout
        assert all(option in understood for option in options if option.startswith("--"))
        if "--smoke" in understood:
            run_python(script, *options, "--smoke")
    elif program == "python":
        run_python(*arguments)
    else:
        pytest.fail(f"no test knows how to check {command!r}")


@pytest.mark.parametrize("page", pages_with(lambda page: ringconv_commands(page)), ids=ids)
def test_the_commands_of_a_page_work_one_after_the_other(page: Path, tmp_path: Path) -> None:
    """In an empty folder: what one leaves there the next may use."""
    for command in ringconv_commands(page):
        arguments = shlex.split(command)[1:]
        lay_out_images(arguments, tmp_path)
        run_python("-c", "from ringconv.cli import main; main()", *arguments, cwd=tmp_path)


def lay_out_images(arguments: list[str], folder: Path) -> None:
    """A panorama for every image that a command reads: those it is given by name, not behind an option."""
    for before, word in zip(["", *arguments], arguments, strict=False):
        if Path(word).suffix in (".jpg", ".png") and not before.startswith("-"):
            pixels = np.random.default_rng(0).integers(0, 256, (28, 128, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(folder / word)


def run_python(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done


def check_install(arguments: list[str]) -> None:
    """An install names files and extras that are there; the environment of this very test was made by it."""
    assert arguments[0] == "install"
    extras = metadata("ringconv").get_all("Provides-Extra") or []
    for word in arguments[1:]:
        if match := re.fullmatch(r"(?:\.|ringconv)(?:\[(.+)\])?", word):
            assert not match[1] or set(match[1].split(",")) <= set(extras)
        elif not word.startswith("-"):
            assert (ROOT / word).exists()


@pytest.mark.parametrize("page", pages_with(lambda page: LINK.search(page.read_text())), ids=ids)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), target


def test_experiments_and_examples_are_all_documented() -> None:
    told = "\n".join(page.read_text() for page in PAGES)
    for script in [*ROOT.glob("experiments/[a-z]*.py"), *ROOT.glob("examples/*.py")]:
        assert str(script.relative_to(ROOT)) in told
