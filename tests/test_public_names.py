"""The public names are the checked-in list: adding or losing one is a decision, not an accident."""

from pathlib import Path

import ringconv

LIST = Path(__file__).parent / "public_names.txt"


def public_names() -> list[str]:
    names = [name for name in ringconv.__all__ if name != "__version__"]
    rooms = [name for name in names if hasattr(getattr(ringconv, name), "__all__")]
    names += [f"{room}.{name}" for room in rooms for name in getattr(ringconv, room).__all__]
    return sorted(names)


def test_public_names_are_the_listed_ones() -> None:
    assert public_names() == LIST.read_text().split()


def test_every_public_name_is_documented() -> None:
    for name in public_names():
        thing: object = ringconv
        for part in name.split("."):
            thing = getattr(thing, part)
        assert thing.__doc__, name
