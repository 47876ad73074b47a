"""OpenDocument texts and sheets, as LibreOffice writes them, converted by kreuzberg."""

from __future__ import annotations

import io
import re
import zipfile
from typing import TYPE_CHECKING

from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.limits import locked
from ragkit.reading.margins import header_section, part_of, section
from ragkit.reading.markdown import first_heading, strip_embedded
from ragkit.reading.office import convert, core_properties, sheets_of, unescaped
from ragkit.reading.reading_parts import one_line, tidy
from ragkit.reading.titles import choose
from ragkit.reading.zip_container import open_archive
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from xml.etree.ElementTree import Element

    from ragkit.reading.limits import Limits
    from ragkit.types import Metadata

_URN = "{urn:oasis:names:tc:opendocument:xmlns:"
_OFFICE, _TEXT, _STYLE, _META = (
    f"{_URN}{part}:1.0}}" for part in ("office", "text", "style", "meta")
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
_CONTENT = "content.xml"
_SPACE = re.compile(rb"<text:(?:s|tab)(?:\s[^<>]*)?/>")
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
    """Read an ODS file: each sheet that is not empty is a section with one table.

    Raises:
        ReadingError: damaged, locked, or a decompression bomb.
    """
    metadata, title = _properties(_opened(data, limits, Format.ODS))
    text, pages = sheets_of(data, Format.ODS)
    return Reading(
        text=text,
        title=choose([title], name),
        format=Format.ODS,
        markup=Markup.MARKDOWN,
        pages=pages,
        metadata=metadata,
    )


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
    comments = []
    for comment in _elements(archive, _CONTENT, f"{_OFFICE}annotation"):
        author = one_line(clean(comment.findtext(f"{_DC}creator") or "")) or "Comment"
        comments.append(f"{author}: {' '.join(_lines(comment))}")
    return "".join(
        (header_section(repeated, text), section("Notes", notes), section("Comments", comments))
    )


def _elements(archive: zipfile.ZipFile, part: str, tag: str) -> Iterable[Element]:
    """Return the elements of a part of the file; none if it is absent or damaged."""
    root = part_of(archive, part)
    return () if root is None else root.iter(tag)


def _lines(element: Element) -> Iterator[str]:
    """Yield the text of each paragraph below an element."""
    for paragraph in element.iter(f"{_TEXT}p"):
        if line := one_line(clean("".join(paragraph.itertext()))):
            yield line
