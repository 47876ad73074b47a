"""The pool with real children. A module put in front of PyYAML makes their reader misbehave."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import textwrap
import threading
import time
import unicodedata
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path

import psutil
import pytest
from PIL import Image
from pypdf import PdfWriter
from reportlab.pdfgen.canvas import Canvas

from ragkit.errors import PassingError, ReadingError, SkippedError
from ragkit.reading import ReaderPool, ReadTask, process, read_file, wire
from ragkit.reading.limits import Limits
from ragkit.reading.pdf.by_pdfium import contents_of
from ragkit.reading.pdf.contents import PageRun
from ragkit.reading.process import Pages, Read, ReadingProcess
from ragkit.reading.spread import SpreadPages
from ragkit.settings import ReadingSettings

pytestmark = pytest.mark.usefixtures("own_processes")

ROOT = Path(__file__).resolve().parents[2]
AWKWARD = ROOT.parent / "shared" / "data" / "awkward_files"
HOSTILE = """
import ctypes, os, signal, socket, sys, time

HOARD = []

class YAMLError(Exception):
    pass

class SafeLoader:
    pass

def load(text, Loader):
    return {"title": "loaded", "did": deed(text.strip())}

def deed(text):
    what, _, rest = text.partition(" ")
    if what == "sleep":
        time.sleep(float(rest or 60))
    elif what == "spin":
        while True:
            pass
    elif what == "exit":
        os._exit(3)
    elif what == "crash":
        signal.raise_signal(signal.SIGABRT) if rest else ctypes.string_at(0)
    elif what == "killed":
        signal.raise_signal(signal.SIGKILL)
    elif what == "fork":
        os.fork()
    elif what == "native_fork":
        return ctypes.CDLL(None).fork()
    elif what == "native_exec":
        arguments = (ctypes.c_char_p * 2)(b"/bin/true", None)
        return ctypes.CDLL(None).execv(b"/bin/true", arguments)
    elif what == "program":
        import subprocess
        subprocess.run([sys.executable, "-c", ""])
    elif what == "network":
        socket.create_connection(("127.0.0.1", 9))
    elif what == "write":
        open(rest, "w").write("x")
    elif what == "native_write":
        libc = ctypes.CDLL(None)
        handle = libc.open(rest.encode(), os.O_WRONLY | os.O_CREAT, 0o600)
        return libc.write(handle, b"x", 1)
    elif what == "remove":
        os.remove(rest)
    elif what == "memory":
        kept = [bytearray(50_000_000) for _ in range(200)]
    elif what == "hoard":
        HOARD.append(bytearray(300_000_000))
    elif what == "print":
        print("noise" * 50_000)
        sys.stderr.write("noise" * 50_000)
        os.write(1, b"noise" * 50_000)
    elif what == "deep":
        deed(text)
    elif what == "pid":
        return os.getpid()
    return what
