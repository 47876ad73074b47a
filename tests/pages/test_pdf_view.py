"""Where a PDF opens."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from pages.parts.document.pdf_view import Shown, first_page
from ragkit.types import Page

COVER = "A report on drift. KI-TR-2026-01 i "
BODY = "Drift of the sensor: the foil ages, and drift follows the foil. "
END = "Thanks to everybody who rowed. "
TEXT = COVER + BODY + END
STARTS = (0, len(COVER), len(COVER) + len(BODY), len(TEXT))
PAGES = tuple(Page(n + 1, str(n), STARTS[n], STARTS[n + 1]) for n in range(3))


def shown(find, *, chunk=None, place=0, pages=PAGES):
    detail = SimpleNamespace(text=TEXT, record=SimpleNamespace(pages=pages))
    span = SimpleNamespace(chunk=SimpleNamespace(start=chunk[0], end=chunk[1])) if chunk else None
    place = chunk[0] if chunk else place
    return Shown(detail, Path("report.pdf"), span, place, find)


@pytest.mark.parametrize(
    ("request_", "page"),
    [
        # A chunk that begins in the footer of the cover.
        (shown("drift foil", chunk=(TEXT.index("KI-TR"), STARTS[2])), 2),
        (shown("", chunk=(TEXT.index("KI-TR"), STARTS[2])), 2),
        (shown("report", chunk=(0, STARTS[2])), 1),
        # A whole document opens where the words are.
        (shown("rowed"), 3),
        (shown("nowhere"), 1),
        (shown(""), 1),
        # A heading of the outline.
        (shown("drift", place=STARTS[2] + 3), 3),
        (shown("drift", pages=()), 1),
    ],
)
def test_a_pdf_opens_at_the_page_with_most_of_what_is_sought(request_, page):
    assert first_page(request_) == page
