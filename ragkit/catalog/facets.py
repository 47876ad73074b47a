"""Facets: the values that documents can be filtered by, with the number of documents of each."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import getaddresses
from typing import TYPE_CHECKING, Any

from ragkit.catalog.chunk_notes import ATTACHMENT, TOPIC
from ragkit.catalog.tags import with_parents

if TYPE_CHECKING:
    from ragkit.indexes.rows import Bools, Ids

_MOST_VALUES, _LEAST_SHARE = 30, 0.1
_MOST_CHANGES = 1000
_VALUE_BYTES = 150
_ALWAYS = frozenset(
    ("type", "path", "lang", "tag", "speaker", "from", "to", "cc", "bcc", "has", "sentiment")
)
_HEADERS = {"author": "from", "to": "to", "cc": "cc", "bcc": "bcc"}
_NO_FIELDS = frozenset(("tags", "date", "to", "cc", "bcc"))

_NUMBERS = re.compile(r"[\d\s.,:/+TZ-]+")

Counts = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Facet:
    """The number of documents with each value of a filter, the most frequent values first.

    ``documents`` is the number with any value.
    """

    values: Counts = ()
    documents: int = 0

    def divides(self, total: int) -> bool:
        """Return whether it is a useful choice among ``total`` documents.

        It has two or more values, not only numbers and dates, and a tenth of the documents has one.
        """
        names = [value for value, count in self.values if count]
        return (
            len(names) > 1
            and self.documents >= _LEAST_SHARE * total
            and not all(map(_NUMBERS.fullmatch, names))
        )


@dataclass(frozen=True, slots=True)
class Facets:
    """The facets of ``documents`` documents, by the names of their filters.

    The names of fields of front matter begin with ``=``; only those with 2 to 30 values in the
    collection, one of them in several documents, are facets. Each facet has its 30 most frequent
    values.
    """

    documents: int = 0
    by_filter: Mapping[str, Facet] = field(default_factory=dict)

    def values(self, name: str) -> Counts:
        """Return the values of a filter, by its name in the query language."""
        facet = self.by_filter.get(name) or self.by_filter.get(f"={name}") or Facet()
        return facet.values

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields of front matter, sorted."""
        return tuple(sorted(name[1:] for name in self.by_filter if name[0] == "="))


def joined(parts: Sequence[Facets]) -> Facets:
    """Return the sum of the facets of several collections."""
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
    facets = {
        name: Facet(_ordered(documents_of.items()), having[name])
        for name, documents_of in counts.items()
    }
    return Facets(sum(part.documents for part in parts), facets)


class Column:
    """The values of documents: m pairs of a document's row and the index of a value.

    ``rows`` and ``places`` are int32 (m,); rows ascend, and no pair occurs twice. ``place_of`` is
    the index of each value.
    """

    def __init__(self) -> None:
        import numpy as np

        self.place_of: dict[str, int] = {}
        self.rows = self.places = np.zeros(0, np.int32)

    def add(self, pairs: Iterable[tuple[int, str]]) -> None:
        """Add pairs of row and value; the rows are higher than all before."""
        import numpy as np

        place_of = self.place_of
        rows, places = [], []
        for row, value in pairs:
            rows.append(row)
            places.append(place_of.setdefault(value, len(place_of)))
        self.rows = np.concatenate([self.rows, np.array(rows, np.int32)])
        self.places = np.concatenate([self.places, np.array(places, np.int32)])

    def counts(self, chosen: Bools) -> tuple[Ids, int]:
        """Return the number of chosen rows with each value, (v,), and of those with any."""
        import numpy as np

        kept = chosen[self.rows]
        rows = self.rows[kept]
        # A document with several values has them side by side.
        having = int(np.count_nonzero(rows[1:] != rows[:-1])) + bool(len(rows))
        return np.bincount(self.places[kept], minlength=len(self.place_of)), having

    @property
    def nbytes(self) -> int:
        """The approximate size in bytes."""
        return self.rows.nbytes + self.places.nbytes + _VALUE_BYTES * len(self.place_of)


