"""The sheets of a workbook: one is shown at a time, and tabs lead to the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pages.parts import rendering
from pages.parts.common.markup import attributes, name, number
from pages.parts.document import reader
from ragkit.catalog.records import DocumentRecord
from ragkit.retrieval.highlight import highlight_question
from ragkit.surfaces.addresses import document_url
from ragkit.types import Page


def sheets_of(record: DocumentRecord) -> tuple[Page, ...]:
    """Return the sheets of a workbook that has several; none of any other document."""
    is_workbook = rendering.kind_of(record.format, record.path, record.markup).form == "sheet"
    return record.pages if is_workbook and len(record.pages) > 1 else ()


def count_matches(
    sheets: Sequence[Page], text: str, find: str, forms: Mapping[str, str]
) -> list[int]:
    """Return the number of matches in each sheet; ``forms`` are other forms of words."""
    if not find:
        return [0] * len(sheets)
    return [len(highlight_question(text[sheet.start : sheet.end], find, forms)) for sheet in sheets]


def place_in(
    sheets: Sequence[Page], counts: Sequence[int], label: str, start: int, end: int
) -> int:
    """Return the offset to open at: of the requested sheet, or else the one with most matches.

    The latter is one of those in ``[start, end)``: a chunk may hold several small sheets.
    """
    named = next((sheet for sheet in sheets if sheet.label == label), None)
    if named is not None:
        return named.start
    touched = [at for at, sheet in enumerate(sheets) if sheet.start < end and start < sheet.end]
    best = max(touched, key=counts.__getitem__, default=0)
    return max(start, sheets[best].start)


def tabs(
    sheets: Sequence[Page], counts: Sequence[int], shown: Page, document_id: int, find: str
) -> str:
    """Return links to all sheets, with the number of matches in each."""
    items = []
    for sheet, count in zip(sheets, counts, strict=True):
        data = attributes(
            href=document_url(document_id, None, find, sheet=sheet.label),
            aria_current="true" if sheet is shown else None,
            title=reader.matches(count) if count else None,
        )
        counted = f' <span class="rk-soft">{number(count)}</span>' if count else ""
        items.append(
            f'<li><a target="_self"{data}><bdi>{name(sheet.label, 80)}</bdi>{counted}</a></li>'
        )
    return f'<nav class="rk-sheets" aria-label="Sheets"><ul>{"".join(items)}</ul></nav>'
