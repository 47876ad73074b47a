from __future__ import annotations

import os
import sqlite3
import subprocess
import tempfile
import threading
from contextlib import closing
from dataclasses import astuple
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragkit.errors import SourceError
from ragkit.sources.scan import (
    SKIPPED_FILES,
    SKIPPED_FOLDERS,
    SKIPPED_PREFIXES,
    SKIPPED_SUFFIXES,
    Changes,
    Scan,
    file_state,
    find_changes,
    scan_folder,
)
from ragkit.types import FileState


def make(root: Path, *paths: str, **contents: str) -> None:
    """Make files of those paths below a folder."""
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(contents.get(path, path), "utf-8")


def found(root: Path, **options) -> list[str]:
    """The paths that a scan finds, in order."""
    return sorted(scan_folder(root, **options).files)


def test_every_file_is_found_with_its_size_and_time(tmp_path):
    make(tmp_path, "a.md", "b/c.txt", "b/d/e")
    os.utime(tmp_path / "a.md", ns=(1, 1_234_567_890_123_456_789))
    scan = scan_folder(tmp_path)
    assert list(scan.files) == ["a.md", "b/c.txt", "b/d/e"]
    assert scan.files["a.md"].size == 4
    assert scan.files["a.md"].mtime_ns == (tmp_path / "a.md").stat().st_mtime_ns
    assert (scan.unreadable, scan.unnameable) == ((), ())


def test_an_empty_folder_has_no_files(tmp_path):
    assert scan_folder(tmp_path).files == {}


@pytest.mark.parametrize(
    ("kind", "said"), [("missing", "is not there"), ("file", "cannot be read")]
)
def test_a_root_that_is_no_folder_is_an_error_with_a_cure(tmp_path, kind, said):
    root = tmp_path / "root"
    if kind == "file":
        root.write_text("x")
    with pytest.raises(SourceError, match=said) as caught:
        scan_folder(root)
    assert str(root) in caught.value.message
    assert caught.value.cure


def test_hidden_and_temporary_things_are_left_alone(tmp_path):
    make(tmp_path, "kept.md", ".hidden.md", ".git/config", "~$report.docx", "notes.md~")
    make(tmp_path, "Thumbs.db", "x.swp", "x.part", "x.crdownload", "x.tmp", "desktop.ini")
    for folder in SKIPPED_FOLDERS:
        make(tmp_path, f"deep/{folder}/inside.md")
    make(tmp_path, "node_modules.md", "tmp/kept.md", "venv.txt")
    assert found(tmp_path) == ["kept.md", "node_modules.md", "tmp/kept.md", "venv.txt"]


def test_a_skipped_folder_is_skipped_at_the_root_as_well(tmp_path):
    make(tmp_path, "node_modules/x.md", "__pycache__/y.md", "z.md")
    assert found(tmp_path) == ["z.md"]


_RULES = {
    "plain name": ("secret", ["a/secret", "secret/x", "secretly"], ["secretly"]),
    "suffix": ("*.log", ["a.log", "b/c.log", "log"], ["log"]),
    "anchored": ("/top.md", ["top.md", "a/top.md"], ["a/top.md"]),
    "folder only": ("build/", ["build/x", "a/build/y", "c/build"], ["c/build"]),
    "inner slash": ("a/b.md", ["a/b.md", "x/a/b.md"], ["x/a/b.md"]),
    "any depth": ("a/**/z", ["a/z", "a/b/c/z", "z"], ["z"]),
    "inside only": ("a/**\n!a/k.md", ["a/k.md", "a/b/x.md", "a/l.md"], ["a/k.md"]),
    "negation": ("*.md\n!keep.md", ["x.md", "keep.md", "d/keep.md"], ["d/keep.md", "keep.md"]),
    "last line wins": ("!a.md\na.md", ["a.md", "b.md"], ["b.md"]),
    "nothing below an excluded folder": ("d/\n!d/keep.md", ["d/keep.md", "e.md"], ["e.md"]),
    "only markdown": (
        "*\n!*/\n!*.md",
        ["a.md", "a.txt", "d/b.md", "d/b.txt", "d/e/c.md", "d/e/c.py"],
        ["a.md", "d/b.md", "d/e/c.md"],
    ),
    "only one folder": (
        "/*\n!/docs/",
        ["docs/a.md", "docs/d/b.md", "src/x.md"],
        ["docs/a.md", "docs/d/b.md"],
    ),
    "comments and blanks": ("# a.md\n\n   \nb.md", ["a.md", "b.md"], ["a.md"]),
    "escaped": ("\\#x\n\\!y", ["#x", "!y", "z"], ["z"]),
    "classes": ("[ab].md\n?.txt", ["a.md", "b.md", "c.md", "x.txt", "xy.txt"], ["c.md", "xy.txt"]),
    "windows lines": ("a.md\r\nb.md\r\n", ["a.md", "b.md", "c.md"], ["c.md"]),
    "byte order mark": ("\ufeffa.md", ["a.md", "b.md"], ["b.md"]),
    "a line that means nothing": ("a.md\n!\n/\n***\\\nb.md", ["a.md", "b.md", "c.md"], ["c.md"]),
    "other scripts": ("日本語/\n*é.md", ["日本語/x.md", "café.md", "cafe.md"], ["cafe.md"]),
}


