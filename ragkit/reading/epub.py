"""E-books: the chapters in reading order."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from ragkit.reading.decode import clean, decode
from ragkit.reading.formats import Format
from ragkit.reading.html import declared_encoding, to_markdown
from ragkit.reading.limits import damaged
from ragkit.reading.markdown import metadata_from
from ragkit.reading.reading_parts import one_line, put, stem
from ragkit.reading.zip_container import open_archive, xml
from ragkit.types import Markup, Metadata, Reading

if TYPE_CHECKING:
    import zipfile
    from xml.etree.ElementTree import Element

    from ragkit.reading.limits import Limits

_DC = "{http://purl.org/dc/elements/1.1/}"
_OPF = "{http://www.idpf.org/2007/opf}"
_CONTAINER = "{urn:oasis:names:tc:opendocument:xmlns:container}"
_LABEL = Format.EPUB.label


def read_epub(data: bytes, name: str, limits: Limits) -> Reading:
    """Read the chapters that the book's spine names.

    Raises:
        ReadingError: damaged, locked, or a decompression bomb.
    """
    archive = open_archive(data, limits, _LABEL)
    container = xml(archive, "META-INF/container.xml", _LABEL)
    root = container.find(f".//{_CONTAINER}rootfile")
    package_name = unquote(root.get("full-path", "")) if root is not None else ""
    package = xml(archive, package_name, _LABEL)
    chapters: list[str] = []
    missing = 0
    for part in _spine(package, posixpath.dirname(package_name)):
        if part not in archive.namelist():
            missing += 1
            continue
        chapters.append(_chapter(archive, part))
    if missing and not chapters:
        raise damaged(_LABEL)
    metadata, title, language = _properties(package)
    return Reading(
        text="\n\n".join(filter(None, chapters)),
        title=title or stem(name),
        format=Format.EPUB,
        markup=Markup.MARKDOWN,
        language=language,
        metadata=metadata,
        warnings=(f"{missing} chapters named by the book are missing in the file.",)
        if missing
        else (),
    )


def _spine(package: Element, folder: str) -> list[str]:
    """Return the member names of the chapters, in order, without the navigation page."""
    items = {
        item.get("id", ""): item
        for item in package.iter(f"{_OPF}item")
        if "nav" not in item.get("properties", "").split()
    }
    return [
        posixpath.normpath(posixpath.join(folder, unquote(items[identity].get("href", "")))).lstrip(
            "/"
        )
        for entry in package.iter(f"{_OPF}itemref")
        if (identity := entry.get("idref", "")) in items
        and "html" in items[identity].get("media-type", "html")
    ]


def _chapter(archive: zipfile.ZipFile, part: str) -> str:
    """Return one chapter as Markdown."""
    data = archive.read(part)
    text, _ = decode(data, declared_encoding(data))
    return to_markdown(clean(text), _LABEL)


def _properties(package: Element) -> tuple[Metadata, str, str]:
    """Return author, date and tags; the title; the language."""

    def texts(tag: str) -> list[str]:
        return [one_line(clean(element.text or "")) for element in package.iter(f"{_DC}{tag}")]

    properties = put(
        {},
        author=", ".join(filter(None, texts("creator"))),
        date=next(iter(texts("date")), ""),
        tags=[subject for subject in texts("subject") if subject],
        publisher=next(iter(texts("publisher")), ""),
    )
    return (
        metadata_from(properties),
        next(iter(texts("title")), ""),
        next(iter(texts("language")), ""),
    )
