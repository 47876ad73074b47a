r"""The query language: filters, exact phrases and exclusions written into a question.

Its table for people, with examples, is docs/query_language.md. A value with spaces or commas is put
in quotes (``""`` inside them is a quote), commas divide alternatives, and so does writing a filter
twice.

Phrases in quotes, ``-`` and ``NOT`` before a word, phrase or filter, and ``OR`` between them
are read only in what somebody types: one line of up to 500 characters. In pasted text filters with
a valid name and value count, and nothing else. Typed prose is not taken apart either:

- ``-5``, ``--flag``, ``-la``, ``->``, a lone ``-``, ``well-known``: what is excluded has three
  letters or more, or a letter of another script, right behind one ``-`` that begins a word;
- ``Eingang und -ausgang``, ``the buoy -which is yellow- drifts``: not behind a conjunction, nor
  where some word ends with ``-``;
- ``do NOT delete``, ``DO NOT DELETE``: not behind an auxiliary verb, nor where all is in capitals.

A word that looks like a filter and is nearly one gets a notice. ``note: buy milk``, ``12:30``,
``localhost:8501``, ``std::vector``, ``C:\x``, ``https://a.b`` and ``mailto:a@b.c`` are plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ragkit.errors import QueryError
from ragkit.options import Filters
from ragkit.retrieval.query.filter_syntax import (
    FILTER_NAMES,
    PART,
    QUOTED,
    checked_values,
    filter_names,
    filters_of,
    format_filter,
    format_filters,
    looks_like_filter,
    meant_filter,
    of_language,
    strictly,
    unique_values,
    values_in,
)

__all__ = [
    "FILTER_NAMES",
    "LONGEST_QUERY",
    "Condition",
    "ParsedQuery",
    "Restriction",
    "format_filter",
    "format_filters",
    "parse_query",
    "strictly",
    "without_filters",
    "without_quotes",
]

LONGEST_QUERY = 20_000
"""Characters of a query that are read; ``cut`` tells that there were more."""

_TYPED = 500
# What right-to-left keyboards and copied text put before a word, without a width.
_MARKS = "\u200e\u200f\u202a-\u202e\u2066-\u2069"
_TOKEN = re.compile(
    rf"(?<!\S)[{_MARKS}]*+(?:(?P<minus>-)?(?:(?P<phrase>{QUOTED}|«[^«»]{{0,500}}+»|「[^「」]{{0,500}}+」)(?=[\s.,;:!?)]|\Z)"
    rf"|(?P<key>[^\W\d_][\w.-]{{0,63}}):(?P<value>(?!:|//),*+(?>{PART})(?>(?:,++(?>{PART}))*),*+)"
    r"(?!\S))|(?P<word>\S+))"
)
_LEADING_MARKS = re.compile(f"^[{_MARKS}]+")
_EXCLUDED = re.compile(r"-((?:[^\W\d_]{3}|[^\W\d_a-zA-Z])\S*)")
_CONJUNCTIONS = frozenset(
    ("and", "or", "und", "oder", "sowie", "et", "ou", "y", "o", "e", "en", "&", "/")
)
_AUXILIARIES = frozenset(
    (
        "am", "are", "be", "can", "could", "did", "do", "does", "had", "has", "have", "is", "may",
        "might", "must", "need", "shall", "should", "was", "were", "will", "would",
    )
)  # fmt: skip
_EDGES = ".,;:!?()[]"


@dataclass(frozen=True, slots=True)
class Condition:
    """What a document may hold: a phrase, or else what filters name.

    ``exact`` is False for a single word without quotes, whose other forms count too.
    """

    phrase: str = ""
    exact: bool = True
    filters: Filters = field(default_factory=Filters)


@dataclass(frozen=True, slots=True)
class Restriction:
    """A filter or an exclusion, as ``query[start:end]`` has it.

    ``name`` is that of the filter with ``values``, ``=`` and the field for one of front matter;
    it is empty for an excluded word or phrase, which is then in ``text``. ``span`` is what goes
    with it: an OR beside it as well.
    """

    start: int
    end: int
    span: tuple[int, int]
    name: str = ""
    values: tuple[str, ...] = ()
    text: str = ""
    excluded: bool = False

    def tokens(self) -> tuple[str, ...]:
        """Return the filter once for each of its values, as a person would type it."""
        minus = "-" if self.excluded else ""
        if not self.name:
            return (f"{minus}{self.text}",)
        return tuple(f"{minus}{format_filter(self.name, (value,))}" for value in self.values)

    def without(self, token: str) -> str:
        """Return the filter as typed without one of its values; empty if that was the last."""
        both = zip(self.values, self.tokens(), strict=False)
        left = [value for value, own in both if own != token]
        minus = "-" if self.excluded else ""
        return f"{minus}{format_filter(self.name, left)}" if left else ""


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query without its filters, and what they ask for.

    ``text`` is what is searched for. Of each tuple in ``required`` a document must meet one
    condition, and none in ``excluded``. ``restrictions`` are where the query asks for that, apart
    from phrases that it requires. ``cut`` is True when the query was longer than
    ``LONGEST_QUERY``. ``notices`` are sentences on what was not understood, and ``suggestion`` is
    the query as it was probably meant, or empty.
    """

    text: str
    filters: Filters = field(default_factory=Filters)
    collections: tuple[str, ...] = ()
    required: tuple[tuple[Condition, ...], ...] = ()
    excluded: tuple[Condition, ...] = ()
    cut: bool = False
    notices: tuple[str, ...] = ()
    suggestion: str = ""
    restrictions: tuple[Restriction, ...] = field(default=(), compare=False)

    @property
    def restricts(self) -> bool:
        """True when not every document may be found."""
        return bool(self.required or self.excluded) or self.filters != Filters()


