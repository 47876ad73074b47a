"""The watcher against a real file system and the real watchdog."""

from __future__ import annotations

import errno
import itertools
import json
import mmap
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from watchdog.events import EVENT_TYPE_DELETED, FileSystemEvent

from ragkit.sources import inotify, pending, watch
from ragkit.sources.observing import FolderEvents, Observing
from ragkit.sources.watch import Change, FolderWatcher, WatchState

pytestmark = pytest.mark.usefixtures("quick_checks")

QUIET = 0.06
SETTLED = 0.17
"""Longer than the quiet time and a move's other half (see ``quick_checks``) together."""

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is watched")


PATIENCE = 0.35
"""After this many seconds without a change the ``patient`` watcher tells of a file."""


@pytest.fixture
def patient() -> Iterator[FolderWatcher]:
    """A watcher that takes what happens within a third of a second for one burst."""
    with FolderWatcher(PATIENCE) as opened:
        yield opened


def write(path: Path, text: str = "text") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def until(watcher: FolderWatcher, done: Callable[[set[str], bool], bool], seconds: float = 5.0):
    """Gather changes of source 1 until they suffice: their paths, and whether all is asked for."""
    paths: set[str] = set()
    everything = False
    deadline = time.monotonic() + seconds
    while not done(paths, everything) and (left := deadline - time.monotonic()) > 0:
        for change in watcher.changes(left):
            assert change.source_id == 1
            paths |= set(change.paths)
            everything = everything or change.everything
    return paths, everything


def rest(watcher: FolderWatcher) -> tuple[set[str], bool]:
    """Everything that is told until nothing more comes."""
    return until(watcher, lambda paths, everything: False, SETTLED)


def paths(watcher: FolderWatcher, *expected: str) -> set[str]:
    """Wait for those paths, and see that it is they alone that come."""
    first, everything = until(watcher, lambda seen, _: set(expected) <= seen)
    more, more_everything = rest(watcher)
    assert not everything
    assert not more_everything
    return first | more


def whole(watcher: FolderWatcher) -> None:
    """Wait until the whole source is asked for."""
    assert until(watcher, lambda _, everything: everything)[1]


def state_of(watcher: FolderWatcher, source: int) -> WatchState:
    """The state of a source; ``None`` if it is not watched."""
    return next((state for state, sources in watcher.states().items() if source in sources), None)


def mode(watcher: FolderWatcher, expected: str, source: int = 1) -> WatchState:
    """Wait until the source is kept current in that way."""
    deadline = time.monotonic() + 5
    while state_of(watcher, source).mode != expected and time.monotonic() < deadline:
        watcher.changes(0.1)
    assert state_of(watcher, source).mode == expected
    return state_of(watcher, source)


def test_files_made_changed_and_deleted_are_told_once_each(patient, root):
    write(root / "old.md")
    write(root / "gone.md")
    patient.watch({1: root})
    assert state_of(patient, 1) == WatchState("watching")
    write(root / "new.md")
    write(root / "old.md", "longer text")
    (root / "gone.md").unlink()
    began = time.monotonic()
    assert patient.changes(30) == [Change(1, ("gone.md", "new.md", "old.md"))]
    assert time.monotonic() - began < 25
    assert rest(patient) == (set(), False)


def test_nothing_is_told_of_what_was_there_before(watcher, root):
    write(root / "a.md")
    watcher.watch({1: root})
    began = time.monotonic()
    assert watcher.changes(0.4) == []
    assert 0.4 <= time.monotonic() - began < 5


def test_reading_and_changing_rights_do_not_count(watcher, root):
    file = write(root / "a.md")
    watcher.watch({1: root})
    file.read_bytes()
    file.chmod(0o600)
    os.utime(file)
    assert rest(watcher) == (set(), False)


def test_a_file_that_is_being_written_is_told_when_it_rests(patient, root):
    patient.watch({1: root})
    told = []
    with (root / "slow.txt").open("w") as stream:
        for _ in range(15):
            stream.write("more ")
            stream.flush()
            wrote = time.monotonic()
            told += [(change, time.monotonic() - wrote) for change in patient.changes(0.04)]
    told += [(change, time.monotonic() - wrote) for change in patient.changes(3)]
    assert {change for change, _ in told} == {Change(1, ("slow.txt",))}
    # A busy machine may rest between two writes.
    assert min(rested for _, rested in told) >= PATIENCE


