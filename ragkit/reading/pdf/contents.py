"""The parts of a PDF before its text is composed: lines with positions, labels, bookmarks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from ragkit.reading.limits import MEGABYTE, too_much_text
from ragkit.reading.reading_parts import LEADER

if TYPE_CHECKING:
    from ragkit.reading.limits import Limits

_T = TypeVar("_T")

FIRST_PAGES = 3
"""The pages whose text and sizes tell the title of a document."""

DOTS = re.compile(r"[.\u00b7\u2026] {0,3}(?:[.\u00b7\u2026] {0,3}){3,}")
"""Dots for which ``LEADER`` stands. Three are an ellipsis."""

_DOTS = re.compile(rf" *{DOTS.pattern} *")


class Line(NamedTuple):
    """A line of a page with its edges in points from the bottom left corner of the page as shown.

    All edges are 0 if only the text is known. ``size`` is that of most of its letters' font
    in points, or 0 if it is not known. ``bold``: its first and last letters are.
    """

    text: str
    left: float = 0.0
    bottom: float = 0.0
    right: float = 0.0
    top: float = 0.0
    size: float = 0.0
    bold: bool = False


class PageText(NamedTuple):
    """The lines of a page, whether it is a picture rather than text, and the comments on it."""

    lines: list[Line]
    is_picture: bool = False
    comments: Sequence[str] = ()


PageReader: TypeAlias = Callable[[], PageText]


@dataclass(frozen=True, slots=True)
class PageRun:
    """Consecutive pages of a PDF, each as its lines in reading order.

    ``poor`` holds the indexes in the file of pages that are pictures, ``lost`` of damaged pages;
    ``comments`` the index of a page and a comment on it, a line. Of a whole file, ``recognised``
    holds the indexes of scanned pages whose text was recognised.
    """

    pages: list[list[Line]] = field(default_factory=list)
    poor: list[int] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    comments: list[tuple[int, str]] = field(default_factory=list)
    has_form: bool = False
    recognised: list[int] = field(default_factory=list)

    @classmethod
    def joined(cls, runs: Sequence[PageRun]) -> PageRun:
        """Join consecutive runs."""
        return cls(
            [page for run in runs for page in run.pages],
            [index for run in runs for index in run.poor],
            [index for run in runs for index in run.lost],
            [comment for run in runs for comment in run.comments],
            any(run.has_form for run in runs),
        )

    @classmethod
    def gathered(cls, reads: Iterable[tuple[int, PageReader]], limits: Limits) -> PageRun:
        """Read pages one by one; a page whose reader raises anything is lost.

        Raises:
            ReadingError: there is more text than the limits allow.
        """
        run, left = cls(), limits.max_text_mb * MEGABYTE
        for index, read in reads:
            page = sound(read)
            if page is None:
                run.lost.append(index)
            lines, is_picture, comments = page or PageText([])
            left -= sum(len(line.text) + 1 for line in lines) + sum(map(len, comments))
            if left < 0:
                raise too_much_text(limits)
            if is_picture:
                run.poor.append(index)
            run.pages.append(lines)
            run.comments.extend((index, comment) for comment in comments)
        return run

    def pack(self) -> bytes:
        """Return it as JSON."""
        parts = (self.pages, self.poor, self.lost, self.comments, self.has_form)
        return json.dumps(parts).encode()

    @classmethod
    def unpack(cls, data: bytes) -> PageRun:
        """Build a run from its JSON.

        Raises:
            ValueError, TypeError: it is not what ``pack`` wrote.
        """
        pages, poor, lost, comments, has_form = json.loads(data)
        lines = [[Line(*line) for line in page] for page in pages]
        return cls(lines, poor, lost, [(index, comment) for index, comment in comments], has_form)


@dataclass(frozen=True, slots=True)
class KnownPages:
    """What is known of a PDF before it is read.

    ``runs`` are all of its pages, or none. ``recognised`` is the file of the text of its scanned
    pages (``ocr_files.OcrFile``), or empty. ``is_hard``: an earlier process did not survive it.
    """

    runs: Sequence[PageRun] = ()
    recognised: bytes = b""
    is_hard: bool = False


@dataclass(frozen=True, slots=True)
class Contents:
    """The pages of a PDF and its properties.

    ``labels`` has an empty label for a page without one. ``bookmarks`` are (page index, level,
    title). ``info`` holds the properties of the file (Title, Author, ...).
    """

    run: PageRun
    labels: list[str]
    bookmarks: list[tuple[int, int, str]]
    info: dict[str, str]


_FEWEST_PAGES = 4
"""The outline of a file of so many pages leads to more than one."""
MOST_BOOKMARKS = 5000
DEEPEST_BOOKMARK = 12
POOR_PAGE = 10
"""A page with a picture and fewer letters and digits than this counts as scanned."""


def without_dots(text: str) -> str:
    """Return a line with one ``LEADER`` for dots that lead from one of its parts to another."""
    if DOTS.search(text) is None:
        return text
    return _DOTS.sub(f" {LEADER} ", text).strip()


def is_outline(targets: Iterable[int], pages: int) -> bool:
    """Return whether bookmarks to these pages, by index, are the outline of so many pages."""
    led: set[int] = set()
    for target in targets:
        led.add(target)
        # The first ones nearly always say it.
        if len(led) > 1 or pages < _FEWEST_PAGES:
            return True
    return False


def letters(text: str) -> int:
    """Return the number of letters and digits of a text."""
    return sum(map(str.isalnum, text))


def sound(read: Callable[[], _T]) -> _T | None:
    """Return the result of a reader of PDFs, or ``None`` if it fails on a broken file."""
    try:
        return read()
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - a reader of PDFs may raise anything
        return None
