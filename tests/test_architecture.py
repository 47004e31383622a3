"""The house stands as designed: rooms import downwards only, and subpackages only re-export."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "src" / "ringconv"
FILES = sorted(ROOT.rglob("*.py"))

# From the ground up: a room may import those before it.
FLOORS = ["_checks", "spectral", "algorithms", "functional", "nn", "symmetry"]
TOP = {"convert", "paper", "models"}
APART = {"data", "render", "train"}  # none of the layers, and not each other
JOINS = {"cli", "export"}  # may import anything


def allowed(room: str) -> set[str]:
    """The rooms that ``room`` may import, besides itself."""
    if room in FLOORS:
        return set(FLOORS[: FLOORS.index(room)])
    if room in TOP:
        return set(FLOORS)
    if room in APART:
        return {"_checks"}
    assert room in JOINS | {"_version"}, f"{room} is no room of the house"
    return {*FLOORS, *TOP, *APART, *JOINS, "_version"} if room in JOINS else set()


def imports(path: Path) -> set[str]:
    """The modules of ringconv that a file imports, as dotted names below the package; the root is ``""``."""
    package = ("ringconv", *path.relative_to(ROOT).parent.parts)
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            names = [*base, *(node.module.split(".") if node.module else [])]
            targets = [names] if node.module else [[*names, alias.name] for alias in node.names]
        elif isinstance(node, ast.Import):
            targets = [alias.name.split(".") for alias in node.names]
        else:
            continue
        found |= {".".join(target[1:]) for target in targets if target[:1] == ["ringconv"]}
    return found


def room(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@pytest.mark.parametrize(
    "path", [p for p in FILES if p != ROOT / "__init__.py"], ids=lambda p: str(p.relative_to(ROOT))
)
def test_arrows_point_down(path: Path) -> None:
    here = room(path)
    for target in imports(path):
        assert target, f"{path.name} imports the package root"
        there = target.split(".")[0]
        assert there == here or there in allowed(here), f"{here} may not import {target}"


@pytest.mark.parametrize("path", [p for p in FILES if p.name == "__init__.py"], ids=lambda p: str(p.relative_to(ROOT)))
def test_subpackages_only_reexport_and_say_what(path: Path) -> None:
    tree = ast.parse(path.read_text())
    documentation, *statements = tree.body
    assert ast.get_docstring(tree), documentation
    *reexports, names = statements
    assert all(isinstance(node, ast.ImportFrom) for node in reexports)
    assert isinstance(names, ast.Assign)
    listed = ast.literal_eval(names.value)
    imported = [alias.name for node in reexports for alias in node.names]  # type: ignore[attr-defined]
    assert sorted(listed) == sorted(imported)


def test_the_check_sees_a_wrong_arrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    bad = tmp_path / "functional" / "bad.py"
    bad.parent.mkdir()
    for line, target in {
        "from ..nn import RingConv2d": "nn",
        "from .. import nn": "nn",
        "import ringconv.nn.conv": "nn.conv",
        "import ringconv": "",
    }.items():
        bad.write_text(line)
        assert imports(bad) == {target}
    assert "nn" not in allowed("functional")