@linux
def test_a_file_that_grows_unannounced_is_waited_for(patient, root, tmp_path):
    with (tmp_path / "mapped.bin").open("w+b") as stream:
        stream.truncate(mmap.PAGESIZE)
        patient.watch({1: root})
        (tmp_path / "mapped.bin").rename(root / "mapped.bin")
        told = []
        with mmap.mmap(stream.fileno(), mmap.PAGESIZE) as memory:
            for number in range(8):  # no event comes of this
                memory[number] = 1
                memory.flush()
                os.utime(root / "mapped.bin")
                wrote = time.monotonic()
                told += [(change, time.monotonic() - wrote) for change in patient.changes(0.1)]
        told += [(change, time.monotonic() - wrote) for change in patient.changes(3)]
        assert {change for change, _ in told} == {Change(1, ("mapped.bin",))}
        assert min(rested for _, rested in told) >= PATIENCE


def test_a_file_that_never_rests_is_told_now_and_then(root, monkeypatch):
    monkeypatch.setattr(pending, "LONGEST_FACTOR", 4)
    stop = threading.Event()
    wrote: list[float] = []

    def keep_writing() -> None:
        with (root / "log.txt").open("w") as stream:
            while not stop.wait(0.01):
                stream.write("x")
                stream.flush()
                wrote.append(time.monotonic())

    with FolderWatcher(0.2) as watcher:
        watcher.watch({1: root})
        thread = threading.Thread(target=keep_writing)
        began = time.monotonic()  # a busy machine may write, and be heard, before start() returns
        thread.start()
        try:
            assert watcher.changes(4) == [Change(1, ("log.txt",))]
            first = time.monotonic() - began
            assert watcher.changes(4) == [Change(1, ("log.txt",))]
        finally:
            stop.set()
            thread.join()
    # A busy machine may rest between two writes.
    rested = max(later - earlier for earlier, later in itertools.pairwise(wrote))
    assert first >= 4 * 0.2 or rested > 0.15


def test_an_atomic_save_counts_for_its_target(watcher, root):
    write(root / "a.md")
    watcher.watch({1: root})
    for number in range(3):
        write(root / ".a.md.swp", f"saved {number}")
        (root / ".a.md.swp").replace(root / "a.md")
    assert paths(watcher, "a.md") == {"a.md"}


def test_a_file_unlinked_and_made_again_is_told_once(patient, root):
    file = write(root / "a.md")
    patient.watch({1: root})
    file.unlink()
    write(file, "again")
    assert patient.changes(3) == [Change(1, ("a.md",))]
    assert rest(patient) == (set(), False)


def test_files_move_inside_out_and_in(watcher, root, tmp_path):
    write(root / "a.md")
    write(root / "b.md")
    write(tmp_path / "c.md")
    write(root / "folder" / "keep.md")
    watcher.watch({1: root})
    (root / "a.md").rename(root / "folder" / "a.md")
    (root / "b.md").rename(tmp_path / "b.md")
    (tmp_path / "c.md").rename(root / "c.md")
    expected = {"a.md", "folder/a.md", "b.md", "c.md"}
    assert paths(watcher, *expected) == expected


def test_a_renamed_folder_is_told_as_two_prefixes(watcher, root):
    for number in range(600):
        write(root / "before" / str(number % 7) / f"{number}.md")
    watcher.watch({1: root})
    (root / "before").rename(root / "after")
    assert paths(watcher, "before", "after") == {"before", "after"}
    write(root / "after" / "3" / "3.md", "changed after the move")
    assert paths(watcher, "after/3/3.md") == {"after/3/3.md"}


