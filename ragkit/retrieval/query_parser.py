r"""The query language: filters written into a question, such as ``type:pdf after:2025-01``.

=================== =====================================================
``type:pdf,docx``   the document's format
``path:notes/``     a part of its path
``title:budget``    a part of its title
``in:"Set up"``     a part of the headings above a passage
``lang:de``         its language
``tag:travel``      one of its tags
``source:notes``    the folder that it came from
``speaker:Max``     someone who speaks there, in a conversation
``document:12``     the document with that id
``after:2025-01``   its date, at the earliest; a year, a month or a day
``before:2025``     its date, at the latest
``collection:work`` the collection that is searched
``NAME:value``      a field of front matter that the library knows
=================== =====================================================

A value with spaces or commas stands in quotes (``""`` inside them is a quote), commas divide
alternatives, and so does writing a filter twice. Anything in quotes that begins outside a filter
is never a filter.

A word that looks like a filter and is none is an error, so that a slip does not silently widen
a search: small letters, a colon, and right behind it something that is not a number, an address,
a path or code. ``note: buy milk``, ``12:30``, ``localhost:8501``, ``std::vector``, ``C:\x``,
``https://a.b`` and ``mailto:a@b.c`` are ordinary text. Nobody types filters into text of several
lines or of more than 500 characters, so there nothing is an error.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from ragkit.errors import QueryError
from ragkit.options import Filters

LONGEST_QUERY = 20_000
"""Characters of a query that are read; ``cut`` tells that there were more."""

FILTER_NAMES = (
    "type", "path", "title", "in", "lang", "tag", "source", "speaker", "document", "after",
    "before", "collection",
)  # fmt: skip
"""The filters that every library has, besides its fields of front matter."""

_TYPED = 500
_LONGEST_VALUE = 2000
_FIELDS_NAMED = 12

# What people write who know another search engine.
_MEANT = {
    "date": "after", "since": "after", "from": "after", "year": "after", "until": "before",
    "ext": "type", "filetype": "type", "format": "type", "file": "path", "filename": "path",
    "folder": "path", "dir": "path", "heading": "in", "section": "in", "language": "lang",
    "label": "tag", "doc": "document", "name": "title", "intitle": "title",
    "who": "speaker", "by": "speaker", "sender": "speaker", "participant": "speaker",
}  # fmt: skip

# Addresses and numbers of works that have no slashes behind the colon.
_SCHEMES = {
    "about", "arxiv", "blob", "data", "doi", "hdl", "isbn", "issn", "javascript", "jdbc",
    "magnet", "mailto", "node", "npm", "pkg", "pmid", "sms", "tel", "urn",
}  # fmt: skip
_CODE = re.compile(r"[:(){}\[\]<>=;|&*$%#!?`@+~^\\]")

_QUOTED = rf'(?:"(?:[^"]|""){{0,{_LONGEST_VALUE}}}+"|[“„”][^“”„"]{{0,{_LONGEST_VALUE}}}+[”“"])'
_PART = rf"(?:{_QUOTED}(?=[\s,]|\Z)|[^\s,]+)"
_PARTS = re.compile(_PART)
_TOKEN = re.compile(
    rf"(?<!\S)(?:(?P<phrase>{_QUOTED})(?=[\s.,;:!?)]|\Z)"
    rf"|(?P<key>[^\W\d_][\w.-]{{0,63}}):(?P<value>(?!:|//),*+(?>{_PART})(?:,++(?>{_PART}))*+,*+)"
    r"(?!\S))"
)
_UNKNOWN = re.compile(r"[a-z][a-z_]{1,15}:[^\s:/\\]\S*")
_BARE = re.compile(r'(?![:/])[^\s,"“”„]+')
_DATE = re.compile(r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?")
_NUMBER = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query without its filters, and what they ask for.

    ``text`` is what is searched for. ``cut`` is True when the query was longer than
    ``LONGEST_QUERY``.
    """

    text: str
    filters: Filters = field(default_factory=Filters)
    collections: tuple[str, ...] = ()
    cut: bool = False


def parse_query(text: str, known_fields: Sequence[str] = ()) -> ParsedQuery:
    """Parse the filters of a query, and return them apart from its text.

    ``known_fields`` are the names of front-matter fields that the library has. Letter case does
    not matter in names of filters and fields; a space in a field's name is written ``_``.

    Raises:
        QueryError: a filter is unknown, or its date or number is invalid.
    """
    query = text[:LONGEST_QUERY]
    cut = len(text) > LONGEST_QUERY
    if ":" not in query:
        return ParsedQuery(query.strip(), cut=cut)
    strict = len(query) <= _TYPED and "\n" not in query.strip()
    names = _names(known_fields)
    values_of: dict[str, list[str]] = {}
    kept: list[str] = []
    last = 0
    for token in _TOKEN.finditer(query):
        if token["phrase"] is not None:
            continue
        name = names.get(token["key"].casefold())
        if name is None:
            if strict and _looks_like_filter(token, names):
                raise _unknown(token, names)
            continue
        values = _checked(name, _values(token["value"]), strict=strict)
        if values is None:
            continue
        values_of.setdefault(name, []).extend(values)
        kept.append(query[last : token.start()])
        last = token.end()
    kept.append(query[last:])
    return ParsedQuery(
        text=" ".join(part for part in map(str.strip, kept) if part),
        filters=_filters(values_of),
        collections=_unique(values_of, "collection"),
        cut=cut,
    )


