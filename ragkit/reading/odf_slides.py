"""OpenDocument slides, each a section with its lists, tables, charts, notes and comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.reading.formats import Format
from ragkit.reading.odf import (
    CONTENT,
    DRAW,
    OFFICE,
    SHAPES,
    TABLE,
    TEXT,
    URN,
    comments_of,
    lines_of,
    opened,
    properties,
    words_of,
)
from ragkit.reading.reading_parts import joined, one_line, table
from ragkit.reading.slides import MOST_POINTS, Slide, heading, slides_reading
from ragkit.reading.zip_container import part_of, resolved, xml

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from ragkit.reading.limits import Limits
    from ragkit.types import Reading

_CHART, _PRESENTATION = f"{URN}chart:1.0}}", f"{URN}presentation:1.0}}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_BLANKS = (f"{TEXT}s", f"{TEXT}tab", f"{TEXT}line-break")
_FURNITURE = ("date-time", "footer", "header", "page-number", "page", "handout")
_MOST_REPEATED = 64


def read_slides(data: bytes, name: str, limits: Limits) -> Reading:
    """Read the slides of an ODP file, with their tables, charts, notes and comments.

    Raises:
        ReadingError: damaged, locked, or a decompression bomb.
    """
    archive = opened(data, limits, Format.ODP)
    root = xml(archive, CONTENT)
    for blank in root.iter():
        if blank.tag in _BLANKS:
            blank.text = " "
    slides = [_slide(archive, page) for page in root.iter(f"{DRAW}page")]
    return slides_reading(slides, name, Format.ODP, properties(archive))


def _slide(archive: zipfile.ZipFile, page: Element) -> Slide:
    """Return title and body of one slide, which loses its notes."""
    title, notes = "", ""
    for element in page.findall(f"{_PRESENTATION}notes"):
        page.remove(element)
        frames = [frame for frame in element.iter(f"{DRAW}frame") if _class_of(frame) == "notes"]
        notes = "\n\n".join(line for frame in frames for line in lines_of(frame))
    pieces: list[str] = []
    for shape in page.iter():
        if shape.tag not in SHAPES or _class_of(shape) in _FURNITURE:
            continue
        if _class_of(shape) == "title" and not title:
            title = heading(lines := [*lines_of(shape)])
            pieces += () if title else lines
        else:
            pieces.append(_embedded(archive, shape) or _body(shape))
    pieces.append(f"Notes: {notes}" if notes else "")
    pieces += comments_of(page.iterfind(f"{OFFICE}annotation"))
    return Slide(title, joined(pieces, "\n\n"))


def _class_of(shape: Element) -> str:
    """Return what a shape is for: title, outline, notes, …; nothing for one that was drawn."""
    return shape.get(f"{_PRESENTATION}class", "")


def _embedded(archive: zipfile.ZipFile, shape: Element) -> str:
    """Return title and table of the chart or sheet that a frame shows, from its own part."""
    reference = shape.find(f"{DRAW}object")
    part = "" if reference is None else resolved("", f"{reference.get(_HREF, '')}/{CONTENT}")
    root = part_of(archive, part) if part in archive.namelist() else None
    if root is None:
        return ""
    title = " ".join(line for heading in root.iter(f"{_CHART}title") for line in lines_of(heading))
    grids = [table(_rows(grid)[:MOST_POINTS]) for grid in root.iter(f"{TABLE}table")]
    return joined((one_line(title), *grids), "\n\n")


def _body(shape: Element) -> str:
    """Return a table, or paragraphs and lists."""
    grid = shape.find(f"{TABLE}table")
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
    """Yield the paragraphs of a shape, and how many lists each is nested in."""
    left = [(shape, 0)]
    while left:
        element, depth = left.pop()
        if element.tag in (f"{TEXT}p", f"{TEXT}h"):
            if line := words_of(element):
                yield depth, line
            continue
        inside = depth + (element.tag == f"{TEXT}list")
        left += [(child, inside) for child in reversed(element) if child.tag not in SHAPES]


def _rows(grid: Element) -> list[list[str]]:
    """Return the cells of a table."""
    rows: list[list[str]] = []
    for row in grid.iter(f"{TABLE}table-row"):
        cells: list[str] = []
        for cell in row.iterfind(f"{TABLE}table-cell"):
            repeated = cell.get(f"{TABLE}number-columns-repeated", "1")
            count = min(int(repeated), _MOST_REPEATED) if repeated.isdigit() else 1
            cells += [" ".join(lines_of(cell))] * count
        rows.append(cells)
    return rows