def test_a_folder_moved_in_is_told_and_watched(watcher, root, tmp_path):
    write(tmp_path / "other" / "deep" / "a.md")
    watcher.watch({1: root})
    (tmp_path / "other").rename(root / "other")
    assert paths(watcher, "other") == {"other"}
    write(root / "other" / "deep" / "a.md", "changed")
    assert paths(watcher, "other/deep/a.md") == {"other/deep/a.md"}


def test_a_folder_moved_out_is_told_as_its_prefix_and_is_silent_then(watcher, root, tmp_path):
    write(root / "folder" / "deep" / "a.md")
    watcher.watch({1: root})
    (root / "folder").rename(tmp_path / "away")
    assert paths(watcher, "folder") == {"folder"}
    write(tmp_path / "away" / "deep" / "a.md", "a phantom")
    write(tmp_path / "away" / "deep" / "b.md", "a phantom")
    (tmp_path / "away" / "deep" / "a.md").unlink()
    assert rest(watcher) == (set(), False)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_folder_moved_away_and_replaced_does_not_end_the_watching(watcher, root, tmp_path):
    write(root / "folder" / "a.md")
    watcher.watch({1: root})
    (root / "folder").rename(tmp_path / "away")
    write(root / "folder" / "a.md", "another")
    assert "folder" in until(watcher, lambda seen, _: "folder" in seen)[0]
    shutil.rmtree(root / "folder")
    shutil.rmtree(tmp_path / "away")
    rest(watcher)
    write(root / "b.md")
    seen, everything = until(watcher, lambda seen, everything: everything or "b.md" in seen)
    assert everything or "b.md" in seen
    rest(watcher)
    write(root / "c.md")
    assert "c.md" in until(watcher, lambda seen, _: "c.md" in seen)[0]
    assert state_of(watcher, 1) == WatchState("watching")


def test_a_removed_tree_is_told_as_its_top(watcher, root):
    for number in range(40):
        write(root / "folder" / str(number % 4) / f"{number}.md")
    write(root / "keep.md")
    watcher.watch({1: root})
    shutil.rmtree(root / "folder")
    seen = paths(watcher, "folder")
    assert "folder" in seen
    assert all(path == "folder" or path.startswith("folder/") for path in seen)


def test_a_copied_tree_of_300_files_is_told_whole(watcher, root, tmp_path):
    for number in range(300):
        write(tmp_path / "tree" / str(number % 9) / "deep" / f"{number}.md")
    watcher.watch({1: root})
    shutil.copytree(tmp_path / "tree", root / "copy")
    # What is told of the tree has come when this is told, however slowly events are read.
    write(root / "last.md")
    seen = paths(watcher, "copy", "last.md") - {"last.md"}
    covered = [path for path in seen if path == "copy" or path.startswith("copy/")]
    assert len(covered) == len(seen)
    write(root / "copy" / "8" / "deep" / "8.md", "later")
    assert paths(watcher, "copy/8/deep/8.md") == {"copy/8/deep/8.md"}


def test_a_burst_is_told_in_few_changes_and_a_big_one_as_everything(patient, root):
    patient.watch({1: root})
    for number in range(200):
        write(root / f"{number}.md")
    expected = {f"{number}.md" for number in range(200)}
    told: list[str] = []
    changes = 0
    while set(told) != expected and changes < 4:
        for change in patient.changes(3):
            told += change.paths
            changes += 1
    assert sorted(told) == sorted(expected)
    for number in range(1000):
        write(root / f"{number}.md", "changed")
    assert until(patient, lambda _, everything: everything)[1]


def test_what_is_ignored_is_never_told(watcher, root):
    write(root / ".gitignore", "build/\n*.log\n!keep.log\n")
    (root / "build").mkdir()
    (root / "node_modules").mkdir()
    watcher.watch({1: root})
    for name in (
        "build/out.md",
        "node_modules/x/readme.md",
        ".hidden.md",
        ".git/HEAD",
        "~$open.docx",
        "file.part",
        "a.log",
        "deep/b.log",
    ):
        write(root / name)
    write(root / "keep.log")
    assert paths(watcher, "keep.log", "deep") == {"keep.log", "deep"}
    write(root / "build" / "out.md", "again")
    assert rest(watcher) == (set(), False)


