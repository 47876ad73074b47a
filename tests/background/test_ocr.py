"""The text of scanned PDFs is recognised in the background, and found."""

from __future__ import annotations

import gzip
import sqlite3
import threading
from contextlib import closing
from functools import partial

import pytest
from small_library import add, find, make_older, open_library, paths, statuses, sync, write_files
from support import until as until_
from tesseract_stand_in import TesseractStandIn, hocr, scanned_pdf

from ragkit.background import ocr
from ragkit.background.loop import Interrupted
from ragkit.background.ocr import TextRecognition
from ragkit.background.worker import Worker
from ragkit.catalog.background_state import OCR_REPORT, BackgroundPhase, read_report
from ragkit.errors import LibraryError, PassingError
from ragkit.health.findings import Depth
from ragkit.reading.process import ReadingProcess

until = partial(until_, seconds=240.0)

FERRY = hocr(["The ferry leaves from the old pier", "at nine in summer."])
LANTERN = hocr(["The lantern of the harbour office", "is lit at dusk."])
TWO_PAGES = scanned_pdf("", "", widths=(600, 480))


@pytest.fixture
def tesseract(tmp_path, monkeypatch):
    made = TesseractStandIn(tmp_path / "bin", {1700: FERRY, 1300: LANTERN})
    monkeypatch.setenv("PATH", made.path)
    return made


@pytest.fixture
def open_with(tmp_path):
    opened = []

    def open_(files, **settings):
        make_older(write_files(tmp_path / "files", files))
        library = open_library(tmp_path / "library", create=not opened, **settings)
        opened.append(library)
        add(library, tmp_path / "files")
        return library

    yield open_
    for library in opened:
        library.close()


def recognise(library, **options):
    """Do what is to be done; then the jobs that came of it."""
    task = TextRecognition(library.writer(), **options)
    task.work()
    jobs = [job.kind for job in library.catalog.jobs.open()]
    sync(library)
    return jobs


def reason(library, path):
    [document] = [each for each in library.documents.list() if each.path == path]
    return document.reason


def finding(library):
    [scans] = [each for each in library.health.check(Depth.GLANCE) if each.name == "scans"]
    return scans


def test_the_text_of_a_scan_is_found(tesseract, open_with):
    library = open_with({"scan.pdf": TWO_PAGES, "note.md": "# Note\n\nWords of a note.\n"})
    assert statuses(library) == {"scan.pdf": "failed", "note.md": "indexed"}
    assert "Tesseract" in reason(library, "scan.pdf")
    assert finding(library).sentence == "1 PDF without text: all pages are pictures."
    assert recognise(library) == ["sync"]
    assert statuses(library) == {"scan.pdf": "indexed", "note.md": "indexed"}
    answer = find(library, "when is the lantern of the harbour office lit", mode="keyword")
    assert paths(answer)[0] == "scan.pdf"
    [document] = [each for each in library.documents.list() if each.path == "scan.pdf"]
    assert document.warnings == ("Pages 1–2 were read by OCR and may have errors.",)
    assert [page.number for page in document.pages] == [1, 2]
    assert tesseract.calls == ["-l eng --dpi 200 --psm 1 hocr"] * 2
    assert finding(library).sentence == "No scanned PDF waits for its text to be recognised."
    assert recognise(library) == []
    assert len(tesseract.calls) == 2


def test_scanned_pages_among_others_are_recognised(tesseract, open_with):
    mixed = scanned_pdf("A page of words of its own", "", widths=(600, 480))
    library = open_with({"mixed.pdf": mixed})
    assert statuses(library) == {"mixed.pdf": "indexed"}
    recognise(library)
    [document] = library.documents.list()
    assert document.warnings == ("Page 2 was read by OCR and may have errors.",)
    text = library.documents.get(document.id).text
    assert "words of its own" in text
    assert "is lit at dusk" in text
    assert len(tesseract.calls) == 1


def test_what_is_done_is_not_done_again(tesseract, open_with):
    library = open_with({"scan.pdf": TWO_PAGES})
    stopping, pages = threading.Event(), []

    def stop_within_the_second_page():
        pages.append(1)
        if len(pages) == 2:
            tesseract.order(seconds=60.0)
            stopping.set()
        return False

    with pytest.raises(Interrupted):
        TextRecognition(library.writer(), stop_within_the_second_page, stopping).work()
    assert len(tesseract.calls) <= 2
    assert library.catalog.jobs.open() == []
    tesseract.order(seconds=0.0)
    begun = len(tesseract.calls)
    recognise(library)
    assert len(tesseract.calls) == begun + 1
    assert statuses(library) == {"scan.pdf": "indexed"}


