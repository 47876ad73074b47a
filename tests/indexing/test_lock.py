from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pytest

from ragkit.errors import LibraryBusyError, LibraryError
from ragkit.indexing import writer
from ragkit.indexing.writer import lock_holder, lock_is_held, writer_lock

_HOLD = """
import sys
from pathlib import Path
from ragkit.indexing.writer import writer_lock
with writer_lock(Path(sys.argv[1]), "worker"):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def other(library_paths):
    """Another process that holds the lock until it is told to let go."""
    run = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(library_paths.lock)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert run.stdout.readline() == "held\n"
    yield run
    run.kill()
    run.wait(10)
    run.stdin.close()
    run.stdout.close()


def test_the_lock_is_held_for_the_block_and_free_after_it(library_paths):
    file = library_paths.lock
    assert not lock_is_held(file)
    assert not file.exists()
    with writer_lock(file, "worker"):
        assert lock_is_held(file)
        holder = lock_holder(file)
        assert (holder.pid, holder.role) == (os.getpid(), "worker")
        assert abs(holder.started_at - time.time()) < 60
    assert not lock_is_held(file)


def test_the_lock_is_free_after_an_error(library_paths):
    with pytest.raises(ZeroDivisionError), writer_lock(library_paths.lock, "worker"):
        _ = 1 / 0
    assert not lock_is_held(library_paths.lock)


def test_an_os_error_of_the_block_is_not_taken_for_one_of_the_lock(library_paths):
    with pytest.raises(FileNotFoundError), writer_lock(library_paths.lock, "worker"):
        (library_paths.root / "none").read_text()


def test_another_process_is_refused_and_told_who_writes(library_paths, other):
    assert lock_is_held(library_paths.lock)
    with (
        pytest.raises(LibraryBusyError, match=f"by the worker .process {other.pid}.") as caught,
        writer_lock(library_paths.lock, "command"),
    ):
        pass
    assert str(library_paths.root) in caught.value.message
    assert caught.value.exit_code == 4
    assert lock_holder(library_paths.lock).role == "worker"


def test_a_process_that_is_killed_frees_the_lock(library_paths, other):
    other.kill()
    other.wait(10)
    assert not lock_is_held(library_paths.lock)
    with writer_lock(library_paths.lock, "command"):
        assert lock_holder(library_paths.lock).role == "command"


def test_waiting_for_the_lock_gets_it_when_it_comes_free(library_paths, other, monkeypatch):
    monkeypatch.setattr(writer, "_WAIT_SECONDS", 20.0)
    timer = threading.Timer(0.2, lambda: (other.stdin.write("\n"), other.stdin.flush()))
    timer.start()
    with writer_lock(library_paths.lock, "command"):
        assert lock_holder(library_paths.lock).pid == os.getpid()
    timer.join()


def test_two_threads_do_not_share_the_lock(library_paths):
    errors = []

    def second():
        try:
            with writer_lock(library_paths.lock, "command"):
                errors.append(None)
        except LibraryBusyError as error:
            errors.append(error)

    with writer_lock(library_paths.lock, "worker"):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(20)
    assert isinstance(errors[0], LibraryBusyError)


def test_looking_at_the_lock_never_keeps_a_writer_from_it(library_paths, monkeypatch):
    monkeypatch.setattr(writer, "_WAIT_SECONDS", 20.0)
    stop = threading.Event()

    def look():
        while not stop.is_set():
            lock_is_held(library_paths.lock)

    threads = [threading.Thread(target=look) for _ in range(2)]
    with writer_lock(library_paths.lock, "worker"):
        pass
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            with writer_lock(library_paths.lock, "worker"):
                assert lock_is_held(library_paths.lock)
    finally:
        stop.set()
        for thread in threads:
            thread.join(10)


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"pid": "x"}', '{"pid": 1}'])
def test_a_note_that_makes_no_sense_is_nobody(library_paths, content):
    assert lock_holder(library_paths.lock) is None
    library_paths.lock.with_suffix(".json").write_text(content)
    assert lock_holder(library_paths.lock) is None


def test_a_note_that_is_not_utf8_is_nobody(library_paths):
    library_paths.lock.with_suffix(".json").write_bytes(b"\xff")
    assert lock_holder(library_paths.lock) is None


def test_a_folder_that_is_not_a_folder_is_a_plain_error(tmp_path):
    (tmp_path / "file").write_text("x")
    with (
        pytest.raises(LibraryError, match="cannot be written"),
        writer_lock(tmp_path / "file" / "writer.lock", "worker"),
    ):
        pass


def test_when_the_note_cannot_be_written_the_lock_is_let_go(library_paths):
    library_paths.lock.with_suffix(".json").mkdir()
    with (
        pytest.raises(LibraryError, match="cannot be written"),
        writer_lock(library_paths.lock, "worker"),
    ):
        pass
    assert not lock_is_held(library_paths.lock)
