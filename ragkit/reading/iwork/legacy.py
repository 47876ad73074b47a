"""Documents of iWork '05 to '09: one XML file in a zip, or in a folder that was packed."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from ragkit.reading.decode import clean
from ragkit.reading.iwork.archive import XML_NAMES
from ragkit.reading.reading_parts import nonempty, one_line
from ragkit.reading.xml_names import below, child
from ragkit.reading.zip_container import GZIP_SUFFIX, bomb, gunzipped, most_markup, refuse_entities

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterable
    from xml.etree.ElementTree import Element

    from ragkit.reading.limits import Limits
    from ragkit.types import Metadata

INDEXES = (*XML_NAMES, *(f"{name}{GZIP_SUFFIX}" for name in XML_NAMES))
_SFA = "{http://developer.apple.com/namespaces/sfa}"
_UNDECLARED = b"<presentation ", b'<presentation xmlns:plugin="plugin" '


def index_of(names: Iterable[str]) -> str:
    """Return the member that holds the document, or an empty string."""
    return next((name for name in names if posixpath.basename(name) in INDEXES), "")


def is_legacy(archive: zipfile.ZipFile) -> bool:
    """Return whether a document is one XML file."""
    return bool(index_of(archive.namelist()))


def root_of(archive: zipfile.ZipFile, limits: Limits) -> Element:
    """Return the document; what is no XML raises ``ValueError``.

    Raises:
        ReadingError: it is a decompression bomb, or defines XML entities.
    """
    index = index_of(archive.namelist())
    most = most_markup(limits)
    with archive.open(index) as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise bomb()
    if index.endswith(GZIP_SUFFIX):
        data = gunzipped(data, limits)
    refuse_entities(data)
    if b"<plugin:" in data and b"xmlns:plugin" not in data:  # as Keynote 1 wrote it
        data = data.replace(*_UNDECLARED, 1)
    try:
        return ElementTree.fromstring(data)  # noqa: S314 - entities were refused
    except ElementTree.ParseError as error:
        raise ValueError("no XML") from error


def value(element: Element, name: str) -> str:
    """Return an attribute whatever its namespace."""
    found = (each for key, each in element.attrib.items() if key.rpartition("}")[2] == name)
    return next(found, "")


def by_identity(root: Element) -> dict[str, Element]:
    """Return the elements that have an identifier, to which others refer."""
    key = f"{_SFA}ID"
    return {identity: each for each in root.iter() if (identity := each.get(key))}


def properties(root: Element) -> tuple[Metadata, str]:
    """Return the metadata and the title that a person gave a document."""
    about = child(root, "metadata")
    found = {
        name: ", ".join(
            filter(None, (one_line(clean(value(each, "string"))) for each in below(part, "string")))
        )
        for name in ("title", "authors", "keywords", "comment")
        for part in [child(about, name)]
    }
    return nonempty(author=found["authors"], keywords=found["keywords"]), found["title"]