def test_gitignore_can_be_turned_off(root):
    write(root / ".gitignore", "*.log\n")
    with FolderWatcher(QUIET, gitignore=False) as watcher:
        watcher.watch({1: root})
        write(root / "a.log")
        write(root / ".gitignore", "*\n")
        assert paths(watcher, "a.log") == {"a.log"}


def test_changed_ignore_rules_ask_for_their_folder_and_hold_at_once(watcher, root):
    write(root / "folder" / "a.log")
    watcher.watch({1: root})
    write(root / "folder" / "a.log", "counts")
    assert paths(watcher, "folder/a.log") == {"folder/a.log"}
    write(root / "folder" / ".ragkitignore", "*.log\n")
    assert paths(watcher, "folder") == {"folder"}
    write(root / "folder" / "a.log", "no longer counts")
    assert rest(watcher) == (set(), False)
    write(root / ".ragkitignore", "*.txt\n")
    whole(watcher)


def test_links_are_not_followed(watcher, root, tmp_path):
    write(tmp_path / "outside" / "a.md")
    write(root / "real" / "a.md")
    watcher.watch({1: root})
    (root / "link").symlink_to(tmp_path / "outside", target_is_directory=True)
    rest(watcher)
    write(tmp_path / "outside" / "a.md", "changed outside")
    assert rest(watcher) == (set(), False)
    (root / "real").rename(tmp_path / "outside" / "real")
    (root / "real").symlink_to(tmp_path / "outside" / "real", target_is_directory=True)
    assert paths(watcher, "real") == {"real"}
    write(tmp_path / "outside" / "real" / "a.md", "a phantom behind a link")
    assert rest(watcher) == (set(), False)


def test_a_root_that_is_a_link_is_watched_where_it_leads(watcher, root, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / "link").symlink_to(root, target_is_directory=True)
    watcher.watch({1: tmp_path / "link"})
    write(root / "a.md")
    assert paths(watcher, "a.md") == {"a.md"}
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to(other, target_is_directory=True)
    whole(watcher)
    write(other / "b.md")
    assert paths(watcher, "b.md") == {"b.md"}


def test_names_of_all_kinds_are_told_as_they_are(watcher, root):
    names = {"ü ö.md", "日本語/テスト.txt", "a%b_c.md", "back\\slash.md", "e\u0301.md", "-rf"}
    (root / "日本語").mkdir()
    watcher.watch({1: root})
    for name in names:
        write(root / name)
    (root / os.fsdecode(b"bad\xff.md")).write_bytes(b"")
    assert paths(watcher, *names) == names


def test_a_removed_root_is_offline_until_it_is_there_again(watcher, root):
    write(root / "a.md")
    watcher.watch({1: root})
    shutil.rmtree(root)
    whole(watcher)
    state = mode(watcher, "offline")
    assert str(root) in state.reason
    assert "not there" in state.reason
    write(root / "b.md")
    whole(watcher)
    mode(watcher, "watching")
    rest(watcher)
    write(root / "c.md")
    assert paths(watcher, "c.md") == {"c.md"}


def assert_still_watched_when_made_again(watcher: FolderWatcher, root: Path) -> None:
    """Remove the root and make it again at once, three times over."""
    for _ in range(3):
        shutil.rmtree(root)
        root.mkdir()
        whole(watcher)
        rest(watcher)
        assert state_of(watcher, 1) == WatchState("watching")


def test_a_root_removed_and_made_again_at_once_is_watched_still(watcher, root):
    watcher.watch({1: root})
    assert_still_watched_when_made_again(watcher, root)
    write(root / "a.md")
    assert paths(watcher, "a.md") == {"a.md"}


def test_a_root_made_again_under_the_same_number_has_no_watcher_that_stopped(
    watcher, root, monkeypatch
):
    """The end of a watch is seen before the event that tells of the end of its folder."""
    dispatch = FolderEvents.dispatch

    def late(self: FolderEvents, event: FileSystemEvent) -> None:
        if event.event_type == EVENT_TYPE_DELETED and event.src_path == str(root):
            time.sleep(0.2)
        dispatch(self, event)

    same = root.stat().st_dev, root.stat().st_ino
    real = inotify.identity
    monkeypatch.setattr(FolderEvents, "dispatch", late)
    monkeypatch.setattr(
        inotify, "identity", lambda path: found if isinstance(found := real(path), str) else same
    )
    watcher.watch({1: root})
    assert_still_watched_when_made_again(watcher, root)


