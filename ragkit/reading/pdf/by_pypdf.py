"""Reads a PDF with pypdf: its form, or all of it if pdfium cannot open the file.

pypdf takes several times as long as pdfium, and gives no positions.
"""

from __future__ import annotations

import contextlib
import io
import logging
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ragkit.errors import ReadingError
from ragkit.reading.formats import Format
from ragkit.reading.limits import damaged, locked
from ragkit.reading.pdf.contents import (
    DEEPEST_BOOKMARK,
    MOST_BOOKMARKS,
    POOR_PAGE,
    Contents,
    Line,
    PageRun,
    PageText,
    letters,
    without_dots,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pypdf import PageObject, PdfReader

    from ragkit.reading.limits import Limits

_PROPERTIES = ("Title", "Author", "Subject", "Keywords", "CreationDate", "ModDate")


def opened(data: bytes) -> PdfReader:
    """Open a file, also one that is only protected against changes.

    Raises:
        ReadingError: locked or damaged.
    """
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, FileNotDecryptedError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL + 1)
    try:
        reader = PdfReader(io.BytesIO(data), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise locked(Format.PDF.label)
        pages = len(reader.pages)
    except (FileNotDecryptedError, DependencyError, NotImplementedError):
        raise locked(Format.PDF.label) from None
    except (MemoryError, RecursionError, ReadingError):
        raise
    except Exception as error:
        raise damaged(Format.PDF.label) from error
    if not pages:
        raise damaged(Format.PDF.label)
    return reader


def contents_of(reader: PdfReader, limits: Limits) -> Contents:
    """Return the contents of a file."""
    reads = ((index, partial(_page, page)) for index, page in enumerate(reader.pages))
    run = replace(PageRun.gathered(reads, limits), has_form=True)
    count = len(run.pages)
    return Contents(run, _labels(reader, count), _bookmarks(reader, count), _info(reader))


def _page(page: PageObject) -> PageText:
    """Return the lines of a page, without positions and comments."""
    text = page.extract_text().replace("\r\n", "\n").replace("\r", "\n")
    lines = [Line(without_dots(line)) for line in text.split("\n")] if text else []
    return PageText(lines, letters(text) < POOR_PAGE and _has_pictures(page))


def _has_pictures(page: PageObject) -> bool:
    """Return whether a page shows pictures, directly or in a nested object."""
    try:
        if _shows_picture(page.get("/Resources"), 0):
            return True
        drawing = page.get_contents()
        return drawing is not None and b" ID" in drawing.get_data()
    except Exception:  # noqa: BLE001 - broken resources show no picture
        return False


def _shows_picture(resources: Any, depth: int) -> bool:
    """Return whether resources contain an image, also in objects nested a few levels deep."""
    resources = resources.get_object() if resources is not None else {}
    objects = resources.get("/XObject", {}).get_object()
    for key in list(objects)[:50]:
        item = objects[key].get_object()
        if item.get("/Subtype") == "/Image":
            return True
        if depth < 2 and "/Resources" in item and _shows_picture(item["/Resources"], depth + 1):
            return True
    return False


def _labels(reader: PdfReader, count: int) -> list[str]:
    """Return the labels of the pages; empty ones if they are missing or unusable."""
    labels: list[str] = []
    with contextlib.suppress(Exception):
        labels = [str(label) for label in reader.page_labels]
    return labels if len(labels) == count else [""] * count


def _bookmarks(reader: PdfReader, count: int) -> list[tuple[int, int, str]]:
    """Return the outline as (page index, level, title) in its own order."""
    bookmarks: list[tuple[int, int, str]] = []

    def walk(entries: list[Any], level: int) -> None:
        for entry in entries:
            if len(bookmarks) >= MOST_BOOKMARKS or level > DEEPEST_BOOKMARK:
                return
            if isinstance(entry, list):
                walk(entry, level + 1)
                continue
            with contextlib.suppress(Exception):
                page = reader.get_destination_page_number(entry)
                if page is not None and 0 <= page < count:
                    bookmarks.append((page, level, str(entry.title)))

    try:
        walk(reader.outline, 1)
    except Exception:  # noqa: BLE001 - a broken outline is no outline
        return []
    return bookmarks


def _info(reader: PdfReader) -> dict[str, str]:
    """Return the properties of a file as they are stored."""
    values: dict[str, str] = {}
    with contextlib.suppress(Exception):
        info: Mapping[str, Any] = reader.metadata or {}
        for key in _PROPERTIES:
            with contextlib.suppress(Exception):
                values[key] = str(info.get(f"/{key}") or "")
    return values
