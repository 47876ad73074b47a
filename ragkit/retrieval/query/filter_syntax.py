"""The names and values of filters, as they are written and as they are meant."""

from __future__ import annotations

import difflib
import re
from calendar import monthrange
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta

from ragkit.catalog.filter_conditions import MAY_BE_UNSAID, may_be_unsaid
from ragkit.errors import QueryError
from ragkit.indexes.tokenizer import fold
from ragkit.months import months_later
from ragkit.options import Filters
from ragkit.reading.languages import PROGRAMMING, language_code
from ragkit.retrieval.query.intent_words import language_codes

FILTER_NAMES = (
    "type", "path", "title", "in", "lang", "tag", "source", "from", "to", "cc", "bcc", "subject",
    "has", "speaker", "topic", "sentiment", "document", "date", "after", "before", "newer_than",
    "older_than", "collection",
)  # fmt: skip
"""The filters that every library has, besides its fields of front matter."""

_LONGEST_VALUE = 2000
_AUTHOR = "=author"

# What people write who know another search engine.
_MEANT = {
    "since": "after", "newer": "after", "year": "date", "day": "date", "month": "date",
    "until": "before", "older": "before",
    "ext": "type", "filetype": "type", "format": "type", "file": "path", "filename": "path",
    "folder": "path", "dir": "path", "heading": "in", "section": "in",
    "label": "tag", "doc": "document", "name": "title", "intitle": "title",
    "who": "speaker", "participant": "speaker", "mood": "sentiment",
    "tone": "sentiment", "by": "from", "sender": "from", "author": "from",
    "recipient": "to", "sprache": "lang", "langue": "lang", "idioma": "lang", "lingua": "lang",
    "taal": "lang",
}  # fmt: skip

# Addresses and numbers of works that have no slashes behind the colon.
_SCHEMES = {
    "about", "arxiv", "blob", "data", "doi", "hdl", "isbn", "issn", "javascript", "jdbc",
    "magnet", "mailto", "node", "npm", "pkg", "pmid", "sms", "tel", "urn",
}  # fmt: skip
# Other words for what a document or passage may have.
_HAD = {
    "attachments": "attachment", "decisions": "decision", "decided": "decision",
    "actions": "action", "action-item": "action", "action-items": "action", "todo": "action",
}  # fmt: skip
_CODE = re.compile(r"[:(){}\[\]<>=;|&*$%#!?`@+~^\\]")

QUOTED = rf'(?:"(?>(?:[^"]|""){{0,{_LONGEST_VALUE}}})"|[“„”][^“”„"]{{0,{_LONGEST_VALUE}}}+[”“"])'
_QUOTATION = re.compile(r'"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」')
PART = rf"(?:{QUOTED}(?=[\s,]|\Z)|[^\s,]+)"
_PARTS = re.compile(PART)
_UNKNOWN = re.compile(r"[a-z][a-z_]{1,15}:[^\s:/\\]\S*")
_BARE = re.compile(r'(?![:/])[^\s,"“”„]+')
_DATE = re.compile(r"([0-9]{4})(?:[-/.]([0-9]{1,2})(?:[-/.]([0-9]{1,2}))?)?")
_NUMBER = re.compile(r"[0-9]{1,18}")
_AGE = re.compile(r"([0-9]{1,4})([dwmy])", re.IGNORECASE)


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
        ("from", filters.senders),
        ("to", filters.recipients),
        ("cc", filters.copies),
        ("bcc", filters.blind_copies),
        ("has", filters.has),
        ("speaker", filters.speakers),
        ("topic", filters.topics),
        ("sentiment", filters.sentiments),
        ("document", documents),
        ("after", (filters.after,)),
        ("before", (filters.before,)),
        ("collection", collections),
    ]
    parts += [(name, (value,)) for name, value in filters.fields]
    return " ".join(format_filter(name, values) for name, values in parts if any(values))


