"""What pypdf reads: forms, and whole files that pdfium cannot open.

It takes some ten times as long as pdfium, and knows no places.
"""

from __future__ import annotations

import contextlib
import io
import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from ragkit.errors import ReadingError
from ragkit.reading.formats import Format
from ragkit.reading.limits import MEGABYTE, damaged, locked, too_much_text
from ragkit.reading.pdf_contents import (
    DEEPEST_BOOKMARK,
    MOST_BOOKMARKS,
    POOR_PAGE,
    Contents,
    Line,
    PageRun,
    letters,
    sound,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pypdf import PageObject, PdfReader

    from ragkit.reading.limits import Limits

_PROPERTIES = ("Title", "Author", "Subject", "Keywords", "CreationDate", "ModDate")


def opened(data: bytes) -> PdfReader:
    """Open a file, with the empty password where it is merely protected against changes.

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
    """Read the pages, labels, bookmarks and properties of a file."""
    pages: list[list[Line]] = []
    poor: list[int] = []
    lost: list[int] = []
    left = limits.max_text_mb * MEGABYTE
    for index, page in enumerate(reader.pages):
        read = sound(partial(lines_of, page))
        if read is None:
            lost.append(index)
        lines = read or []
        left -= sum(len(line.text) + 1 for line in lines)
        if left < 0:
            raise too_much_text(limits)
        if letters("".join(line.text for line in lines)) < POOR_PAGE and _has_pictures(page):
            poor.append(index)
        pages.append(lines)
    labels, bookmarks = _labels(reader, len(pages)), _bookmarks(reader, len(pages))
    run = PageRun(pages, poor, lost, has_form=True)
    return Contents(run, labels, bookmarks, _info(reader))


def lines_of(page: PageObject) -> list[Line]:
    """Return the lines of a page, without their places."""
    text = page.extract_text().replace("\r\n", "\n").replace("\r", "\n")
    return [Line(line) for line in text.split("\n")] if text else []


def _has_pictures(page: PageObject) -> bool:
    """Return whether a page shows pictures, itself or through a form."""
    try:
        if _shows_picture(page.get("/Resources"), 0):
            return True
        drawing = page.get_contents()
        return drawing is not None and b" ID" in drawing.get_data()
    except Exception:  # noqa: BLE001 - broken resources hold no picture
        return False


def _shows_picture(resources: Any, depth: int) -> bool:
    """Return whether resources hold an image; forms are searched a few levels deep."""
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
    """Return the file's own labels of its pages; empty ones if these are unusable."""
    labels: list[str] = []
    with contextlib.suppress(Exception):
        labels = [str(label) for label in reader.page_labels]
    return labels if len(labels) == count else [""] * count


def _bookmarks(reader: PdfReader, count: int) -> list[tuple[int, int, str]]:
    """Return the outline as (page index, level, title), in its own order."""
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
    """Return the properties of a file, as it has them."""
    values: dict[str, str] = {}
    with contextlib.suppress(Exception):
        info: Mapping[str, Any] = reader.metadata or {}
        for key in _PROPERTIES:
            with contextlib.suppress(Exception):
                values[key] = str(info.get(f"/{key}") or "")
    return values
