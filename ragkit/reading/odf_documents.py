"""OpenDocument texts and sheets, as LibreOffice writes them, converted by kreuzberg."""

from __future__ import annotations

import re
import zipfile
from typing import TYPE_CHECKING

from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.margins import header_section, section
from ragkit.reading.markdown import first_heading, strip_embedded
from ragkit.reading.odf import (
    CONTENT,
    OFFICE,
    SHAPES,
    TABLE,
    TEXT,
    URN,
    comments_of,
    lines_of,
    opened,
    properties,
)
from ragkit.reading.odf_layout import with_plain_layout
from ragkit.reading.office import convert, converted_sheets, sheets_of, unescaped
from ragkit.reading.reading_parts import tidy
from ragkit.reading.titles import choose
from ragkit.reading.zip_container import part_of, rewritten
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from collections.abc import Iterable
    from xml.etree.ElementTree import Element

    from ragkit.reading.limits import Limits

_STYLE = f"{URN}style:1.0}}"
_SPACE = re.compile(rb"<text:(?:s|tab)(?:\s[^<>]*)?/>")
_FORMATTED = re.compile(
    rb"<table:table-cell\b([^<>]*?\soffice:value-type="
    rb"\"(?!(?:date|time|boolean|string)\")[^\"<>]*\"[^<>]*>)"
)
_AS_TEXT = b'<table:table-cell office:value-type="string"'
_BETWEEN_CELLS = re.compile(rb">\s+(?=</?table:)")
_VALUE = re.compile(rb"\s(?:office|calcext):value(?:-type)?=\"[^\"]*\"")
_ASIDE = re.compile(rb"<(office:annotation|text:note)[\s>].*?</\1>", re.S)


def read_text(data: bytes, name: str, limits: Limits) -> Reading:
    """Read an ODT file as Markdown, with its headers, footnotes and comments at the end.

    Raises:
        ReadingError: damaged, locked, or a decompression bomb.
    """
    archive = opened(data, limits, Format.ODT)
    content = convert(_for_converter(archive), "odt", Format.ODT.label).content
    text = tidy(clean(strip_embedded(unescaped(content))))
    metadata, title = properties(archive)
    return Reading(
        text=(text + _asides(archive, text)).lstrip(),
        title=choose([first_heading(text), title], name),
        format=Format.ODT,
        markup=Markup.MARKDOWN,
        metadata=metadata,
    )


def read_sheets(data: bytes, name: str, limits: Limits) -> Reading:
    """Read an ODS file: each sheet that is not empty is a section.

    Raises:
        ReadingError: damaged, locked, or a decompression bomb.
    """
    archive = opened(data, limits, Format.ODS)
    metadata, title = properties(archive)
    asides = {
        grid.get(f"{TABLE}name", ""): [
            *_drawn(grid),
            *comments_of(grid.iter(f"{OFFICE}annotation")),
        ]
        for grid in _elements(archive, CONTENT, f"{TABLE}table")
    }
    text, pages = sheets_of(converted_sheets(_as_shown(archive), Format.ODS), asides)
    return Reading(
        text=text,
        title=choose([title], name),
        format=Format.ODS,
        markup=Markup.MARKDOWN,
        pages=pages,
        metadata=metadata,
    )


def _drawn(grid: Element) -> Iterable[str]:
    """Return the paragraphs of the shapes on a sheet, each once."""
    shapes = (shape for shape in grid.iter() if shape.tag in SHAPES)
    return dict.fromkeys(line for shape in shapes for line in lines_of(shape))


def _for_converter(archive: zipfile.ZipFile) -> bytes:
    """Return the file without pictures, footnotes and comments, and with spaces as characters.

    The converter would leave spaces and footnotes out.
    """

    def changed(name: str, part: bytes) -> bytes:
        if name != CONTENT:
            return part
        return with_plain_layout(_SPACE.sub(b" ", _ASIDE.sub(b"", part)))

    return rewritten(archive, changed)


def _as_shown(archive: zipfile.ZipFile) -> bytes:
    """Return a workbook in which numbers and sums of money are what people see.

    The converter takes white space between cells for damage.
    """

    def changed(name: str, part: bytes) -> bytes:
        if name != CONTENT:
            return part
        part = _BETWEEN_CELLS.sub(b">", part)
        return _FORMATTED.sub(lambda cell: _AS_TEXT + _VALUE.sub(b"", cell[1]), part)

    return rewritten(archive, changed)


def _asides(archive: zipfile.ZipFile, text: str) -> str:
    """Return headers, footers, footnotes and comments as Markdown sections, or an empty string."""
    repeated = [
        line
        for kind in ("header", "footer")
        for element in _elements(archive, "styles.xml", f"{_STYLE}{kind}")
        for line in lines_of(element)
    ]
    footnotes = _elements(archive, CONTENT, f"{TEXT}note-body")
    notes = [" ".join(lines_of(footnote)) for footnote in footnotes]
    comments = [*comments_of(_elements(archive, CONTENT, f"{OFFICE}annotation"))]
    return "".join(
        (header_section(repeated, text), section("Notes", notes), section("Comments", comments))
    )


def _elements(archive: zipfile.ZipFile, part: str, tag: str) -> Iterable[Element]:
    """Return the elements of a part of the file; none if it is absent or damaged."""
    root = part_of(archive, part)
    return () if root is None else root.iter(tag)
