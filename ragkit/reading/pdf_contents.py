"""What a PDF holds before its text is put together: lines with their places, labels, bookmarks."""

from __future__ import annotations

from collections.abc import Callable
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
class Contents:
    """The pages of a PDF as lines, in their order of reading, and what the file says of itself.

    ``labels`` are empty where the file has none for a page. ``bookmarks`` are (page index, level,
    title). ``poor`` are the indexes of pages that are pictures, ``lost`` those of damaged ones.
    ``info`` has the properties of the file (Title, Author, ...).
    """

    pages: list[list[Line]]
    labels: list[str]
    bookmarks: list[tuple[int, int, str]]
    info: dict[str, str]
    poor: list[int] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    has_form: bool = False


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
