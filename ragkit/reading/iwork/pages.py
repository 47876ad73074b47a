"""Documents of Pages as Markdown: headings, lists, tables, boxes, notes and comments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.reading.blocks import note, title_of, written
from ragkit.reading.formats import Format
from ragkit.reading.iwork.archive import PAGES_ROOT, ROOT, document_name, objects_of, opened
from ragkit.reading.iwork.drawings import Drawings
from ragkit.reading.iwork.legacy import is_legacy
from ragkit.reading.iwork.legacy_documents import read_legacy_pages
from ragkit.reading.iwork.text import TEXTS
from ragkit.reading.limits import damaged
from ragkit.reading.margins import sections_beside
from ragkit.reading.titles import choose
from ragkit.reading.zip_container import unpacking
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragkit.reading.iwork.archive import Objects
    from ragkit.reading.limits import Limits

_MARGIN = 1


def read_document(data: bytes, name: str, limits: Limits) -> Reading:
    """Read a document of Pages, with its notes, headers, footers and comments at the end.

    Raises:
        ReadingError: damaged, locked, or a decompression bomb.
    """
    label = Format.PAGES.label
    name = document_name(name)
    with unpacking(damaged(label)):
        archive = opened(data, limits, label)
        if is_legacy(archive):
            return read_legacy_pages(archive, name, limits)
        objects = objects_of(archive, limits, label)
        if objects.kind(ROOT) != PAGES_ROOT:
            raise damaged(label)
        return _reading(objects, name)


def _reading(objects: Objects, name: str) -> Reading:
    drawings = Drawings(objects)
    root = objects.message(ROOT)
    blocks = [*drawings.texts.blocks(root.reference(4))]
    boxes = (tuple(drawings.blocks(each)) for each in _floating(objects, root.reference(3)))
    blocks += (block for box in dict.fromkeys(boxes) for block in box)
    blocks += [note(at, text) for at, text in enumerate(drawings.beside.notes, 1)]
    body = written(blocks)
    comments = [*drawings.comments()]
    whole = body + sections_beside(body, _margins(objects, drawings), comments)
    return Reading(
        text=whole.lstrip(),
        title=choose([title_of(blocks)], name),
        format=Format.PAGES,
        markup=Markup.MARKDOWN,
    )


def _floating(objects: Objects, identity: int) -> Iterator[int]:
    """Yield what is placed on pages and not in the text, in the order of the pages."""
    groups = objects.message(identity).messages(1)
    for group in sorted(groups, key=lambda group: group.number(1)):
        for field in (4, 3):
            yield from (entry.reference(1) for entry in group.messages(field))


def _margins(objects: Objects, drawings: Drawings) -> Iterator[str]:
    """Yield the lines of headers and footers."""
    for identity in objects.of_kind(*TEXTS):
        if objects.message(identity).number(1) == _MARGIN:
            yield drawings.texts.line(identity)