def test_a_renamed_root_is_offline_and_another_in_its_place_is_watched(watcher, root, tmp_path):
    watcher.watch({1: root})
    root.rename(tmp_path / "elsewhere")
    whole(watcher)
    mode(watcher, "offline")
    write(tmp_path / "elsewhere" / "a.md")
    assert rest(watcher) == (set(), False)
    (tmp_path / "next").mkdir()
    (tmp_path / "next").rename(root)
    whole(watcher)
    rest(watcher)
    write(root / "b.md")
    assert paths(watcher, "b.md") == {"b.md"}


def test_a_root_swapped_for_another_between_two_looks_is_found(watcher, root, tmp_path):
    (tmp_path / "next").mkdir()
    watcher.watch({1: root})
    root.rename(tmp_path / "elsewhere")
    (tmp_path / "next").rename(root)
    whole(watcher)
    rest(watcher)
    write(root / "b.md")
    assert paths(watcher, "b.md") == {"b.md"}


@pytest.mark.parametrize("kind", ["missing", "file"])
def test_a_root_that_is_no_folder_is_waited_for(watcher, tmp_path, kind):
    root = tmp_path / "later"
    if kind == "file":
        root.write_text("x")
    watcher.watch({1: root})
    assert state_of(watcher, 1).mode == "offline"
    assert watcher.changes(0.4) == []
    root.unlink(missing_ok=True)
    root.mkdir()
    whole(watcher)
    assert state_of(watcher, 1) == WatchState("watching")


def test_sources_come_and_go_while_it_runs(watcher, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    watcher.watch({1: first})
    watcher.watch({1: first, 2: second})
    write(second / "a.md")
    assert watcher.changes(3) == [Change(2, ("a.md",))]
    watcher.watch({2: second})
    assert state_of(watcher, 1) is None
    write(first / "a.md")
    assert watcher.changes(0.3) == []
    watcher.watch({})
    write(second / "a.md")
    assert watcher.changes(0.3) == []


def test_two_sources_may_share_a_folder_or_lie_inside_one_another(patient, root):
    (root / "inner").mkdir()

    def told(sources: int) -> dict[int, tuple[str, ...]]:
        """What each source is told; the folders are read by a thread each, in its own time."""
        changes: list[Change] = []
        deadline = time.monotonic() + 5
        while len(changes) < sources and time.monotonic() < deadline:
            changes += patient.changes(deadline - time.monotonic())
        assert len(changes) == sources
        return {change.source_id: change.paths for change in changes}

    patient.watch({1: root, 2: root, 3: root / "inner"})
    write(root / "inner" / "a.md")
    assert told(3) == {1: ("inner/a.md",), 2: ("inner/a.md",), 3: ("a.md",)}
    patient.watch({2: root, 3: root / "inner"})
    write(root / "inner" / "a.md", "changed")
    assert told(2) == {2: ("inner/a.md",), 3: ("a.md",)}


def test_stopping_ends_every_thread_and_every_wait(root):
    before = set(threading.enumerate())
    watcher = FolderWatcher(QUIET)
    watcher.watch({1: root})
    told: list[list[Change]] = []
    waiting = threading.Thread(target=lambda: told.append(watcher.changes(30)))
    waiting.start()
    time.sleep(0.1)
    watcher.stop()
    waiting.join(timeout=2)
    assert told == [[]]
    assert set(threading.enumerate()) == before
    watcher.stop()
    assert watcher.changes(5) == []
    with pytest.raises(RuntimeError, match="stopped"):
        watcher.watch({1: root})


@linux
def test_a_short_limit_leads_to_polling_and_says_what_mends_it(root, monkeypatch):
    write(root / "a.md")
    write(root / "b.md")
    limits = [inotify.WatchLimits(500, 128)]
    short = inotify.Coverage(2041, frozenset(range(1541)))
    monkeypatch.setattr(inotify, "read_limits", lambda: limits[-1])
    with monkeypatch.context() as patch, FolderWatcher(QUIET, poll_seconds=0.3) as watcher:
        patch.setattr(inotify, "coverage", lambda root, gitignore: short)
        watcher.watch({1: root})
        state = state_of(watcher, 1)
        assert state.mode == "polling"
        assert "500 of 2,041 folders" in state.reason
        assert "sudo sysctl fs.inotify.max_user_watches=524288" in state.reason
        assert inotify.watched_inodes() == []
        whole(watcher)
        write(root / "a.md", "changed")
        (root / "b.md").unlink()
        write(root / "new" / "c.md")
        assert paths(watcher, "a.md", "b.md", "new/c.md") == {"a.md", "b.md", "new/c.md"}
        patch.undo()
        limits.append(inotify.WatchLimits(524_288, 128))
        mode(watcher, "watching")


@linux
def test_folders_that_fall_short_later_are_found(watcher, root, monkeypatch):
    watcher.watch({1: root})
    assert state_of(watcher, 1).mode == "watching"
    short = inotify.Coverage(50, frozenset(range(10)))
    monkeypatch.setattr(inotify, "coverage", lambda root, gitignore: short)
    (root / "new").mkdir()
    whole(watcher)
    assert "40 of 50 folders" in mode(watcher, "polling").reason


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (errno.EMFILE, "fs.inotify.max_user_instances="),
        (errno.ENOSPC, "fs.inotify.max_user_watches="),
        (errno.EIO, "cannot be watched"),
    ],
)
def test_a_refused_watch_leads_to_polling(root, monkeypatch, number, told):
    def refuse(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Observing, "schedule", refuse)
    with FolderWatcher(QUIET, poll_seconds=0.3) as watcher:
        watcher.watch({1: root})
        assert state_of(watcher, 1).mode == "polling"
        assert told in state_of(watcher, 1).reason
        whole(watcher)
        write(root / "a.md")
        assert paths(watcher, "a.md") == {"a.md"}


