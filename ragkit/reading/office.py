"""Word documents and workbooks, and the converter: the only code that imports kreuzberg."""

from __future__ import annotations

import io
import re
import zipfile
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from ragkit.errors import ReadingError
from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.limits import damaged
from ragkit.reading.markdown import first_heading, metadata_from, strip_embedded
from ragkit.reading.reading_parts import one_line, put, stem, table, tidy, tile
from ragkit.reading.zip_container import open_archive
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    except ReadingError:
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
        title=near_top or title or first_heading(text) or stem(name),
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
        title=title or stem(name),
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
    properties = put(
        {},
        author=", ".join(authors),
        date=values.get("created_at") or "",
        modified=values.get("modified_at") or "",
        keywords=core.get("keywords") or "",
        subject=core.get("subject") or "",
    )
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
    except (KeyError, ElementTree.ParseError, ValueError, LookupError):
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