def test_copies_are_recognised_once(tesseract, open_with):
    library = open_with({"scan.pdf": TWO_PAGES, "copy.pdf": TWO_PAGES})
    assert recognise(library) == ["sync", "sync"]
    assert len(tesseract.calls) == 2
    assert set(statuses(library).values()) == {"indexed"}
    folder = write_files(library.paths.root.parent / "more", {"third.pdf": TWO_PAGES})
    make_older(folder)
    add(library, folder, "other")
    assert statuses(library, "other") == {"third.pdf": "indexed"}
    assert len(tesseract.calls) == 2


def test_text_of_removed_files_is_deleted(tesseract, open_with):
    library = open_with({"scan.pdf": TWO_PAGES})
    recognise(library)
    assert len(list(library.paths.ocr.iterdir())) == 1
    (library.paths.root.parent / "files" / "scan.pdf").unlink()
    sync(library, accept_removals=True)
    assert statuses(library) == {}
    recognise(library)
    assert list(library.paths.ocr.iterdir()) == []


def test_pages_that_cannot_be_recognised_have_no_text(tesseract, open_with):
    tesseract.order(status=1)
    library = open_with({"scan.pdf": TWO_PAGES})
    recognise(library)
    assert statuses(library) == {"scan.pdf": "failed"}
    assert reason(library, "scan.pdf").startswith("No text was recognised in the pictures")
    assert recognise(library) == []
    assert len(tesseract.calls) == 2


def test_another_language_is_another_attempt(tesseract, open_with):
    library = open_with({"scan.pdf": TWO_PAGES})
    recognise(library)
    library.close()
    tesseract.order(languages=["deu", "eng", "osd"])
    library = open_with({}, reading={"processes": 1, "ocr_languages": ("deu",)})
    assert statuses(library) == {"scan.pdf": "indexed"}
    assert recognise(library) == ["sync"]
    assert tesseract.calls[2:] == ["-l deu --dpi 200 --psm 1 hocr"] * 2
    assert recognise(library) == []


def test_a_language_that_is_not_installed_is_never_asked_for(tesseract, open_with):
    library = open_with({"scan.pdf": TWO_PAGES}, reading={"ocr_languages": ("fra",)})
    assert recognise(library) == []
    assert statuses(library) == {"scan.pdf": "failed"}
    assert finding(library).fix == "install Tesseract's data for the languages fra"


def test_without_the_program_the_health_page_says_what_to_install(tmp_path, open_with, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("ragkit.reading.tesseract._PLACES", ())
    library = open_with({"scan.pdf": TWO_PAGES})
    assert recognise(library) == []
    scans = finding(library)
    assert scans.ok
    assert scans.fix.startswith("install Tesseract")


def test_a_file_that_changed_since_is_left_to_the_next_sync(tesseract, open_with):
    library = open_with({"scan.pdf": TWO_PAGES})
    write_files(library.paths.root.parent / "files", {"scan.pdf": scanned_pdf("Now it has text")})
    task = TextRecognition(library.writer())
    task.work()
    assert (tesseract.calls, library.catalog.jobs.open()) == ([], [])


def test_a_file_that_cannot_be_read_just_now_is_tried_again(tesseract, open_with, monkeypatch):
    library = open_with({"scan.pdf": TWO_PAGES})
    with monkeypatch.context() as busy:
        busy.setattr(ReadingProcess, "read_pages", lambda *_: PassingError("The drive is busy."))
        with pytest.raises(PassingError, match="The drive is busy"):
            TextRecognition(library.writer()).work()
    assert list(library.paths.ocr.glob("*")) == []
    assert recognise(library) == ["sync"]
    assert statuses(library) == {"scan.pdf": "indexed"}


def test_a_scan_whose_drive_was_away_is_recognised_once_it_is_back(
    tesseract, open_with, monkeypatch
):
    monkeypatch.setattr(ocr, "_LOOK_SECONDS", 0.1)
    library = open_with({"scan.pdf": TWO_PAGES})
    files = library.paths.root.parent / "files"
    drive = files.rename(files.with_name("drive"))
    stopping = threading.Event()
    task = TextRecognition(library.writer(), stopping=stopping)
    thread = threading.Thread(target=task.run)
    thread.start()
    try:
        done = BackgroundPhase.DONE
        until(lambda: read_report(library.catalog, OCR_REPORT)[0].phase is done)
        drive.rename(files)
        until(library.catalog.jobs.open)
    finally:
        stopping.set()
        thread.join()
    assert len(tesseract.calls) == 2


def test_a_scan_is_read_again_although_the_disk_was_full_when_it_was_recognised(
    tesseract, open_with
):
    library = open_with({"scan.pdf": TWO_PAGES})
    task = TextRecognition(library.writer())
    with closing(sqlite3.connect(library.paths.catalog)) as catalog, catalog:
        catalog.execute(
            "CREATE TRIGGER full BEFORE INSERT ON jobs BEGIN SELECT RAISE(ABORT, 'full'); END"
        )
    with pytest.raises(LibraryError):
        task.work()
    with closing(sqlite3.connect(library.paths.catalog)) as catalog, catalog:
        catalog.execute("DROP TRIGGER full")
    task.work()
    assert [job.kind for job in library.catalog.jobs.open()] == ["sync"]
    assert len(tesseract.calls) == 2


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("scan.pdf", TWO_PAGES.replace(b"/Root", b"/Boot")),  # only pypdf opens it
        ("scan.pdf.gz", gzip.compress(TWO_PAGES)),
    ],
)
def test_a_scan_that_cannot_be_drawn_waits_for_no_text(tesseract, open_with, name, data):
    library = open_with({name: data})
    task = TextRecognition(library.writer())
    task.work()
    sync(library)
    assert task.change_token() == ()
    assert statuses(library) == {name: "failed"}
    assert reason(library, name).startswith("This PDF holds pictures of pages, but they cannot be")
    assert tesseract.calls == []


