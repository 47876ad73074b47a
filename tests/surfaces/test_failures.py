"""No traceback reaches a person: sentences, exit codes, and a log that is kept short."""

from __future__ import annotations

import errno
import logging
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from small_library import HANDBOOK, add, open_library, write_files

from ragkit.errors import is_lack_of_memory
from ragkit.indexing.writer import writer_lock
from ragkit.surfaces.failures import log_to


@pytest.fixture(autouse=True)
def _logs_as_before():
    root = logging.getLogger()
    level = root.level
    yield
    root.setLevel(level)
    log_to(Path(os.devnull))


@pytest.fixture
def filled(tmp_path):
    write_files(tmp_path / "files", HANDBOOK)
    library = open_library(tmp_path / "library")
    add(library, tmp_path / "files")
    library.close()
    return tmp_path / "library"


@pytest.mark.parametrize("command", ["status", "sync", "list", "doctor"])
def test_a_failure_that_nobody_foresaw_is_a_sentence_and_stands_in_the_log(
    filled, in_process, monkeypatch, command
):
    def broken(*_args, **_more):
        raise ZeroDivisionError("nobody\nexpects this")

    for place in (
        "ragkit.library.documents.DocumentService.counts",
        "ragkit.library.documents.DocumentService.list",
        "ragkit.library.jobs.HealthService.check",
        "ragkit.library.jobs.JobService.wait",
    ):
        monkeypatch.setattr(place, broken)
    told = in_process(command, "--library", filled)
    assert told.returncode == 1
    assert told.stdout == ""
    assert told.stderr.startswith(
        "ragkit: Something unexpected happened: ZeroDivisionError (nobody expects this)."
    )
    assert str(filled / "logs" / "commands.log") in told.stderr
    assert "Traceback" not in told.stderr
    log = (filled / "logs" / "commands.log").read_text("utf-8")
    assert "Traceback" in log
    assert "ZeroDivisionError: nobody\nexpects this" in log


def test_each_search_of_a_command_is_a_line_of_its_log_without_its_words(filled, in_process):
    shown = in_process("search", "refund zanzibar", "--library", filled)
    assert shown.returncode == 0
    in_process("search", "--chunked", "refund zanzibar", "--library", filled)
    in_process("status", "--library", filled)
    file = filled / "logs" / "commands.log"
    lines = file.read_text("utf-8").splitlines()
    assert [line.split(" INFO ")[1].split(":")[0] for line in lines] == [
        "search", "search by topics",
    ]  # fmt: skip
    assert "; found by " in lines[0]
    assert "1 segment → " in lines[1]
    assert "zanzibar" not in file.read_text("utf-8")
    assert file.stat().st_mode & 0o077 == 0


def test_a_job_that_fails_unforeseen_ends_as_failed(filled, in_process, monkeypatch):
    def broken(*_args, **_more):
        raise ZeroDivisionError("nobody expects this")

    monkeypatch.setattr("ragkit.background.job_handlers.sync_source", broken)
    told = in_process("sync", "--library", filled)
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr.startswith("Something unexpected happened: ZeroDivisionError (nobody")
    assert "ZeroDivisionError" in (filled / "logs" / "commands.log").read_text("utf-8")
    assert in_process("jobs", "--library", filled).stdout.split()[3] == "failed"


@pytest.mark.skipif(sys.platform != "linux", reason="the limit holds on Linux")
@pytest.mark.parametrize("megabytes", [250, 400, 600])
def test_too_little_memory_is_called_by_its_name(filled, megabytes):
    limit = megabytes * 1_000_000
    told = subprocess.run(
        [sys.executable, "-m", "ragkit", "search", "tomatoes", "--library", str(filled)],
        env={**os.environ, "RAGKIT_MODELS__EMBEDDER": "wordllama", "OPENBLAS_NUM_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "Traceback" not in told.stderr
    assert told.returncode in (0, 1)
    if told.returncode:
        assert "Memory ran out." in told.stderr


@pytest.mark.parametrize(
    ("error", "is_it"),
    [
        (MemoryError(), True),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), True),
        (ImportError("libx.so: failed to map segment from shared object"), True),
        (RuntimeError("can't start new thread"), True),
        (ImportError("No module named 'x'"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_a_lack_of_memory_is_known_by_what_it_causes(error, is_it):
    assert is_lack_of_memory(error) is is_it
    outer = ValueError("it failed")
    outer.__cause__ = error
    assert is_lack_of_memory(outer) is is_it


def test_a_log_is_kept_short(tmp_path, monkeypatch):
    monkeypatch.setattr("ragkit.surfaces.failures._LOG_BYTES", 2000)
    log_to(tmp_path / "worker.log")
    for number in range(200):
        logging.getLogger("ragkit.tests").error("entry %d of a long log", number)
    logs = sorted(file.name for file in tmp_path.iterdir())
    assert logs == ["worker.log", "worker.log.1", "worker.log.2", "worker.log.3"]
    assert all(file.stat().st_size <= 2000 for file in tmp_path.iterdir())
    assert "entry 199 of" in (tmp_path / "worker.log").read_text("utf-8")


def test_requests_are_not_logged(tmp_path):
    log_to(tmp_path / "worker.log")
    logging.getLogger().setLevel(logging.INFO)
    logging.getLogger("httpx").info("HTTP Request: GET http://127.0.0.1")
    logging.getLogger("ragkit.tests").info("job done")
    logged = (tmp_path / "worker.log").read_text("utf-8")
    assert "job done" in logged
    assert "HTTP Request" not in logged


def test_a_second_worker_ends_with_the_code_for_busy(filled):
    with writer_lock(filled / "writer.lock", "worker"):
        told = subprocess.run(
            [sys.executable, "-m", "ragkit", "worker", "--library", str(filled)],
            env={**os.environ, "RAGKIT_MODELS__EMBEDDER": "hash"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert told.returncode == 4
    assert "is being written by the worker" in told.stderr


def test_what_cannot_be_raised_stands_in_the_log_unless_a_reader_has_gone(tmp_path):
    program = (
        "import io, os, pathlib\n"
        "from ragkit.surfaces.failures import keep_tracebacks_from_the_terminal, log_to\n"
        "keep_tracebacks_from_the_terminal()\n"
        f"log_to(pathlib.Path({str(tmp_path / 'a.log')!r}))\n"
        "reader, writer = os.pipe()\n"
        "stream = io.BufferedWriter(io.FileIO(writer, 'w'))\n"
        "stream.write(b'an answer')\n"
        "os.close(reader)\n"
        "del stream\n"
        "class Odd:\n"
        "    def __del__(self): raise ValueError('odd')\n"
        "del (odd := [Odd()])[0]\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    log = (tmp_path / "a.log").read_text()
    assert ("ValueError: odd" in log, "BrokenPipe" in log) == (True, False)