"""


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """A folder whose files tell the reader in their front matter what to do."""
    modules = tmp_path / "modules"
    modules.mkdir()
    (modules / "yaml.py").write_text(HOSTILE)
    monkeypatch.syspath_prepend(str(modules))
    folder = tmp_path / "files"
    folder.mkdir()

    def make(*deeds):
        tasks = []
        for number, deed in enumerate(deeds):
            path = folder / f"{number}.md"
            path.write_text(f"---\n{deed}\n---\nbody {number}\n")
            tasks.append(ReadTask(number, path, path.name))
        return tasks

    return make


def settings(**values):
    return ReadingSettings(**{"processes": 2, "timeout_seconds": 20, **values})


def outcomes(pool, tasks):
    return {outcome.key: outcome for outcome in pool.read(tasks)}


def text_tasks(folder, count, size=100):
    tasks = []
    for number in range(count):
        path = folder / f"{number}.txt"
        path.write_text(f"{number} " + "w" * size)
        tasks.append(ReadTask(number, path, path.name))
    return tasks


def reads(process: psutil.Process) -> bool:
    try:
        return "ragkit.reading.child" in " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        # It has just ended, or waits to be collected.
        return False


def children():
    return [one for one in psutil.Process().children(recursive=True) if reads(one)]


def test_every_file_comes_back_once_as_read_in_process(tmp_path):
    tasks = text_tasks(tmp_path, 60)
    with ReaderPool(settings()) as pool:
        found = outcomes(pool, tasks)
        again = outcomes(pool, tasks)
    assert sorted(found) == sorted(again) == list(range(60))
    for task in tasks:
        expected = read_file(task.path, task.name, settings())
        assert found[task.key].result.reading == expected
        assert found[task.key].seconds >= 0


def test_a_reading_survives_the_way_back_whole(tmp_path):
    path = tmp_path / "a.md"
    path.write_text("---\ntags: [a]\ndate: 2020-01-01\n---\n# Ünïcode 日本 👩‍👧\n\n\u200btext\n")
    with ReaderPool(settings()) as pool:
        (outcome,) = pool.read([ReadTask(7, path, "sub/a.md")])
    assert outcome.key == 7
    assert outcome.result.reading == read_file(path, "sub/a.md", settings())


def locked_pdf() -> bytes:
    writer, stream = PdfWriter(), io.BytesIO()
    writer.add_blank_page(100, 100)
    writer.encrypt("secret", "owner", algorithm="AES-256")
    writer.write(stream)
    return stream.getvalue()


def large_pdf(folder, pages=150):
    """A PDF of over half a megabyte, the 70th page of which is a picture, with a bookmark."""
    path = folder / "large.pdf"
    canvas = Canvas(str(path), pageCompression=0)
    for page in range(pages):
        if page == 69:
            canvas.drawInlineImage(Image.new("L", (50, 50)), 0, 0, 600, 850)
        else:
            for line in range(60):
                canvas.drawString(50, 800 - 12 * line, f"Page {page} says in line {line} so much.")
        if page == 100:
            canvas.bookmarkPage("there")
            canvas.addOutlineEntry("Page 100 says", "there")
        canvas.showPage()
    canvas.save()
    return ReadTask(1, path, path.name, path.stat().st_size)


def test_pages_of_a_large_pdf_are_read_by_all_processes_that_are_free(tmp_path):
    task = large_pdf(tmp_path)
    with ReaderPool(settings(processes=3)) as pool:
        (outcome,) = pool.read([task])
        assert len(children()) == 3
        again = outcomes(pool, [task, *text_tasks(tmp_path, 30)[2:]])
    assert (
        outcome.result.reading
        == again[1].result.reading
        == read_file(task.path, task.name, settings())
    )
    assert outcome.result.reading.warnings == ("Page 70 holds a picture, not text, and needs OCR.",)
    assert len(outcome.result.reading.outline) == 1


def test_a_pdf_of_few_pages_is_read_by_one_process(tmp_path):
    task = large_pdf(tmp_path, pages=30)
    with ReaderPool(settings(processes=3)) as pool:
        (outcome,) = pool.read([replace(task, size=10**6)])
        assert len(children()) == 1
    assert outcome.result.reading == read_file(task.path, task.name, settings())


def test_a_large_pdf_that_cannot_be_read_says_why(tmp_path):
    (tmp_path / "locked.pdf").write_bytes(locked_pdf())
    (tmp_path / "torn.pdf").write_bytes(b"%PDF-1.4\n" + b"no pages " * 100_000)
    (tmp_path / "page.pdf").write_bytes(b"<html><body>A page.</body></html>")
    found = []
    for name in ("locked.pdf", "torn.pdf", "page.pdf"):
        with ReaderPool(settings(processes=2)) as pool:
            (outcome,) = pool.read([ReadTask(1, tmp_path / name, name)])
        result = outcome.result
        found.append(result.reading.text if isinstance(result, Read) else result.message)
    assert found == [
        "This PDF is locked with a password.",
        "This PDF is damaged or incomplete and cannot be opened.",
        "A page.",
    ]


def test_runs_of_pages_follow_one_another_whoever_reads_them(tmp_path):
    task = large_pdf(tmp_path)
    limits = Limits(60, 1000, 100, 50)
    owner, helper = ReadingProcess(limits), ReadingProcess(limits)
    pages = SpreadPages.begun(task.path, task.name, owner, 2)
    helping = threading.Thread(target=pages.help_with, args=(helper,))
    helping.start()
    runs = pages.finished(owner)
    helping.join()
    owner.close()
    helper.close()
    assert len(runs) > 3
    whole = PageRun.joined([PageRun.unpack(run) for run in runs])
    assert whole == contents_of(task.path.read_bytes(), limits).run


class Script:
    """A reading process that has 100 pages, and cannot read the 70th."""

    def read_pages(self, path, name, first, end):
        if first <= 70 < end:
            return ReadingError("Broken.", "Mend it.")
        return Pages(100, b"")


def test_a_run_that_cannot_be_read_leaves_the_file_to_be_read_as_a_whole(tmp_path):
    pages = SpreadPages.begun(tmp_path / "a.pdf", "a.pdf", Script(), 2)
    assert pages.finished(Script()) == ()


def test_a_large_pdf_is_read_though_its_processes_are_killed(tmp_path):
    task = large_pdf(tmp_path, pages=400)
    with ReaderPool(settings(processes=2)) as pool:
        reading = pool.read([task])
        killer = threading.Timer(1.0, lambda: [one.kill() for one in children()])
        killer.start()
        (outcome,) = reading
        killer.join()
    if isinstance(outcome.result, Read):
        assert len(outcome.result.reading.pages) == 400
    else:
        assert isinstance(outcome.result, PassingError)


@pytest.mark.skipif(sys.platform != "linux", reason="names are bytes on Linux")
def test_names_that_are_no_text_are_read_all_the_same(tmp_path):
    names = [os.fsdecode(b"bad\xff.md"), unicodedata.normalize("NFD", "Müll.md"), "a\nb '\"$(x).md"]
    tasks = [ReadTask(n, tmp_path / name, name) for n, name in enumerate(names)]
    for task in tasks:
        task.path.write_text("text")
    with ReaderPool(settings()) as pool:
        found = outcomes(pool, tasks)
    titles = [found[n].result.reading.title for n in range(3)]
    assert titles == ["bad\N{REPLACEMENT CHARACTER}", "Müll", "a b '\"$(x)"]


def test_a_process_that_does_not_start_is_started_again(tmp_path, monkeypatch, caplog):
    path = tmp_path / "a.md"
    path.write_text("text")
    started = process._start

    def ends_at_once(*arguments):
        child = started(*arguments)
        child.kill()
        monkeypatch.setattr(process, "_start", started)
        return child

    monkeypatch.setattr(process, "_start", ends_at_once)
    with ReaderPool(settings(processes=1)) as pool:
        (outcome,) = pool.read([ReadTask(1, path, "a.md")])
    assert outcome.result.reading == read_file(path, "a.md", settings())
    assert "did not start: BrokenFrameError(), status -9" in caplog.text


def test_a_process_that_never_starts_leaves_the_file_for_later(tmp_path, monkeypatch):
    def none_left(*_):
        raise OSError("no more processes")

    monkeypatch.setattr(process, "_start", none_left)
    with ReaderPool(settings(processes=1)) as pool:
        (outcome,) = pool.read([ReadTask(1, tmp_path / "a.md", "a.md")])
    assert isinstance(outcome.result, PassingError)
    assert outcome.result.message == "The reading process could not be started."


def test_refusals_keep_their_kind_and_cure(tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(40))
    (tmp_path / "b.docx").write_bytes(b"PK\x03\x04 broken")
    tasks = [
        ReadTask(n, tmp_path / name, name) for n, name in enumerate(("a.png", "b.docx", "gone.md"))
    ]
    with ReaderPool(settings()) as pool:
        found = outcomes(pool, tasks)
    assert type(found[0].result) is SkippedError
    assert [type(found[n].result) for n in (1, 2)] == [ReadingError, ReadingError]
    assert all(found[n].result.cure for n in range(3))


def test_tasks_are_taken_only_a_few_ahead(tmp_path):
    taken = []

    def tasks():
        for task in text_tasks(tmp_path, 200):
            taken.append(task.key)
            yield task

    with ReaderPool(settings()) as pool:
        stream = pool.read(tasks())
        next(stream)
        time.sleep(0.2)
        assert len(taken) <= 20
        assert len(list(stream)) == 199
    assert len(taken) == 200


def test_tasks_are_taken_in_the_thread_that_asks(tmp_path):
    threads = set()

    def tasks():
        for task in text_tasks(tmp_path, 30):
            threads.add(threading.get_ident())
            yield task

    with ReaderPool(settings()) as pool:
        assert len(list(pool.read(tasks()))) == 30
    assert threads == {threading.get_ident()}


def test_outcomes_come_in_the_order_of_completion(hostile, tmp_path):
    slow, *quick = hostile("sleep", *["title"] * 5)
    with ReaderPool(settings(timeout_seconds=1.5)) as pool:
        order = [outcome.key for outcome in pool.read([slow, *quick])]
    assert order[-1] == 0
    assert sorted(order) == list(range(6))


def test_a_reader_that_stops_listening_leaves_nothing_behind(hostile, tmp_path):
    with ReaderPool(settings()) as pool:
        stream = pool.read(text_tasks(tmp_path, 100))
        next(stream)
        stream.close()
        found = outcomes(pool, hostile("title"))
    assert found[0].result.reading.text == "body 0\n"


def test_children_start_only_when_needed(tmp_path):
    with ReaderPool(settings(processes=4)) as pool:
        assert children() == []
        list(pool.read(text_tasks(tmp_path, 1)))
        assert len(children()) == 1
        list(pool.read(text_tasks(tmp_path, 50)))
        assert 1 < len(children()) <= 4
    assert children() == []


def test_a_file_that_computes_too_long_fails(hostile):
    tasks = hostile("spin", *["title"] * 3)
    with ReaderPool(settings(timeout_seconds=1, processes=1)) as pool:
        found = outcomes(pool, tasks)
    assert found[0].result.message == "Reading took longer than 1 s."
    assert "timeout_seconds" in found[0].result.cure
    assert not isinstance(found[0].result, PassingError)
    assert found[0].seconds > 0.9
    assert [found[n].result.reading.text for n in (1, 2, 3)] == [f"body {n}\n" for n in (1, 2, 3)]


@pytest.mark.skipif(sys.platform == "win32", reason="computing time is not counted there")
def test_a_file_that_only_waits_is_stopped_later_and_may_be_tried_again(hostile, monkeypatch):
    monkeypatch.setattr("ragkit.reading.limits._LONGEST_WAIT", 2)
    tasks = hostile("sleep", *["title"] * 3)
    with ReaderPool(settings(timeout_seconds=1, processes=1)) as pool:
        found = outcomes(pool, tasks)
    assert found[0].result.message == "Reading was not finished after 2 s."
    assert isinstance(found[0].result, PassingError)
    assert 1.9 < found[0].seconds < 30
    assert [found[n].result.reading.text for n in (1, 2, 3)] == [f"body {n}\n" for n in (1, 2, 3)]


@pytest.mark.skipif(sys.platform == "win32", reason="computing time is not counted there")
def test_a_loaded_machine_fails_no_file(hostile):
    with ReaderPool(settings(timeout_seconds=0.5, processes=1)) as pool:
        found = outcomes(pool, hostile("title", "sleep 2"))
    assert found[1].seconds > 1.9
    assert found[1].result.reading.text == "body 1\n"


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_a_reader_that_the_system_ends_may_be_tried_again(hostile):
    with ReaderPool(settings(processes=1)) as pool:
        found = outcomes(pool, hostile("killed", "title"))
    assert isinstance(found[0].result, PassingError)
    assert "memory" in found[0].result.message
    assert found[1].result.reading.text == "body 1\n"


@pytest.mark.parametrize("deed", ["exit", "crash", "crash by signal"])
def test_a_crash_costs_only_its_own_file(hostile, deed):
    tasks = hostile("title", deed, "title", deed, "title")
    with ReaderPool(settings(processes=1)) as pool:
        found = outcomes(pool, tasks)
    for key in (1, 3):
        assert found[key].result.message == "The reader crashed on this file."
        assert found[key].result.cure
    assert all(found[key].result.reading for key in (0, 2, 4))


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS holds on Linux")
@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        ("crash", "The reader crashed on this file."),
        ("exit", "The reader crashed on this file."),
        ("spin", "Reading took longer than 1 s."),
    ],
)
def test_a_mail_is_read_without_attachments_that_break_its_reader(hostile, tmp_path, deed, reason):
    hostile()
    message = EmailMessage()
    message["Subject"] = "Crane"
    message.set_content("It arrives in May.\n")
    message.add_attachment(f"---\n{deed}\n---\nThe lease.\n", filename="lease.md")
    path = tmp_path / "files" / "1.eml"
    path.write_bytes(message.as_bytes())
    with ReaderPool(settings(timeout_seconds=1, processes=1)) as pool:
        (outcome,) = pool.read([ReadTask(0, path, path.name)])
    assert outcome.result.reading.text == "It arrives in May.\n\nAttachments: lease.md"
    assert outcome.result.reading.warnings == (f"The attachments were not read: {reason}",)


def test_memory_is_bounded(hostile):
    with ReaderPool(settings(memory_mb=400, processes=1)) as pool:
        found = outcomes(pool, hostile("memory", "title"))
    assert found[0].result.message == "Reading needed more than 400 MB of memory."
    assert found[1].result.reading


@pytest.mark.parametrize(
    ("deed", "word"),
    [
        ("fork", "start another program"),
        ("program", "start another program"),
        ("network", "use the network"),
    ],
)
def test_programs_and_network_are_refused(hostile, deed, word):
    with ReaderPool(settings(processes=1)) as pool:
        found = outcomes(pool, hostile(deed, "title"))
        assert len(children()) == 1
    assert word in found[0].result.message
    assert found[0].result.cure
    assert found[1].result.reading


@pytest.mark.skipif(sys.platform != "linux", reason="seccomp is Linux's")
@pytest.mark.parametrize("deed", ["native_fork", "native_exec"])
def test_native_code_starts_no_program_either(hostile, deed):
    with ReaderPool(settings(processes=1)) as pool:
        found = outcomes(pool, hostile(deed, "title"))
    assert found[0].result.reading.metadata["did"] == -1
    assert found[1].result.reading


@pytest.mark.skipif(os.name == "nt", reason="no resource limits")
def test_nothing_is_written_or_removed(hostile, tmp_path):
    target = tmp_path / "written"
    kept = tmp_path / "kept"
    kept.write_text("x")
    deeds = (f"write {target}", f"native_write {target}2", f"remove {kept}")
    with ReaderPool(settings(processes=1)) as pool:
        found = outcomes(pool, hostile(*deeds))
    assert isinstance(found[0].result, ReadingError)
    assert not target.exists()
    assert found[1].result.reading.metadata["did"] == -1
    assert Path(f"{target}2").read_bytes() == b""
    assert "change files" in found[2].result.message
    assert kept.exists()


def test_what_readers_print_does_not_disturb_the_frames(hostile, capfd):
    with ReaderPool(settings(processes=1)) as pool:
        found = outcomes(pool, hostile("print", "title"))
    assert found[0].result.reading.title == "loaded"
    assert found[1].result.reading.title == "loaded"
    assert capfd.readouterr() == ("", "")


def test_a_worn_out_child_is_not_held_against_the_next_file(hostile):
    with ReaderPool(settings(memory_mb=600, processes=1)) as pool:
        found = outcomes(pool, hostile("hoard", "hoard", "hoard"))
    assert [found[n].result.reading.metadata["did"] for n in range(3)] == ["hoard"] * 3


@pytest.mark.parametrize("begun", [True, False], ids=["while reading", "while starting"])
def test_what_an_interrupted_read_would_have_got_answers_no_later_one(tmp_path, monkeypatch, begun):
    first, second = (task.path for task in text_tasks(tmp_path, 2))
    reader = ReadingProcess(Limits.of(settings()))

    def interrupt(*_):
        """Come as Ray's cancelling does, before an answer of the child."""
        monkeypatch.undo()
        raise KeyboardInterrupt

    try:
        if begun:
            assert isinstance(reader.read(first, "0.txt"), Read)
        monkeypatch.setattr(wire, "receive", interrupt)
        with pytest.raises(KeyboardInterrupt):
            reader.read(first, "0.txt")
        read = reader.read(second, "1.txt")
    finally:
        reader.close()
    assert read.reading.text == second.read_text()


