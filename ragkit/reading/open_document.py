"""OpenDocument texts, sheets and slides, as LibreOffice writes them.

Texts and sheets are converted by kreuzberg, which knows no slides.
"""

from __future__ import annotations

import io
import re
import zipfile
from typing import TYPE_CHECKING

from ragkit.reading.comments import comment_line
from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.limits import locked
from ragkit.reading.margins import header_section, section
from ragkit.reading.markdown import first_heading, strip_embedded
from ragkit.reading.office import convert, core_properties, sheets_of, unescaped
from ragkit.reading.reading_parts import joined, one_line, table, tidy, whole_line
from ragkit.reading.slides import MOST_POINTS, Slide, slides_reading
from ragkit.reading.titles import choose
from ragkit.reading.zip_container import open_archive, part_of, resolved, xml
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from xml.etree.ElementTree import Element

    from ragkit.reading.limits import Limits
    from ragkit.types import Metadata

_URN = "{urn:oasis:names:tc:opendocument:xmlns:"
_OFFICE, _TEXT, _STYLE, _META, _DRAW, _TABLE, _CHART, _PRESENTATION = (
    f"{_URN}{part}:1.0}}"
    for part in ("office", "text", "style", "meta", "drawing", "table", "chart", "presentation")
)
_DC = "{http://purl.org/dc/elements/1.1/}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_PROPERTIES = {
    "title": f"{_DC}title",
    "author": f"{_META}initial-creator",
    "date": f"{_META}creation-date",
    "modified": f"{_DC}date",
    "keywords": f"{_META}keyword",
    "subject": f"{_DC}subject",
}
_CONTENT = "content.xml"
_SPACE = re.compile(rb"<text:(?:s|tab)(?:\s[^<>]*)?/>")
_SHAPES = tuple(
    f"{_DRAW}{kind}"
    for kind in (
        "frame", "custom-shape", "rect", "ellipse", "circle", "line", "connector", "polygon",
        "polyline", "path", "regular-polygon", "measure", "caption",
    )
)  # fmt: skip
_BLANKS = (f"{_TEXT}s", f"{_TEXT}tab", f"{_TEXT}line-break")
_FURNITURE = ("date-time", "footer", "header", "page-number", "page", "handout")
_MOST_REPEATED = 64
_ASIDE = re.compile(rb"<(office:annotation|text:note)[\s>].*?</\1>", re.S)


def read_text(data: bytes, name: str, limits: Limits) -> Reading:
    """Read an ODT file as Markdown, with its headers, footnotes and comments at the end.

    Raises:
        ReadingError: damaged, locked, or a decompression bomb.
    """
    archive = _opened(data, limits, Format.ODT)
    content = convert(_for_converter(archive), "odt", Format.ODT.label).content
    text = tidy(clean(strip_embedded(unescaped(content))))
    metadata, title = _properties(archive)
    return Reading(
        text=(text + _asides(archive, text)).lstrip(),
        title=choose([first_heading(text), title], name),
        format=Format.ODT,
        markup=Markup.MARKDOWN,
        metadata=metadata,
    )


def read_sheets(data: bytes, name: str, limits: Limits) -> Reading:
    """Read an ODS file: each sheet that is not empty is a section: its table, then its comments.

    Raises:
        ReadingError: damaged, locked, or a decompression bomb.
    """
    archive = _opened(data, limits, Format.ODS)
    metadata, title = _properties(archive)
    comments = {
        grid.get(f"{_TABLE}name", ""): [*_comments(grid.iter(f"{_OFFICE}annotation"))]
        for grid in _elements(archive, _CONTENT, f"{_TABLE}table")
    }
    text, pages = sheets_of(data, Format.ODS, comments)
    return Reading(
        text=text,
        title=choose([title], name),
        format=Format.ODS,
        markup=Markup.MARKDOWN,
        pages=pages,
        metadata=metadata,
    )


def read_slides(data: bytes, name: str, limits: Limits) -> Reading:
    """Read the slides of an ODP file, with their tables, charts, notes and comments.

    Raises:
        ReadingError: damaged, locked, or a decompression bomb.
    """
    archive = _opened(data, limits, Format.ODP)
    root = xml(archive, _CONTENT)
    for blank in root.iter():
        if blank.tag in _BLANKS:
            blank.text = " "
    slides = [_slide(archive, page) for page in root.iter(f"{_DRAW}page")]
    return slides_reading(slides, name, Format.ODP, _properties(archive))


def _opened(data: bytes, limits: Limits, file_format: Format) -> zipfile.ZipFile:
    """Open a file whose parts are not encrypted."""
    archive = open_archive(data, limits, file_format.label)
    manifest = "META-INF/manifest.xml"
    if manifest in archive.namelist() and b"encryption-data" in archive.read(manifest):
        raise locked(file_format.label)
    return archive


def _properties(archive: zipfile.ZipFile) -> tuple[Metadata, str]:
    return core_properties(archive, "meta.xml", _PROPERTIES)


