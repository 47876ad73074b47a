"""Word documents from before 2007, as Markdown: headings, lists, tables, notes and comments."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from ragkit.reading.blocks import Block, inline, note, paragraph, tabled, title_of, written
from ragkit.reading.comments import comment_line
from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.limits import check_text
from ragkit.reading.margins import sections_beside
from ragkit.reading.office_97.compound import opened, properties_of
from ragkit.reading.office_97.doc_text import DocText, Part, Table
from ragkit.reading.reading_parts import whole_line
from ragkit.reading.titles import choose, in_order
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragkit.reading.limits import Limits
    from ragkit.reading.office_97.doc_text import Paragraph

_BEGINNING = 5000
_NOTES = (
    (Part.FOOTNOTES, Table.FOOTNOTE_MARKS, Table.FOOTNOTES),
    (Part.ENDNOTES, Table.ENDNOTE_MARKS, Table.ENDNOTES),
)
_NOTE, _COMMENT, _DRAWING, _BOX = 2, 30, 26, 22
"""The sizes in bytes of the entries of tables."""

_CELL_ENDS = "\a"


def read_document(data: bytes, name: str, limits: Limits) -> Reading:
    """Read a DOC file as Markdown, with its notes, headers, footers and comments at the end.

    Raises:
        ReadingError: damaged, locked, older than Word 6, or too long.
    """
    with opened(data, Format.DOC.label) as file:
        text = DocText(file)
        metadata, title = properties_of(file)
    blocks = _Body(text).blocks()
    body = written(blocks)
    check_text((body,), limits)
    margins = (
        *_lines(text, *text.span(Part.MARGINS)),
        *_lines(text, *text.span(Part.MARGIN_BOXES)),
    )
    whole = body + sections_beside(body, margins, [*_comments(text)])
    return Reading(
        text=whole.lstrip(),
        title=choose(in_order(title, [title_of(blocks)], body[:_BEGINNING]), name),
        format=Format.DOC,
        markup=Markup.MARKDOWN,
        metadata=metadata,
    )


class _Body:
    """Writes the body of a text, with text boxes after the paragraphs that they belong to."""

    def __init__(self, text: DocText) -> None:
        self._text = text
        self._notes = _notes(text)
        marks = {place: f"[^{number}]" for number, place in enumerate(self._notes, 1)}
        self._marks = text.links | marks
        self._boxes = _boxes(text)
        self._lists = text.lists()

    def blocks(self) -> list[Block]:
        """Return the body, then the boxes that belong nowhere, then the notes."""
        blocks = [*self._blocks(*self._text.span(Part.BODY))]
        for boxes in list(self._boxes.values()):
            for box in boxes:
                blocks += self._blocks(*box)
        for number, stretch in enumerate(self._notes.values(), 1):
            blocks.append(note(number, inline(" ".join(_lines(self._text, *stretch)))))
        return blocks

    def _blocks(self, start: int, end: int) -> Iterator[Block]:
        """Yield the paragraphs and tables of a stretch of the text."""
        rows = _Rows()
        for found in self._text.paragraphs(start, end):
            block = self._block(found)
            boxes = [
                inside
                for place in range(found.start, found.end)
                if place in self._boxes
                for box in self._boxes.pop(place)
                for inside in self._blocks(*box)
            ]
            if found.style.in_table or found.mark == _CELL_ENDS:
                rows.add(found, [block, *boxes])
                continue
            yield from rows.taken()
            yield block
            yield from boxes
        yield from rows.taken()

    def _block(self, found: Paragraph) -> Block:
        pieces = []
        at = found.start
        for place in filter(self._marks.__contains__, range(found.start, found.end)):
            pieces += [inline(self._text.readable(at, place)), self._marks[place]]
            at = place + 1
        pieces.append(inline(self._text.readable(at, found.end)))
        text, style = "".join(pieces), found.style
        listed = self._lists.get(style.list) if text.strip() else None
        number = (listed.next(style.depth) if listed else None) or ""
        depth = style.depth + 1 if style.listed else 0
        return paragraph(text, level=style.level, depth=depth, number=number)


class _Rows:
    """Collects the rows of a table from the paragraphs of its cells."""

    def __init__(self) -> None:
        self._rows: list[list[list[Block]]] = [[]]
        self._cell: list[Block] = []

    def add(self, found: Paragraph, blocks: list[Block]) -> None:
        """Add a paragraph of a cell with what is beside it, or the end of a row.

        Word 6 and 95 do not say which marks end rows here; they come after those of last cells.
        """
        style, ends_cell = found.style, found.mark == _CELL_ENDS
        blocks = [block for block in blocks if block.text]
        unknown = ends_cell and not style.in_table and self._rows[-1] and not self._cell + blocks
        if (style.ends_row and not style.nested) or unknown:
            self._rows.append([])
            return
        self._cell += blocks
        if ends_cell:
            self._rows[-1].append(self._cell)
            self._cell = []

    def taken(self) -> Iterator[Block]:
        """Yield the table and begin anew."""
        rows = [*self._rows[:-1], [*self._rows[-1], self._cell]]
        self._rows, self._cell = [[]], []
        yield from tabled(rows)


def _lines(text: DocText, start: int, end: int) -> Iterator[str]:
    """Yield the paragraphs of a stretch of the text that are not empty, each on one line."""
    for found in text.paragraphs(start, end):
        if line := whole_line(clean(text.readable(found.start, found.end))):
            yield line


def _notes(text: DocText) -> dict[int, tuple[int, int]]:
    """Return the stretch of each note by the place of its mark, in the order of the marks."""
    found: dict[int, tuple[int, int]] = {}
    for part, marks, notes in _NOTES:
        places, _ = text.places(marks, _NOTE)
        found.update(zip(places[:-1], _stretches(text, part, notes), strict=False))
    return dict(sorted(found.items()))


def _boxes(text: DocText) -> dict[int, list[tuple[int, int]]]:
    """Return the stretches of text boxes by the places that they belong to; -1 if not known."""
    places, drawings = text.places(Table.DRAWINGS, _DRAWING)
    anchors = {drawing[:4]: place for place, drawing in zip(places, drawings, strict=False)}
    _, boxes = text.places(Table.BOXES, _BOX)
    found: dict[int, list[tuple[int, int]]] = {}
    for box, stretch in zip(boxes, _stretches(text, Part.BOXES, Table.BOXES, _BOX), strict=True):
        found.setdefault(anchors.get(box[14:18], -1), []).append(stretch)
    return found


def _comments(text: DocText) -> Iterator[str]:
    """Yield a line for each comment with its author."""
    _, marks = text.places(Table.COMMENT_MARKS, _COMMENT)
    authors = _authors(text.stored(Table.AUTHORS))
    for number, stretch in enumerate(_stretches(text, Part.COMMENTS, Table.COMMENTS)):
        index = int.from_bytes(marks[number][20:22], "little") if number < len(marks) else -1
        author = authors[index] if 0 <= index < len(authors) else ""
        if line := comment_line(author, " ".join(_lines(text, *stretch))):
            yield line


def _authors(stored: bytes) -> list[str]:
    authors, at = [], 0
    while at + 2 <= len(stored):
        size = 2 * int.from_bytes(stored[at : at + 2], "little")
        authors.append(stored[at + 2 : at + 2 + size].decode("utf-16-le", "replace"))
        at += 2 + size
    return authors


def _stretches(text: DocText, part: Part, listed: Table, size: int = 0) -> list[tuple[int, int]]:
    """Return the stretches into which a table divides a part of the text."""
    places, _ = text.places(listed, size)
    start, end = text.span(part)
    inside = [min(start + place, end) for place in places]
    return [*pairwise(inside)]