@pytest.mark.parametrize("name", [".gitignore", ".ragkitignore"])
@pytest.mark.parametrize("rule", _RULES)
def test_ignore_files_are_honoured(tmp_path, rule, name):
    lines, paths, kept = _RULES[rule]
    make(tmp_path, *paths)
    (tmp_path / name).write_bytes(lines.encode())
    assert found(tmp_path) == kept


def test_gitignore_can_be_turned_off_and_ragkitignore_cannot(tmp_path):
    make(tmp_path, "a.md", "b.md")
    (tmp_path / ".gitignore").write_text("a.md")
    (tmp_path / ".ragkitignore").write_text("b.md")
    assert found(tmp_path) == []
    assert found(tmp_path, gitignore=False) == ["a.md"]


def test_ragkitignore_has_the_last_word_in_its_folder(tmp_path):
    make(tmp_path, "a.md", "b.md")
    (tmp_path / ".gitignore").write_text("*.md")
    (tmp_path / ".ragkitignore").write_text("!a.md")
    assert found(tmp_path) == ["a.md"]


def test_inner_ignore_files_overrule_outer_ones_below_them_only(tmp_path):
    make(tmp_path, "x.log", "a/x.log", "a/b/x.log", "c/x.log", "a/only.md", "only.md")
    (tmp_path / ".gitignore").write_text("*.log")
    (tmp_path / "a" / ".gitignore").write_text("!x.log\n/only.md")
    (tmp_path / "a" / "b" / ".gitignore").write_text("x.log")
    assert found(tmp_path) == ["a/x.log", "only.md"]


def test_an_inner_line_about_a_folder_does_not_bring_back_ignored_files(tmp_path):
    make(tmp_path, "a/docs/x.txt", "a/docs/y.md")
    (tmp_path / ".gitignore").write_text("*.txt")
    (tmp_path / "a" / ".gitignore").write_text("!docs/")
    assert found(tmp_path) == ["a/docs/y.md"]


def test_an_ignore_file_that_is_a_link_or_a_pipe_is_not_opened(tmp_path):
    make(tmp_path, "a.md", "d/b.md")
    make(tmp_path.parent, "rules")
    (tmp_path.parent / "rules").write_text("*.md")
    (tmp_path / ".gitignore").symlink_to(tmp_path.parent / "rules")
    os.mkfifo(tmp_path / "d" / ".ragkitignore")
    result: list[list[str]] = []
    thread = threading.Thread(target=lambda: result.append(found(tmp_path)), daemon=True)
    thread.start()
    thread.join(10)
    assert result == [["a.md", "d/b.md"]]


def test_links_and_loops_are_never_followed(tmp_path):
    make(tmp_path, "a/real.md", "outside/secret.md")
    root = tmp_path / "a"
    (root / "loop").symlink_to(root, target_is_directory=True)
    (root / "up").symlink_to("..", target_is_directory=True)
    (root / "folder").symlink_to(tmp_path / "outside", target_is_directory=True)
    (root / "file.md").symlink_to(tmp_path / "outside" / "secret.md")
    (root / "broken.md").symlink_to("nowhere")
    (root / "itself.md").symlink_to("itself.md")
    assert found(root) == ["real.md"]