def _for_converter(archive: zipfile.ZipFile) -> bytes:
    """Return the file without pictures, footnotes and comments, and with spaces as characters.

    The converter would leave spaces and footnotes out.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as copy:
        for member in archive.infolist():
            if member.filename.startswith(("Pictures/", "Thumbnails/", "Object ")):
                continue
            part = archive.read(member)
            if member.filename == _CONTENT:
                part = _SPACE.sub(b" ", _ASIDE.sub(b"", part))
            copy.writestr(member.filename, part)
    return buffer.getvalue()


def _asides(archive: zipfile.ZipFile, text: str) -> str:
    """Return headers, footers, footnotes and comments as Markdown sections, or an empty string."""
    repeated = [
        line
        for kind in ("header", "footer")
        for element in _elements(archive, "styles.xml", f"{_STYLE}{kind}")
        for line in _lines(element)
    ]
    footnotes = _elements(archive, _CONTENT, f"{_TEXT}note-body")
    notes = [" ".join(_lines(footnote)) for footnote in footnotes]
    comments = [*_comments(_elements(archive, _CONTENT, f"{_OFFICE}annotation"))]
    return "".join(
        (header_section(repeated, text), section("Notes", notes), section("Comments", comments))
    )


def _elements(archive: zipfile.ZipFile, part: str, tag: str) -> Iterable[Element]:
    """Return the elements of a part of the file; none if it is absent or damaged."""
    root = part_of(archive, part)
    return () if root is None else root.iter(tag)


def _comments(annotations: Iterable[Element]) -> Iterator[str]:
    """Yield a line for each comment: who wrote it, and what."""
    for annotation in annotations:
        if line := comment_line(
            annotation.findtext(f"{_DC}creator") or "", " ".join(_lines(annotation))
        ):
            yield line


def _lines(element: Element) -> Iterator[str]:
    """Yield the text of each paragraph below an element."""
    for paragraph in element.iter(f"{_TEXT}p"):
        if line := _words(paragraph):
            yield line


def _words(paragraph: Element) -> str:
    return whole_line(clean("".join(paragraph.itertext())))


# -- slides ----------------------------------------------------------------------------------


def _slide(archive: zipfile.ZipFile, page: Element) -> Slide:
    """Return title and body of one slide, which loses its notes."""
    title, notes = "", ""
    for element in page.findall(f"{_PRESENTATION}notes"):
        page.remove(element)
        frames = [frame for frame in element.iter(f"{_DRAW}frame") if _class_of(frame) == "notes"]
        notes = "\n\n".join(line for frame in frames for line in _lines(frame))
    pieces: list[str] = []
    for shape in page.iter():
        if shape.tag not in _SHAPES or _class_of(shape) in _FURNITURE:
            continue
        if _class_of(shape) == "title" and not title:
            title = one_line(" ".join(_lines(shape)))
        else:
            pieces.append(_embedded(archive, shape) or _body(shape))
    pieces.append(f"Notes: {notes}" if notes else "")
    pieces += _comments(page.iterfind(f"{_OFFICE}annotation"))
    return Slide(title, joined(pieces, "\n\n"))


def _class_of(shape: Element) -> str:
    """Return what a shape is for: title, outline, notes, …; nothing for one that was drawn."""
    return shape.get(f"{_PRESENTATION}class", "")


def _embedded(archive: zipfile.ZipFile, shape: Element) -> str:
    """Return title and table of the chart or sheet that a frame shows, from its own part."""
    reference = shape.find(f"{_DRAW}object")
    part = "" if reference is None else resolved("", f"{reference.get(_HREF, '')}/{_CONTENT}")
    root = part_of(archive, part) if part in archive.namelist() else None
    if root is None:
        return ""
    title = " ".join(line for heading in root.iter(f"{_CHART}title") for line in _lines(heading))
    grids = [table(_rows(grid)[:MOST_POINTS]) for grid in root.iter(f"{_TABLE}table")]
    return joined((one_line(title), *grids), "\n\n")


def _body(shape: Element) -> str:
    """Return a table, or paragraphs and lists."""
    grid = shape.find(f"{_TABLE}table")
    if grid is not None:
        return table(_rows(grid))
    lines = list(_listed(shape))
    if len(lines) == 1:
        return lines[0][1]
    text, before = "", 0
    for depth, line in lines:
        text += "\n" if depth and before else "\n\n"
        text += f"{'  ' * min(depth - 1, 8)}- {line}" if depth else line
        before = depth
    return text.strip()


def _listed(shape: Element) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs of a shape, and in how many lists each stands."""
    left = [(shape, 0)]
    while left:
        element, depth = left.pop()
        if element.tag in (f"{_TEXT}p", f"{_TEXT}h"):
            if line := _words(element):
                yield depth, line
            continue
        inside = depth + (element.tag == f"{_TEXT}list")
        left += [(child, inside) for child in reversed(element) if child.tag not in _SHAPES]


def _rows(grid: Element) -> list[list[str]]:
    """Return the cells of a table."""
    rows: list[list[str]] = []
    for row in grid.iter(f"{_TABLE}table-row"):
        cells: list[str] = []
        for cell in row.iterfind(f"{_TABLE}table-cell"):
            repeated = cell.get(f"{_TABLE}number-columns-repeated", "1")
            count = min(int(repeated), _MOST_REPEATED) if repeated.isdigit() else 1
            cells += [" ".join(_lines(cell))] * count
        rows.append(cells)
    return rows
