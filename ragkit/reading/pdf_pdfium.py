"""What pdfium reads: the lines of a PDF with their places, its labels, bookmarks and properties.

It is native code that reads hostile bytes, in a confined process: a crash costs that file alone.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from ragkit.reading.formats import Format
from ragkit.reading.limits import MEGABYTE, locked, too_much_text
from ragkit.reading.pdf_contents import (
    DEEPEST_BOOKMARK,
    MOST_BOOKMARKS,
    POOR_PAGE,
    Contents,
    Line,
    letters,
    sound,
)

if TYPE_CHECKING:
    from ragkit.reading.limits import Limits

_PASSWORD, _SECURITY = 4, 5
_HEADER = b"%PDF-"
_HYPHEN = "\ufffe"
"""Stands for a hyphen at a line's end; the line break is left out."""
_UNSEEN = dict.fromkeys(range(32), " ") | {0xFFFE: "-", 0x02: "-", 0xAD: "-"}
_LINE = re.compile("[^\r\n\ufffe\x02]*[\ufffe\x02]?")
_FROM_RIGHT = re.compile("[\u0590-\u065f\u066e-\u06ef\u06fa-\u08ff]{2,}")
_PICTURES = 3
_SCAN = 0.25
"""So much of a scanned page is covered by its pictures."""


def contents_of(data: bytes, limits: Limits) -> Contents | None:
    """Read a file; ``None`` where pdfium cannot open it.

    Raises:
        ReadingError: locked, or more text than the limits allow.
    """
    import pypdfium2

    # What stands before the file would shift all its addresses.
    data = data[max(data.find(_HEADER), 0) :]
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code in (_PASSWORD, _SECURITY):
            raise locked(Format.PDF.label) from None
        return None
    try:
        return _Reader(document).contents(limits)
    finally:
        document.close()