def test_a_large_unwatched_source_is_compared_whole_each_time(root, monkeypatch):
    for number in range(5):
        write(root / f"{number}.md")
    monkeypatch.setattr(watch, "MOST_COMPARED", 4)
    monkeypatch.setattr(inotify, "silent_file_system", lambda folder: "nfs4")
    with FolderWatcher(QUIET, poll_seconds=0.3) as watcher:
        watcher.watch({1: root})
        assert "nfs4" in state_of(watcher, 1).reason
        for _ in range(3):
            assert watcher.changes(3) == [Change(1, (), everything=True)]


def test_a_dead_watcher_is_replaced_and_one_that_dies_again_is_not_trusted(
    watcher, root, monkeypatch
):
    monkeypatch.setattr(watch, "_DISTRUST_SECONDS", 2.0)
    watcher.watch({1: root})
    for expected in ("watching", "polling"):
        for emitter in list(watcher._observing._observer.emitters):
            emitter.stop()
        whole(watcher)
        state = mode(watcher, expected)
        if expected == "watching":
            write(root / "a.md")
            assert paths(watcher, "a.md") == {"a.md"}
    assert "stopped twice" in state.reason
    whole(watcher)
    assert state_of(watcher, 1) == WatchState("watching")


@linux
def test_lost_events_ask_for_everything(watcher, root):
    from watchdog.observers.inotify_c import InotifyConstants, InotifyEvent

    watcher.watch({1: root})
    reader = watcher._observing._observer._inotify_fd
    reader.handle_event(InotifyEvent(-1, InotifyConstants.IN_Q_OVERFLOW, 0, b""))
    whole(watcher)
    assert state_of(watcher, 1) == WatchState("watching")
    write(root / "a.md")
    assert paths(watcher, "a.md") == {"a.md"}


