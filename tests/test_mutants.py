"""The library broken on purpose, one way at a time: the checks that the suite is made of must notice each.

A check that no mistake can fail holds nothing. Every mutant here is a mistake that someone could make in the wrap, the
height rule, the kernel's orientation or the adjoint.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from ringconv.algorithms import RULES, Geometry, whole
from ringconv.algorithms import extend as sound_extend

from . import helpers
from .helpers import Case

DIRECT, WHOLE = "ringconv.algorithms.direct", "ringconv.algorithms.whole"
# `ringconv.algorithms.extend` is the function; this is the file that it stands in.
EXTEND = importlib.import_module("ringconv.algorithms.extend")

Check = Callable[[Case], None]
Mutation = Callable[[pytest.MonkeyPatch], None]


def correlation(algorithm: str) -> Check:
    return lambda case: helpers.check_correlation(case, algorithm)


def rolls(algorithm: str) -> Check:
    def check(case: Case) -> None:
        w = case.weight()
        helpers.check_roll(lambda x: case.correlate(x, w, algorithm=algorithm), case.x(), tolerance=1e-12)

    return check


def pads(case: Case) -> None:
    helpers.check_pad(case.x(), (2, 3, 4, 1), case.height)


CHECKS: dict[str, Check] = {
    "oracle, direct": correlation("direct"),
    "oracle, spectral": correlation("spectral"),
    "rolls, direct": rolls("direct"),
    "rolls, spectral": rolls("spectral"),
    "padding": pads,
    "adjoint": helpers.check_adjoint,
    "adjoint matrix": helpers.check_adjoint_matrix,
}


def patched(path: str, replacement: Any) -> Mutation:
    return lambda monkeypatch: monkeypatch.setattr(path, replacement)


def seam_cut(x, dim, before, after, rule):
    return sound_extend(x, dim, before, after, "zeros" if dim == -1 else rule)


def seam_late(x, dim, before, after, rule):
    return sound_extend(x, dim, before + 1, after - 1, rule) if dim == -1 else sound_extend(x, dim, before, after, rule)


def rule_for_rule(given: str, taken: str) -> Mutation:
    def mutate(monkeypatch: pytest.MonkeyPatch) -> None:
        sound = EXTEND._blocks_after
        swap = lambda n, amount, rule: sound(n, amount, taken if rule == given else rule)  # noqa: E731
        monkeypatch.setattr(EXTEND, "_blocks_after", swap)

    return mutate


def torch_with(turn: Callable[[torch.Tensor], torch.Tensor], *names: str) -> Any:
    """``torch.nn.functional`` for the direct algorithm, whose functions ``names`` turn the kernel first."""
    functions = {name: getattr(F, name) for name in ("conv2d", "conv_transpose2d")}
    for name in names:
        functions[name] = lambda x, w, *rest, sound=functions[name]: sound(x, turn(w), *rest)
    return SimpleNamespace(**functions)


def flipped(w: torch.Tensor) -> torch.Tensor:
    return w.flip(-2, -1)


def mutated(name: str, change: Callable[..., Any]) -> Mutation:
    """``change`` is given what the whole transform's own ``name`` is given, behind the sound function itself."""
    sound = getattr(whole, name)
    return patched(f"{WHOLE}.{name}", lambda *args, **kwargs: change(sound, *args, **kwargs))


SINES_UPSIDE_DOWN = torch.tensor([1.0, -1.0], dtype=torch.float64).view(2, 1, 1)

# What was broken: how, in which case, and which checks must see it.
MUTANTS: dict[str, tuple[Mutation, Case, tuple[str, ...]]] = {
    "wrap: the seam is cut": (
        patched(f"{DIRECT}.extend", seam_cut),
        Case(),
        ("oracle, direct", "rolls, direct", "adjoint"),
    ),
    "wrap: the last column is left out": (
        mutated("irfft", lambda sound, spectrum, n: sound(spectrum, n) * (torch.arange(n) < n - 1)),
        Case(),
        ("oracle, spectral", "rolls, spectral"),
    ),
    "wrap: the seam is a column late": (
        patched(f"{DIRECT}.extend", seam_late),
        Case(),
        ("oracle, direct", "adjoint"),
    ),
    "wrap: taps beyond the ring are dropped": (
        mutated("_places", lambda sound, *sizes, **kind: sound(*sizes, **kind).clamp(min=1)),
        Case(kernel=(3, 5)),
        ("oracle, spectral",),
    ),
    "wrap: an even kernel leans to the left": (
        lambda monkeypatch: monkeypatch.setattr(Geometry, "left", property(lambda self: (self.reach[1] + 1) // 2)),
        Case(kernel=(3, 4)),
        ("oracle, direct", "oracle, spectral", "adjoint matrix"),
    ),
    **{
        f"height: {given} reads as {taken}": (
            rule_for_rule(given, taken),
            Case(height=given, kernel=(5, 3)),
            ("oracle, direct", "padding", "adjoint matrix"),
        )
        for given, taken in zip(RULES, RULES[1:] + RULES[:1], strict=True)
        if "zeros" not in (given, taken)
    },
    "height: symmetric repeats no edge": (
        rule_for_rule("symmetric", "reflect"),
        Case(kernel=(5, 3)),
        ("oracle, direct", "padding", "adjoint matrix"),
    ),
    "height: the sines are upside down": (
        mutated("_waves", lambda sound, *sizes, **kind: sound(*sizes, **kind) * SINES_UPSIDE_DOWN),
        Case(),
        ("oracle, spectral",),
    ),
    "height: the torus for every rule": (
        patched(f"{WHOLE}.extend", lambda x, *rest: sound_extend(x, *rest[:-1], "circular")),
        Case(height="zeros"),
        ("oracle, spectral",),
    ),
    "orientation: a convolution, direct": (
        patched(f"{DIRECT}.F", torch_with(flipped, "conv2d")),
        Case(),
        ("oracle, direct", "adjoint"),
    ),
    "orientation: a convolution, spectral": (
        mutated("_product", lambda sound, x, kernel, groups: sound(x, kernel.conj(), groups)),
        Case(),
        ("oracle, spectral",),
    ),
    "orientation: rows for columns": (
        patched(f"{DIRECT}.F", torch_with(lambda w: w.mT, "conv2d", "conv_transpose2d")),
        Case(),
        ("oracle, direct", "adjoint matrix"),
    ),
    "adjoint: nothing is given back": (
        patched(f"{DIRECT}.fold", lambda y, dim, top, below, rule: y.narrow(dim, top, y.shape[dim] - top - below)),
        Case(),
        ("adjoint", "adjoint matrix"),
    ),
    "adjoint: given back to the far end": (
        patched(f"{DIRECT}.fold", lambda y, dim, *rest: EXTEND.fold(y, dim, *rest).flip(dim)),
        Case(),
        ("adjoint", "adjoint matrix"),
    ),
    "adjoint: the kernel is not turned": (
        patched(f"{DIRECT}.F", torch_with(flipped, "conv_transpose2d")),
        Case(),
        ("adjoint", "adjoint matrix"),
    ),
}


@pytest.mark.parametrize(("mutation", "case", "checks"), MUTANTS.values(), ids=MUTANTS)
def test_is_noticed(mutation: Mutation, case: Case, checks: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in checks:
        CHECKS[name](case)
        with monkeypatch.context() as patch:
            mutation(patch)
            with pytest.raises(AssertionError):
                CHECKS[name](case)
        CHECKS[name](case)


def test_every_check_has_noticed_something() -> None:
    assert {name for _, _, checks in MUTANTS.values() for name in checks} == set(CHECKS)
