"""Recognises the text of scanned PDFs with Tesseract, page by page, after all other work."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ragkit.background.loop import BackgroundLoop, Interrupted
from ragkit.catalog.background_state import OCR_REPORT, BackgroundPhase
from ragkit.catalog.records import ScannedFile
from ragkit.errors import LibraryError, PassingError, RagkitError, ReadingError
from ragkit.indexing.writer import Writer, hash_file
from ragkit.reading.limits import Limits
from ragkit.reading.pdf import ocr_files
from ragkit.reading.pdf.contents import PageRun
from ragkit.reading.pdf.ocr import OcrPage
from ragkit.reading.pdf.ocr_files import OcrFile
from ragkit.reading.pdf.page import picture_of
from ragkit.reading.process import ReadingProcess
from ragkit.reading.tesseract import Tesseract
from ragkit.sources.opening import UnsettledError, ask_disk
from ragkit.types import Status

logger = logging.getLogger(__name__)

_LOOK_SECONDS, _LOOK_SHARE = 5.0, 100
"""Looking for scanned files takes at most 1/100 of the time, here or on the server."""
_FIND_SECONDS = 60.0
_PAGE_SECONDS = 300.0
_PAGES_AT_ONCE = 100


@dataclass
class TextRecognition:
    """Recognises scanned pages, in one thread of the process that holds the lock.

    A file whose pages are done is read again, with their text. ``busy``: the process has more
    urgent work.
    """

    writer: Writer
    busy: Callable[[], bool] = lambda: False
    stopping: threading.Event = field(default_factory=threading.Event)
    _tesseract: Tesseract | None = None
    _found_at: float = -_FIND_SECONDS
    _look_at: float = 0.0
    _read_again: set[tuple[int, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Build the loop that runs this task."""
        self._loop = BackgroundLoop(
            f"ocr {self.writer.paths.machine}".strip(),
            self.writer.catalog,
            self.stopping,
            OCR_REPORT,
            busy=self.busy,
            rest_seconds=_LOOK_SECONDS,
        )

    def run(self) -> None:
        """Work whenever there is work, until ``stopping`` is set. Never raises."""
        if self.writer.settings.reading.ocr:
            self._loop.run(self)
            return
        try:
            self._waiting()
        except RagkitError as error:
            logger.warning("%s: %s", self._loop.name, error)

    def change_token(self) -> object:
        """Return the files to work on."""
        return tuple(self._waiting())

    def reset(self) -> None:
        """Look for the program again before the next work."""
        self._found_at = -_FIND_SECONDS

    def work(self) -> bool:
        """Recognise all scanned pages that are not done yet; return whether all files were there.

        Raises:
            Interrupted: it is time to stop.
            RagkitError: Tesseract cannot be started, the disk is full, or the machine too busy.
                Pages that are done are kept.
        """
        tried: set[int] = set()
        all_there = True
        while waiting := [file for file in self._waiting() if file.document_id not in tried]:
            self._loop.check()
            self._loop.update(current=waiting[0].path, waiting=len(waiting), done=0, total=0)
            tried.add(waiting[0].document_id)
            all_there &= self._recognise(waiting[0])
        self._loop.update(current="", waiting=0, done=0, total=0)
        self._loop.report(BackgroundPhase.DONE)
        return all_there

    def _waiting(self) -> list[ScannedFile]:
        """Return the scanned files that are not done, and delete what is kept of removed ones."""
        started = time.monotonic()
        scanned = self.writer.catalog.files.scanned()
        self._forget_all_but({file.hash for file in scanned})
        usable = self._usable() if scanned else None
        self._set_status(scanned, Status.PENDING if usable else Status.FAILED)
        waiting = [file for file in scanned if usable and self._is_to_do(file, usable[1])]
        taken = time.monotonic() - started
        self._loop.rest_seconds = max(_LOOK_SECONDS, taken * _LOOK_SHARE)
        self._look_at = time.monotonic() + self._loop.rest_seconds
        return waiting

    def _set_status(self, scanned: Sequence[ScannedFile], status: Status) -> None:
        """Record of this machine's files without text whether they wait for it, or have failed."""
        sources = self.writer.catalog.collections
        others = [
            file.document_id
            for file in scanned
            if file.unread
            and file.status not in (Status.INDEXED, status)
            and self.writer.reads(sources.source(file.source_id))
        ]
        if others:
            self.writer.catalog.files.set_awaiting_ocr(others, status is Status.PENDING)

    def _is_to_do(self, file: ScannedFile, languages: Sequence[str]) -> bool:
        """Return whether a file is to be recognised, or was and is to be read again."""
        if not self._kept(file, languages).is_whole:
            return True
        return file.unread and (file.document_id, file.hash) not in self._read_again

    def _usable(self) -> tuple[Tesseract, tuple[str, ...]] | None:
        """Return the program and the languages that it is to recognise, if that can be done."""
        wanted = self.writer.settings.reading
        if not wanted.ocr:
            return None
        if time.monotonic() - self._found_at >= _FIND_SECONDS:
            self._tesseract, self._found_at = Tesseract.find(), time.monotonic()
        languages = self._tesseract.chosen(wanted.ocr_languages) if self._tesseract else ()
        return (self._tesseract, languages) if self._tesseract and languages else None

    def _kept(self, file: ScannedFile, languages: Sequence[str]) -> OcrFile:
        return OcrFile.of(self.writer.paths.ocr, file.hash, languages)

    def _forget_all_but(self, hashes: set[str]) -> None:
        """Delete the text of files that are no longer in the library."""
        files, jobs = self.writer.catalog.files, self.writer.catalog.jobs
        kept = ocr_files.kept(self.writer.paths.ocr)
        others = {path: content for path, content in kept.items() if content not in hashes}
        # While files are read again, the catalog does not know their contents.
        if others and not jobs.open():
            for path, content in others.items():
                if not files.has_content(content):
                    with suppress(OSError):
                        path.unlink()

    def _recognise(self, file: ScannedFile) -> bool:
        """Recognise the scanned pages of a file, and have it read again.

        Returns whether the file was there: one whose drive is away is tried again.
        """
        usable = self._usable()
        source = self.writer.catalog.collections.source(file.source_id)
        path = Path(source.root, file.path)
        if usable is None or not self.writer.reads(source):
            return True
        try:
            if not _is_same(path, source.root, file):
                return True
        except OSError:
            return False
        kept = self._kept(file, usable[1])
        if not kept.is_whole:
            try:
                self._complete(kept, path, file.path, *usable)
            except OSError as error:
                raise LibraryError(
                    f"{kept.path.parent} cannot be written: {error.strerror or error}.",
                    "Free some space, or check the folder's permissions.",
                ) from error
        if kept.pages or file.unread:
            self.writer.catalog.jobs.add(
                "sync", source_id=file.source_id, paths=[file.path], reread=True
            )
            self._read_again.add((file.document_id, file.hash))
        return True

    def _complete(
        self, kept: OcrFile, path: Path, name: str, tesseract: Tesseract, languages: tuple[str, ...]
    ) -> None:
        """Recognise the pages of a file that are not done."""
        if kept.wanted is None:
            kept.begin(self._scanned_pages(path, name))
        for index in kept.missing:
            if time.monotonic() >= self._look_at:
                self._loop.update(waiting=len(self._waiting()))
            self._loop.update(done=len(kept.pages), total=len(kept.wanted or ()))
            self._loop.await_turn(self._loop.check, self._loop.reason_to_wait)
            kept.add(index, self._page(path, index, tesseract, languages))
            self._loop.pace.add()
        kept.finish()

    def _scanned_pages(self, path: Path, name: str) -> list[int]:
        """Return the indexes of the pages of a file that are pictures."""
        process = ReadingProcess(Limits.of(self.writer.settings.reading))
        scanned: list[int] = []
        first, count = 0, 1
        try:
            while first < count:
                self._loop.check()
                pages = process.read_pages(path, name, first, first + _PAGES_AT_ONCE)
                if isinstance(pages, PassingError):
                    raise pages
                if isinstance(pages, ReadingError):
                    break
                scanned += PageRun.unpack(pages.packed).poor
                first, count = first + _PAGES_AT_ONCE, pages.count
        finally:
            process.close()
        return scanned

    def _page(
        self, path: Path, index: int, tesseract: Tesseract, languages: tuple[str, ...]
    ) -> OcrPage:
        """Recognise one page; one that cannot be drawn or recognised has no lines."""
        try:
            picture = picture_of(path, index + 1, width=0, timeout=_PAGE_SECONDS)
            lines = tesseract.lines(
                picture.png,
                round(picture.dpi),
                languages,
                _PAGE_SECONDS,
                self.stopping,
            )
        except PassingError:
            if self.stopping.is_set():
                raise Interrupted from None
            raise
        except ReadingError as error:
            logger.info("page %d of %s was not recognised: %s", index + 1, path.name, error)
            return OcrPage(0.0, 0.0)
        return OcrPage.of(lines, picture.width, picture.height, picture.dpi)


def _is_same(path: Path, root: str, file: ScannedFile) -> bool:
    """Return whether a file still has the content that the catalog knows.

    Raises:
        OSError: it cannot be read.
    """
    try:
        return ask_disk(Path(root), partial(hash_file, path, file.size)) == file.hash
    except UnsettledError:
        return False