def format_filter(name: str, values: Sequence[str]) -> str:
    """Format a filter, by its name or that of a field, as it would be typed."""
    if name == "tag":
        # The sign before a tag is left out when it is read.
        values = [f"#{value}" if value.startswith("#") else value for value in values]
    written = ",".join(_quoted(value) for value in values if value)
    return f"{_as_word(name.removeprefix('='))}:{written}"


def quotations(text: str) -> list[tuple[int, int]]:
    """Return the spans of a text that stand in quotation marks, with these."""
    return [match.span() for match in _QUOTATION.finditer(text)]


def strictly(name: str, value: str) -> str:
    """Return a value of a filter as it leaves out documents that do not say theirs."""
    return f"={value}" if name.removeprefix("=").casefold() in MAY_BE_UNSAID else value


def keeping(filters: Filters) -> Iterator[tuple[str, list[str]]]:
    """Yield the field and values of each filter that keeps documents without such a field."""
    for name in dict.fromkeys(name for name, _ in filters.fields):
        values = [value for own, value in filters.fields if own == name]
        if may_be_unsaid(name, values):
            yield name, values


def filter_names(known_fields: Sequence[str]) -> dict[str, str]:
    """Map what may be written to the filter, or to ``=`` and the field, that it means."""
    names = {_as_word(name).casefold(): f"={name}" for name in known_fields}
    return {"language": "=language", **names, **{name: name for name in FILTER_NAMES}}


def code_of_language(value: str) -> str:
    """Return the code of a language, named in any of several languages; ``""`` for no language."""
    return language_code(value) or language_codes().get(fold(value).casefold(), "")


def of_language(name: str, values: Sequence[str]) -> str:
    """Return the filter that is meant: ``language:german`` is ``lang:``, ``lang:python`` is not."""
    if values and name.casefold() == "=language" and code_of_language(values[0]):
        return "lang"
    if values and name == "lang" and values[0].casefold() in PROGRAMMING:
        return "=language"
    return name


def _as_word(name: str) -> str:
    """Return a field's name as one word."""
    return re.sub(r"[^\w.-]+", "_", name.strip())


def values_in(raw: str) -> list[str]:
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


def looks_like_filter(token: re.Match[str], names: Mapping[str, str]) -> bool:
    """Return whether a word is more likely a mistaken filter than ordinary text."""
    key, value = token["key"], token["value"]
    if not _UNKNOWN.fullmatch(f"{key}:{value.split()[0]}") or key in _SCHEMES:
        return False
    quoted = value[0] in '"“„”'
    if not quoted and _CODE.search(value):
        return False
    return not value[0].isdecimal() or bool(meant_filter(key, value, names))


def meant_filter(key: str, value: str, names: Mapping[str, str]) -> str:
    """Return the filter that was probably meant with a value, or an empty string."""
    if key in ("newer", "older") and _AGE.fullmatch(value):
        return f"{key}_than"
    if key in _MEANT:
        return _MEANT[key]
    return next(iter(difflib.get_close_matches(key, list(names), n=1, cutoff=0.75)), "")


def checked_values(name: str, values: Sequence[str], *, strict: bool) -> tuple[str, ...] | None:
    """Normalise values; ``None`` when they are invalid and that is no error."""
    if name in ("date", "after", "before"):
        dates = tuple(iso_period(value) for value in values)
        if all(dates):
            return dates
        message = f'Invalid date: "{values[dates.index("")]}".'
        cure = f"Write a year, a month or a day: {name}:2025, {name}:2025-03 or {name}:2025-03-01."
    elif name in ("newer_than", "older_than"):
        if all(map(_first_day, values)):
            return tuple(value.lower() for value in values)
        message = f'Invalid age: "{next(value for value in values if not _first_day(value))}".'
        cure = f"Write days, weeks, months or years: {name}:3d, {name}:2w, {name}:6m or {name}:1y."
    elif name == "document":
        if all(_NUMBER.fullmatch(value) for value in values):
            return tuple(str(int(value)) for value in values)
        message = '"document:" takes the number of a document.'
        cure = "Write it like document:12, or use title: or path: instead."
    else:
        if name in ("type", "lang", "has", "sentiment"):
            lowered = filter(None, (value.lower().strip(".") for value in values))
            return tuple(_meant_value(name, value) for value in lowered)
        if name == "tag":
            return tuple(plain for value in values if (plain := value.removeprefix("#")))
        return tuple(values)
    if strict:
        raise QueryError(message, cure)
    return None


