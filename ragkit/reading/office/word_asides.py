"""Notes and formulas of Word documents, put where the converter reads them, and back again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MARK = re.compile("\\^?\ufdd3(\\d+)\ufdd4\\^?")
"""The number of a note, between characters that no text has; most are superscript."""

_MARKED = "\ufdd3{}\ufdd4"
PARTS = ("word/footnotes.xml", "word/endnotes.xml")
_REFERENCE = re.compile(rb"<w:(foot|end)noteReference\s[^<>]*?\bw:id=\"(-?\d{1,9})\"[^<>]*/>")
_NOTE = re.compile(
    rb"<w:(foot|end)note\s(?=[^<>]*?\bw:id=\"(-?\d{1,9})\")[^<>]*>((?:(?!<w:(?:foot|end)note\s).)*?)</w:\1note>",
    re.S,
)
_FIRST_RUN = re.compile(
    rb"<w:p(?:\s[^<>]*)?>(?:\s*<w:pPr(?:\s[^<>]*)?>.*?</w:pPr>|\s*<w:pPr/>)?", re.S
)
_LINK = re.compile(rb"<w:hyperlink\s[^<>]*>")

_FORMULA = re.compile(
    rb"<m:oMathPara\b(?:(?!<m:oMathPara\b).)*?</m:oMathPara>"
    rb"|<m:oMath(?:\s[^<>]*)?>(?P<inside>(?:(?!<m:oMath\b).)*?)</m:oMath>",
    re.DOTALL,
)
_PLACE = re.compile("\ufdd5(\\d+)\ufdd6")
_BELOW = re.compile("\ufdd7(\\d+)")
_SPACE = re.compile(r"\s+")


def notes_of(parts: Iterable[bytes]) -> dict[tuple[bytes, bytes], bytes]:
    """Return the paragraphs of each note in ``PARTS`` by its kind and its id."""
    return {(note[1], note[2]): note[3] for part in parts for note in _NOTE.finditer(part)}


def with_notes_below(document: bytes, notes: Mapping[tuple[bytes, bytes], bytes]) -> bytes:
    """Return a document whose notes are its last paragraphs, numbered as they are referred to.

    The converter mixes up the numbers, and loses a note where a footnote and an endnote have the
    same id.
    """
    numbers: dict[tuple[bytes, bytes], int] = {}

    def marked(mark: re.Match[bytes]) -> bytes:
        key = (mark[1], mark[2])
        if key not in notes:
            return b""
        number = numbers.setdefault(key, len(numbers) + 1)
        return f"<w:t>{_MARKED.format(number)}</w:t>".encode()

    body, found, rest = _REFERENCE.sub(marked, document).rpartition(b"</w:body>")
    if not found:
        return document
    below = b"".join(_numbered(notes[key], number) for key, number in numbers.items())
    return body + below + found + rest


def _numbered(note: bytes, number: int) -> bytes:
    """Return the paragraphs of a note, the first of which begins with its number."""
    run = f'<w:r><w:t xml:space="preserve">{_MARKED.format(number)}: </w:t></w:r>'.encode()
    # Its links' targets are listed elsewhere, by ids that mean other targets in the document.
    note = _LINK.sub(b"<w:hyperlink>", note)
    first = _FIRST_RUN.search(note)
    if not first:
        return b""
    return note[: first.end()] + run + note[first.end() :]


def with_formulas_below(document: bytes) -> bytes:
    """Return a document whose formulas are its last lines, and numbers in their places."""
    inside: list[bytes] = []

    def numbered(formula: re.Match[bytes]) -> bytes:
        if formula["inside"] is None:
            return formula[0]
        inside.append(formula[0])
        return f"<w:r><w:t>\ufdd5{len(inside) - 1}\ufdd6</w:t></w:r>".encode()

    body, found, rest = _FORMULA.sub(numbered, document).rpartition(b"</w:body>")
    if not found:
        return document
    below = (
        f"<w:p><w:r><w:t>\ufdd7{number}</w:t></w:r></w:p><w:p><m:oMathPara>".encode()
        + formula
        + b"</m:oMathPara></w:p>"
        for number, formula in enumerate(inside)
    )
    return body + b"".join(below) + found + rest


def with_formulas_in_place(markdown: str) -> str:
    """Return converted text with the formulas back in their lines, as TeX between dollars."""
    text, *below = _BELOW.split(markdown)
    tex = {
        number: _SPACE.sub(" ", formula.replace("$$", "")).strip()
        for number, formula in zip(below[::2], below[1::2], strict=True)
    }
    return _PLACE.sub(lambda place: f"${tex[place[1]]}$" if tex.get(place[1]) else "", text)