def test_children_are_reused(hostile):
    with ReaderPool(settings(processes=1)) as pool:
        found = outcomes(pool, hostile("pid", "pid", "pid"))
    pids = {found[n].result.reading.metadata["did"] for n in range(3)}
    assert len(pids) == 1
    assert pids != {os.getpid()}


def test_closing_ends_a_busy_child_quickly(hostile):
    pool = ReaderPool(settings(processes=1))
    stream = pool.read(hostile("sleep", "title", "title"))
    found = []
    reading = threading.Thread(target=lambda: found.extend(stream), daemon=True)
    reading.start()
    deadline = time.monotonic() + 10
    while not children() and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.3)
    started = time.monotonic()
    pool.close()
    reading.join(20)
    assert time.monotonic() - started < 20
    assert not reading.is_alive()
    assert [outcome.result.message for outcome in found] == ["Reading was interrupted."] * 3
    assert children() == []
    with pytest.raises(ReadingError, match="closed"):
        list(pool.read(hostile("title")))


SCRIPT = """
import sys, threading, os, time
from pathlib import Path
from ragkit.reading import ReaderPool, ReadTask
from ragkit.settings import ReadingSettings

pool = ReaderPool(ReadingSettings(processes=1))
for outcome in pool.read(ReadTask(0, Path(name), name) for name in sys.argv[2:]):
    print(outcome.result.reading.title, flush=True)
    {after}
"""


