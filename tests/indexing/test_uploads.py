"""Uploaded files: stored whole, apart from each other, under names that are safe."""

from __future__ import annotations

import io
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.errors import SourceError
from ragkit.indexing.uploads import safe_name, store_upload

HOSTILE_NAMES = (
    "../../x.txt",
    "..\\..\\x.txt",
    "/etc/passwd",
    "C:\\x.txt",
    "C:/x.txt",
    "\\\\server\\share\\x.txt",
    "a\x00b.txt",
    "a\nb\r.txt",
    "x" * 300 + ".txt",
    "ü" * 300 + ".txt",
    "a." + "s" * 400,
    "😀📁.md",
    "日本語/検索.md",
    "...",
    "..",
    ".",
    "",
    "/",
    ".hidden",
    "~/x.txt",
    "con.txt",
    "a/../../b.txt",
    "trailing. ",
    "x" * 200 + "/" + "y" * 200 + "/z.txt",
    "name:stream.txt",
    "\u202etxt.exe",
    "*?<>|.txt",
)


def _store(folder: Path, name: str, content: bytes) -> str:
    return store_upload(folder / "uploads", folder / "tmp", name, io.BytesIO(content)).path


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_an_upload_stays_in_its_folder_whatever_it_is_called(tmp_path, name):
    before = set(Path("/").iterdir())
    stored = _store(tmp_path, name, b"content")
    place = tmp_path / "uploads" / stored
    assert place.resolve().is_relative_to((tmp_path / "uploads").resolve())
    assert ".." not in Path(stored).parts
    assert place.read_bytes() == b"content"
    everything = [one for one in tmp_path.rglob("*") if one.is_file()]
    assert everything == [place]
    assert set(Path("/").iterdir()) == before
    assert all(len(part.encode()) <= 255 for part in Path(stored).parts)
    assert not any(part.startswith(".") for part in Path(stored).parts)
    assert stored.isprintable() or "\u202e" in stored


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=400))
def test_safe_names_are_safe(name):
    safe = safe_name(name)
    assert safe
    assert len(safe.encode("utf-8", "surrogatepass")) <= 255
    assert safe not in (".", "..")
    assert not set(safe) & set('/\\<>:"|?*\x00\n\r\t')
    assert not safe.startswith(".")
    assert not safe.endswith((" ", "."))
    assert safe.partition(".")[0].lower() not in ("con", "nul", "com1")
    assert safe_name(safe) == safe


def test_ordinary_names_stay_as_they_are():
    for name in ("report.pdf", "Über uns (final).docx", "検索.md", "a.tar.gz", "README"):
        assert safe_name(name) == name


def test_a_file_of_the_same_name_is_never_overwritten(tmp_path):
    assert _store(tmp_path, "a.txt", b"one") == "a.txt"
    assert _store(tmp_path, "a.txt", b"two") == "a (2).txt"
    assert _store(tmp_path, "a.txt", b"three") == "a (3).txt"
    assert _store(tmp_path, "a.txt", b"two") == "a (2).txt"
    assert _store(tmp_path, "a.txt", b"one") == "a.txt"
    contents = {one.name: one.read_bytes() for one in (tmp_path / "uploads").iterdir()}
    assert contents == {"a.txt": b"one", "a (2).txt": b"two", "a (3).txt": b"three"}


def test_a_folder_in_the_way_of_a_file_and_a_file_in_the_way_of_a_folder(tmp_path):
    assert _store(tmp_path, "a/b.txt", b"one") == "a/b.txt"
    assert _store(tmp_path, "a", b"two") != "a"
    assert _store(tmp_path, "c", b"three") == "c"
    assert _store(tmp_path, "c/d.txt", b"four") == "c (2)/d.txt"
    assert _store(tmp_path, "c (2)/e", b"five") == "c (2)/e"
    assert _store(tmp_path, "c/e/f.txt", b"six") == "c (2)/e (2)/f.txt"
    assert _store(tmp_path, "c/e/f.txt", b"six") == "c (2)/e (2)/f.txt"
    assert list((tmp_path / "tmp").iterdir()) == []


def test_uploads_at_the_same_time_are_all_kept(tmp_path):
    names: list[str] = []

    def put(number: int) -> None:
        names.append(_store(tmp_path, "same.txt", f"content {number}".encode()))

    threads = [threading.Thread(target=put, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(names)) == 12
    contents = {one.read_bytes() for one in (tmp_path / "uploads").iterdir()}
    assert contents == {f"content {number}".encode() for number in range(12)}


def test_an_upload_that_breaks_off_leaves_nothing(tmp_path):
    class Broken(io.RawIOBase):
        def __init__(self):
            self.given = 0

        def read(self, size=-1):
            self.given += 1
            if self.given > 1:
                raise OSError(5, "Input/output error")
            return b"half"

    with pytest.raises(SourceError, match="input/output error"):
        store_upload(tmp_path / "uploads", tmp_path / "tmp", "a.txt", Broken())
    assert [one for one in tmp_path.rglob("*") if one.is_file()] == []
