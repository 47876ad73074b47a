"""Presentations from before 2007, each slide a section with its lists, tables, notes and comments.

After "[MS-PPT]: PowerPoint (.ppt) Binary File Format" of Microsoft.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING, NamedTuple

from ragkit.reading.comments import comment_line
from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.limits import damaged, locked
from ragkit.reading.office.slides import Slide, slides_reading
from ragkit.reading.office_97.compound import opened, properties_of
from ragkit.reading.reading_parts import joined, table, whole_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragkit.reading.limits import Limits
    from ragkit.types import Reading

_STREAM, _USER = "PowerPoint Document", "Current User"
_LOCKED = b"\xdf\xc4\xd1\xf3"
_DOCUMENT, _SLIDE, _NOTES, _NOTES_OF = 1000, 1006, 1008, 1009
_LISTED, _LIST, _EDIT, _DIRECTORY = 1011, 4080, 4085, 6002
_PLACEHOLDER, _OUTLINE_TEXT, _KIND_OF_TEXT = 3011, 3998, 3999
_WIDE_TEXT, _NARROW_TEXT, _STRING, _COMMENT, _TAG = 4000, 4008, 4026, 12000, 5003
_GROUP, _SHAPE, _CELL, _OPTIONS = 0xF003, 0xF004, 0xF00F, 0xF122
_IS_TABLE = 0x39F
_FURNITURE = (5, 7, 8, 9, 10, 11)
"""Placeholders for the picture of a slide, dates, numbers, footers and headers."""

_MASTER_OF_NOTES, _OTHER = 6, 4
_TITLES, _LISTS, _LIST_PLACEHOLDERS = (0, 6), (1, 5, 7, 8), (14, 18, 19)


class _Record(NamedTuple):
    """A record of a file, with its content from ``start`` to ``end``; it may hold others."""

    kind: int
    instance: int
    start: int
    end: int
    holds: bool


@dataclass(slots=True)
class _Text:
    """A text of a slide: its kind, the placeholder it is in, and the table that it is a cell of."""

    kind: int = _OTHER
    text: str = ""
    placeholder: int = 0
    grid: int = 0
    row: int = 0
    column: int = 0

    @property
    def is_list(self) -> bool:
        return self.kind in _LISTS or self.placeholder in _LIST_PLACEHOLDERS

    def lines(self) -> list[str]:
        """Return the paragraphs that are not empty; the number of a slide is none."""
        lines = (whole_line(clean(line)) for line in self.text.split("\r"))
        return [line for line in lines if line not in ("", "*")]


@dataclass(slots=True)
class _Listed:
    """A slide in the list of a document, with its texts in the outline."""

    identity: int
    number: int
    outline: list[_Text] = field(default_factory=list)


def read_slides(data: bytes, name: str, limits: Limits) -> Reading:  # noqa: ARG001
    """Read the slides of a PPT file in the order in which they are shown.

    Raises:
        ReadingError: damaged or locked.
    """
    with opened(data, Format.PPT.label) as file:
        if not file.exists(_STREAM):
            raise damaged(Format.PPT.label)
        user = file.openstream(_USER).read() if file.exists(_USER) else b""
        if file.exists("EncryptedSummary") or user[12:16] == _LOCKED:
            raise locked(Format.PPT.label)
        stream = file.openstream(_STREAM).read()
        properties = properties_of(file)
    return slides_reading(_slides(stream, user), name, Format.PPT, properties)


def _slides(stream: bytes, user: bytes) -> list[Slide]:
    """Return the slides in their order; in that of the file where its directory is damaged.

    Raises:
        ReadingError: it lists no slides.
    """
    tops = _directory(stream, user) or _all(stream)
    documents = [top for top in tops.values() if top.kind == _DOCUMENT]
    if not documents:
        raise damaged(Format.PPT.label)
    listed = [*_listed(stream, documents[-1])]
    found = [tops.get(one.identity) for one in listed]
    if not any(found):
        found = [top for top in tops.values() if top.kind == _SLIDE]
    notes = dict(_notes(stream, top) for top in tops.values() if top.kind == _NOTES)
    return [
        _slide(stream, top, one.outline if one else [], notes.get(one.number, "") if one else "")
        for one, top in zip_longest(listed, found)
    ]


def _slide(stream: bytes, top: _Record | None, outline: list[_Text], notes: str) -> Slide:
    slide = Slide()
    texts, comments = _scanned(stream, top, outline) if top else ([], [])
    said = {text.text for text in texts}
    texts = [*(text for text in outline if text.text not in said), *texts]
    for grid, together in groupby(texts, key=lambda text: text.grid):
        if grid:
            slide.pieces.append(_table([*together]))
            continue
        for text in together:
            lines = [] if text.placeholder in _FURNITURE else text.lines()
            if text.kind in _TITLES and not slide.title:
                slide.begin(lines)
            elif text.is_list and len(lines) > 1:
                slide.pieces.append("\n".join(f"- {line}" for line in lines))
            else:
                slide.pieces += lines
    slide.note(notes)
    slide.pieces += comments
    return slide


def _table(cells: Sequence[_Text]) -> str:
    """Return the cells of a table, which are known by their places on the slide."""
    columns = {left: at for at, left in enumerate(sorted({cell.column for cell in cells}))}
    rows: dict[int, list[str]] = {}
    for cell in sorted(cells, key=lambda cell: cell.row):
        row = rows.setdefault(cell.row, [""] * len(columns))
        row[columns[cell.column]] = joined((row[columns[cell.column]], *cell.lines()), " ")
    return table([*rows.values()])


def _notes(stream: bytes, top: _Record) -> tuple[int, str]:
    """Return the number of the slide that notes are of, and what they say."""
    texts, _ = _scanned(stream, top, [])
    about = (one for one in _records(stream, top.start, top.end) if one.kind == _NOTES_OF)
    number = next((_number(stream[one.start : one.end]) for one in about), 0)
    unlike = (*_FURNITURE, _MASTER_OF_NOTES)
    lines = [line for text in texts if text.placeholder not in unlike for line in text.lines()]
    return number, "\n\n".join(lines)


def _scanned(
    stream: bytes, top: _Record, outline: Sequence[_Text]
) -> tuple[list[_Text], list[str]]:
    """Return the texts of a slide or of notes in their order, and its comments.

    Texts in the places that a layout has for them stand in the outline; their shapes refer to it.
    """
    texts = [_Text()]
    comments: list[tuple[int, dict[int, str]]] = []
    groups: list[int] = []
    grid = 0
    for record in _records(stream, top.start, top.end):
        content = _content(stream, record)
        while groups and groups[-1] <= record.start:
            groups.pop()
        if record.kind == _GROUP:
            groups.append(record.end)
        elif record.kind == _OPTIONS and groups and _IS_TABLE in _options(content):
            grid = groups[-1]
        elif record.kind == _SHAPE:
            texts.append(_Text(grid=grid if record.start < grid else 0))
        elif record.kind == _CELL and len(content) == 16:
            texts[-1].column, texts[-1].row = struct.unpack_from("<2i", content)
        elif record.kind == _PLACEHOLDER and len(content) > 4:
            texts[-1].placeholder = content[4]
        elif record.kind == _OUTLINE_TEXT and _number(content) < len(outline):
            referred = outline[_number(content)]
            texts[-1].kind, texts[-1].text = referred.kind, referred.text
        elif record.kind == _COMMENT:
            comments.append((record.end, {}))
        elif record.kind == _STRING and comments and record.start < comments[-1][0]:
            comments[-1][1][record.instance] = _wide(content)
        else:
            _take(texts[-1], record, content)
    lines = [comment_line(parts.get(0, ""), parts.get(1, "")) for _, parts in comments]
    return texts, lines


def _take(text: _Text, record: _Record, content: bytes) -> None:
    """Note in a text what a record says of it."""
    if record.kind == _KIND_OF_TEXT:
        text.kind = _number(content)
    elif record.kind == _WIDE_TEXT:
        text.text = _wide(content)
    elif record.kind == _NARROW_TEXT:
        text.text = content.decode("latin-1")


def _listed(stream: bytes, document: _Record) -> Iterator[_Listed]:
    """Yield the slides that a document lists, in the order in which they are shown."""
    end = 0
    listed: _Listed | None = None
    for record in _records(stream, document.start, document.end):
        if record.kind == _LIST and record.instance == 0:
            end = record.end
        if record.start >= end:
            continue
        content = _content(stream, record)
        if record.kind == _LISTED:
            if listed:
                yield listed
            listed = _Listed(_number(content), _number(content[12:]))
        elif listed:
            if record.kind == _KIND_OF_TEXT:
                listed.outline.append(_Text())
            if listed.outline:
                _take(listed.outline[-1], record, content)
    if listed:
        yield listed


def _directory(stream: bytes, user: bytes) -> dict[int, _Record]:
    """Return the records that are not outdated, by their numbers; none if they are not known."""
    records: dict[int, _Record] = {}
    edits = {0}
    edit = _number(user[16:])
    while edit not in edits and len(stream) >= edit + 28:
        edits.add(edit)
        _, kind, _, _, _, edit, directory, _ = struct.unpack_from("<HHIIIIII", stream, edit)
        if kind != _EDIT:
            return {}
        for number, place in _places(stream, directory):
            record = next(_records(stream, place, len(stream), deep=False), None)
            if record:
                records.setdefault(number, record)
    return records


def _all(stream: bytes) -> dict[int, _Record]:
    """Return the records of the file that are in no other, in their order."""
    return dict(enumerate(_records(stream, 0, len(stream), deep=False)))


def _places(stream: bytes, directory: int) -> Iterator[tuple[int, int]]:
    """Yield the places of records, by their numbers, that one part of the directory has."""
    record = next(_records(stream, directory, len(stream), deep=False), None)
    if record is None or record.kind != _DIRECTORY:
        return
    count = (record.end - record.start) // 4
    words = struct.unpack_from(f"<{count}I", stream, record.start)
    at = 0
    while at < len(words):
        first, count = words[at] & 0xFFFFF, words[at] >> 20
        yield from enumerate(words[at + 1 : at + 1 + count], first)
        at += 1 + count


def _records(stream: bytes, start: int, end: int, *, deep: bool = True) -> Iterator[_Record]:
    """Yield records in their order; those in others follow these if ``deep``."""
    while start + 8 <= min(end, len(stream)):
        version, kind, size = struct.unpack_from("<HHI", stream, start)
        holds = version & 0xF == 0xF or kind == _TAG
        record = _Record(kind, version >> 4, start + 8, min(start + 8 + size, end), holds)
        yield record
        start = record.start if deep and holds else record.end


def _content(stream: bytes, record: _Record) -> bytes:
    """Return the content of a record; nothing of one that holds others."""
    return b"" if record.holds else stream[record.start : record.end]


def _options(content: bytes) -> set[int]:
    """Return the numbers of the properties of a shape that are not zero."""
    return {
        struct.unpack_from("<H", content, at)[0] & 0x3FFF
        for at in range(0, len(content) - 5, 6)
        if any(content[at + 2 : at + 6])
    }


def _number(content: bytes) -> int:
    return int.from_bytes(content[:4], "little")


def _wide(content: bytes) -> str:
    return content.decode("utf-16-le", "replace")
