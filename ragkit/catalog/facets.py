"""The values that documents can be filtered by, and how many documents have each."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import getaddresses
from typing import TYPE_CHECKING, Any

from ragkit.catalog.chunk_notes import ATTACHMENT

if TYPE_CHECKING:
    from ragkit.indexes.rows import Ids

_MOST_VALUES, _LEAST_SHARE = 30, 0.1
_ALWAYS = frozenset(
    ("type", "path", "lang", "tag", "speaker", "from", "to", "cc", "bcc", "has", "sentiment")
)
_HEADERS = {"author": "from", "to": "to", "cc": "cc", "bcc": "bcc"}
_NO_FIELDS = frozenset(("tags", "date", "to", "cc", "bcc"))

_NUMBERS = re.compile(r"[\d\s.,:/+TZ-]+")

Counts = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Facet:
    """How many documents have each value of a filter, the most frequent first.

    ``documents`` is how many have any value.
    """

    values: Counts = ()
    documents: int = 0

    def divides(self, total: int) -> bool:
        """Return whether it is worth choosing from it among ``total`` documents.

        A tenth of them have one of two or more values, and these are not mere numbers or dates.
        """
        names = [value for value, count in self.values if count]
        return (
            len(names) > 1
            and self.documents >= _LEAST_SHARE * total
            and not all(map(_NUMBERS.fullmatch, names))
        )


@dataclass(frozen=True, slots=True)
class Facets:
    """The facets of some documents, by the names of their filters.

    Fields of front matter have ``=`` before their names; only those are here that have 2 to 30
    values in the collection, one of which documents share. Of each facet these are the 30 most
    frequent values. ``documents`` is how many were counted.
    """

    documents: int = 0
    by_filter: Mapping[str, Facet] = field(default_factory=dict)

    def values(self, name: str) -> Counts:
        """Return the values of a filter, by the name that a question gives it."""
        facet = self.by_filter.get(name) or self.by_filter.get(f"={name}") or Facet()
        return facet.values

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields of front matter, sorted."""
        return tuple(sorted(name[1:] for name in self.by_filter if name[0] == "="))


def joined(parts: Sequence[Facets]) -> Facets:
    """Count what several collections have together."""
    if len(parts) == 1:
        return parts[0]
    counts: dict[str, Counter[str]] = {}
    having: Counter[str] = Counter()
    for part in parts:
        for name, facet in part.by_filter.items():
            having[name] += facet.documents
            own = counts.setdefault(name, Counter())
            for value, count in facet.values:
                own[value] += count
    facets = {name: Facet(_ordered(found.items()), having[name]) for name, found in counts.items()}
    return Facets(sum(part.documents for part in parts), facets)


@dataclass(slots=True)
class _Column:
    """One facet: its values, and for each (document, value) the place of both."""

    place_of: dict[str, int] = field(default_factory=dict)
    rows: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)

    def add(self, row: int, value: str) -> None:
        self.rows.append(row)
        self.places.append(self.place_of.setdefault(value, len(self.place_of)))


class FacetTable:
    """The values of every indexed document of a collection, to be counted for some of them."""

    def __init__(
        self,
        documents: Iterable[tuple[int, str, str, str, str]],
        noted: Iterable[tuple[int, str, str]] = (),
    ) -> None:
        """Take (id, format, language, path, metadata as JSON) of documents, ids ascending.

        ``noted`` is what contexts note of their chunks: (id, filter, value).
        """
        import numpy as np

        ids: list[int] = []
        columns: dict[str, _Column] = {}
        of_contexts: dict[int, list[tuple[str, str]]] = {}
        for document_id, name, value in noted:
            of_contexts.setdefault(document_id, []).append((name, value))
        for row, (document_id, *document) in enumerate(documents):
            ids.append(document_id)
            values = [*_values(*document), *of_contexts.get(document_id, ())]
            for name, value in dict.fromkeys(values):
                columns.setdefault(name, _Column()).add(row, value)
        self._ids = np.array(ids, np.int64)
        self._columns = {
            name: (list(column.place_of), np.array(column.rows), np.array(column.places))
            for name, column in columns.items()
            if name in _ALWAYS or _is_shared(column)
        }
        self.whole = self.facets(self._ids)

    def facets(self, among: Ids) -> Facets:
        """Count the values of the documents with these ids; 0 where none of them has one."""
        import numpy as np

        chosen = np.isin(self._ids, among)
        facets: dict[str, Facet] = {}
        for name, (values, rows, places) in self._columns.items():
            kept = chosen[rows]
            counts = np.bincount(places[kept], minlength=len(values)).tolist()
            ordered = _ordered(zip(values, counts, strict=True))[:_MOST_VALUES]
            # The rows ascend: a document with several values has them side by side.
            having = int(kept[:1].sum() + (kept[1:] & (rows[1:] != rows[:-1])).sum())
            facets[name] = Facet(ordered, having)
        return Facets(int(chosen.sum()), facets)


def _ordered(counts: Iterable[tuple[str, int]]) -> Counts:
    return tuple(sorted(counts, key=lambda each: (-each[1], each[0])))


def _is_shared(column: _Column) -> bool:
    """Return whether there are 2 to 30 values, of which documents share one."""
    few = 1 < len(column.place_of) <= _MOST_VALUES
    return few and len(column.places) > len(column.place_of)


def _values(kind: str, language: str, path: str, packed: str) -> Iterator[tuple[str, str]]:
    """Yield what a document can be filtered by: (name of the filter, value)."""
    yield "type", kind
    if language:
        yield "lang", language
    if "/" in path:
        yield "path", path.split("/", 1)[0] + "/"
    metadata = json.loads(packed)
    for tag in _listed(metadata.get("tags", [])):
        yield "tag", tag
    speakers = _listed(metadata.get("participants", [])) if kind == "conversation" else []
    for speaker in speakers:
        yield "speaker", speaker
        yield "from", speaker
    if metadata.get("attachments"):
        yield "has", ATTACHMENT
    for header, name in _HEADERS.items():
        for person in _people(_listed(metadata.get(header, []))):
            yield name, person
    for name, value in metadata.items():
        if name not in _NO_FIELDS and isinstance(value, str | int | bool):
            yield f"={name}", str(value)


def _listed(value: Any) -> list[str]:
    return [str(one) for one in (value if isinstance(value, list) else [value])]


def _people(written: Sequence[str]) -> Iterator[str]:
    """Yield names, or addresses where there is no name, of what a header or an author says."""
    for value in written:
        if "@" not in value:
            yield value
            continue
        for name, address in getaddresses([value]):
            if name or address:
                yield name or address