class FacetTable:
    """The values of a collection's documents by row, to be counted for any selection of rows.

    Fields of front matter with too many values are dropped until many documents have changed
    (``outlives``). ``topics`` says whether topics of contexts are counted. ``rows`` is the number
    of rows that were read, ``dead`` how many of them were not live at first.
    """

    def __init__(self, *, topics: bool = True, dead: int = 0) -> None:
        self.topics, self._dead = topics, dead
        self._dropped: set[str] = set()
        self.rows = 0
        self._columns: dict[str, Column] = {}
        self._counted: tuple[Bools, Mapping[str, tuple[Ids, int]], Facets] | None = None

    def add(
        self,
        rows: int,
        documents: Iterable[tuple[int, str, str, str, str]],
        noted: Mapping[int, Sequence[tuple[str, str]]],
    ) -> None:
        """Add (row, format, language, path, metadata as JSON) of documents, rows ascending.

        These rows are higher than all before; ``rows`` is the number of rows afterwards. ``noted``
        are the notes of their chunks: (filter, value), by row.
        """
        pairs_of: dict[str, list[tuple[int, str]]] = {}
        for row, *document in documents:
            for name, value in dict.fromkeys([*_values(*document), *noted.get(row, ())]):
                pairs_of.setdefault(name, []).append((row, value))
        for name, pairs in pairs_of.items():
            if name in self._dropped:
                continue
            column = self._columns.setdefault(name, Column())
            column.add(pairs)
            if name not in _ALWAYS and len(column.place_of) > _MOST_VALUES + _MOST_CHANGES:
                self._dropped.add(name)
                del self._columns[name]
        self.topics = self.topics and TOPIC not in self._dropped
        self.rows, self._counted = rows, None

    def outlives(self, dead: int) -> bool:
        """Return whether nothing was dropped, or too few rows have died since for it to matter."""
        return not self._dropped or dead - self._dead < _MOST_CHANGES

    def facets(self, live: Bools, chosen: Bools | None = None) -> Facets:
        """Count the values of live rows, or of those ``chosen`` among them, (n,).

        Values of live rows that no chosen row has count 0.
        """
        if self._counted is None or self._counted[0] is not live:
            present = {name: column.counts(live) for name, column in self._columns.items()}
            self._counted = live, present, self._facets(live, present, present)
        if chosen is None:
            return self._counted[2]
        counts = {name: column.counts(chosen) for name, column in self._columns.items()}
        return self._facets(chosen, self._counted[1], counts)

    def _facets(
        self,
        rows: Bools,
        present: Mapping[str, tuple[Ids, int]],
        counts: Mapping[str, tuple[Ids, int]],
    ) -> Facets:
        """Return the facets of rows from counts of the values that are present in live rows."""
        import numpy as np

        facets: dict[str, Facet] = {}
        for name, (documents_of, having) in counts.items():
            places = np.flatnonzero(present[name][0])
            if len(places) > _MOST_VALUES and name in _ALWAYS:
                least = np.partition(documents_of[places], -_MOST_VALUES)[-_MOST_VALUES]
                places = places[documents_of[places] >= least]
            names = list(self._columns[name].place_of)
            values = [(names[place], int(documents_of[place])) for place in places.tolist()]
            if name == TOPIC:
                values = _named_topics(values)
            pairs = int(present[name][0].sum())
            if values and (name in _ALWAYS or _is_shared(len(values), pairs)):
                facets[name] = Facet(_ordered(values)[:_MOST_VALUES], having)
        return Facets(int(np.count_nonzero(rows)), facets)

    @property
    def nbytes(self) -> int:
        """The approximate size in bytes."""
        return sum(column.nbytes for column in self._columns.values())


class FieldNames:
    """The rows with each field of front matter; ``rows`` is the number of rows that were read."""

    def __init__(self) -> None:
        self.rows = 0
        self._rows_of: dict[str, Ids] = {}

    def add(self, rows: int, rows_of: Iterable[tuple[str, Ids]]) -> None:
        """Add rows higher than all before, by field; ``rows`` is the number of rows afterwards."""
        import numpy as np

        for name, new in rows_of:
            before = self._rows_of.get(name, new[:0])
            self._rows_of[name] = np.concatenate([before, new.astype(np.int32)])
        self.rows = rows

    def of(self, live: Bools) -> tuple[str, ...]:
        """Return the fields of live rows, sorted."""
        return tuple(sorted(name for name, rows in self._rows_of.items() if live[rows].any()))

    @property
    def nbytes(self) -> int:
        """The approximate size in bytes."""
        return sum(rows.nbytes for rows in self._rows_of.values())


def _named_topics(counts: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Sum the topics of one key, under their first name (``NoteQueries.values``)."""
    names: dict[str, tuple[str, int]] = {}
    for value, count in counts:
        key, _, name = value.partition("\n")
        first, so_far = names.get(key, (name, 0))
        names[key] = min(first, name), so_far + count
    return list(names.values())


def _ordered(counts: Iterable[tuple[str, int]]) -> Counts:
    return tuple(sorted(counts, key=lambda each: (-each[1], each[0])))


def _is_shared(values: int, pairs: int) -> bool:
    """Return whether there are 2 to 30 values, one of them in several documents."""
    return 1 < values <= _MOST_VALUES and pairs > values


def _values(kind: str, language: str, path: str, packed: str) -> Iterator[tuple[str, str]]:
    """Yield (name of a filter, value) of a document; ``packed`` is its metadata as JSON."""
    yield "type", kind
    if language:
        yield "lang", language
    if "/" in path:
        yield "path", path.split("/", 1)[0] + "/"
    metadata = json.loads(packed)
    for tag in _listed(metadata.get("tags", [])):
        for each in with_parents(tag):
            yield "tag", each
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
    return [str(item) for item in (value if isinstance(value, list) else [value])]


def _people(written: Sequence[str]) -> Iterator[str]:
    """Yield the names, or else addresses, of the people in the values of a header or an author."""
    for value in written:
        if "@" not in value:
            yield value
            continue
        for name, address in getaddresses([value]):
            if name or address:
                yield name or address
