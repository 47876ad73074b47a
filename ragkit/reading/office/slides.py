"""Presentations: each slide a section with its bullets, tables, charts, diagrams and notes."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from ragkit.reading.comments import comments_of_slide
from ragkit.reading.formats import Format
from ragkit.reading.limits import damaged
from ragkit.reading.office.converter import core_properties
from ragkit.reading.office.drawings import chart_of, lines_of, without_fallbacks
from ragkit.reading.office.embedded_sheets import embedded_table
from ragkit.reading.reading_parts import joined, one_line, table, tile, whole_line
from ragkit.reading.titles import choose, in_order
from ragkit.reading.xml_names import CX, A, C, P, R
from ragkit.reading.zip_container import open_archive, relations, web_links, xml
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterator, Mapping, Sequence
    from xml.etree.ElementTree import Element

    from ragkit.reading.limits import Limits
    from ragkit.types import Metadata

_D = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
_SHAPES = (f"{P}sp", f"{P}graphicFrame")
_TITLES = ("title", "ctrTitle")
_FURNITURE = ("dt", "ftr", "sldNum", "hdr", "sldImg")
_LISTS = ("body", "obj", "")
_DRAWINGS = (Format.ODG, Format.VSDX)
_BEGINNING = 5000


@dataclass(slots=True)
class Slide:
    """What a slide says, as Markdown: its title, and the pieces of its body; any may be empty."""

    title: str = ""
    pieces: list[str] = field(default_factory=list)

    def begin(self, lines: Sequence[str]) -> None:
        """Take the lines of the title; they are pieces of the body if they are too long for one."""
        whole = whole_line(" ".join(lines))
        self.title = whole if whole == one_line(whole) else ""
        self.pieces += () if self.title else lines

    def note(self, notes: str) -> None:
        """Take the speaker notes."""
        self.pieces.append(f"Notes: {notes}" if notes else "")


def read_slides(data: bytes, name: str, limits: Limits) -> Reading:
    """Read the slides of a PPTX file in the order in which they are shown.

    Raises:
        ReadingError: damaged, locked, a decompression bomb, or without a sound index of slides.
    """
    archive = open_archive(data, limits, Format.PPTX.label)
    slides = [_slide(archive, part, limits) for part in _slide_parts(archive)]
    return slides_reading(slides, name, Format.PPTX, core_properties(archive))


def slides_reading(
    slides: Sequence[Slide], name: str, file_format: Format, properties: tuple[Metadata, str]
) -> Reading:
    """Return a presentation whose slides are sections; ``properties`` are metadata and title."""
    metadata, title = properties
    kind = "Page" if file_format in _DRAWINGS else "Slide"
    empty = not any(slide.title or any(slide.pieces) for slide in slides)
    text, pages = tile(
        (str(number), joined((f"## {slide.title or f'{kind} {number}'}", *slide.pieces), "\n\n"))
        for number, slide in enumerate(() if empty else slides, 1)
    )
    first = next((slide.title for slide in slides if slide.title), "")
    return Reading(
        text=text,
        title=choose(in_order(title, [first], text[:_BEGINNING]), name),
        format=file_format,
        markup=Markup.MARKDOWN,
        pages=pages,
        metadata=metadata,
    )


def _slide_parts(archive: zipfile.ZipFile) -> list[str]:
    """Return the member names of the slides, in order."""
    root = xml(archive, "ppt/presentation.xml")
    targets = relations(archive, "ppt/presentation.xml")
    identities = [entry.get(f"{R}id", "") for entry in root.iter(f"{P}sldId")]
    parts = [targets[identity][0] for identity in identities if identity in targets]
    if identities and not parts:
        raise damaged(Format.PPTX.label)
    return parts


def _slide(archive: zipfile.ZipFile, part: str, limits: Limits) -> Slide:
    slide = Slide()
    if part not in archive.namelist():
        return slide
    linked, addresses = relations(archive, part), web_links(archive, part)
    for shape in _shapes(xml(archive, part)):
        kind = _placeholder(shape)
        if kind in _TITLES and not slide.title:
            slide.begin([*_lines(shape, marked=False)])
        elif kind not in _FURNITURE:
            _show_links(shape, addresses)
            drawing = _drawing(archive, shape, linked) or _sheet(archive, shape, linked, limits)
            slide.pieces.append(drawing or _body(shape, listed=kind in _LISTS))
    for target, kind in linked.values():
        if kind == "notesSlide" and target in archive.namelist():
            slide.note(_notes(xml(archive, target)))
    slide.pieces += comments_of_slide(archive, [*linked.values()])
    return slide


def _shapes(root: Element) -> Iterator[Element]:
    """Return every shape and table frame, those in groups as well."""
    return (each for each in without_fallbacks(root).iter() if each.tag in _SHAPES)


def _placeholder(shape: Element) -> str | None:
    """Return the kind of placeholder that a shape is; ``None`` for a free text box."""
    placeholder = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
    return None if placeholder is None else placeholder.get("type", "")


def _show_links(shape: Element, addresses: Mapping[str, str]) -> None:
    """Write links in a shape with the addresses that people do not see."""

    def address(run: Element) -> str:
        link = run.find(f"{A}rPr/{A}hlinkClick")
        return "" if link is None else addresses.get(link.get(f"{R}id", ""), "")

    for paragraph in shape.iter(f"{A}p") if addresses else ():
        for target, runs in groupby(paragraph.findall(f"{A}r"), key=address):
            texts = [text for run in runs for text in run.iterfind(f"{A}t")]
            words = "".join(text.text or "" for text in texts).strip()
            if target and words and words not in target:
                texts[0].text = f"[{texts[0].text or ''}"
                texts[-1].text = f"{texts[-1].text or ''}]({target})"


def _drawing(
    archive: zipfile.ZipFile, shape: Element, linked: Mapping[str, tuple[str, str]]
) -> str:
    """Return the table of a chart or the list of a diagram, whose content is in another part."""
    for tag, key in ((f"{C}chart", "id"), (f"{CX}chart", "id"), (f"{_D}relIds", "dm")):
        reference = shape.find(f".//{tag}")
        identity = "" if reference is None else reference.get(f"{R}{key}", "")
        part, _ = linked.get(identity, ("", ""))
        if part in archive.namelist():
            root = xml(archive, part)
            return _chart(root) if key == "id" else "\n".join(_lines(root, marked=True))
    return ""


def _sheet(
    archive: zipfile.ZipFile,
    shape: Element,
    linked: Mapping[str, tuple[str, str]],
    limits: Limits,
) -> str:
    """Return the table of a workbook that is shown in a slide, not as its sign alone."""
    shown = shape.find(f".//{P}oleObj")
    if shown is None or shown.get("showAsIcon") in ("1", "true"):
        return ""
    part, _ = linked.get(shown.get(f"{R}id", ""), ("", ""))
    return embedded_table(archive.read(part), limits) if part in archive.namelist() else ""


def _chart(root: Element) -> str:
    """Return a chart as its title and its table."""
    chart = chart_of(root)
    return joined((chart.title, table(chart.rows)), "\n\n")


def _body(shape: Element, listed: bool) -> str:
    """Return a table, a list or paragraphs."""
    grid = shape.find(f".//{A}tbl")
    if grid is not None:
        return table(
            [
                [" ".join(_lines(column, marked=False)) for column in row.iter(f"{A}tc")]
                for row in grid.iter(f"{A}tr")
            ]
        )
    lines = list(_lines(shape, marked=listed))
    many = listed and len(lines) > 1
    return "\n".join(lines) if many else "\n\n".join(line.removeprefix("- ") for line in lines)


def _lines(shape: Element, marked: bool) -> Iterator[str]:
    """Yield the paragraphs of a shape, indented and marked as list items if ``marked``."""
    for line in lines_of(shape):
        yield f"{'  ' * line.depth}- {line.text}" if marked else line.text


def _notes(root: Element) -> str:
    """Return the speaker notes, without the slide's picture and number."""
    return "\n\n".join(
        line
        for shape in _shapes(root)
        if _placeholder(shape) == "body"
        for line in _lines(shape, marked=False)
    )
