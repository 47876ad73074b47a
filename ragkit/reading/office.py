"""Word documents and workbooks by the converter, which only this code imports; presentations."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.limits import damaged
from ragkit.reading.markdown import first_heading, metadata_from, strip_embedded
from ragkit.reading.reading_parts import (
    iso_date,
    joined,
    one_line,
    put,
    table,
    tidy,
    tile,
)
from ragkit.reading.titles import choose, in_order
from ragkit.reading.zip_container import open_archive, resolved, xml
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from xml.etree.ElementTree import Element

    from ragkit.reading.limits import Limits
    from ragkit.types import Metadata

_OFFICE = "application/vnd.openxmlformats-officedocument."
_MEDIA_TYPES = {
    "docx": f"{_OFFICE}wordprocessingml.document",
    "xlsx": f"{_OFFICE}spreadsheetml.sheet",
    "html": "text/html",
}
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[ T]00:00:00")
_HEADING_NEAR_TOP = 500
_BEGINNING = 5000
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_PARAGRAPH_STYLE = re.compile(
    rb"(<w:pPr(?:\s[^>]*)?>\s*<w:pStyle\s[^>]{0,80}?w:val=\"([^\"]{1,200})\"[^>]{0,80}/>)((?:(?!</w:pPr>|<w:numPr).){0,3000})(</w:pPr>|<w:numPr)",
    re.S,
)


def convert(data: bytes, kind: str, label: str) -> Any:
    """Convert ``docx``, ``xlsx`` or ``html``; return kreuzberg's content, tables and metadata.

    Raises:
        ReadingError: when the converter cannot make sense of the bytes.
    """
    import kreuzberg

    config = kreuzberg.ExtractionConfig(
        use_cache=False,
        enable_quality_processing=False,
        output_format="markdown",
    )
    try:
        return kreuzberg.extract_bytes_sync(data, _MEDIA_TYPES[kind], config)
    except (MemoryError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic in Rust arrives past Exception
        raise damaged(label) from error


def read_word(data: bytes, name: str, limits: Limits) -> Reading:
    """Read a DOCX file: the converter's Markdown, under the title that is most likely its own.

    Raises:
        ReadingError: damaged, locked, or a decompression bomb.
    """
    label = Format.DOCX.label
    archive = open_archive(data, limits, label)
    result = convert(_with_list_marks(archive, data), "docx", label)
    text = tidy(clean(strip_embedded(result.content)))
    metadata, title = _properties(result.metadata)
    near_top = first_heading(text[:_HEADING_NEAR_TOP])
    return Reading(
        text=text,
        title=choose([near_top, title, first_heading(text)], name),
        format=Format.DOCX,
        markup=Markup.MARKDOWN,
        metadata=metadata,
    )


def read_workbook(data: bytes, name: str, limits: Limits) -> Reading:
    """Read an XLSX file: one section a sheet, each with its table; empty sheets are left out.

    Raises:
        ReadingError: damaged, locked, or a decompression bomb.
    """
    label = Format.XLSX.label
    open_archive(data, limits, label)
    result = convert(data, "xlsx", label)
    names: Sequence[str] = result.metadata.get("sheet_names") or ()
    sheets: list[tuple[str, str]] = []
    for sheet in result.tables:
        number = int(sheet.page_number or 0)
        named = 0 < number <= len(names)
        sheet_name = one_line(clean(names[number - 1])) if named else f"Sheet {number}"
        if body := table([[_cell(value) for value in row] for row in sheet.cells]):
            sheets.append((sheet_name, f"## {sheet_name}\n\n{body}"))
    text, pages = tile(sheets)
    metadata, title = _properties(result.metadata)
    return Reading(
        text=text,
        title=choose([title], name),
        format=Format.XLSX,
        markup=Markup.MARKDOWN,
        pages=pages,
        metadata=metadata,
    )


def _cell(value: Any) -> str:
    """Return a cell as text; a date without a time loses its midnight."""
    text = clean(str(value)) if value is not None else ""
    midnight = _MIDNIGHT.fullmatch(text.strip())
    return midnight[1] if midnight else text


def _properties(values: dict[str, Any]) -> tuple[Metadata, str]:
    """Return metadata and title from the file's own properties."""
    core = values.get("core_properties") or {}
    authors = [str(name) for name in values.get("authors") or () if name and name != "openpyxl"]
    properties = {
        "author": ", ".join(authors),
        "date": values.get("created_at"),
        "modified": values.get("modified_at"),
        "keywords": core.get("keywords"),
        "subject": core.get("subject"),
    }
    title = one_line(clean(str(values.get("title") or core.get("title") or "")))
    return metadata_from(properties), title


def _with_list_marks(archive: zipfile.ZipFile, data: bytes) -> bytes:
    """Return the document with the numbering of its styles written into its paragraphs.

    The converter sees only numbering that a paragraph has itself; "List Bullet" and the like, which
    have it through their style, would come out as bare paragraphs.
    """
    numbering = _numbering_of_styles(archive)
    if not numbering:
        return data
    document = archive.read("word/document.xml")

    def numbered(paragraph: re.Match[bytes]) -> bytes:
        number = numbering.get(paragraph[2].decode("utf-8", "replace"))
        if not number or paragraph[4] != b"</w:pPr>":
            return paragraph[0]
        return paragraph[1] + number + paragraph[3] + paragraph[4]

    changed = _PARAGRAPH_STYLE.sub(numbered, document)
    if changed == document:
        return data
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as copy:
        for member in archive.infolist():
            if not member.filename.lower().startswith("word/media/"):
                is_document = member.filename == "word/document.xml"
                copy.writestr(member.filename, changed if is_document else archive.read(member))
    return buffer.getvalue()


