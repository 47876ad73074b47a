"""The converter of Office files, and what these say of themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragkit.reading.decode import clean
from ragkit.reading.limits import damaged
from ragkit.reading.markdown import metadata_from
from ragkit.reading.reading_parts import one_line
from ragkit.reading.xml_names import DC
from ragkit.reading.zip_container import part_of

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Mapping

    from ragkit.types import Metadata

_OFFICE = "application/vnd.openxmlformats-officedocument."
_MEDIA_TYPES = {
    "docx": f"{_OFFICE}wordprocessingml.document",
    "xlsx": f"{_OFFICE}spreadsheetml.sheet",
    "xlsb": "application/vnd.ms-excel.sheet.binary.macroEnabled.12",
    "xls": "application/vnd.ms-excel",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "html": "text/html",
}
_CP = "{http://schemas.openxmlformats.org/package/2006/metadata/core-properties}"
_TERMS = "{http://purl.org/dc/terms/}"
_CORE = {
    "title": f"{DC}title",
    "author": f"{DC}creator",
    "date": f"{_TERMS}created",
    "modified": f"{_TERMS}modified",
    "keywords": f"{_CP}keywords",
    "subject": f"{DC}subject",
}
_NO_AUTHORS = ("openpyxl", "python-docx")


def convert(data: bytes, kind: str, label: str) -> Any:
    """Convert a file of one of ``_MEDIA_TYPES``; return its content, tables and metadata.

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


def core_properties(
    archive: zipfile.ZipFile, part: str = "docProps/core.xml", tags: Mapping[str, str] = _CORE
) -> tuple[Metadata, str]:
    """Return the metadata and the title of an Office file."""
    root = part_of(archive, part)
    if root is None:
        return {}, ""
    values = {key: one_line(clean(root.findtext(f".//{tag}") or "")) for key, tag in tags.items()}
    if values["author"] in _NO_AUTHORS:
        del values["author"]
    return metadata_from(values), values["title"]
