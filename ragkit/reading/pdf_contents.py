"""What a PDF holds before its text is put together: lines with their places, labels, bookmarks."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

_T = TypeVar("_T")


class Line(NamedTuple):
    """A line of a page with its edges in points, from the bottom left of the page as it is shown.

    Without edges, where only its text is known, all of them are 0.
    """

    text: str
    left: float = 0.0
    bottom: float = 0.0
    right: float = 0.0
    top: float = 0.0


@dataclass(frozen=True, slots=True)
class PageRun:
    """Pages of a PDF that follow one another, as lines in their order of reading.

    ``poor`` are the indexes in the file of pages that are pictures, ``lost`` those of damaged ones.
    """

    pages: list[list[Line]] = field(default_factory=list)
    poor: list[int] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    has_form: bool = False

    @classmethod
    def joined(cls, runs: Sequence[PageRun]) -> PageRun:
        """Put runs together that follow one another."""
        return cls(
            [page for run in runs for page in run.pages],
            [index for run in runs for index in run.poor],
            [index for run in runs for index in run.lost],
            any(run.has_form for run in runs),
        )

    def pack(self) -> bytes:
        """Return it as JSON."""
        return json.dumps((self.pages, self.poor, self.lost, self.has_form)).encode()

    @classmethod
    def unpack(cls, data: bytes) -> PageRun:
        """Build a run from its JSON.

        Raises:
            ValueError, TypeError: it is not what ``pack`` wrote.
        """
        pages, poor, lost, has_form = json.loads(data)
        return cls([[Line(*line) for line in page] for page in pages], poor, lost, has_form)


@dataclass(frozen=True, slots=True)
class Contents:
    """The pages of a PDF, and what the file says of itself.

    ``labels`` are empty where the file has none for a page. ``bookmarks`` are (page index, level,
    title). ``info`` has the properties of the file (Title, Author, ...).
    """

    run: PageRun
    labels: list[str]
    bookmarks: list[tuple[int, int, str]]
    info: dict[str, str]


MOST_BOOKMARKS = 5000
DEEPEST_BOOKMARK = 12
POOR_PAGE = 10
"""A page with fewer letters and digits than this, and a picture, is taken for a scanned one."""


def letters(text: str) -> int:
    """Return the number of letters and digits of a text."""
    return sum(map(str.isalnum, text))


def sound(read: Callable[[], _T]) -> _T | None:
    """Return what is read; nothing where a file is broken, which must not cost the others."""
    try:
        return read()
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - a reader of PDFs raises anything
        return None
