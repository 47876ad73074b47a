"""Presentations of Keynote: each slide a section with what is on it, notes and comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.reading.formats import Format
from ragkit.reading.iwork.archive import KEYNOTE_SHOW, ROOT, document_name, objects_of, opened
from ragkit.reading.iwork.drawings import Drawings, piece, without_headings
from ragkit.reading.iwork.legacy import is_legacy
from ragkit.reading.iwork.legacy_documents import read_legacy_keynote
from ragkit.reading.limits import damaged
from ragkit.reading.markdown import plain
from ragkit.reading.office.slides import Slide, slides_reading
from ragkit.reading.zip_container import unpacking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragkit.reading.iwork.archive import Objects
    from ragkit.reading.limits import Limits
    from ragkit.types import Reading

_SHOW, _NODE, _SLIDES = 2, 4, (5, 6)


def read_slides(data: bytes, name: str, limits: Limits) -> Reading:
    """Read a presentation of Keynote in the order of its slides, also those that are skipped.

    Raises:
        ReadingError: damaged, locked, or a decompression bomb.
    """
    label = Format.KEYNOTE.label
    name = document_name(name)
    with unpacking(damaged(label)):
        archive = opened(data, limits, label)
        if is_legacy(archive):
            return read_legacy_keynote(archive, name, limits)
        objects = objects_of(archive, limits, label)
        show = objects.message(ROOT).reference(KEYNOTE_SHOW)
        if objects.kind(show) != _SHOW:
            raise damaged(label)
        drawings = Drawings(objects)
        slides = [_slide(objects, drawings, slide) for slide in _in_order(objects, show)]
        return slides_reading(slides, name, Format.KEYNOTE, ({}, ""))


def _in_order(objects: Objects, show: int) -> Iterator[int]:
    """Yield the slides of a presentation: each before those that are below it."""
    tree = objects.message(show).message(3)
    left = [*reversed(tree.references(2)), tree.reference(1)]
    seen: set[int] = set()
    while left:
        identity = left.pop()
        if identity in seen or objects.kind(identity) != _NODE:
            continue
        seen.add(identity)
        node = objects.message(identity)
        slide = node.reference(2)
        if objects.kind(slide) in _SLIDES and slide not in seen:
            seen.add(slide)
            yield slide
        left += reversed(node.references(1))


def _slide(objects: Objects, drawings: Drawings, identity: int) -> Slide:
    message, slide = objects.message(identity), Slide()
    title = without_headings(drawings.blocks(message.reference(5)))
    slide.begin([plain(block.text) for block in title])
    furniture = (message.reference(20), message.reference(30))
    drawn = (*message.references(42), *message.references(7))
    # Layouts without a body keep its text, which nobody sees.
    hides_body = message.reference(5) in drawn and message.reference(6) not in drawn
    for drawing in (0 if hides_body else message.reference(6), *drawn):
        if drawing not in furniture:
            slide.pieces.append(piece(without_headings(drawings.blocks(drawing))))
    note = objects.message(message.reference(27)).reference(1)
    slide.note(piece(without_headings(drawings.texts.blocks(note))))
    slide.pieces += drawings.comments()
    return slide