@dataclass(frozen=True, slots=True)
class _Unit:
    """One word, phrase or filter with its place; ``name`` is that of a filter with ``values``.

    ``unknown`` is what was typed in place of a filter's name, and ``meant`` the filter it is like.
    """

    start: int
    end: int
    text: str
    negated: bool = False
    phrase: str = ""
    name: str = ""
    values: tuple[str, ...] = ()
    unknown: str = ""
    meant: str = ""

    def condition(self) -> Condition:
        """Return the condition that a document must meet."""
        if self.name:
            return Condition(filters=filters_of({self.name: self.values}))
        word = self.text.strip(_EDGES).removeprefix("-")
        return Condition(self.phrase or word, exact=bool(self.phrase))


def parse_query(text: str, known_fields: Sequence[str] = ()) -> ParsedQuery:
    """Parse the filters, phrases and exclusions of a query, and return them apart from its text.

    ``known_fields`` are the names of front-matter fields that the library has. Letter case does
    not matter in names of filters and fields; a space in a field's name is written ``_``.

    Raises:
        QueryError: a date or a number in a filter is invalid.
    """
    query = text[:LONGEST_QUERY]
    typed = len(query) <= _TYPED and "\n" not in query.strip()
    names = filter_names(known_fields)
    units = [_unit(token, names, typed=typed) for token in _TOKEN.finditer(query)]
    negated, operators, joined = _operators(units) if typed else (set[int](), set[int](), [])
    values_of: dict[str, list[str]] = {}
    required: list[tuple[Condition, ...]] = []
    excluded = [units[at].condition() for at in sorted(negated)]
    dropped = negated | operators
    grouped: set[int] = set()
    for group in joined:
        members = [units[at] for at in group]
        filters = {unit.name for unit in members}
        mixed = any(filters) and len(filters) > 1
        if mixed or any(unit.phrase for unit in members):
            required.append(tuple(dict.fromkeys(unit.condition() for unit in members)))
            grouped.update(group)
    for at, unit in enumerate(units):
        if unit.name:
            dropped.add(at)
            if at not in negated and at not in grouped:
                values_of.setdefault(unit.name, []).extend(unit.values)
        elif unit.meant:
            dropped.add(at)
        elif typed and unit.phrase and at not in negated and at not in grouped:
            required.append((unit.condition(),))
    notices, suggestion = _slips(query, units)
    return ParsedQuery(
        text=_without(query, [units[at] for at in sorted(dropped)]),
        filters=filters_of(values_of),
        collections=unique_values(values_of, "collection"),
        required=tuple(dict.fromkeys(required)),
        excluded=tuple(dict.fromkeys(excluded)),
        cut=len(text) > LONGEST_QUERY,
        notices=notices,
        suggestion=suggestion,
        restrictions=tuple(_restrictions(units, negated, operators, joined)),
    )


def parse_filters(text: str, known_fields: Sequence[str]) -> Filters:
    """Parse filters that stand for themselves, as ``type:pdf after:2025``.

    Raises:
        QueryError: there is something else, or a value that a filter cannot have.
    """
    parsed = parse_query(text, known_fields)
    wrong = parsed.notices or (
        ("Words, phrases and exclusions are no filters.",)
        if parsed.text or parsed.required or parsed.excluded or parsed.cut
        else ("Collections are named apart.",)
        if parsed.collections
        else ()
    )
    if wrong:
        elsewhere = "Put them into the question instead."
        cure = f"Did you mean {parsed.suggestion}?" if parsed.suggestion else elsewhere
        raise QueryError(f"These are not only filters: {text[:200]}", " ".join((*wrong, cure)))
    return parsed.filters


