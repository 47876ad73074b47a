"""Reads documents of iWork '05 to '09, and of Keynote 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.reading.blocks import Block, inline, note, paragraph, title_of, written
from ragkit.reading.comments import comment_line
from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.iwork.drawings import piece, without_headings
from ragkit.reading.iwork.legacy import properties, root_of, value
from ragkit.reading.iwork.legacy_text import LegacyTexts, storages
from ragkit.reading.margins import sections_beside
from ragkit.reading.markdown import plain
from ragkit.reading.office.slides import Slide, slides_reading
from ragkit.reading.office.workbooks import workbook_reading
from ragkit.reading.reading_parts import joined, one_line, tile, whole_line, whole_number
from ragkit.reading.titles import choose
from ragkit.reading.xml_names import below, child, children, local_name
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from ragkit.reading.limits import Limits

_LEVEL_OF_TABLES = 3
_TITLE, _BODY = "title-placeholder", "body-placeholder"


def read_legacy_pages(archive: zipfile.ZipFile, name: str, limits: Limits) -> Reading:
    """Read a document of Pages 1 to 4."""
    root = root_of(archive, limits)
    texts = LegacyTexts(root)
    blocks = [block for each in storages([root]) for block in texts.storage(each)]
    for part in children(root, "drawables", "page-groups"):
        blocks += texts.drawn(part)
    blocks += [note(at, text) for at, text in enumerate(texts.notes, 1)]
    body = written(blocks)
    margins = (texts.line(part) for part in below(root, "header", "footer"))
    comments = [*_comments(root, texts)]
    metadata, title = properties(root)
    return Reading(
        text=(body + sections_beside(body, margins, comments)).lstrip(),
        title=choose([title_of(blocks), title], name),
        format=Format.PAGES,
        markup=Markup.MARKDOWN,
        metadata=metadata,
    )


def read_legacy_numbers(archive: zipfile.ZipFile, name: str, limits: Limits) -> Reading:
    """Read a spreadsheet of Numbers 1 or 2."""
    root = root_of(archive, limits)
    texts = LegacyTexts(root, _LEVEL_OF_TABLES)
    sections: list[tuple[str, str]] = []
    for sheet in children(child(root, "workspace-array"), "workspace"):
        named = one_line(clean(value(sheet, "workspace-name")))
        if text := written(texts.drawn(sheet)):
            sections.append((named, joined((f"## {named}", text), "\n\n")))
    return workbook_reading(tile(sections), name, Format.NUMBERS, properties(root))


def read_legacy_keynote(archive: zipfile.ZipFile, name: str, limits: Limits) -> Reading:
    """Read a presentation of Keynote 1 to 5."""
    root = root_of(archive, limits)
    texts = LegacyTexts(root)
    slides = [_slide(each, texts) for each in children(child(root, "slide-list"), "slide")]
    return slides_reading(slides, name, Format.KEYNOTE, properties(root))


def _slide(element: Element, texts: LegacyTexts) -> Slide:
    page = child(element, "page")
    if page is None:
        return _first_slide(element)
    slide = Slide()
    shown = {local_name(each).removesuffix("-ref") for each in page.iter()}
    headlines = [*below(child(element, "bullets"), "headline")]
    for kind in (_TITLE, _BODY):
        blocks = [
            *_headlines(headlines, texts, is_title=kind == _TITLE),
            *(block for part in children(element, kind) for block in texts.drawn(part)),
        ]
        blocks = without_headings(blocks if kind in shown else ())
        if kind == _TITLE:
            slide.begin([plain(block.text) for block in blocks])
        else:
            slide.pieces.append(piece(blocks))
    slide.pieces += (
        piece(without_headings(texts.drawn(_wrapped(drawing))))
        for layer in below(page, "layer")
        for drawn in children(layer, "drawables")
        for drawing in drawn
    )
    for notes in children(element, "notes"):
        slide.note(piece(without_headings(texts.drawn(notes))))
    slide.pieces += _comments(child(element, "sticky-notes"), texts)
    return slide


def _headlines(headlines: list[Element], texts: LegacyTexts, *, is_title: bool) -> Iterator[Block]:
    """Yield the title of Keynote 2, or the items of its body."""
    for headline in headlines:
        depth = whole_number(value(headline, "depth"))
        if (depth == 0) == is_title:
            for block in texts.drawn(headline):
                yield block._replace(depth=depth)


def _first_slide(element: Element) -> Slide:
    """Return a slide of Keynote 1, whose texts have no styles."""
    slide = Slide()
    blocks: list[Block] = []
    for bullet in below(child(element, "bullets"), "bullet"):
        level, text = whole_number(value(bullet, "level")), _content(bullet)
        if not level and not slide.title:
            slide.begin([text])
        else:
            blocks.append(paragraph(inline(text), depth=max(level, 1)))
    slide.pieces.append(piece(without_headings(blocks)))
    drawn = below(child(element, "drawables"), "content")
    slide.pieces += (whole_line(clean("".join(each.itertext()))) for each in drawn)
    slide.note(_content(child(element, "notes")))
    return slide


def _content(element: Element | None) -> str:
    return "" if element is None else whole_line(clean("".join(element.itertext())))


def _comments(element: Element | None, texts: LegacyTexts) -> Iterator[str]:
    """Yield a line for each comment in an element."""
    for each in below(element, "annotation", "sticky-note"):
        if line := comment_line(value(each, "author"), texts.line(each)):
            yield line


def _wrapped(element: Element) -> Element:
    """Return an element that holds only the given one."""
    around = element.makeelement("around", {})
    around.append(element)
    return around