def _meant_value(name: str, value: str) -> str:
    if name == "lang":
        return code_of_language(value) or value
    return _HAD.get(value, value) if name == "has" else value


def day_after(period: str) -> str:
    """Return the first year, month or day after one, in ISO form."""
    first = date(*[*map(int, period.split("-")), 1, 1][:3])
    days = {4: 366, 7: 31}.get(len(period), 1)
    following = first + timedelta(days=days)
    return following.isoformat()[: len(period)]


def _first_day(age: str) -> str:
    """Return the day that was so many days, weeks, months or years ago; empty for no age."""
    match = _AGE.fullmatch(age)
    if match is None:
        return ""
    count, unit, today = int(match[1]), match[2].lower(), date.today()
    if unit in "dw":
        return (today - timedelta(days=count * (7 if unit == "w" else 1))).isoformat()
    months = count * (12 if unit == "y" else 1)
    year, month = months_later(today.year, today.month, -months)
    if year < 1:
        return ""
    return date(year, month, min(today.day, monthrange(year, month)[1])).isoformat()


def iso_period(value: str) -> str:
    """Return a year, month or day with all its digits; an empty string when it is none.

    Nor is one after which the calendar ends.
    """
    match = _DATE.fullmatch(value)
    if match is None:
        return ""
    period = "-".join([match[1], *(f"{int(part):02}" for part in match.groups()[1:] if part)])
    try:
        day_after(period)
    except (ValueError, OverflowError):
        return ""
    return period


def filters_of(values_of: Mapping[str, Sequence[str]]) -> Filters:
    """Gather the values; of several dates the one that leaves more documents counts."""
    periods = values_of.get("date", ())
    newer, older = values_of.get("newer_than", ()), values_of.get("older_than", ())
    after = [*values_of.get("after", ()), *periods, *map(_first_day, newer)]
    before = [*values_of.get("before", ()), *map(day_after, periods), *map(_first_day, older)]
    return Filters(
        types=unique_values(values_of, "type"),
        paths=unique_values(values_of, "path"),
        titles=tuple(
            dict.fromkeys(unique_values(values_of, "title") + unique_values(values_of, "subject"))
        ),
        headings=unique_values(values_of, "in"),
        languages=unique_values(values_of, "lang"),
        tags=unique_values(values_of, "tag"),
        sources=unique_values(values_of, "source"),
        speakers=unique_values(values_of, "speaker"),
        documents=tuple(int(number) for number in unique_values(values_of, "document")),
        after=min(after, default=""),
        before=max(before, default=""),
        # A part of a name is enough, also where front matter names the authors.
        senders=unique_values(values_of, "from", _AUTHOR),
        recipients=unique_values(values_of, "to"),
        copies=unique_values(values_of, "cc"),
        blind_copies=unique_values(values_of, "bcc"),
        has=unique_values(values_of, "has"),
        topics=unique_values(values_of, "topic"),
        sentiments=unique_values(values_of, "sentiment"),
        fields=tuple(dict.fromkeys(_fields(values_of))),
    )


def _fields(values_of: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yield the (name, value) pairs of front matter, without authors, who are senders."""
    for name, values in values_of.items():
        if name.startswith("=") and name != _AUTHOR:
            for value in values:
                yield name[1:], value


def unique_values(values_of: Mapping[str, Sequence[str]], *names: str) -> tuple[str, ...]:
    """Return the different values of a filter, or of some, in the order of writing."""
    return tuple(dict.fromkeys(value for name in names for value in values_of.get(name, ())))
