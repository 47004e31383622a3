"""Where the data sets lie, and how each is verified before it is believed. Nothing is ever downloaded.

A set lies in its own folder below the root: ``RINGCONV_DATA`` where that is set, else ``~/.cache/ringconv``. What is
missing is a ``FileNotFoundError`` that says where to get it and where to put it; what is there and is not what it
should be is a ``ValueError`` that says why.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from dataclasses import dataclass
from pathlib import Path

PathLike = str | os.PathLike[str]


def data_root(root: PathLike | None = None) -> Path:
    """The folder that holds the data sets: ``root``, else ``RINGCONV_DATA``, else ``~/.cache/ringconv``."""
    return Path(root or os.environ.get("RINGCONV_DATA") or Path.home() / ".cache" / "ringconv").expanduser()


@dataclass(frozen=True)
class Source:
    """A data set as its publisher lays it out: ``Source("MNIST", "mnist", "https://…")``.

    Args:
        name: what people call it.
        folder: its folder below the root.
        origin: where to get it, in words or as an address.
    """

    name: str
    folder: str
    origin: str

    def path(self, file: str = "", root: PathLike | None = None) -> Path:
        """A file or folder of the set, which must be there; the set's own folder for ``""``."""
        path = data_root(root) / self.folder / file
        if not path.exists():
            raise self.missing(path)
        return path

    def locate(self, file: str, root: PathLike | None = None) -> Path:
        """Where a file of the set lies, as it is or packed as ``FILE.gz``."""
        path = data_root(root) / self.folder / file
        packed = path.with_name(f"{path.name}.gz")
        if not path.exists() and packed.exists():
            return packed
        return self.path(file, root)

    def read(self, file: str, root: PathLike | None = None, *, sha256: str | None = None) -> bytes:
        """A file's content, unpacked if only ``FILE.gz`` is there, and of that checksum if one is given.

        The checksum is that of the content, however it was packed.
        """
        path = self.locate(file, root)
        content = path.read_bytes() if path.name == Path(file).name else self._unpacked(path)
        if sha256 is not None:
            self.verify(path, content, sha256)
        return content

    def verify(self, path: Path, content: bytes, sha256: str) -> None:
        """Refuse what ``path`` held if it is not the content published."""
        found = hashlib.sha256(content).hexdigest()
        if found != sha256:
            raise self.damaged(path, f"has the SHA-256 checksum {found}, not {sha256}")

    def missing(self, path: Path) -> FileNotFoundError:
        """The error that says where to get what is not at ``path``, and where to put it."""
        return FileNotFoundError(
            f"{self.name}: {path} is not there; get it from {self.origin} and put it there, or set RINGCONV_DATA to "
            f"the folder that holds {self.folder}/"
        )

    def damaged(self, path: Path, why: str) -> ValueError:
        """The error for a file that ``why`` (it "is …" or "has …") shows not to be the one published."""
        return ValueError(f"{self.name}: {path} {why}; get it again from {self.origin}")

    def _unpacked(self, path: Path) -> bytes:
        try:
            return gzip.decompress(path.read_bytes())
        except (OSError, EOFError, zlib.error) as error:
            raise self.damaged(path, f"is no whole gzip file ({error})") from None
