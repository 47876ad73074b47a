"""Children that end or lie: their file fails alone with a sentence, and the next one is read."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from ragkit.errors import PassingError, ReadingError
from ragkit.reading import ReaderPool, ReadTask, process, wire
from ragkit.reading.limits import Limits
from ragkit.reading.process import ReadingProcess
from ragkit.reading.spread import SpreadPages
from ragkit.settings import ReadingSettings
from ragkit.types import MessageSpan, OutlineEntry, Page, Reading

pytestmark = pytest.mark.usefixtures("own_processes")

SETTINGS = ReadingSettings(processes=1, timeout_seconds=20)

LIAR = """
import json, os, struct, sys, time

def frame(header, text=b""):
    head = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<IQQ", len(head), len(text), 0) + head + text

def say(*pieces):
    for piece in pieces:
        sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()

def reading(**lies):
    told = {"title": "t", "format": "Text", "markup": "plain", "language": "", "pages": [],
            "outline": [], "metadata": {}, "warnings": [], "messages": [], **lies}
    say(frame({"reading": told}, b"four"))

def error(message):
    say(frame({"error": {"message": message, "cure": "", "kind": "ReadingError"}}))

say(frame({"ready": True}))
sys.stdin.buffer.read(1)
exec(sys.argv[1])
time.sleep(60)
"""
"""A reading process that a hostile file has taken over: it does as the argument says."""

LIES = {
    "a header nested too deeply": "say(frame(b'[' * 200_000 + b']' * 200_000))",
    "no frame": "say(b'\\xff' * 1000)",
    "endless noise": "while True: say(b'\\xff' * 65_536)",
    "endless frames": "while True: say(frame({'more': 1}))",
    "a header that is too long": "say(struct.pack('<IQQ', 2**31, 0, 0))",
    "a text that is too long": "say(struct.pack('<IQQ', 2, 2**60, 0), b'{}')",
    "half a frame": "say(frame({'error': {}})[:-3]); os._exit(0)",
    "a closed pipe": "os.close(1)",
    "no object": "say(frame([1]))",
    "no JSON": "say(frame(b'{\"error\"'))",
    "no UTF-8": "say(frame({'reading': {}}, b'\\xff'))",
    "no reading": "say(frame({'reading': 7}))",
    "no error": "say(frame({'error': 7}))",
    "an error without a sentence": "error('')",
    "an error that is no text": "error(['no'])",
    "half a character in an error": "error('half \\ud800')",
    "half a character": "reading(title='half \\ud800')",
    "a title that is a list": "reading(title=['t'])",
    "no title": "reading(title=None)",
    "a format that is an object": "reading(format={})",
    "a markup that is a list": "reading(markup=[])",
    "a language that is a number": "reading(language=1)",
    "metadata that are a list": "reading(metadata=[1])",
    "warnings that are a number": "reading(warnings=7)",
    "a warning that is a number": "reading(warnings=[7])",
    "a page without an end": "reading(pages=[[1, 'i', 0]])",
    "a page whose label is a number": "reading(pages=[[1, 7, 0, 4]])",
    "a page that ends before it begins": "reading(pages=[[1, 'i', 3, 2]])",
    "a page that ends after the text": "reading(pages=[[1, 'i', 0, 5]])",
    "a page with an endless number": "reading(pages=[[10**30, 'i', 0, 4]])",
    "an outline after the text": "reading(outline=[[5, 1, 'x']])",
    "an outline of words": "reading(outline=[['x', 'y', 'z']])",
    "a message before the text": "reading(messages=[[-1, 4, 'Ann', '']])",
    "a message without a time": "reading(messages=[[0, 4, 'Ann', None]])",
}


@pytest.fixture
def first_child(monkeypatch):
    """A function that makes the next child that is started a liar; later ones are true."""
    true = process._start
    monkeypatch.setattr(process, "_OWN_END_SECONDS", 0.1)

    def lies(deed):
        def start(*_):
            monkeypatch.setattr(process, "_start", true)
            return subprocess.Popen(
                [sys.executable, "-ISs", "-c", LIAR, deed],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

        monkeypatch.setattr(process, "_start", start)

    return lies


@pytest.fixture
def reader():
    process = ReadingProcess(Limits.of(SETTINGS))
    yield process
    process.close()


@pytest.fixture
def told(reader, tasks):
    """A function that returns what the reader of a file tells."""
    return lambda: reader.read(tasks[0].path, "a.md")


@pytest.fixture
def tasks(tmp_path):
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text(f"text of {name}")
    return [ReadTask(key, tmp_path / name, name) for key, name in enumerate(("a.md", "b.md"))]


def results(tasks):
    with ReaderPool(SETTINGS) as pool:
        return [outcome.result for outcome in sorted(pool.read(tasks), key=lambda one: one.key)]


@pytest.mark.parametrize("lie", LIES)
def test_a_file_that_takes_over_its_reader_is_an_error(first_child, told, lie):
    first_child(LIES[lie])
    error = told()
    assert type(error) is ReadingError
    assert error.message == "The reader crashed on this file."


@pytest.mark.parametrize("lie", ["a header nested too deeply", "endless noise", "no reading"])
@pytest.mark.usefixtures("nothing_collected")
def test_a_file_that_takes_over_its_reader_fails_alone(first_child, tasks, lie):
    first_child(LIES[lie])
    lied, true = results(tasks)
    assert type(lied) is ReadingError
    assert true.reading.text == "text of b.md"


def test_a_true_reading_passes(first_child, told):
    first_child(
        "reading(title='\\U0001f426', pages=[[1, 'i', 0, 4]], outline=[[4, 1, 'x']],"
        " messages=[[0, 4, 'Ann', '']], warnings=['w'], metadata={'a': [1]})"
    )
    assert told().reading == Reading(
        "four",
        "\N{BIRD}",
        "Text",
        pages=(Page(1, "i", 0, 4),),
        outline=(OutlineEntry(4, 1, "x"),),
        metadata={"a": [1]},
        warnings=("w",),
        messages=(MessageSpan(0, 4, "Ann"),),
    )


def test_a_sentence_of_a_child_has_no_control_characters_and_is_not_endless(first_child, told):
    first_child("error('a\\0b ' + 'x' * 10**6)")
    message = told().message
    assert message.startswith("ab xxx")
    assert len(message) <= 2000


@pytest.mark.parametrize("count", ["float('inf')", "-1", "1.5", "[1]", "10**30", "None"])
def test_a_number_of_pages_that_is_none_is_an_error(first_child, reader, tmp_path, count):
    first_child(f"say(frame({{'count': {count}}}))")
    assert isinstance(reader.read_pages(tmp_path / "a.pdf", "a.pdf", 0, 32), ReadingError)


def test_halves_of_characters_are_replaced_on_their_way():
    stream = io.BytesIO()
    wire.send(stream, {"title": "half \ud800 \N{BIRD}"}, "also \udfff")
    stream.seek(0)
    header, text, _ = wire.receive(stream, 100)
    assert header == {"title": "half \N{REPLACEMENT CHARACTER} \N{BIRD}"}
    assert text == "also \N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize("written", ["\\ud800", "C:\\users\\udine", "\\\\ud83d"])
def test_a_backslash_in_a_name_is_no_half_character(written):
    stream = io.BytesIO()
    wire.send(stream, {"title": written})
    stream.seek(0)
    assert wire.receive(stream, 0)[0] == {"title": written}


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "Memory ran out while this file was read."),
        (RuntimeError("can't start new thread"), "Memory ran out while this file was read."),
        (ZeroDivisionError(), "Something unexpected happened while this file was read."),
    ],
    ids=["memory", "threads", "unforeseen"],
)
def test_what_fails_beside_the_child_leaves_the_file_for_later(tasks, monkeypatch, error, message):
    real = wire.receive

    def fails(*_):
        monkeypatch.setattr(wire, "receive", real)
        raise error

    monkeypatch.setattr(wire, "receive", fails)
    failed, read = results(tasks)
    assert isinstance(failed, PassingError)
    assert failed.message == message
    assert read.reading.text == "text of b.md"


def test_a_thread_outlives_what_goes_wrong_around_a_reading(tasks, monkeypatch):
    real = ReadingProcess.read

    def read(self, path, *more):
        if path.name == "a.md":
            raise RecursionError
        return real(self, path, *more)

    monkeypatch.setattr(ReadingProcess, "read", read)
    failed, read = results(tasks)
    assert isinstance(failed, PassingError)
    assert read.reading.text == "text of b.md"


@pytest.mark.parametrize("threads", [0, 1])
def test_without_room_for_threads_files_wait_for_those_there_are(tasks, monkeypatch, threads):
    real, started = threading.Thread.start, []

    def start(self):
        if self.name == "ragkit-reading":
            if len(started) >= threads:
                raise RuntimeError("can't start new thread")
            started.append(self)
        real(self)

    monkeypatch.setattr(threading.Thread, "start", start)
    with ReaderPool(SETTINGS.model_copy(update={"processes": 2})) as pool:
        found = [outcome.result for outcome in pool.read(tasks)]
    if threads:
        assert {one.reading.text for one in found} == {"text of a.md", "text of b.md"}
    else:
        assert all(isinstance(one, PassingError) for one in found)
        assert len(found) == 2


def test_without_room_for_its_clock_no_file_is_read_without_one(reader, tasks, monkeypatch):
    real, failed = threading.Thread.start, []

    def start(self):
        if self.name == "ragkit-clock" and not failed:
            failed.append(self)
            raise RuntimeError("can't start new thread")
        real(self)

    monkeypatch.setattr(threading.Thread, "start", start)
    assert isinstance(reader.read(tasks[0].path, "a.md"), PassingError)
    assert reader.read(tasks[0].path, "a.md").reading.text == "text of a.md"
    assert "ragkit-clock" in {thread.name for thread in threading.enumerate()}


@pytest.mark.skipif(sys.platform == "win32", reason="its limits are others")
def test_without_room_for_open_files_a_file_is_left_for_later(tasks):
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = []
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 512), hard))
        with contextlib.suppress(OSError):
            while True:
                taken.append(os.dup(0))
        failed, _ = results(tasks)
    finally:
        for descriptor in taken:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert isinstance(failed, PassingError)
    assert failed.message == "The reading process could not be started."
    assert [one.reading.text for one in results(tasks)] == ["text of a.md", "text of b.md"]


class Breaks:
    """A reading process with 100 pages that fails in an unforeseen way after the first."""

    def read_pages(self, path, name, first, end):
        if first:
            raise RecursionError
        return process.Pages(100, b"")


def test_nobody_waits_for_pages_whose_reading_broke_off(tmp_path):
    pages = SpreadPages.begun(tmp_path / "a.pdf", "a.pdf", Breaks(), 2)
    with pytest.raises(RecursionError):
        pages.help_with(Breaks())
    done = []
    owner = threading.Thread(target=lambda: done.append(pages.finished(Breaks())), daemon=True)
    owner.start()
    owner.join(10)
    assert done == [()]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes have another size there")
def test_a_child_that_takes_nothing_does_not_hold_up_whoever_interrupts(reader, tasks, monkeypatch):
    """Ray cancels by an exception in the thread, here while a request is half written."""

    def interrupt(stream, *_, **__):
        os.set_blocking(stream.fileno(), False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(stream.fileno(), b"x" * 4096)
        os.set_blocking(stream.fileno(), True)
        stream.write(b"x" * 4000)
        raise KeyboardInterrupt

    assert reader.read(tasks[0].path, "a.md").reading
    os.kill(reader._child.pid, signal.SIGSTOP)
    with monkeypatch.context() as patch:
        patch.setattr(wire, "send", interrupt)
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            reader.read(tasks[0].path, "a.md")
    assert time.monotonic() - started < 10
