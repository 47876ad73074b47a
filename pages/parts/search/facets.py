"""The filters that a question can get, as groups of buttons with counts."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pages.parts.common import collection_picker
from pages.parts.common.markup import name, number, text
from pages.parts.search import summary
from ragkit.errors import RagkitError
from ragkit.library import Library
from ragkit.options import Phrasings, Rerank, SearchOptions
from ragkit.reading.languages import language_names
from ragkit.retrieval.query.parser import FILTER_NAMES, format_filter, strictly

if TYPE_CHECKING:
    from ragkit.catalog.facets import Facets

_TITLES = {
    "type": "Type", "path": "Folder", "lang": "Language", "=language": "Programming language",
    "tag": "Tag", "speaker": "Speaker", "topic": "Topic", "has": "Has", "sentiment": "Sentiment",
}  # fmt: skip
_MOST_VALUES, _MOST_FIELDS = 12, 6


@dataclass(frozen=True, slots=True)
class Group:
    """A facet: the ``values`` of ``filter``, each with its number of documents."""

    title: str
    filter: str
    values: tuple[tuple[str, int], ...]


def groups(library: Library, question: str, options: SearchOptions) -> list[Group]:
    """Return the facets that divide the results.

    Counts are of the documents that the question finds; in a group that it filters by, of those
    that it would find without that filter. ``Facet.divides`` decides which facets are offered;
    one that is filtered by always is.
    """
    fields = library.documents.field_names(options.collections)
    chips = [chip for chip in summary.chips(question, fields) if not chip.token.startswith("-")]
    now = _counted(library, options, question)
    offered, own = [], 0
    # The name of a filter of every library means that one.
    own_fields = [f"={field}" for field in now.fields if field.casefold() not in FILTER_NAMES]
    for key in dict.fromkeys((*_TITLES, *own_fields)):
        active = [chip.token for chip in chips if chip.name == key]
        others = question
        for token in active:
            others = summary.without_filter(others, token, fields)
        counted = _counted(library, options, others) if active else now
        facet = counted.by_filter.get(key)
        is_own = key not in _TITLES
        if facet is None or own == _MOST_FIELDS or not (active or facet.divides(counted.documents)):
            continue
        own += is_own
        values = tuple(
            (value, count)
            for value, count in facet.values
            if count or _token(key, value, active) in active
        )
        title = _TITLES.get(key, key[1:].replace("_", " ").capitalize())
        offered.append(Group(title, key, values[:_MOST_VALUES]))
    return offered


def _counted(library: Library, options: SearchOptions, question: str) -> Facets:
    """Count the values of all documents that a question finds."""
    among = None
    if question.strip():
        # A model that reads results again finds no others; the answer is mostly kept already.
        own_words = replace(
            collection_picker.everywhere(library, options),
            rerank=Rerank.NONE,
            phrasings=Phrasings.NONE,
        )
        with suppress(RagkitError):
            among = library.search(question, own_words).document_ids
    return library.documents.facets(*options.collections, among=among)


def html(offered: Iterable[Group], active: Collection[str]) -> str:
    """Return the groups as HTML; ``active`` are the filters that the question has."""
    return "".join(_group(group, active) for group in offered)


def _token(key: str, value: str, active: Collection[str]) -> str:
    """Return the filter that a button adds or takes away.

    It counts what says this value, and so it adds the strict form of a filter.
    """
    plain = format_filter(key, (value,))
    return plain if plain in active else format_filter(key, (strictly(key, value),))


def _group(group: Group, active: Collection[str]) -> str:
    buttons = []
    for value, count in group.values:
        token = _token(group.filter, value, active)
        shown = language_names().get(value, value) if group.filter == "lang" else value
        pressed = str(token in active).lower()
        buttons.append(
            f'<button type="button" class="rk-facet" data-rk="filter" aria-pressed="{pressed}" '
            f'data-token="{text(token)}"><bdi>{name(shown)}</bdi> '
            f"<span>{number(count)}</span></button>"
        )
    return (
        f'<div class="rk-facet-group"><h3>{name(group.title)}</h3>'
        f'<div class="rk-facets">{"".join(buttons)}</div></div>'
    )