def test_a_folder_that_cannot_be_written_is_told(tesseract, open_with):
    library = open_with({"scan.pdf": TWO_PAGES})
    library.paths.ocr.write_text("in the way")
    with pytest.raises(LibraryError, match="cannot be written") as caught:
        TextRecognition(library.writer()).work()
    assert "Free some space" in caught.value.cure


def test_the_worker_recognises_beside_everything_else(tesseract, open_with, monkeypatch):
    monkeypatch.setattr(ocr, "_LOOK_SECONDS", 0.1)
    tesseract.order(seconds=2.0)
    library = open_with({"scan.pdf": TWO_PAGES})
    worker = Worker(library.writer())
    thread = threading.Thread(target=partial(worker.run, watch=False))
    thread.start()
    try:
        until(lambda: finding(library).sentence.startswith("The text of 1 scanned PDF is being"))
        assert library.jobs.recognition().sentence == finding(library).sentence
        assert statuses(library) == {"scan.pdf": "pending"}
        until(lambda: statuses(library) == {"scan.pdf": "indexed"})
        until(lambda: read_report(library.catalog, OCR_REPORT)[0].phase is BackgroundPhase.DONE)
    finally:
        worker.stopping.set()
        thread.join()
    assert read_report(library.catalog, OCR_REPORT)[0].waiting == 0


def test_a_scan_waits_for_its_text_while_it_can_be_recognised(tesseract, open_with, monkeypatch):
    library = open_with({"scan.pdf": TWO_PAGES})
    TextRecognition(library.writer()).change_token()
    assert statuses(library) == {"scan.pdf": "pending"}
    assert reason(library, "scan.pdf") == (
        "This PDF holds pictures of pages, not text. Its text will be recognised in the background."
    )
    sync(library)
    assert statuses(library) == {"scan.pdf": "pending"}
    library.documents.retry([each.id for each in library.documents.list()])
    sync(library)
    assert statuses(library) == {"scan.pdf": "failed"}
    TextRecognition(library.writer()).change_token()
    monkeypatch.setenv("PATH", "/nowhere")
    TextRecognition(library.writer()).change_token()
    assert statuses(library) == {"scan.pdf": "failed"}
    assert "With Tesseract installed" in reason(library, "scan.pdf")


def test_a_scan_that_comes_while_others_are_recognised_waits_at_once(
    tesseract, open_with, tmp_path, monkeypatch
):
    monkeypatch.setattr(ocr, "_LOOK_SECONDS", 0.0)
    monkeypatch.setattr(ocr, "_LOOK_SHARE", 0)
    library = open_with({"scan.pdf": TWO_PAGES})
    seen = []

    def add_another():
        if not seen:
            make_older(write_files(tmp_path / "files", {"other.pdf": TWO_PAGES + b"%"}))
            sync(library)
        seen.append(statuses(library))
        return False

    TextRecognition(library.writer(), add_another).work()
    sync(library)
    assert seen[0] == {"scan.pdf": "pending", "other.pdf": "failed"}
    assert seen[1] == {"scan.pdf": "pending", "other.pdf": "pending"}
    assert statuses(library) == {"scan.pdf": "indexed", "other.pdf": "indexed"}


def test_a_scan_that_waited_has_failed_once_recognition_is_switched_off(tesseract, open_with):
    library = open_with({"scan.pdf": TWO_PAGES})
    TextRecognition(library.writer()).change_token()
    library.close()
    library = open_with({}, reading={"ocr": False})
    TextRecognition(library.writer()).run()
    assert statuses(library) == {"scan.pdf": "failed"}


def test_switched_off_it_does_nothing(tesseract, open_with):
    library = open_with({"scan.pdf": TWO_PAGES}, reading={"ocr": False})
    TextRecognition(library.writer()).run()
    assert tesseract.calls == []
    assert statuses(library) == {"scan.pdf": "failed"}
    assert finding(library).fix == "set reading.ocr to have their text recognised"
