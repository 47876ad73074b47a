"""What readers of OpenDocument files share: names in their XML, and what they say of themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.reading.comments import comment_line
from ragkit.reading.decode import clean
from ragkit.reading.limits import locked
from ragkit.reading.office import core_properties
from ragkit.reading.reading_parts import whole_line
from ragkit.reading.zip_container import open_archive

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterable, Iterator
    from xml.etree.ElementTree import Element

    from ragkit.reading.formats import Format
    from ragkit.reading.limits import Limits
    from ragkit.types import Metadata

URN = "{urn:oasis:names:tc:opendocument:xmlns:"
OFFICE, TEXT, DRAW, TABLE, _META = (
    f"{URN}{part}:1.0}}" for part in ("office", "text", "drawing", "table", "meta")
)
_DC = "{http://purl.org/dc/elements/1.1/}"
_PROPERTIES = {
    "title": f"{_DC}title",
    "author": f"{_META}initial-creator",
    "date": f"{_META}creation-date",
    "modified": f"{_DC}date",
    "keywords": f"{_META}keyword",
    "subject": f"{_DC}subject",
}
CONTENT = "content.xml"
SHAPES = tuple(
    f"{DRAW}{kind}"
    for kind in (
        "frame", "custom-shape", "rect", "ellipse", "circle", "line", "connector", "polygon",
        "polyline", "path", "regular-polygon", "measure", "caption",
    )
)  # fmt: skip


def opened(data: bytes, limits: Limits, file_format: Format) -> zipfile.ZipFile:
    """Open a file whose parts are not encrypted."""
    archive = open_archive(data, limits, file_format.label)
    manifest = "META-INF/manifest.xml"
    if manifest in archive.namelist() and b"encryption-data" in archive.read(manifest):
        raise locked(file_format.label)
    return archive


def properties(archive: zipfile.ZipFile) -> tuple[Metadata, str]:
    """Return the metadata and the title of a file."""
    return core_properties(archive, "meta.xml", _PROPERTIES)


def comments_of(annotations: Iterable[Element]) -> Iterator[str]:
    """Yield a line for each comment: who wrote it, and what."""
    for annotation in annotations:
        if line := comment_line(
            annotation.findtext(f"{_DC}creator") or "", " ".join(lines_of(annotation))
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
