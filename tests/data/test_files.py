"""Where data lies, what is said when it does not, and what is refused."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from ringconv.data._files import Source, data_root

SET = Source("Tiny", "tiny-set", "https://example.org/tiny")
CONTENT = bytes(range(256)) * 40
CHECKSUM = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RINGCONV_DATA", str(tmp_path))
    (tmp_path / "tiny-set").mkdir()
    return tmp_path


def test_the_root_is_the_one_given_then_the_environments_then_the_cache(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert data_root("elsewhere") == Path("elsewhere")
    assert data_root() == root
    monkeypatch.delenv("RINGCONV_DATA")
    monkeypatch.setenv("HOME", "/home/someone")
    assert data_root() == Path("/home/someone/.cache/ringconv")
    assert data_root("~/data") == Path("/home/someone/data")


@pytest.mark.parametrize("packed", [False, True])
def test_reads_a_file_packed_or_not(root: Path, packed: bool) -> None:
    path = root / "tiny-set" / ("file.gz" if packed else "file")
    path.write_bytes(gzip.compress(CONTENT) if packed else CONTENT)
    assert SET.read("file", sha256=CHECKSUM) == CONTENT
    assert SET.read("file", root) == CONTENT


def test_a_missing_file_or_folder_says_where_to_get_it_and_where_to_put_it(root: Path) -> None:
    for look in (SET.path, SET.read):
        with pytest.raises(FileNotFoundError) as error:
            look("file")
        assert str(error.value) == (
            f"Tiny: {root}/tiny-set/file is not there; get it from https://example.org/tiny and put it there, or set "
            "RINGCONV_DATA to the folder that holds tiny-set/"
        )
    assert SET.path() == root / "tiny-set"
    with pytest.raises(FileNotFoundError, match=r"other/tiny-set is not there"):
        SET.path(root=root / "other")


def test_another_content_is_refused(root: Path) -> None:
    (root / "tiny-set" / "file").write_bytes(CONTENT[:-1] + b"x")
    with pytest.raises(ValueError, match=rf"^Tiny: .*/file has the SHA-256 checksum \w+, not {CHECKSUM}; get it again"):
        SET.read("file", sha256=CHECKSUM)


@pytest.mark.parametrize("harm", ["truncated", "flipped", "not packed at all", "empty"])
def test_a_damaged_archive_is_refused(root: Path, harm: str) -> None:
    whole = gzip.compress(CONTENT, mtime=0)
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    broken = {"truncated": whole[:-9], "flipped": bytes(flipped), "not packed at all": CONTENT, "empty": b""}[harm]
    (root / "tiny-set" / "file.gz").write_bytes(broken)
    with pytest.raises(ValueError, match=r"is no whole gzip file|SHA-256"):
        SET.read("file", sha256=CHECKSUM)
