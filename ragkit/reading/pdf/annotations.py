"""What people wrote onto the pages of a PDF: notes, comments on marked words, typed text."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ragkit.reading.comments import comment_line
from ragkit.reading.decode import clean
from ragkit.reading.reading_parts import whole_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_HIDDEN, _NO_VIEW = 1 << 1, 1 << 5
_MOST = 2000
"""Annotations of a page that are looked at."""

_LONGEST = 1 << 20


class Annotations(NamedTuple):
    """The comments on a page, a line each, and whether it has form fields."""

    comments: list[str]
    has_fields: bool


def annotations_of(page: Any, text_page: Any) -> Annotations:
    """Look through the annotations of a page of pdfium; ``text_page`` has its characters."""
    import pypdfium2.raw as raw

    marks_words = _marks_words()
    comments: list[str] = []
    has_fields = False
    for at in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST)):
        annotation = raw.FPDFPage_GetAnnot(page, at)
        if not annotation:
            continue
        try:
            kind = raw.FPDFAnnot_GetSubtype(annotation)
            has_fields = has_fields or kind == raw.FPDF_ANNOT_WIDGET
            if kind in marks_words and (
                line := _comment(annotation, text_page, raw, marks_words=marks_words[kind])
            ):
                comments.append(line)
        finally:
            raw.FPDFPage_CloseAnnot(annotation)
    return Annotations(comments, has_fields)


@cache
def _marks_words() -> Mapping[int, bool]:
    """Return the kinds of annotations that hold comments, and which of them mark words."""
    import pypdfium2.raw as raw

    marking = ("HIGHLIGHT", "UNDERLINE", "SQUIGGLY", "STRIKEOUT")
    others = ("TEXT", "FREETEXT", "LINE", "SQUARE", "CIRCLE", "POLYGON", "POLYLINE", "STAMP",
              "CARET", "INK")  # fmt: skip
    return {getattr(raw, f"FPDF_ANNOT_{kind}"): kind in marking for kind in (*marking, *others)}


def _comment(annotation: Any, text_page: Any, raw: Any, *, marks_words: bool) -> str:
    """Return a comment as a line; nothing where it is hidden, empty, or says what it marks."""
    text = _string(annotation, b"Contents", raw)
    hidden = raw.FPDFAnnot_GetFlags(annotation) & (_HIDDEN | _NO_VIEW)
    # "Accepted set by Rui" is no comment, but the state of one.
    if not text.strip() or hidden or raw.FPDFAnnot_HasKey(annotation, b"StateModel"):
        return ""
    quote = ""
    if marks_words:
        quote = " ".join(_marked(annotation, text_page, raw))
        if whole_line(clean(text)) == whole_line(clean(quote)):
            return ""
    return comment_line(_string(annotation, b"T", raw), text, quote=quote)


def _string(annotation: Any, key: bytes, raw: Any) -> str:
    """Return a text of an annotation."""
    size = raw.FPDFAnnot_GetStringValue(annotation, key, None, 0)
    if not 2 < size <= _LONGEST:
        return ""
    buffer = ctypes.create_string_buffer(size)
    raw.FPDFAnnot_GetStringValue(
        annotation, key, ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), size
    )
    return buffer.raw[: size - 2].decode("utf-16-le", "replace").replace("\r", "\n")


def _marked(annotation: Any, text_page: Any, raw: Any) -> Iterator[str]:
    """Yield the words that an annotation marks, line by line."""
    points = raw.FS_QUADPOINTSF()
    for at in range(min(raw.FPDFAnnot_CountAttachmentPoints(annotation), _MOST)):
        if raw.FPDFAnnot_GetAttachmentPoints(annotation, at, points):
            across = points.x1, points.x2, points.x3, points.x4
            upward = points.y1, points.y2, points.y3, points.y4
            edges = min(across), min(upward), max(across), max(upward)
            yield text_page.get_text_bounded(*edges)