def run_script(folder, after, *arguments):
    script = folder / "script.py"
    script.write_text(textwrap.dedent(SCRIPT.replace("{after}", after)))
    return subprocess.Popen(
        [sys.executable, str(script), *arguments],
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def test_it_works_from_a_script_without_a_main_guard(tmp_path):
    (tmp_path / "a.md").write_text("# From a script\n")
    process = run_script(tmp_path, "pass", "x", str(tmp_path / "a.md"))
    out, _ = process.communicate(timeout=30)
    assert out == "From a script\n"


def test_no_child_outlives_a_killed_parent(tmp_path):
    (tmp_path / "a.md").write_text("# Ready\n")
    process = run_script(tmp_path, "time.sleep(60)", "x", str(tmp_path / "a.md"))
    assert process.stdout.readline() == "Ready\n"
    (child,) = psutil.Process(process.pid).children()
    process.kill()
    process.wait()
    process.stdout.close()
    _, alive = psutil.wait_procs([child], timeout=5)
    assert alive == []


def test_a_slow_real_file_is_bounded(tmp_path):
    from pypdf import PdfReader, PdfWriter
    from reportlab.pdfgen import canvas

    sheet = canvas.Canvas(str(tmp_path / "one.pdf"))
    sheet.setFont("Helvetica", 4)
    for row in range(160):
        sheet.drawString(20, 820 - 5 * row, "many small words on one page " * 9)
    sheet.save()
    writer = PdfWriter()
    page = PdfReader(tmp_path / "one.pdf").pages[0]
    for _ in range(500):
        writer.add_page(page)
    path = tmp_path / "slow.pdf"
    with path.open("wb") as file:
        writer.write(file)
    with ReaderPool(settings(timeout_seconds=0.5)) as pool:
        (outcome,) = pool.read([ReadTask(0, path, "slow.pdf")])
    assert outcome.result.message == "Reading took longer than 0.5 s."
    # Computing time is limited, and a machine may be busy; the whole file takes ten seconds.
    assert outcome.seconds < 20


def test_every_awkward_file_ends_with_a_reading_or_a_reason():
    if not AWKWARD.is_dir():
        pytest.skip("../shared/data/awkward_files is not here")
    files = sorted(path for path in AWKWARD.rglob("*") if path.is_file())
    tasks = [ReadTask(n, path, str(path.relative_to(AWKWARD))) for n, path in enumerate(files)]
    with ReaderPool(settings()) as pool:
        found = outcomes(pool, tasks)
    assert sorted(found) == list(range(len(files)))
    for outcome in found.values():
        assert outcome.seconds < 20
        if isinstance(outcome.result, ReadingError):
            sentences = str(outcome.result)
            assert outcome.result.message.endswith(".")
            assert outcome.result.cure.endswith(".")
            for word in ("Error", "Traceback", "pypdf", "kreuzberg", "0x", "/work"):
                assert word not in sentences
        else:
            reading = outcome.result.reading
            assert reading.text.strip()
            assert reading.title
            assert "\x00" not in reading.text
            assert "\r" not in reading.text
            assert not reading.pages or reading.pages[-1].end == len(reading.text)
            assert [one.offset for one in reading.outline] == sorted(
                one.offset for one in reading.outline
            )