def _numbering_of_styles(archive: zipfile.ZipFile) -> dict[str, bytes]:
    """Return, for each list style, the numbering to write into its paragraphs."""
    try:
        styles = ElementTree.fromstring(archive.read("word/styles.xml"))  # noqa: S314
    except (ElementTree.ParseError, ValueError, LookupError):
        return {}
    numbering: dict[str, bytes] = {}
    for style in styles.iter(f"{_W}style"):
        properties = style.find(f"{_W}pPr")
        number = properties.find(f"{_W}numPr/{_W}numId") if properties is not None else None
        value = number.get(f"{_W}val", "") if number is not None else ""
        heading = properties is not None and properties.find(f"{_W}outlineLvl") is not None
        if not value.isdigit() or value == "0" or heading:
            continue
        level = style.find(f"{_W}pPr/{_W}numPr/{_W}ilvl")
        depth = level.get(f"{_W}val", "0") if level is not None else "0"
        numbering[style.get(f"{_W}styleId", "")] = (
            f'<w:numPr><w:ilvl w:val="{depth if depth.isdigit() else 0}"/>'
            f'<w:numId w:val="{value}"/></w:numPr>'
        ).encode()
    return numbering


# -- presentations: one section a slide, with bullets, tables and speaker notes --------------

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_TERMS = "{http://purl.org/dc/terms/}"
_SHAPES = (f"{_P}sp", f"{_P}graphicFrame")
_TITLES = ("title", "ctrTitle")
_FURNITURE = ("dt", "ftr", "sldNum", "hdr", "sldImg")
_LISTS = ("body", "obj", "")


def read_slides(data: bytes, name: str, limits: Limits) -> Reading:
    """Read the slides of a PPTX file in the order in which they are shown.

    Raises:
        ReadingError: damaged, locked, a decompression bomb, or without a sound index of slides.
    """
    archive = open_archive(data, limits, Format.PPTX.label)
    slides: list[tuple[str, str]] = []
    first_title = ""
    for number, part in enumerate(_slide_parts(archive), 1):
        title, body = _slide(archive, part)
        first_title = first_title or title
        slides.append((str(number), joined((f"## {title or f'Slide {number}'}", body), "\n\n")))
    metadata, title = _slide_properties(archive)
    empty = not any(body.count("\n") or not body.startswith("## Slide ") for _, body in slides)
    text, pages = ("", ()) if empty else tile(slides)
    return Reading(
        text=text,
        title=choose(in_order(title, [first_title], text[:_BEGINNING]), name),
        format=Format.PPTX,
        markup=Markup.MARKDOWN,
        pages=pages,
        metadata=metadata,
    )


def _slide_parts(archive: zipfile.ZipFile) -> list[str]:
    """Return the member names of the slides, in order."""
    root = xml(archive, "ppt/presentation.xml")
    targets = _relations(archive, "ppt/presentation.xml")
    parts = [
        targets[identity][0]
        for entry in root.iter(f"{_P}sldId")
        if (identity := entry.get(f"{_R}id", "")) in targets
    ]
    if not parts:
        raise damaged(Format.PPTX.label)
    return parts


def _relations(archive: zipfile.ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """Return the parts that a part refers to: id to (member name, kind)."""
    folder, base = posixpath.split(part)
    index = f"{folder}/_rels/{base}.rels"
    if index not in archive.namelist():
        return {}
    return {
        relation.get("Id", ""): (
            resolved(folder, relation.get("Target", "")),
            relation.get("Type", "").rsplit("/", 1)[-1],
        )
        for relation in xml(archive, index)
    }


def _slide(archive: zipfile.ZipFile, part: str) -> tuple[str, str]:
    """Return title and body of one slide."""
    if part not in archive.namelist():
        return "", ""
    title = ""
    pieces: list[str] = []
    for shape in _shapes(xml(archive, part)):
        kind = _placeholder(shape)
        if kind in _TITLES and not title:
            title = one_line(" ".join(_lines(shape, marked=False)))
        elif kind not in _FURNITURE:
            pieces.append(_body(shape, listed=kind in _LISTS))
    for target, kind in _relations(archive, part).values():
        if kind == "notesSlide" and target in archive.namelist():
            notes = _notes(xml(archive, target))
            pieces.append(f"Notes: {notes}" if notes else "")
    return title, joined(pieces, "\n\n")


def _shapes(root: Element) -> Iterator[Element]:
    """Return every shape and table frame, those in groups as well."""
    return (element for element in root.iter() if element.tag in _SHAPES)


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
        text = " ".join(clean(text).split())
        if not text:
            continue
        properties = paragraph.find(f"{_A}pPr")
        level = properties.get("lvl", "0") if properties is not None else "0"
        indent = "  " * min(int(level), 8) if level.isdigit() else ""
        yield f"{indent}- {text}" if marked else text


def _notes(root: Element) -> str:
    """Return the speaker notes, without the slide's picture and number."""
    return "\n\n".join(
        line
        for shape in _shapes(root)
        if _placeholder(shape) == "body"
        for line in _lines(shape, marked=False)
    )


def _slide_properties(archive: zipfile.ZipFile) -> tuple[Metadata, str]:
    """Return author and date, and the title."""
    if "docProps/core.xml" not in archive.namelist():
        return {}, ""
    root = xml(archive, "docProps/core.xml")
    author, title = (
        one_line(clean(root.findtext(f"{_DC}{tag}") or "")) for tag in ("creator", "title")
    )
    date = iso_date(root.findtext(f"{_TERMS}created") or "")
    return put({}, author=author, date=date), title
