"""Word documents and workbooks through the converter; presentations have their own reader."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ragkit.reading.converter import convert
from ragkit.reading.decode import clean
from ragkit.reading.formats import NAMES
from ragkit.reading.front_matter import metadata_from
from ragkit.reading.markdown import first_heading, strip_embedded
from ragkit.reading.reading_parts import one_line, put, stem, table, tidy, tile
from ragkit.reading.zip_container import open_archive
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragkit.reading.limits import Limits
    from ragkit.types import Metadata

_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[ T]00:00:00")
_HEADING_NEAR_TOP = 500


def read_office(data: bytes, name: str, file_format: str, settings: Limits) -> Reading:
    """Read a DOCX, PPTX or XLSX file.

    Raises:
        ReadingError: damaged, locked, or a decompression bomb.
    """
    called = NAMES[file_format]
    archive = open_archive(data, settings, called)
    if file_format == "pptx":
        from ragkit.reading.slides import read_slides

        return read_slides(archive, name)
    if file_format == "docx":
        from ragkit.reading.word_lists import mark_lists

        return _read_word(convert(mark_lists(archive, data), "docx", called), name)
    return _read_workbook(convert(data, "xlsx", called), name)


def _read_word(result: Any, name: str) -> Reading:
    """Keep the converter's Markdown; choose the title."""
    text = tidy(clean(strip_embedded(result.content)))
    metadata, title = _properties(result.metadata)
    near_top = first_heading(text[:_HEADING_NEAR_TOP])
    return Reading(
        text=text,
        title=near_top or title or first_heading(text) or stem(name),
        format="docx",
        markup=Markup.MARKDOWN,
        metadata=metadata,
    )


def _read_workbook(result: Any, name: str) -> Reading:
    """Write one section a sheet, each with its table; empty sheets are left out."""
    names: Sequence[str] = result.metadata.get("sheet_names") or ()
    sheets: list[tuple[str, str]] = []
    for one in result.tables:
        number = int(one.page_number or 0)
        label = (
            one_line(clean(names[number - 1])) if 0 < number <= len(names) else f"Sheet {number}"
        )
        rows = [[_cell(value) for value in row] for row in one.cells]
        if body := table(rows):
            sheets.append((label, f"## {label}\n\n{body}"))
    text, pages = tile(sheets)
    metadata, title = _properties(result.metadata)
    return Reading(
        text=text,
        title=title or stem(name),
        format="xlsx",
        markup=Markup.MARKDOWN,
        pages=pages,
        metadata=metadata,
    )


def _cell(value: Any) -> str:
    """A cell as text; a date without a time loses its midnight."""
    text = clean(str(value)) if value is not None else ""
    found = _MIDNIGHT.fullmatch(text.strip())
    return found[1] if found else text


def _properties(values: dict[str, Any]) -> tuple[Metadata, str]:
    """Metadata and title from what the file says about itself."""
    core = values.get("core_properties") or {}
    authors = [str(one) for one in values.get("authors") or () if one and one != "openpyxl"]
    found = put(
        {},
        author=", ".join(authors),
        date=values.get("created_at") or "",
        modified=values.get("modified_at") or "",
        keywords=core.get("keywords") or "",
        subject=core.get("subject") or "",
    )
    title = one_line(clean(str(values.get("title") or core.get("title") or "")))
    return metadata_from(found), title