def test_pipes_and_sockets_are_no_files(tmp_path):
    import socket

    make(tmp_path, "a.md")
    os.mkfifo(tmp_path / "pipe.md")
    with socket.socket(socket.AF_UNIX) as one:
        here = Path.cwd()
        os.chdir(tmp_path)
        try:
            one.bind("s.md")
        finally:
            os.chdir(here)
        assert found(tmp_path) == ["a.md"]


def _fail_for(monkeypatch, folder: Path, error: OSError):
    real = os.scandir

    def scandir(path):
        if Path(path) == folder:
            raise error
        return real(path)

    monkeypatch.setattr("ragkit.sources.scan.os.scandir", scandir)


def test_a_folder_that_cannot_be_opened_is_reported_and_the_rest_is_found(tmp_path, monkeypatch):
    make(tmp_path, "a/x.md", "b/y.md", "b/c/z.md")
    _fail_for(monkeypatch, tmp_path / "b", PermissionError(13, "Permission denied"))
    scan = scan_folder(tmp_path)
    assert (sorted(scan.files), scan.unreadable) == (["a/x.md"], ("b",))


def test_a_root_that_cannot_be_opened_is_an_error(tmp_path, monkeypatch):
    _fail_for(monkeypatch, tmp_path, PermissionError(13, "Permission denied"))
    with pytest.raises(SourceError, match="Permission denied"):
        scan_folder(tmp_path)


class _Entry:
    """An entry of a folder that may be listed and not be looked into."""

    def __init__(self, entry: os.DirEntry, error: OSError):
        self._entry, self._error = entry, error

    def __getattr__(self, name):
        return getattr(self._entry, name)

    def stat(self, **_):
        raise self._error


@pytest.mark.parametrize(
    ("error", "unreadable"),
    [
        (PermissionError(13, "x"), ("b",)),
        (OSError(5, "x"), ("b",)),
        (FileNotFoundError(2, "x"), ()),
    ],
)
def test_a_folder_whose_files_cannot_be_looked_at_is_reported(
    tmp_path, monkeypatch, error, unreadable
):
    make(tmp_path, "a.md", "b/y.md", "b/c/z.md")
    real = os.scandir

    class Listing:
        def __init__(self, path):
            with real(path) as listing:
                self.entries = list(listing)
            if Path(path) == tmp_path / "b":
                self.entries = [_Entry(entry, error) for entry in self.entries]

        def __enter__(self):
            return iter(self.entries)

        def __exit__(self, *_):
            pass

    monkeypatch.setattr("ragkit.sources.scan.os.scandir", Listing)
    scan = scan_folder(tmp_path)
    assert sorted(scan.files) == ["a.md", "b/c/z.md"]
    assert scan.unreadable == unreadable


_ODD_NAMES = [
    "it's.md",
    'say "x".md',
    "line\nbreak.md",
    " spaces .md",
    "back\\slash.md",
    "\U0001f600.md",
    "日本語.md",
    "e\u0301.md",
    "\u00e9.md",
    "100%_.md",
    "-rf.md",
    "x" * 251 + ".md",
]


@pytest.mark.parametrize("name", _ODD_NAMES)
def test_odd_names_are_kept_to_the_letter(tmp_path, name):
    make(tmp_path, f"d/{name}", name)
    assert found(tmp_path) == sorted([name, f"d/{name}"])


def test_names_that_are_not_utf8_are_reported_and_left_out(tmp_path):
    make(tmp_path, "good.md", "sub/good.md")
    try:
        for name in (b"bad\xff.md", b"sub/\xe9t\xe9.md", b".hid\xff"):
            Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text("x")
        folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/fold\xfe"))
        folder.mkdir()
        (folder / "inside.md").write_text("x")
    except OSError:
        pytest.skip("this file system only takes names that are valid UTF-8")
    scan = scan_folder(tmp_path)
    assert sorted(scan.files) == ["good.md", "sub/good.md"]
    assert scan.unnameable == ("bad\\xff.md", "fold\\xfe", "sub/\\xe9t\\xe9.md")
    assert all(name.encode() for name in scan.unnameable)
    assert scan.unreadable == ()