class _Reader:
    """Reads an open file."""

    def __init__(self, document: Any) -> None:
        import pypdfium2.raw

        self._document = document
        self._raw = pypdfium2.raw
        self._box = self._raw.FS_RECTF()
        self._measure = self._raw.FPDFText_GetLooseCharBox
        self._has_form = bool(document.get_formtype())

    def contents(self, limits: Limits) -> Contents:
        """Read all that is there."""
        count = len(self._document)
        pages: list[list[Line]] = []
        poor: list[int] = []
        lost: list[int] = []
        left = limits.max_text_mb * MEGABYTE
        for index in range(count):
            read = sound(partial(self._page, index))
            if read is None:
                lost.append(index)
            lines, is_poor = read or ([], False)
            left -= sum(len(line.text) + 1 for line in lines)
            if left < 0:
                raise too_much_text(limits)
            if is_poor:
                poor.append(index)
            pages.append(lines)
        labels = [sound(partial(self._document.get_page_label, i)) or "" for i in range(count)]
        info = sound(self._document.get_metadata_dict) or {}
        bookmarks = self._bookmarks(count)
        return Contents(pages, labels, bookmarks, info, poor, lost, self._has_form)

    def _page(self, index: int) -> tuple[list[Line], bool]:
        """Return the lines of a page, and whether it is a picture of a page."""
        page = self._document[index]
        try:
            textpage = page.get_textpage()
            try:
                lines = self._lines(textpage, page)
            finally:
                textpage.close()
            self._has_form = self._has_form or self._has_fields(page)
            few = letters("".join(line.text for line in lines)) < POOR_PAGE
            return lines, few and self._is_picture(page)
        finally:
            page.close()

    def _lines(self, textpage: Any, page: Any) -> list[Line]:
        """Return the lines of a page in the order in which the file draws them."""
        count = textpage.count_chars()
        text = textpage.get_text_range() if count else ""
        if len(text) != count:
            # Characters that the text leaves out, or that take two places in it, have their own.
            codes = (self._raw.FPDFText_GetUnicode(textpage, at) for at in range(count))
            text = "".join(chr(code) if 0 < code < 0x110000 else " " for code in codes)
        turned = _Turned(page.get_rotation(), *page.get_size())
        lines = []
        for match in _LINE.finditer(text):
            words = match.group().translate(_UNSEEN)
            inner = words.strip()
            if not inner:
                continue
            first = match.start() + len(words) - len(words.lstrip())
            inner = _FROM_RIGHT.sub(partial(self._from_right, textpage, first), inner)
            edges = self._around(textpage, first, first + len(inner) - 1)
            lines.append(Line(inner, *turned.edges(*edges)))
        return lines

    def _around(self, textpage: Any, first: int, last: int) -> tuple[float, float, float, float]:
        """Return the edges of what stands between two characters of one line."""
        box = self._box
        self._measure(textpage, first, ctypes.byref(box))
        left, bottom, right, top = box.left, box.bottom, box.right, box.top
        self._measure(textpage, last, ctypes.byref(box))
        return (
            min(left, box.left),
            min(bottom, box.bottom),
            max(right, box.right),
            max(top, box.top),
        )

    def _from_right(self, textpage: Any, first: int, word: re.Match[str]) -> str:
        """Return a word that is written from the right from its first letter on.

        pdfium has some of these words in the order of their places, and the letters of what is
        drawn as one sign in the wrong order.
        """
        places = range(first + word.start(), first + word.end())
        drawn = [
            (self._around(textpage, at, at), one)
            for at, one in zip(places, word.group(), strict=True)
        ]
        if drawn[0][0][0] < drawn[-1][0][0]:
            drawn.reverse()
        signs = ([letter for _, letter in sign] for _, sign in groupby(drawn, key=itemgetter(0)))
        return "".join("".join(reversed(sign)) for sign in signs)

    def _is_picture(self, page: Any) -> bool:
        """Return whether pictures cover much of a page, or are drawn through a form."""
        kinds = [self._raw.FPDF_PAGEOBJ_IMAGE]
        covered = 0.0
        for picture in page.get_objects(filter=kinds, max_depth=_PICTURES):
            left, bottom, right, top = picture.get_bounds()
            covered += (right - left) * (top - bottom)
            if picture.level or covered > _SCAN * page.get_width() * page.get_height():
                return True
        return False

    def _has_fields(self, page: Any) -> bool:
        """Return whether a page has fields, which a file may have without a form."""
        raw = self._raw
        for at in range(raw.FPDFPage_GetAnnotCount(page)):
            annotation = raw.FPDFPage_GetAnnot(page, at)
            kind = raw.FPDFAnnot_GetSubtype(annotation) if annotation else 0
            raw.FPDFPage_CloseAnnot(annotation)
            if kind == raw.FPDF_ANNOT_WIDGET:
                return True
        return False

    def _bookmarks(self, count: int) -> list[tuple[int, int, str]]:
        """Return the outline as (page index, level, title), in its own order."""
        bookmarks: list[tuple[int, int, str]] = []
        # A broken outline is as much as could be read of it.
        with contextlib.suppress(Exception):
            for entry in self._document.get_toc(max_depth=DEEPEST_BOOKMARK):
                target = entry.get_dest()
                page = target.get_index() if target is not None else None
                if page is not None and page < count:
                    bookmarks.append((page, entry.level + 1, entry.get_title()))
                if len(bookmarks) >= MOST_BOOKMARKS:
                    break
        return bookmarks


class _Turned:
    """Turns places on a page into places on the page as it is shown."""

    def __init__(self, rotation: int, width: float, height: float) -> None:
        self._rotation, self._width, self._height = rotation, width, height

    def edges(
        self, left: float, bottom: float, right: float, top: float
    ) -> tuple[float, float, float, float]:
        """Return the left, bottom, right and top edges."""
        if self._rotation == 90:
            return bottom, self._height - right, top, self._height - left
        if self._rotation == 180:
            return (
                self._width - right,
                self._height - top,
                self._width - left,
                self._height - bottom,
            )
        if self._rotation == 270:
            return self._width - top, left, self._width - bottom, right
        return left, bottom, right, top