def format_filters(filters: Filters, collections: Sequence[str] = ()) -> str:
    """Format filters as they would be typed; ``parse_query`` reads them back."""
    documents = tuple(str(number) for number in filters.documents)
    parts: list[tuple[str, Sequence[str]]] = [
        ("type", filters.types),
        ("path", filters.paths),
        ("title", filters.titles),
        ("in", filters.headings),
        ("lang", filters.languages),
        ("tag", filters.tags),
        ("source", filters.sources),
        ("speaker", filters.speakers),
        ("document", documents),
        ("after", (filters.after,)),
        ("before", (filters.before,)),
        ("collection", collections),
    ]
    parts += [(_as_word(name), (value,)) for name, value in filters.fields]
    filters_as_text = []
    for name, values in parts:
        joined = ",".join(_quoted(value) for value in values if value)
        if joined:
            filters_as_text.append(f"{name}:{joined}")
    return " ".join(filters_as_text)


def _names(known_fields: Sequence[str]) -> dict[str, str]:
    """Map what may be written to the filter, or to ``=`` and the field, that it means."""
    names = {_as_word(name).casefold(): f"={name}" for name in known_fields}
    return {**names, **{name: name for name in FILTER_NAMES}}


def _as_word(name: str) -> str:
    """Return a field's name as one word."""
    return re.sub(r"[^\w.-]+", "_", name.strip())


def _values(raw: str) -> list[str]:
    """Split a value at its commas and strip the quotes."""
    values = []
    for match in _PARTS.finditer(raw):
        part = match.group()
        if len(part) > 1 and part[0] in '"“„”' and part[-1] in '"“”':
            part = part[1:-1].replace('""', '"') if part[0] == '"' else part[1:-1]
        else:
            part = part.strip('"“”„')
        if part.strip():
            values.append(part.strip())
    return values


def _quoted(value: str) -> str:
    """Return a value, in quotes where it needs them."""
    if _BARE.fullmatch(value):
        return value
    doubled = value.replace('"', '""')
    return f'"{doubled}"'


def _looks_like_filter(token: re.Match[str], names: Mapping[str, str]) -> bool:
    """Return whether a word is more likely a mistaken filter than ordinary text."""
    key, value = token["key"], token["value"]
    if not _UNKNOWN.fullmatch(f"{key}:{value.split()[0]}") or key in _SCHEMES:
        return False
    quoted = value[0] in '"“„”'
    if not quoted and _CODE.search(value):
        return False
    return not value[0].isdecimal() or bool(_suggestion(key, names))


def _suggestion(key: str, names: Mapping[str, str]) -> str:
    """Return the filter that was probably meant, or an empty string."""
    if key in _MEANT:
        return _MEANT[key]
    return next(iter(difflib.get_close_matches(key, list(names), n=1, cutoff=0.75)), "")


def _unknown(token: re.Match[str], names: Mapping[str, str]) -> QueryError:
    """Build the error that names the filters there are."""
    key = token["key"]
    meant = _suggestion(key, names)
    fields = sorted(name for name, means in names.items() if means.startswith("="))
    listed = [*FILTER_NAMES, *fields[:_FIELDS_NAMED]]
    if len(fields) > _FIELDS_NAMED:
        listed.append(f"and {len(fields) - _FIELDS_NAMED} fields more")
    guess = f'Did you mean "{meant}:"? ' if meant else ""
    return QueryError(
        f'There is no filter "{key}:".',
        f"{guess}The filters are {', '.join(listed)}. "
        f"To search for the word itself, put it in quotes.",
    )


def _checked(name: str, values: Sequence[str], *, strict: bool) -> list[str] | None:
    """Normalise values; ``None`` when they are invalid and that is no error."""
    if name in ("after", "before"):
        dates = [_iso_date(value) for value in values]
        if all(dates):
            return dates
        message = f'"{name}:{values[dates.index("")]}" is not a date.'
        cure = f"Write a year, a month or a day: {name}:2025, {name}:2025-03 or {name}:2025-03-01."
    elif name == "document":
        if all(_NUMBER.fullmatch(value) for value in values):
            return [str(int(value)) for value in values]
        message = '"document:" takes the number of a document.'
        cure = "Write it like document:12, or use title: or path: instead."
    else:
        if name in ("type", "lang"):
            return [plain for value in values if (plain := value.lower().strip("."))]
        return list(values)
    if strict:
        raise QueryError(message, cure)
    return None


def _iso_date(value: str) -> str:
    """Return a year, month or day with all its digits; an empty string when it is none."""
    match = _DATE.fullmatch(value)
    if match is None:
        return ""
    numbers = [int(part) for part in match.groups() if part is not None]
    try:
        date(*[*numbers, 1, 1][:3])
    except ValueError:
        return ""
    return "-".join([match[1], *(f"{number:02}" for number in numbers[1:])])


def _filters(values_of: Mapping[str, Sequence[str]]) -> Filters:
    """Gather the values; of several dates the one that leaves more documents counts."""
    return Filters(
        types=_unique(values_of, "type"),
        paths=_unique(values_of, "path"),
        titles=_unique(values_of, "title"),
        headings=_unique(values_of, "in"),
        languages=_unique(values_of, "lang"),
        tags=_unique(values_of, "tag"),
        sources=_unique(values_of, "source"),
        speakers=_unique(values_of, "speaker"),
        documents=tuple(int(number) for number in _unique(values_of, "document")),
        after=min(values_of.get("after", ()), default=""),
        before=max(values_of.get("before", ()), default=""),
        fields=tuple(dict.fromkeys(_fields(values_of))),
    )


def _fields(values_of: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yield the (name, value) pairs of front matter."""
    for name, values in values_of.items():
        if name.startswith("="):
            for value in values:
                yield name[1:], value


def _unique(values_of: Mapping[str, Sequence[str]], name: str) -> tuple[str, ...]:
    """Return the different values of one filter, in the order of writing."""
    return tuple(dict.fromkeys(values_of.get(name, ())))