def test_deep_folders_do_not_exhaust_the_stack(tmp_path):
    folder = tmp_path
    for _ in range(300):
        folder = folder / "d"
    folder.mkdir(parents=True)
    (folder / "deep.md").write_text("x")
    assert found(tmp_path) == ["d/" * 300 + "deep.md"]


def test_a_large_tree_is_counted_exactly(tmp_path):
    for number in range(40):
        folder = tmp_path / f"f{number % 8}" / f"g{number}"
        folder.mkdir(parents=True)
        for inner in range(50):
            (folder / f"{inner}.md").touch()
    (tmp_path / ".gitignore").write_text("g7/\n1?.md\n")
    assert len(scan_folder(tmp_path).files) == 39 * 40
    assert len(scan_folder(tmp_path, gitignore=False).files) == 2000


_PARTS = st.sampled_from(
    [
        "a",
        "b.md",
        ".h",
        "node_modules",
        "x~",
        "venv",
        "~$y",
        "t.tmp",
        "Thumbs.db",
        "é",
        "c d",
        "a.swp",
    ]
)
_TREES = st.lists(st.lists(_PARTS, min_size=1, max_size=4), max_size=25)


def _plant(root: Path, tree: list[list[str]]) -> None:
    for parts in tree:
        file = root.joinpath(*parts)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            if not file.is_dir():
                file.write_text("x" * len(parts))
        except (FileExistsError, NotADirectoryError):
            continue


def _oracle(root: Path) -> dict[str, int]:
    sizes = {}
    for top, folders, files in os.walk(root):
        folders[:] = [
            one for one in folders if not one.startswith(".") and one not in SKIPPED_FOLDERS
        ]
        for name in files:
            if name in SKIPPED_FILES or name.startswith(SKIPPED_PREFIXES):
                continue
            if not name.endswith(SKIPPED_SUFFIXES):
                file = Path(top, name)
                sizes[file.relative_to(root).as_posix()] = file.stat().st_size
    return sizes


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tree=_TREES)
def test_a_scan_finds_what_a_plain_walk_finds(tree):
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        _plant(root, tree)
        scan = scan_folder(root)
        assert {path: file.size for path, file in scan.files.items()} == _oracle(root)
        assert all(file.path == path for path, file in scan.files.items())


_LINES = st.lists(
    st.sampled_from(
        [
            *("a", "b", "c", "*.md", "!*.md", "*", "!*/", "!b", "!/c", "a/", "!a/", "b/"),
            *("/a", "!/a", "a/b", "/*", "/a/*", "!/a/b", "!a/*.md", "?", "*.?"),
            *("c/**", "!c/**", "**/b", "!**/b", "a/**/c"),
        ]
    ),
    max_size=5,
)
_NAMES = st.sampled_from(["a", "b", "c", "d.md", "e.x"])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    tree=st.lists(st.lists(_NAMES, min_size=1, max_size=3), min_size=1, max_size=15),
    outer=_LINES,
    inner=_LINES,
)
def test_ignore_files_mean_what_git_takes_them_to_mean(tree, outer, inner):
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        _plant(root, tree)
        (root / ".gitignore").write_text("\n".join(outer))
        if (root / "a").is_dir():
            (root / "a" / ".gitignore").write_text("\n".join(inner))
        assert found(root) == _git_sees(root)


def _git_sees(root: Path) -> list[str]:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    try:
        subprocess.run(["git", "init", "-q", "."], cwd=root, check=True, env=environment)
    except FileNotFoundError:
        pytest.skip("git is not installed")
    listed = subprocess.run(
        ["git", "-c", "core.quotePath=false", "ls-files", "-o", "--exclude-standard", "-z"],
        cwd=root,
        check=True,
        env=environment,
        capture_output=True,
    ).stdout.decode()
    paths = [path for path in listed.split("\0") if path]
    return sorted(path for path in paths if not path.rsplit("/", 1)[-1].startswith("."))


def states(files: dict[str, tuple[int, int]]) -> dict[str, FileState]:
    """Files of those sizes and times, by path."""
    return {path: FileState(path, *seen) for path, seen in files.items()}


def scan_of(files: dict[str, tuple[int, int]], *unreadable: str) -> Scan:
    """A scan that saw those files."""
    return Scan(states(files), unreadable)


