"""``ragkit token``."""

from __future__ import annotations

from ragkit.paths import LibraryPaths
from ragkit.surfaces.http.access import Access


def test_a_token_is_printed_and_replaced(in_process, tmp_path):
    root = tmp_path / "library"
    (tmp_path / "notes").mkdir()
    assert in_process("token", "--library", root).returncode == 3
    assert in_process("add", tmp_path / "notes", "--library", root).returncode == 0
    first = in_process("token", "--library", root)
    assert (first.returncode, len(first.stdout)) == (0, 44)
    assert in_process("token", "--library", root).stdout == first.stdout
    session = Access(LibraryPaths(root).access).begin()
    new = in_process("token", "--new", "--library", root)
    assert new.stdout != first.stdout
    assert in_process("token", "--library", root).stdout == new.stdout
    assert not Access(LibraryPaths(root).access).admits(session)
