"""What :func:`convert` did, module by module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """One module: its name, its type, whether it was converted, and a remark or the reason why it was not."""

    name: str
    type: str
    converted: bool
    reason: str = ""


@dataclass(frozen=True)
class Conversion:
    """What was converted and what was left, in the order of the model's modules.

    Modules that see one column at a time (norms, activations, linear layers) are in neither list.
    """

    entries: tuple[Entry, ...]

    @property
    def converted(self) -> tuple[Entry, ...]:
        """The modules that are seam-free now."""
        return tuple(entry for entry in self.entries if entry.converted)

    @property
    def left(self) -> tuple[Entry, ...]:
        """The modules that could not be converted or were not to be, with the reason."""
        return tuple(entry for entry in self.entries if not entry.converted)

    def to_dict(self) -> dict[str, Any]:
        """All of it as what JSON knows."""
        return {"entries": [entry._asdict() for entry in self.entries]}

    def __str__(self) -> str:
        lines = [f"{len(self.converted)} converted", *map(_line, self.converted)]
        lines += [f"{len(self.left)} left", *map(_line, self.left)] if self.left else []
        return "\n".join(lines)


def _line(entry: Entry) -> str:
    return f"  {entry.name or '(the model)'}  {entry.type}" + (f": {entry.reason}" if entry.reason else "")
