"""Reads a PDF with pdfium: lines with their positions, labels, bookmarks and properties.

pdfium is native code that reads hostile bytes. In a confined process, a crash costs only that file.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from ragkit.reading.formats import Format
from ragkit.reading.limits import locked
from ragkit.reading.pdf.annotations import annotations_of
from ragkit.reading.pdf.contents import (
    DEEPEST_BOOKMARK,
    FIRST_PAGES,
    MOST_BOOKMARKS,
    POOR_PAGE,
    Contents,
    PageRun,
    PageText,
    is_outline,
    letters,
    sound,
)
from ragkit.reading.pdf.layout import in_order
from ragkit.reading.pdf.lines import Characters
from ragkit.reading.pdf.pictures import pictures_on

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragkit.reading.limits import Limits

_PASSWORD, _SECURITY = 4, 5
_HEADER = b"%PDF-"
_ENOUGH = 500
"""Characters that are enough to recognise a page with text."""
_WIDE_LETTERS = ("Ghostscript", "dvips")
_SCAN = 0.25
"""The share of a scanned page that its pictures cover, at least."""


def contents_of(data: bytes, limits: Limits, runs: Sequence[PageRun] = ()) -> Contents | None:
    """Read a file, or return ``None`` if pdfium cannot open it. ``runs``: pages already read.

    Raises:
        ReadingError: locked, or more text than the limits allow.
    """
    with _opened(data) as document:
        return _Reader(document).contents(limits, runs) if document is not None else None


def run_of(data: bytes, limits: Limits, first: int, end: int) -> tuple[int, PageRun]:
    """Read the pages ``first`` (an index) to before ``end``; return also the number of all pages.

    It is 0 if pdfium cannot open the file.

    Raises:
        ReadingError: locked, or more text than the limits allow.
    """
    with _opened(data) as document:
        if document is None:
            return 0, PageRun()
        count = len(document)
        return count, _Reader(document).run(limits, range(first, min(end, count)))


@contextlib.contextmanager
def _opened(data: bytes) -> Iterator[Any]:
    """Open a file for the duration of the block; yield ``None`` if pdfium cannot open it."""
    import pypdfium2

    # Bytes before the header would shift all addresses in the file.
    data = data[max(data.find(_HEADER), 0) :]
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code in (_PASSWORD, _SECURITY):
            raise locked(Format.PDF.label) from None
        yield None
        return
    try:
        yield document
    finally:
        document.close()


class _Reader:
    """Reads an open file."""

    def __init__(self, document: Any) -> None:
        import pypdfium2.raw

        self._document = document
        raw = pypdfium2.raw
        # Only an XML form holds values without fields on its pages; an empty form is common.
        xml_forms = raw.FORMTYPE_XFA_FULL, raw.FORMTYPE_XFA_FOREGROUND
        self._has_form = document.get_formtype() in xml_forms
        # They write the two letters around a space as one text of wide letters, which pdfium takes
        # for a word: "theyare".
        self._info = info = sound(document.get_metadata_dict) or {}
        made_by = f"{info.get('Creator')} {info.get('Producer')}"
        self._part_words = any(name in made_by for name in _WIDE_LETTERS)
        # Only titles and headings need them, and the headings of an outline are known.
        targets = (page for page, _, _ in self._bookmarks())
        self._with_fonts = not is_outline(targets, len(document))

    def contents(self, limits: Limits, runs: Sequence[PageRun]) -> Contents:
        """Return the contents of the file; ``runs`` are its pages if they were read already."""
        count = len(self._document)
        run = PageRun.joined(runs)
        if len(run.pages) != count:
            run = self.run(limits, range(count))
        labels = [sound(partial(self._document.get_page_label, i)) or "" for i in range(count)]
        bookmarks = list(islice(self._bookmarks(), MOST_BOOKMARKS))
        return Contents(run, labels, bookmarks, self._info)

    def run(self, limits: Limits, indexes: range) -> PageRun:
        """Read the pages with these indexes."""
        reads = ((index, partial(self._page, index)) for index in indexes)
        return replace(PageRun.gathered(reads, limits), has_form=self._has_form)

    def _page(self, index: int) -> PageText:
        page = self._document[index]
        with_fonts = self._with_fonts or index < FIRST_PAGES
        read = partial(Characters, page, part_words=self._part_words, with_fonts=with_fonts)
        try:
            characters = read()
            upright = characters.upright()
            if upright is not None:
                # pdfium puts letters into lines as they are shown.
                characters.close()
                page.set_rotation(upright)
                characters = read()
            try:
                lines = in_order(characters.rows())
                annotations = annotations_of(page, characters.text_page)
            finally:
                characters.close()
            self._has_form = self._has_form or annotations.has_fields
            few = letters("".join(line.text for line in lines)[:_ENOUGH]) < POOR_PAGE
            return PageText(lines, few and self._is_picture(page), annotations.comments)
        finally:
            page.close()

    @staticmethod
    def _is_picture(page: Any) -> bool:
        """Return whether pictures cover much of a page, or one is nested in another object."""
        covered = 0.0
        for picture, area in pictures_on(page):
            covered += area
            if picture.level or covered > _SCAN * page.get_width() * page.get_height():
                return True
        return False

    def _bookmarks(self) -> Iterator[tuple[int, int, str]]:
        """Yield the outline as (page index, level, title) in its own order, up to a fault in it."""
        count = len(self._document)
        with contextlib.suppress(Exception):
            for entry in self._document.get_toc(max_depth=DEEPEST_BOOKMARK):
                target = entry.get_dest()
                page = target.get_index() if target is not None else None
                if page is not None and page < count:
                    yield page, entry.level + 1, entry.get_title()
