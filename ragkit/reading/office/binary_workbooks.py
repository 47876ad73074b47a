"""Parts of XLSB files: their sheets, styles, comments, and cells with numbers as they are shown.

After "[MS-XLSB]: Excel (.xlsb) Binary File Format" of Microsoft.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from ragkit.reading.comments import comment_line
from ragkit.reading.office.cell_formats import formats_of_styles
from ragkit.reading.office.sparse_sheets import letters_of
from ragkit.reading.zip_container import relations

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Callable, Iterator, Mapping

    from ragkit.reading.office.cell_formats import CellFormat

WORKBOOK = "xl/workbook.bin"
_STYLES = "xl/styles.bin"
_SMALL_NUMBER, _NUMBER, _TEXT, _COMPUTED = 2, 5, 6, 9
_FORMAT, _STYLE, _STYLES_OF_CELLS, _END_OF_STYLES = 44, 47, 617, 618
_SHEET = 156
_AUTHOR, _COMMENT, _WORDS = 632, 635, 637


def sheets_of(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return the part that each sheet of a workbook is, by its name."""
    parts = relations(archive, WORKBOOK)
    found: dict[str, str] = {}
    for kind, content in _records(archive.read(WORKBOOK)):
        if kind == _SHEET:
            identity, end = _wide(content, 8)
            name, _ = _wide(content, end)
            found[name] = parts.get(identity, ("", ""))[0]
    return found


def comments_in(part: bytes) -> Iterator[str]:
    """Yield the comments of a sheet: "Rui on B2: ask Anna"."""
    authors: list[str] = []
    author, place = 0, ""
    for kind, content in _records(part):
        if kind == _AUTHOR:
            authors.append(_wide(content, 0)[0])
        elif kind == _COMMENT and len(content) >= 20:
            author, row, _, column, _ = struct.unpack_from("<5I", content)
            place = f"{letters_of(column + 1).decode()}{row + 1}"
        elif kind == _WORDS:
            name = authors[author] if author < len(authors) else ""
            # Excel begins a new note with the name of who writes it.
            text = _wide(content, 1)[0].removeprefix(f"{name}:")
            yield comment_line(name, text, place=place)


def shown_numbers(archive: zipfile.ZipFile) -> Callable[[bytes], bytes]:
    """Return what makes numbers texts in a sheet, as those that cells of a workbook show."""
    formats = _formats(archive)
    return lambda sheet: b"".join(_written(sheet, formats)) if formats else sheet


def _formats(archive: zipfile.ZipFile) -> Mapping[bytes, CellFormat]:
    """Return the formats of the cell styles that format numbers, by the number of the style."""
    if _STYLES not in archive.namelist():
        return {}
    codes: dict[str, str] = {}
    numbers: list[str] = []
    is_of_cells = False
    for kind, content in _records(archive.read(_STYLES)):
        if kind == _FORMAT:
            codes[str(int.from_bytes(content[:2], "little"))] = _wide(content, 2)[0]
        elif kind in (_STYLES_OF_CELLS, _END_OF_STYLES):
            is_of_cells = kind == _STYLES_OF_CELLS
        elif kind == _STYLE and is_of_cells:
            numbers.append(str(int.from_bytes(content[2:4], "little")))
    return formats_of_styles(codes, numbers)


def _written(sheet: bytes, formats: Mapping[bytes, CellFormat]) -> Iterator[bytes]:
    """Yield the records of a sheet, of which numbers are texts if they are shown otherwise."""
    for kind, content, whole in _pieces(sheet):
        number = _number(kind, content)
        number_format = formats.get(str(int.from_bytes(content[4:7], "little")).encode())
        if number is None or number_format is None:
            yield whole
            continue
        stored = repr(number).removesuffix(".0")
        shown = number_format.shown(stored)
        if shown is None or shown == stored:
            yield whole
            continue
        text = shown.encode("utf-16-le")
        cell = content[:8] + struct.pack("<I", len(text) // 2) + text
        yield bytes([_TEXT]) + _size(len(cell)) + cell


def _number(kind: int, content: bytes) -> float | None:
    """Return the number that a record holds for a cell; ``None`` for any other record."""
    if kind in (_NUMBER, _COMPUTED) and len(content) >= 16:
        return float(struct.unpack_from("<d", content, 8)[0])
    if kind != _SMALL_NUMBER or len(content) < 12:
        return None
    packed, whole = struct.unpack_from("<Ii", content[8:12] * 2)
    halves = struct.pack("<II", 0, packed & ~3 & 0xFFFFFFFF)
    value = float(whole >> 2) if packed & 2 else float(struct.unpack("<d", halves)[0])
    return value / 100 if packed & 1 else value


def _records(part: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the kind and the content of each record."""
    for kind, content, _ in _pieces(part):
        yield kind, content


def _pieces(part: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the kind and the content of each record, and the record as it is written."""
    start = 0
    while start < len(part):
        kind, at = _packed(part, start, 2)
        size, at = _packed(part, at, 4)
        yield kind, part[at : at + size], part[start : at + size]
        start = at + size


def _packed(part: bytes, at: int, most: int) -> tuple[int, int]:
    """Return a number of which each byte has seven bits and says whether one follows."""
    number = 0
    for place in range(most):
        if at >= len(part):
            break
        number |= (part[at] & 0x7F) << 7 * place
        at += 1
        if part[at - 1] < 0x80:
            break
    return number, at


def _size(number: int) -> bytes:
    """Return a number below 2 ** 14 in the form in which a record has its size."""
    return bytes([number]) if number < 0x80 else bytes([number & 0x7F | 0x80, number >> 7])


def _wide(content: bytes, at: int) -> tuple[str, int]:
    """Return a text whose length stands before it, and where it ends."""
    end = at + 4 + 2 * int.from_bytes(content[at : at + 4], "little")
    return content[at + 4 : end].decode("utf-16-le", "replace"), end