def test_each_kind_of_change_is_told_apart_and_sorted():
    scan = scan_of({"z": (1, 1), "new": (1, 1), "size": (2, 1), "time": (1, 2), "a": (1, 1)})
    known = {"z": (1, 1), "size": (1, 1), "time": (1, 1), "gone": (1, 1), "also": (1, 1)}
    changes = find_changes(scan, states(known))
    assert changes == Changes(("a", "new"), ("size", "time"), ("also", "gone"), 1)


def test_the_same_again_is_nothing():
    changes = find_changes(scan_of({"a": (1, 1)}), states({"a": (1, 1)}))
    assert changes == Changes((), (), (), 1)
    assert find_changes(scan_of({}), {}) == Changes((), (), (), 0)


def test_an_older_time_is_a_change_too():
    assert find_changes(scan_of({"a": (1, 1)}), states({"a": (1, 5)})).changed == ("a",)


def test_stale_files_count_as_changed_but_only_if_they_are_there():
    scan = scan_of({"a": (1, 1), "b": (1, 1)})
    known = states({"a": (1, 1), "c": (1, 1)})
    changes = find_changes(scan, known, stale=frozenset({"a", "b", "c", "d"}))
    assert changes == Changes(("b",), ("a",), ("c",), 0)


def test_what_lies_in_an_unreadable_folder_is_not_gone():
    known = states(dict.fromkeys(["a/x", "a/b/y", "ab/z", "a", "c"], (1, 1)))
    assert find_changes(scan_of({}, "a"), known).gone == ("a", "ab/z", "c")
    assert find_changes(scan_of({}, "a/b", "c"), known).gone == ("a", "a/x", "ab/z", "c")


def test_when_the_root_itself_was_unreadable_nothing_is_gone():
    assert find_changes(scan_of({}, ""), states({"a": (1, 1), "b/c": (1, 1)})).gone == ()


_SEEN = st.dictionaries(
    st.text("ab/", min_size=1, max_size=4), st.tuples(st.integers(0, 2), st.integers(0, 2))
)


@given(seen=_SEEN, known=_SEEN, stale=st.frozensets(st.text("ab/", min_size=1, max_size=4)))
def test_every_path_ends_in_exactly_one_place(seen, known, stale):
    changes = find_changes(scan_of(seen), states(known), stale=stale)
    assert set(changes.new) == set(seen) - set(known)
    assert set(changes.gone) == set(known) - set(seen)
    both = set(seen) & set(known)
    assert set(changes.changed) == {p for p in both if seen[p] != known[p] or p in stale}
    assert changes.unchanged == len(both) - len(changes.changed)


def test_a_file_of_another_inode_or_ctime_is_a_change():
    seen = Scan({"a": FileState("a", 1, 1, "5:7:9"), "b": FileState("b", 1, 1, "5:8:9")})
    known = {"a": FileState("a", 1, 1, "5:7:9"), "b": FileState("b", 1, 1, "5:8:1")}
    assert find_changes(seen, known).changed == ("b",)


_EXTREME = st.integers(-(2**80), 2**80)


@given(size=st.integers(0, 2**80), mtime_ns=_EXTREME, ctime_ns=_EXTREME, inode=_EXTREME)
def test_a_file_of_any_size_and_time_can_be_stored(size, mtime_ns, ctime_ns, inode):
    status = SimpleNamespace(st_size=size, st_mtime_ns=mtime_ns, st_ctime_ns=ctime_ns, st_ino=inode)
    state = file_state("a.md", status, 2**70)
    with closing(sqlite3.connect(":memory:")) as connection:
        row = connection.execute("SELECT ?, ?, ?", (*astuple(state)[1:],)).fetchone()
    assert FileState("a.md", *row) == state
    assert pd.to_datetime(state.mtime_ns / 1e9, unit="s").year in range(1677, 2263)
    assert state.size == size or size > state.size == 2**63 - 1
    assert (state.mtime_ns == mtime_ns) == (abs(mtime_ns) <= 9_223_372_036 * 10**9)


def test_a_pipe_in_the_place_of_an_ignore_file_does_not_hold_up_a_scan(tmp_path):
    make(tmp_path, "a.md")
    os.mkfifo(tmp_path / ".gitignore")
    assert found(tmp_path) == ["a.md"]
