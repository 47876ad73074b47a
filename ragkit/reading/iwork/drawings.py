"""What is drawn in iWork documents: text boxes, groups, tables and charts, as blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.reading.blocks import Block, written
from ragkit.reading.comments import comment_line
from ragkit.reading.decode import clean
from ragkit.reading.iwork.tables import TABLE, Tables
from ragkit.reading.iwork.text import Beside, Texts
from ragkit.reading.reading_parts import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ragkit.reading.iwork.archive import Objects
    from ragkit.reading.iwork.protobuf import Message

_PLACEHOLDERS = (7, 12)
_SHAPE, _STICKY, _CAPTION = 2011, 2014, 633
_OF_TEXT = (_SHAPE, _STICKY, _CAPTION)
_GROUP, _CHART = 3008, 5021
_DEEPEST = 20
_CHART_OF_DRAWING = 10000
_TITLE_HIDDEN, _CAPTION_HIDDEN = 12, 13


class Drawings:
    """Writes the drawings of a document, each once; ``beside`` has notes and comments."""

    def __init__(self, objects: Objects, level_of_tables: int = 0) -> None:
        self._objects = objects
        self._level = level_of_tables
        self.beside = Beside()
        self.texts = Texts(objects, self.blocks, self.beside)
        self._tables = Tables(objects, self.texts, self.beside)
        self._drawn: set[int] = set()
        self._commented: set[int] = set()
        self._depth = 0

    def blocks(self, identity: int) -> Iterator[Block]:
        """Yield what a drawing says, then its title and its caption."""
        if identity in self._drawn or self._depth > _DEEPEST:
            return
        self._drawn.add(identity)
        self._depth += 1
        yield from self._inside(identity)
        self._depth -= 1

    def comments(self) -> Iterator[str]:
        """Yield a line for each comment on what was written, with its answers."""
        remarks = self.beside.remarks
        while remarks:
            identity, quote = remarks.pop(0)
            if identity in self._commented:
                continue
            self._commented.add(identity)
            comment = self._objects.message(identity)
            author = self._objects.message(comment.reference(3)).text(1)
            if line := comment_line(author, comment.text(1), quote=quote):
                yield line
            remarks[:0] = [(reply, "") for reply in comment.references(4)]

    def _inside(self, identity: int) -> Iterator[Block]:
        kind, message = self._objects.kind(identity), self._objects.message(identity)
        drawable = message.message(1)
        if kind in _PLACEHOLDERS:
            shape = drawable
            drawable = shape.message(1).message(1)
            yield from self._text_of(shape)
        elif kind in _OF_TEXT:
            shape = message if kind == _SHAPE else drawable
            drawable = shape.message(1).message(1)
            yield from self._text_of(shape)
            if kind == _STICKY:
                self.beside.remarks.append((message.reference(2), ""))
        elif kind == _GROUP:
            for child in message.references(2):
                yield from self.blocks(child)
        elif kind == TABLE:
            yield from self._tables.table(identity).blocks(self._level)
        elif kind == _CHART:
            yield from _chart(message.message(_CHART_OF_DRAWING))
        for part, hidden in ((10, _TITLE_HIDDEN), (11, _CAPTION_HIDDEN)):
            if not drawable.number(hidden):
                yield from self.blocks(drawable.reference(part))
        if comment := drawable.reference(6):
            self.beside.remarks.append((comment, ""))

    def _text_of(self, shape: Message) -> Iterator[Block]:
        """Yield the text in a shape, wherever its program keeps it."""
        for field in (4, 2, 3):
            if identity := shape.reference(field):
                yield from self.texts.blocks(identity)


def without_headings(blocks: Iterable[Block]) -> list[Block]:
    """Return blocks that say something, none of which is a heading."""
    return [block._replace(level=0) for block in blocks if block.text]


def piece(blocks: Sequence[Block]) -> str:
    """Return blocks as Markdown; a list of one item is none."""
    if len(blocks) == 1 and blocks[0].depth:
        return blocks[0].text
    return written(blocks)


def _chart(chart: Message) -> Iterator[Block]:
    """Yield the figures of a chart, with its categories on the left."""
    grid = chart.message(7)
    names, columns = grid.texts(1), grid.texts(2)
    rows = [[_figure(value) for value in row.messages(1)] for row in grid.messages(3)]
    if chart.number(6) or not any(map(any, rows)):
        return
    head = ["", *columns]
    named = [[name, *row] for name, row in zip(names, rows, strict=False)]
    yield Block(table([[clean(value) for value in row] for row in (head, *named)]))


def _figure(value: Message) -> str:
    number = value.double(1)
    return "" if number is None else f"{number:.15g}"