def without_filters(query: str) -> str:
    """Return the words of a query; all of it if one of its filters is invalid."""
    try:
        return parse_query(query).text
    except QueryError:
        return query


def without_quotes(query: str) -> str:
    """Return a query with its phrases as plain words."""
    pieces, last = [], 0
    for token in _TOKEN.finditer(query):
        if token["phrase"] is not None and not token["minus"]:
            pieces += [query[last : token.start("phrase")], token["phrase"][1:-1]]
            last = token.end("phrase")
    return "".join([*pieces, query[last:]])


def _unit(token: re.Match[str], names: Mapping[str, str], *, typed: bool) -> _Unit:
    """Parse one token of a query."""
    plain = _Unit(token.start(), token.end(), _LEADING_MARKS.sub("", token.group()))
    minus = bool(token["minus"])
    if token["phrase"] is not None:
        phrase = token["phrase"][1:-1].replace('""', '"').strip()
        searched = any(map(str.isalnum, phrase))
        return replace(plain, negated=minus, phrase=phrase) if searched else plain
    if token["key"] is None or (minus and not typed):
        return plain
    name = names.get(token["key"].casefold())
    values = values_in(token["value"])
    if name is None:
        if typed and looks_like_filter(token, names):
            meant = meant_filter(token["key"], token["value"], names)
            return replace(plain, unknown=token["key"], meant=meant)
        return plain
    name = of_language(name, values)
    checked = checked_values(name, values, strict=typed)
    return plain if checked is None else replace(plain, negated=minus, name=name, values=checked)


def _operators(units: Sequence[_Unit]) -> tuple[set[int], set[int], list[list[int]]]:
    """Return the places of units that are excluded, those of operators, and what OR joins."""
    words = [unit.text for unit in units]
    shouted = not any(any(map(str.islower, word)) for word in words) and len(words) > 1
    dashes = any(len(word) > 1 and word.endswith("-") for word in words)
    negated = {at for at, unit in enumerate(units) if unit.negated}
    operators: set[int] = set()
    joined: list[list[int]] = []
    for at, word in enumerate(words):
        before = words[at - 1].casefold() if at else ""
        last = at + 1 == len(words)
        if units[at].name or units[at].phrase or units[at].unknown:
            continue
        if word == "NOT" and not last and not shouted and before not in _AUXILIARIES:
            operators.add(at)
            negated.add(at + 1)
        elif word == "OR" and at and not last and not shouted:
            operators.add(at)
            if joined and joined[-1][-1] == at - 1:
                joined[-1].append(at + 1)
            else:
                joined.append([at - 1, at + 1])
        elif _EXCLUDED.fullmatch(word) and not dashes and before not in _CONJUNCTIONS:
            negated.add(at)
    joined = [group for group in joined if negated.isdisjoint(group)]
    return negated - operators, operators, joined


def _restrictions(
    units: Sequence[_Unit],
    negated: set[int],
    operators: set[int],
    joined: Sequence[Sequence[int]],
) -> Iterator[Restriction]:
    """Yield the filters and exclusions of a query, in its order."""
    last_of = {at: group[-1] for group in joined for at in group}
    for at, unit in enumerate(units):
        excluded = at in negated
        if not (unit.name or excluded):
            continue
        start = units[at - 1].start if excluded and at - 1 in operators else unit.start
        span = (start, unit.end)
        if at in last_of:
            is_last = at == last_of[at]
            span = (units[at - 1].start, unit.end) if is_last else (start, units[at + 2].start)
        doubled = unit.phrase.replace('"', '""')
        text = f'"{doubled}"' if unit.phrase else unit.text.removeprefix("-")
        values = tuple(dict.fromkeys(unit.values))
        yield Restriction(start, unit.end, span, unit.name, values, text, excluded)


def _without(query: str, dropped: Sequence[_Unit]) -> str:
    """Return a query without some of its units."""
    kept, last = [], 0
    for unit in dropped:
        kept.append(query[last : unit.start])
        last = unit.end
    kept.append(query[last:])
    return " ".join(part for part in map(str.strip, kept) if part)


def _slips(query: str, units: Sequence[_Unit]) -> tuple[tuple[str, ...], str]:
    """Return notices on unknown filters, and the query with the likely ones in their place."""
    notices, pieces, last = [], [], 0
    for unit in units:
        if unit.meant:
            notices.append(f'There is no filter "{unit.unknown}:".')
            at = query.index(f"{unit.unknown}:", unit.start)
            pieces += [query[last:at], unit.meant]
            last = at + len(unit.unknown)
        elif unit.unknown:
            notices.append(f'There is no filter "{unit.unknown}:", so its words were searched for.')
    return tuple(notices), "".join([*pieces, query[last:]]) if pieces else ""
