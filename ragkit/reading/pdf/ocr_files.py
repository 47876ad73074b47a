"""The files in which the recognised text of scanned PDFs is kept, and its way into a reading."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from ragkit.reading.pdf.contents import POOR_PAGE, PageRun, letters, sound
from ragkit.reading.pdf.ocr import OcrPage

_SUFFIX, _PART = ".jsonl", ".part"


@dataclass
class OcrFile:
    """The recognised pages of one file: a line of JSON for each, after one with their indexes.

    Each line is written as soon as its page is recognised, so nothing is done twice. The file gets
    its name, ``path``, when all of its pages are done.
    """

    path: Path
    wanted: list[int] | None = None
    pages: dict[int, OcrPage] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path, content_hash: str, languages: Sequence[str]) -> OcrFile:
        """Return the file for a content and languages, with the pages that are done."""
        name = f"{content_hash}.{'+'.join(languages).replace('/', '-')}{_SUFFIX}"
        file = cls(folder / name)
        with suppress(OSError):
            file.wanted, file.pages = unpacked(file._part.read_bytes())
        return file

    @property
    def _part(self) -> Path:
        return self.path.with_suffix(_PART)

    @property
    def is_whole(self) -> bool:
        """Whether all pages are done."""
        return self.path.exists()

    @property
    def missing(self) -> list[int]:
        """The indexes of pages that are still to be recognised."""
        return [index for index in self.wanted or () if index not in self.pages]

    def begin(self, indexes: Sequence[int]) -> None:
        """Record which pages are scanned.

        Raises:
            OSError: it cannot be written.
        """
        self.path.parent.mkdir(exist_ok=True, mode=0o700)
        self._part.unlink(missing_ok=True)
        self.wanted, self.pages = list(indexes), {}
        self._write(self.wanted)

    def add(self, index: int, page: OcrPage) -> None:
        """Record a page.

        Raises:
            OSError: it cannot be written.
        """
        self._write([index, page.pack()])
        self.pages[index] = page

    def finish(self) -> None:
        """Record that all pages are done.

        Raises:
            OSError: it cannot be written.
        """
        self._part.replace(self.path)

    def _write(self, value: object) -> None:
        # A line that was cut off by a full disk must not spoil the next one.
        line = f"\n{json.dumps(value, separators=(',', ':'))}\n".encode()
        descriptor = os.open(self._part, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "ab") as stream:
            stream.write(line)


def recognised(folder: Path, content_hash: str) -> bytes:
    """Return the newest whole file for a content, for ``unpacked``; empty if there is none."""
    found = sorted(folder.glob(f"{content_hash}.*{_SUFFIX}"), key=_changed) if content_hash else []
    with suppress(OSError):
        return found[-1].read_bytes() if found else b""
    return b""


def kept(folder: Path) -> dict[Path, str]:
    """Return all files in a folder with the hashes of the contents that they are of."""
    found = (path for suffix in (_SUFFIX, _PART) for path in folder.glob(f"*{suffix}"))
    return {path: path.name.partition(".")[0] for path in found}


def unpacked(data: bytes) -> tuple[list[int] | None, dict[int, OcrPage]]:
    """Return the indexes of a file's scanned pages, if they are known, and the pages done."""
    wanted: list[int] | None = None
    pages: dict[int, OcrPage] = {}
    for line in data.splitlines():
        with suppress(ValueError, TypeError, AttributeError):
            value = json.loads(line)
            if wanted is None:
                wanted = [int(index) for index in value]
            else:
                index, packed = value
                pages[int(index)] = OcrPage.unpack(packed)
    return wanted, pages


def page_of(data: bytes, index: int) -> OcrPage | None:
    """Return one of the pages of a file, if it is done; the others are not unpacked."""
    lines = [line for line in data.splitlines() if line.startswith(f"[{index},".encode())]
    _, pages = unpacked(b"\n".join((b"[]", *lines)))
    return pages.get(index)


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def with_recognised(run: PageRun, data: bytes) -> PageRun:
    """Put recognised text on the scanned pages of a file: they are no longer ``poor``."""
    pages, poor, by_ocr = list(run.pages), [], []
    _, known = unpacked(data)
    for index in run.poor:
        lines = sound(known[index].reading_lines) if index in known else None
        if lines is None:
            poor.append(index)
        elif letters("".join(line.text for line in lines)) >= POOR_PAGE:
            pages[index] = lines
            by_ocr.append(index)
    return replace(run, pages=pages, poor=poor, recognised=by_ocr)
