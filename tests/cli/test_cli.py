"""The command line: what it prints, where, and how it ends."""

from __future__ import annotations

import json

import pytest
import torch
import typer

from ringconv import __version__
from ringconv.cli import main
from ringconv.cli.app import app


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    assert isinstance(end.value.code, int)
    return end.value.code


def commands() -> list[str]:
    return list(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


def test_no_command_shows_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in commands())


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--version") == 0
    assert capsys.readouterr().out == f"ringconv {__version__}\n"


@pytest.mark.parametrize("name", commands())
def test_every_command_has_help_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(name, "--help") == 0
    assert f"Example: ringconv {name}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["doctr"], "No such command 'doctr'. Did you mean 'doctor'? See 'ringconv --help'."),
        (["doctor", "--jso"], "No such option: --jso (Possible options: --json) See 'ringconv doctor --help'."),
        (["doctor", "now"], "Got unexpected extra argument(s) (now) See 'ringconv doctor --help'."),
    ],
)
def test_a_typo_is_one_line_and_status_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.replace("argument ", "argument(s) ") == f"ringconv: {message}\n"


def test_interrupt_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ringconv.cli.doctor.examine", interrupted)
    assert run("doctor") == 130


def test_doctor(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("doctor", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["torch"] == torch.__version__
    assert "direct" in found["algorithms"]
    assert run("doctor") == 0
    assert f"torch       {torch.__version__}\n" in capsys.readouterr().out

    monkeypatch.setattr("ringconv.cli.doctor.EXTRAS", {"app": ("numpy", "no-such-package")})
    run("doctor")
    assert "[app]       without no-such-package: pip install 'ringconv[app]'\n" in capsys.readouterr().out
