"""What becomes of each dropped file: stored, known, skipped; zips are opened with suspicion."""

from __future__ import annotations

import io
import random
import stat
import zipfile
from pathlib import Path

import pytest

from ragkit.indexing import archives
from ragkit.library import Library


def add(library: Library, name: str, data: bytes) -> None:
    library.uploads.add(name, io.BytesIO(data))


def lines(library: Library) -> dict[str, tuple[str, str]]:
    return {line.name: (line.state.value, line.reason) for line in library.uploads.lines("default")}


def packed(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target.getvalue()


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def test_each_file_has_a_line_that_says_how_it_stands(library):
    add(library, "heron.md", b"# Heron\n\nIt stands.\n")
    add(library, "scan.png", b"\x89PNG\r\n\x1a\n" + bytes(200))
    job = library.sources.sync(library.sources.uploads())
    assert lines(library)["heron.md"][0] == "waiting"
    library.jobs.wait(job)
    found = {line.name: line for line in library.uploads.lines("default")}
    assert found["heron.md"].state == "indexed"
    assert library.documents.records([found["heron.md"].document_id])
    assert found["scan.png"].state == "skipped"
    assert found["scan.png"].reason == "Pictures are not read. Text in a picture needs OCR first."
    add(library, "copy of heron.md", b"# Heron\n\nIt stands.\n")
    again = library.uploads.lines("default")[-1]
    assert (again.state, again.reason) == ("known", "heron.md")
    assert again.document_id == found["heron.md"].document_id
    assert not Path(library.sources.uploads().root, "copy of heron.md").exists()
    library.uploads.dismiss("default")
    assert library.uploads.lines("default") == []


def test_a_zip_becomes_files_under_its_name(library):
    data = packed(
        {
            "a.md": b"# A\n\nAlpha.\n",
            "deep/er/b.txt": b"Beta.\n",
            "deep/same.txt": b"Beta.\n",
            "__MACOSX/._a.md": b"x",
            ".git/config": b"x",
            "inner.zip": packed({"c.md": b"C"}),
        }
    )
    add(library, "field notes.zip", data)
    library.jobs.wait(library.sources.sync(library.sources.uploads()))
    root = Path(library.sources.uploads().root)
    stored = sorted(p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file())
    assert stored == ["field notes/a.md", "field notes/deep/er/b.txt"]
    found = lines(library)
    assert found["field notes.zip › a.md"] == ("indexed", "")
    assert found["field notes.zip › deep/same.txt"] == ("known", "field notes/deep/er/b.txt")
    assert found["field notes.zip › inner.zip"][1].startswith("A zip inside a zip is not opened.")
    assert found["field notes.zip"] == ("skipped", "2 hidden or system files were left out.")


def test_a_zip_without_its_end_is_damaged(library):
    whole = packed({"a.md": b"# A\n\nOne.\n", "b.md": b"# B\n\nTwo.\n"})
    add(library, "notes.zip", whole[:-10])
    add(library, "NOTES.ZIP", whole[:40])
    damaged = "skipped", "The archive is damaged. Make it again from its files."
    assert lines(library) == {"notes.zip": damaged, "NOTES.ZIP": damaged}
    assert list(Path(library.sources.uploads().root).rglob("*")) == []


def test_a_zip_is_never_read_as_a_whole(library):
    class Watched(io.BytesIO):
        longest = 0

        def read(self, size=-1):
            piece = super().read(size)
            self.longest = max(self.longest, len(piece))
            return piece

    noise = random.Random(3).randbytes(3_000_000)
    stream = Watched(packed({"noise.txt": noise, "a.md": b"# A"}))
    stored = library.uploads.add("large.zip", stream)
    assert [one.path for one in stored] == ["large/noise.txt", "large/a.md"]
    assert Path(library.sources.uploads().root, "large/noise.txt").read_bytes() == noise
    assert 0 < stream.longest <= 1 << 20
    named = Watched(noise[::-1])
    assert [one.path for one in library.uploads.add("no.zip", named)] == ["no.zip"]
    assert named.longest <= 1 << 20


@pytest.mark.parametrize(
    "method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_a_damaged_file_in_a_zip_is_named_and_the_others_are_stored(library, method):
    noise = random.Random(5).randbytes(4000)
    data = bytearray(packed({"a.md": b"# A", "b.txt": noise, "c.md": b"# C"}, method))
    damage = data.index(b"c.md") - 2500  # within the packed bytes of the second file
    data[damage : damage + 8] = bytes(8)
    add(library, "notes.zip", bytes(data))
    root = Path(library.sources.uploads().root)
    assert sorted(p.name for p in root.rglob("*") if p.is_file()) == ["a.md", "c.md"]
    assert lines(library)["notes.zip › b.txt"] == (
        "skipped",
        "It is damaged in the archive. Make the archive again.",
    )


def test_a_hostile_zip_writes_nothing_outside(library, tmp_path):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("../../escape.txt", "out")
        archive.writestr("/etc/absolute.txt", "out")
        archive.writestr("C:\\drive.txt", "out")
        archive.writestr(link("link.txt"), "/etc/passwd")
        archive.writestr("fine.txt", "The fine one.")
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    add(library, "bad.zip", target.getvalue())
    root = Path(library.sources.uploads().root)
    new = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    assert [path for path in new if path.suffix == ".txt"] == [root / "bad/fine.txt"]
    said = {line.name: line.reason for line in library.uploads.lines("default")}
    for name in ("../../escape.txt", "/etc/absolute.txt", "C:/drive.txt"):
        assert said[f"bad.zip › {name}"].startswith("Its path leads out of the archive.")
    assert said["bad.zip › link.txt"].startswith("It is a link, not a file.")


def test_archives_that_are_too_much_locked_or_damaged_say_so(monkeypatch):
    def reason(data: bytes, most: int = 1000) -> str:
        try:
            return " ".join(
                str(member.problem) for member in archives.members(io.BytesIO(data), most)
            )
        except archives.ReadingError as error:
            return str(error)

    two = packed({"a.txt": b"1" * 2000, "b.txt": b"2"})
    assert reason(two).startswith("It is too large (2.0 kB); the limit is 1.0 kB.")
    monkeypatch.setattr(archives, "MOST_MEMBERS", 1)
    assert reason(two).startswith("It holds 2 files; at most 1 are taken from an archive.")
    monkeypatch.setattr(archives, "MOST_MEMBERS", 5)
    monkeypatch.setattr(archives, "MOST_BYTES", 100)
    assert reason(two).startswith("It unpacks to 2.0 kB; at most 100 B are")
    monkeypatch.setattr(archives, "MOST_BYTES", 10**9)
    bomb = packed({"zeros.txt": bytes(120_000_000)})
    assert "decompression bombs" in reason(bomb)
    locked = bytearray(packed({"a.txt": b"secret"}))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        locked[locked.index(mark) + at] |= 1
    assert reason(bytes(locked)).startswith("It is locked with a password.")
    damaged = bytearray(packed({"a.txt": b"some words that are here " * 9}))
    damaged[40] ^= 0xFF
    [member] = archives.members(io.BytesIO(damaged), 10_000)
    assert member.content is not None
    assert reason(b"PK\x05\x06 nothing").startswith("The archive is damaged.")
