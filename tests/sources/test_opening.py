"""Opening files that are none, and work that hangs."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import psutil
import pytest

from ragkit.errors import SourceError
from ragkit.indexing.writer import hash_file
from ragkit.sources import opening
from ragkit.sources.opening import UnsettledError, ask_disk, open_regular, patiently


def test_a_regular_file_gives_its_bytes(tmp_path):
    (tmp_path / "a.md").write_bytes(b"one\r\ntwo")
    with open_regular(tmp_path / "a.md") as stream:
        assert stream.read(100) == b"one\r\ntwo"


def test_a_pipe_a_socket_a_device_a_folder_or_a_link_is_never_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    before = psutil.Process().num_fds()
    for name in ("pipe", "socket", "folder", "link"):
        with pytest.raises(OSError, match=name):
            open_regular(tmp_path / name)
    with pytest.raises(UnsettledError):
        hash_file(tmp_path / "pipe")
    with pytest.raises(UnsettledError):
        open_regular(Path("/dev/zero"))
    assert psutil.Process().num_fds() == before


def test_a_file_that_grows_is_read_no_further_than_it_was_long(tmp_path):
    (tmp_path / "a.log").write_bytes(b"x" * 1_000_000)
    assert hash_file(tmp_path / "a.log", 1_000_000) == hash_file(tmp_path / "a.log")
    with pytest.raises(UnsettledError, match="growing"):
        hash_file(tmp_path / "a.log", 999_999)


def test_work_that_hangs_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "STALL_SECONDS", 0.1)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TimeoutError):
        patiently(lambda _step: os.close(os.open(tmp_path / "pipe", os.O_RDONLY)))
    # Lets the thread that still waits end.
    (tmp_path / "pipe").open("wb").close()


def test_work_that_goes_on_may_take_any_time(monkeypatch):
    monkeypatch.setattr(opening, "STALL_SECONDS", 0.2)
    pause = threading.Event()

    def work(step):
        for _ in range(12):
            pause.wait(0.05)
            step()
        return "done"

    assert patiently(work) == "done"


def test_what_the_work_raises_is_raised():
    with pytest.raises(FileNotFoundError):
        patiently(lambda _step: Path("/nowhere/at/all").stat())


def test_a_disk_that_does_not_answer_is_a_source_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setattr(opening, "STALL_SECONDS", 0.1)
    never = threading.Event()
    with pytest.raises(SourceError, match="is not responding") as caught:
        ask_disk(tmp_path, lambda _step: never.wait(20))
    never.set()
    assert "drive or the network" in caught.value.cure
