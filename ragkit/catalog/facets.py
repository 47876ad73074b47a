"""The values that documents can be filtered by, and how many documents have each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from email.utils import getaddresses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragkit.indexes.rows import Ids

_MOST_VALUES = 30
_MOST_FIELD_VALUES = 12
_HEADERS = {"author": "from", "to": "to", "cc": "cc", "bcc": "bcc"}
_NO_FIELDS = frozenset(("tags", "date", "language", "to", "cc", "bcc"))

Counts = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Facets:
    """How many indexed documents have each value, the most frequent first.

    ``fields`` are those of front matter that have few values; ``people`` stand under the name of
    their filter: "from", "to", "cc", "bcc".
    """

    types: Counts = ()
    languages: Counts = ()
    tags: Counts = ()
    folders: Counts = ()
    fields: tuple[tuple[str, Counts], ...] = ()
    speakers: Counts = ()
    people: tuple[tuple[str, Counts], ...] = ()

    def values(self, name: str) -> Counts:
        """Return the values of a filter, by the name that a question gives it; none for a path."""
        named = {
            "type": self.types, "lang": self.languages, "tag": self.tags,
            "speaker": self.speakers, **dict(self.people),
        }  # fmt: skip
        return named[name] if name in named else dict(self.fields).get(name, ())


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

    def __init__(self, documents: Iterable[tuple[int, str, str, str, str]]) -> None:
        """Take (id, format, language, path, metadata as JSON) of documents, ids ascending."""
        import numpy as np

        ids: list[int] = []
        columns: dict[tuple[str, str], _Column] = {}
        for row, (document_id, *document) in enumerate(documents):
            ids.append(document_id)
            for key in dict.fromkeys(_values(*document)):
                columns.setdefault(key[:2], _Column()).add(row, key[2])
        self._ids = np.array(ids, np.int64)
        self._columns = {
            key: (list(column.place_of), np.array(column.rows), np.array(column.places))
            for key, column in columns.items()
            if key[0] != "fields" or _divides(column)
        }
        self.whole = self.facets(self._ids)

    def facets(self, among: Ids) -> Facets:
        """Count the values of the documents with these ids; 0 where none of them has one."""
        import numpy as np

        chosen = np.isin(self._ids, among)
        plain: dict[str, Counts] = {}
        named: dict[str, list[tuple[str, Counts]]] = {"fields": [], "people": []}
        for (kind, name), (values, rows, places) in sorted(self._columns.items()):
            counts = np.bincount(places[chosen[rows]], minlength=len(values)).tolist()
            ordered = sorted(zip(values, counts, strict=True), key=lambda each: (-each[1], each[0]))
            if name:
                named[kind].append((name, tuple(ordered[:_MOST_VALUES])))
            else:
                plain[kind] = tuple(ordered[:_MOST_VALUES])
        return Facets(fields=tuple(named["fields"]), people=tuple(named["people"]), **plain)


def _divides(column: _Column) -> bool:
    """Return whether a field has few values, of which documents share one."""
    few = len(column.place_of) <= _MOST_FIELD_VALUES
    return few and len(column.places) > len(column.place_of)


def _values(kind: str, language: str, path: str, packed: str) -> Iterator[tuple[str, str, str]]:
    """Yield what a document can be filtered by: (part of ``Facets``, name within it, value)."""
    yield "types", "", kind
    if language:
        yield "languages", "", language
    if "/" in path:
        yield "folders", "", path.split("/", 1)[0] + "/"
    metadata = json.loads(packed)
    for tag in _listed(metadata.get("tags", [])):
        yield "tags", "", tag
    speakers = _listed(metadata.get("participants", [])) if kind == "conversation" else []
    for speaker in speakers:
        yield "speakers", "", speaker
        yield "people", "from", speaker
    for header, name in _HEADERS.items():
        for person in _people(_listed(metadata.get(header, []))):
            yield "people", name, person
    for name, value in metadata.items():
        if name not in _NO_FIELDS and isinstance(value, str | int | bool):
            yield "fields", name, str(value)


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
