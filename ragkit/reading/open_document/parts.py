"""What readers of OpenDocument files share: names in their XML, and what they say of themselves."""

from __future__ import annotations

import io
import re
import zipfile
from typing import TYPE_CHECKING

from ragkit.reading.comments import comment_line
from ragkit.reading.decode import clean
from ragkit.reading.limits import locked
from ragkit.reading.office.converter import core_properties
from ragkit.reading.reading_parts import whole_line
from ragkit.reading.xml_names import DC, local_name
from ragkit.reading.zip_container import open_archive, part_of, refuse_entities

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from xml.etree.ElementTree import Element

    from ragkit.reading.formats import Format
    from ragkit.reading.limits import Limits
    from ragkit.types import Metadata

URN = "{urn:oasis:names:tc:opendocument:xmlns:"
OFFICE, TEXT, DRAW, TABLE, STYLE, _META = (
    f"{URN}{part}:1.0}}" for part in ("office", "text", "drawing", "table", "style", "meta")
)
_PROPERTIES = {
    "title": f"{DC}title",
    "author": f"{_META}initial-creator",
    "date": f"{_META}creation-date",
    "modified": f"{DC}date",
    "keywords": f"{_META}keyword",
    "subject": f"{DC}subject",
}
CONTENT = "content.xml"
HREF = "{http://www.w3.org/1999/xlink}href"
MANIFEST = "META-INF/manifest.xml"
_MACROS = ("Basic/", "Dialogs/", "Scripts/")
EMPTY_MANIFEST = '<manifest xmlns="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
_PICTURE = re.compile(rb"<office:binary-data>[^<]*</office:binary-data>")
SHAPES = tuple(
    f"{DRAW}{kind}"
    for kind in (
        "frame", "custom-shape", "rect", "ellipse", "circle", "line", "connector", "polygon",
        "polyline", "path", "regular-polygon", "measure", "caption",
    )
)  # fmt: skip


def opened(data: bytes, limits: Limits, file_format: Format) -> zipfile.ZipFile:
    """Open a file whose parts are not encrypted; that of a flat file is the same for each part."""
    packed = data if data.startswith(b"PK") else _packed(data, file_format)
    archive = open_archive(packed, limits, file_format.label)
    if _is_encrypted(archive):
        raise locked(file_format.label)
    return archive


def _is_encrypted(archive: zipfile.ZipFile) -> bool:
    """Return whether what people read is encrypted; passwords of macros lock no more than these."""
    if MANIFEST not in archive.namelist() or b"encryption-data" not in archive.read(MANIFEST):
        return False
    manifest = part_of(archive, MANIFEST)
    names = [
        next((value for key, value in entry.attrib.items() if key.endswith("full-path")), "")
        for entry in (() if manifest is None else manifest)
        if any(local_name(child) == "encryption-data" for child in entry)
    ]
    return not names or not all(name.startswith(_MACROS) for name in names)


def _packed(flat: bytes, file_format: Format) -> bytes:
    """Return a file that is one XML document as an archive, without its pictures."""
    refuse_entities(flat)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", file_format.part)
        archive.writestr(MANIFEST, EMPTY_MANIFEST)
        for part in (CONTENT, "styles.xml", "meta.xml"):
            archive.writestr(part, _PICTURE.sub(b"", flat))
    return buffer.getvalue()


def properties(archive: zipfile.ZipFile) -> tuple[Metadata, str]:
    """Return the metadata and the title of a file."""
    return core_properties(archive, "meta.xml", _PROPERTIES)


def comments_of(annotations: Iterable[Element]) -> Iterator[str]:
    """Yield a line for each comment: who wrote it, and what."""
    for annotation in annotations:
        if line := comment_line(
            annotation.findtext(f"{DC}creator") or "", " ".join(lines_of(annotation))
        ):
            yield line


def lines_of(element: Element) -> Iterator[str]:
    """Yield the text of each paragraph below an element."""
    for paragraph in element.iter(f"{TEXT}p"):
        if line := words_of(paragraph):
            yield line


def words_of(paragraph: Element) -> str:
    """Return the text of a paragraph on one line."""
    return whole_line(clean("".join(paragraph.itertext())))