_LIMITED = """
import json, sys, time
from pathlib import Path
limit = Path("/proc/sys/user/max_inotify_watches")
limit.write_text("30")
from ragkit.sources import watch
watch.CHECK_SECONDS, watch._POLL_SHARE, watch._ALL_SHARE = 0.3, 0, 0
root = Path(sys.argv[1])
states = []
with watch.FolderWatcher(0.1, poll_seconds=0.3) as watcher:
    watcher.watch({1: root})
    states += [(state.mode, state.reason) for state in watcher.states()]
    watcher.changes(2)
    (root / "39" / "a.md").write_text("x")
    told = [list(change.paths) for change in watcher.changes(3)]
    limit.write_text("1000")
    deadline = time.monotonic() + 5
    while watch.WatchState("watching") not in watcher.states() and time.monotonic() < deadline:
        watcher.changes(0.1)
    states += [(state.mode, state.reason) for state in watcher.states()]
print(json.dumps({"states": states, "told": told}))
"""


@linux
def test_the_kernels_own_limit_is_noticed_and_its_raising_too(root):
    unshare = shutil.which("unshare")
    if (
        unshare is None
        or subprocess.run([unshare, "-Ur", "true"], capture_output=True).returncode != 0
    ):
        pytest.skip("this system makes no user namespaces")
    for number in range(40):
        (root / str(number)).mkdir()
    done = subprocess.run(
        [unshare, "-Ur", sys.executable, "-c", _LIMITED, str(root)],
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    (first, reason), second = told["states"]
    assert first == "polling"
    assert "Only 30 of 41 folders could be watched" in reason
    assert "sudo sysctl fs.inotify.max_user_watches=" in reason
    assert told["told"] == [["39/a.md"]]
    assert second == ["watching", ""]


def test_beyond_the_most_that_are_watched_folders_are_compared(tmp_path, quick_checks, monkeypatch):
    monkeypatch.setattr(watch, "MOST_WATCHED", 2)
    roots = {number: tmp_path / str(number) for number in range(1, 5)}
    for root in roots.values():
        root.mkdir()
    with FolderWatcher(QUIET, poll_seconds=0.3) as watcher:
        watcher.watch(roots)
        told = "2 other folders are watched, which is the maximum; it is compared every "
        (watched, both), (polled, others) = watcher.states().items()
        assert (watched.mode, both, polled.mode, others) == ("watching", [1, 2], "polling", [3, 4])
        assert polled.reason.startswith(told)
        write(roots[4] / "a.md")
        assert watcher.changes(30) == [Change(4, ("a.md",))]
        del roots[1]
        watcher.watch(roots)
        assert watcher.changes(30) == [Change(3, (), everything=True)]
        assert state_of(watcher, 3) == WatchState("watching")
        assert state_of(watcher, 4).mode == "polling"


def test_comparing_all_takes_no_more_than_its_share(tmp_path, quick_checks, monkeypatch):
    clock = iter(range(10_000))
    monkeypatch.setattr(watch, "MOST_WATCHED", 0)
    monkeypatch.setattr(watch.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(watch, "_ALL_SHARE", 20)
    roots = {number: tmp_path / str(number) for number in range(1, 4)}
    for root in roots.values():
        root.mkdir()
    with FolderWatcher(QUIET, poll_seconds=30) as watcher:
        watcher.watch(roots)
        # Each comparison takes a second of this clock: they may take a twentieth of all.
        every = ["every 30 seconds", "every 60 seconds", "every 60 seconds"]
        assert all(told in state_of(watcher, number).reason for number, told in enumerate(every, 1))


def test_roots_are_looked_at_as_seldom_as_that_takes_long(root, quick_checks, monkeypatch):
    monkeypatch.setattr(watch, "_ALL_SHARE", 10**9)
    write(root / "a.md")
    with FolderWatcher(QUIET) as watcher:
        watcher.watch({1: root})
        watcher.changes(0)
        assert watcher._next_check > time.monotonic() + watch._LONGEST_REST / 2
        shutil.rmtree(root)
        # The system tells of it, whenever the next look would have been.
        assert watcher.changes(20) == [Change(1, (), everything=True)]
        assert state_of(watcher, 1).mode == "offline"
