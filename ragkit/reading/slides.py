"""Presentations: one section a slide, with bullets, tables and speaker notes."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.limits import damaged
from ragkit.reading.reading_parts import iso_date, one_line, put, stem, table, tile
from ragkit.reading.zip_container import open_archive, xml
from ragkit.types import Markup, Metadata, Reading

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from ragkit.reading.limits import Limits

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_TERMS = "{http://purl.org/dc/terms/}"
_LABEL = Format.PPTX.label
_TITLES = ("title", "ctrTitle")
_FURNITURE = ("dt", "ftr", "sldNum", "hdr", "sldImg")
_LISTS = ("body", "obj", "")


def read_slides(data: bytes, name: str, limits: Limits) -> Reading:
    """Read the slides of a PPTX file in the order in which they are shown.

    Raises:
        ReadingError: damaged, locked, a decompression bomb, or without a sound index of slides.
    """
    archive = open_archive(data, limits, _LABEL)
    slides: list[tuple[str, str]] = []
    first_title = ""
    for number, part in enumerate(_slide_parts(archive), 1):
        title, body = _slide(archive, part)
        first_title = first_title or title
        slides.append(
            (str(number), "\n\n".join(filter(None, (f"## {title or f'Slide {number}'}", body))))
        )
    metadata, title = _properties(archive)
    empty = not any(body.count("\n") or not body.startswith("## Slide ") for _, body in slides)
    text, pages = ("", ()) if empty else tile(slides)
    return Reading(
        text=text,
        title=title or first_title or stem(name),
        format=Format.PPTX,
        markup=Markup.MARKDOWN,
        pages=pages,
        metadata=metadata,
    )


def _slide_parts(archive: zipfile.ZipFile) -> list[str]:
    """Return the member names of the slides, in order."""
    root = xml(archive, "ppt/presentation.xml", _LABEL)
    targets = _relations(archive, "ppt/presentation.xml")
    parts = [
        targets[identity][0]
        for entry in root.iter(f"{_P}sldId")
        if (identity := entry.get(f"{_R}id", "")) in targets
    ]
    if not parts:
        raise damaged(_LABEL)
    return parts


def _relations(archive: zipfile.ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """Return the parts that a part refers to: id to (member name, kind)."""
    folder, base = posixpath.split(part)
    index = f"{folder}/_rels/{base}.rels"
    if index not in archive.namelist():
        return {}
    return {
        relation.get("Id", ""): (
            posixpath.normpath(posixpath.join(folder, relation.get("Target", ""))).lstrip("/"),
            relation.get("Type", "").rsplit("/", 1)[-1],
        )
        for relation in xml(archive, index, _LABEL)
    }


def _slide(archive: zipfile.ZipFile, part: str) -> tuple[str, str]:
    """Return title and body of one slide."""
    if part not in archive.namelist():
        return "", ""
    title = ""
    pieces: list[str] = []
    for shape in _shapes(xml(archive, part, _LABEL)):
        kind = _placeholder(shape)
        if kind in _TITLES and not title:
            title = one_line(" ".join(_lines(shape, marked=False)))
        elif kind not in _FURNITURE:
            pieces.append(_body(shape, listed=kind in _LISTS))
    for target, kind in _relations(archive, part).values():
        if kind == "notesSlide" and target in archive.namelist():
            notes = _notes(xml(archive, target, _LABEL))
            pieces.append(f"Notes: {notes}" if notes else "")
    return title, "\n\n".join(filter(None, pieces))


def _shapes(root: Element) -> Iterator[Element]:
    """Yield every shape and table frame, those in groups as well."""
    for element in root.iter():
        if element.tag in (f"{_P}sp", f"{_P}graphicFrame"):
            yield element


def _placeholder(shape: Element) -> str | None:
    """Return the kind of placeholder that a shape is; ``None`` for a free text box."""
    placeholder = shape.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph")
    return None if placeholder is None else placeholder.get("type", "")


def _body(shape: Element, listed: bool) -> str:
    """Return a table, a list or paragraphs."""
    grid = shape.find(f".//{_A}tbl")
    if grid is not None:
        return table(
            [
                [" ".join(_lines(column, marked=False)) for column in row.iter(f"{_A}tc")]
                for row in grid.iter(f"{_A}tr")
            ]
        )
    lines = list(_lines(shape, marked=listed))
    many = listed and len(lines) > 1
    return "\n".join(lines) if many else "\n\n".join(line.removeprefix("- ") for line in lines)


def _lines(shape: Element, marked: bool) -> Iterator[str]:
    """Yield the paragraphs of a shape, indented and marked as list items if ``marked``."""
    for paragraph in shape.iter(f"{_A}p"):
        text = "".join(
            " " if part.tag == f"{_A}br" else part.text or ""
            for part in paragraph.iter()
            if part.tag in (f"{_A}t", f"{_A}br")
        )
        text = _collapsed(text)
        if not text:
            continue
        properties = paragraph.find(f"{_A}pPr")
        level = properties.get("lvl", "0") if properties is not None else "0"
        indent = "  " * min(int(level), 8) if level.isdigit() else ""
        yield f"{indent}- {text}" if marked else text


def _collapsed(text: str) -> str:
    """Return a text with its white space collapsed."""
    return " ".join(clean(text).split())


def _notes(root: Element) -> str:
    """Return the speaker notes, without the slide's picture and number."""
    return "\n\n".join(
        line
        for shape in _shapes(root)
        if _placeholder(shape) == "body"
        for line in _lines(shape, marked=False)
    )


def _properties(archive: zipfile.ZipFile) -> tuple[Metadata, str]:
    """Return author and date, and the title unless it is generic."""
    if "docProps/core.xml" not in archive.namelist():
        return {}, ""
    root = xml(archive, "docProps/core.xml", _LABEL)
    properties = {
        key: one_line(clean(root.findtext(tag) or ""))
        for key, tag in (("author", f"{_DC}creator"), ("title", f"{_DC}title"))
    }
    metadata = put(
        {}, author=properties["author"], date=iso_date(root.findtext(f"{_TERMS}created") or "")
    )
    generic = properties["title"].casefold() in ("powerpoint presentation", "presentation")
    return metadata, "" if generic else properties["title"]
