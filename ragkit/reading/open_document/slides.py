"""OpenDocument slides, each a section with its lists, tables, charts, notes and comments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragkit.reading.formats import Format
from ragkit.reading.office.slides import Slide, slides_reading
from ragkit.reading.open_document.objects import embedded, formula, rows_of
from ragkit.reading.open_document.parts import (
    CONTENT,
    DRAW,
    HREF,
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
from ragkit.reading.reading_parts import table
from ragkit.reading.zip_container import xml

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from ragkit.reading.limits import Limits
    from ragkit.types import Reading

_PRESENTATION = f"{URN}presentation:1.0}}"
_LINK = re.compile(r"(?:https?://|mailto:)[^\s<>()|]{1,1000}")
_BLANKS = (f"{TEXT}s", f"{TEXT}tab", f"{TEXT}line-break")
_FURNITURE = ("date-time", "footer", "header", "page-number", "page", "handout")


def read_slides(data: bytes, name: str, limits: Limits) -> Reading:
    """Read the slides of an ODP file, or the pages of an ODG file, with all that is on them.

    Raises:
        ReadingError: damaged, locked, or a decompression bomb.
    """
    archive = opened(data, limits, Format.ODP)
    root = xml(archive, CONTENT)
    is_drawing = root.find(f".//{OFFICE}drawing") is not None
    for blank in root.iter():
        if blank.tag in _BLANKS:
            blank.text = " "
    _show_links(root)
    slides = [_slide(archive, page) for page in root.iter(f"{DRAW}page")]
    return slides_reading(
        slides, name, Format.ODG if is_drawing else Format.ODP, properties(archive)
    )


def _show_links(root: Element) -> None:
    """Write links with their addresses, unless these are what is seen; titles have none."""
    titles = (shape for shape in root.iter() if _class_of(shape) == "title")
    in_titles = {link for shape in titles for link in shape.iter(f"{TEXT}a")}
    for link in root.iter(f"{TEXT}a"):
        target, words = link.get(HREF, ""), "".join(link.itertext()).strip()
        if link in in_titles or not words or words in target or not _LINK.fullmatch(target):
            continue
        link.text = f"[{link.text or ''}"
        address = f"]({target})"
        if len(link):
            link[-1].tail = f"{link[-1].tail or ''}{address}"
        else:
            link.text += address


def _slide(archive: zipfile.ZipFile, page: Element) -> Slide:
    """Return what a page says, which loses its notes."""
    slide, notes = Slide(), ""
    for element in page.findall(f"{_PRESENTATION}notes"):
        page.remove(element)
        frames = [frame for frame in element.iter(f"{DRAW}frame") if _class_of(frame) == "notes"]
        notes = "\n\n".join(line for frame in frames for line in lines_of(frame))
    for shape in page.iter():
        if shape.tag not in SHAPES or _class_of(shape) in _FURNITURE:
            continue
        if _class_of(shape) == "title" and not slide.title:
            slide.begin([*lines_of(shape)])
        else:
            slide.pieces.append(_object(archive, shape) or _body(shape))
    slide.note(notes)
    slide.pieces += comments_of(page.iterfind(f"{OFFICE}annotation"))
    return slide


def _object(archive: zipfile.ZipFile, shape: Element) -> str:
    """Return what a shape shows of another program: a chart, a sheet, a text, or a formula."""
    if shown := embedded(archive, shape):
        return shown
    source = formula(archive, shape)
    return f"`{source}`" if source else ""


def _class_of(shape: Element) -> str:
    """Return what a shape is for: title, outline, notes, …; nothing for one that was drawn."""
    return shape.get(f"{_PRESENTATION}class", "")


def _body(shape: Element) -> str:
    """Return a table, or paragraphs and lists."""
    grid = shape.find(f"{TABLE}table")
    if grid is not None:
        return table(rows_of(grid))
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
