"""Drawings of Visio: each page a section with the words of its shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.office.converter import core_properties
from ragkit.reading.office.slides import Slide, slides_reading
from ragkit.reading.reading_parts import one_line, whole_line
from ragkit.reading.xml_names import R
from ragkit.reading.zip_container import open_archive, part_of, relations

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from ragkit.reading.limits import Limits
    from ragkit.types import Reading

_V = "{http://schemas.microsoft.com/office/visio/2012/main}"
_PAGES = "visio/pages/pages.xml"


def read_drawing(data: bytes, name: str, limits: Limits) -> Reading:
    """Read the pages of a VSDX file in the order of their tabs.

    Raises:
        ReadingError: damaged, locked, or a decompression bomb.
    """
    archive = open_archive(data, limits, Format.VSDX.label)
    return slides_reading([*_pages(archive)], name, Format.VSDX, core_properties(archive))


def _pages(archive: zipfile.ZipFile) -> Iterator[Slide]:
    """Yield the pages that people see; those behind them repeat on each."""
    listed, linked = part_of(archive, _PAGES), relations(archive, _PAGES)
    for page in () if listed is None else listed.iter(f"{_V}Page"):
        reference = page.find(f"{_V}Rel")
        target, _ = linked.get("" if reference is None else reference.get(f"{R}id", ""), ("", ""))
        root = part_of(archive, target)
        if root is not None and page.get("Background") != "1":
            yield Slide(one_line(clean(page.get("Name", ""))), [*_lines(root)])


def _lines(page: Element) -> Iterator[str]:
    """Yield the words of each shape; lines in it are parts of one label."""
    for text in page.iter(f"{_V}Text"):
        if line := whole_line(clean("".join(text.itertext()))):
            yield line
