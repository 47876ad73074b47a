"""What a question may say of documents: time, language, sender, place; and what of it there is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property, lru_cache

from ragkit.catalog import Catalog
from ragkit.catalog.connection import folded
from ragkit.catalog.document_values import DocumentValues
from ragkit.catalog.records import CollectionRecord
from ragkit.months import months_later
from ragkit.options import Filters
from ragkit.retrieval.query import intent_words as words
from ragkit.retrieval.query.filter_syntax import day_after, format_filter, iso_period
from ragkit.retrieval.query.intent_words import rules
from ragkit.retrieval.query.parser import parse_query

_OWNER = re.compile(r"['’]s?\Z|['’]s$")
_NAME = re.compile(r"[^\W\d_][\w'’.-]+(?: [^\W\d_][\w'’.-]+){0,3}")
_YEAR = re.compile(r"\d{4}")
_APART = re.compile(r"[\s,]*+")


class LibraryValues:
    """Types, dates, senders, folders and titles, looked up in what the catalog keeps in memory."""

    def __init__(self, catalog: Catalog, collections: Sequence[CollectionRecord]) -> None:
        self._catalog = catalog
        self._collections = collections

    @cached_property
    def _values(self) -> list[DocumentValues]:
        return [self._catalog.values.of(collection) for collection in self._collections]

    @property
    def total(self) -> int:
        """How many documents are indexed."""
        return sum(values.total for values in self._values)

    def count(self, filters: str) -> int:
        """Return how many documents pass filters, as they are typed."""
        parsed = parse_query(filters).filters
        if parsed == Filters(types=parsed.types):
            return sum(values.of_types(parsed.types) for values in self._values)
        if parsed == Filters(after=parsed.after, before=parsed.before):
            return sum(values.dated(parsed.after, parsed.before) for values in self._values)
        documents = self._catalog.filters.documents
        return sum(len(documents(collection.id, parsed)) for collection in self._collections)

    def is_sender(self, name: str) -> bool:
        """Return whether somebody who wrote or spoke here has all words of a name, side by side."""
        return any(values.has_sender(name) for values in self._values)

    def has_folder(self, name: str) -> bool:
        """Return whether a folder has this name; case and accents do not matter."""
        return any(folded(name) in values.folders for values in self._values)

    def has_title(self, phrase: str) -> bool:
        """Return whether the title of a document holds a phrase."""
        return any(values.has_title(phrase) for values in self._values)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A slice of a question that a rule knows, and the filters it may mean, as they are typed.

    ``sure`` where it can hardly mean anything else. ``titled`` are words that in a title mean
    that document. If ``behind``, it means filters only behind what documents are called.
    """

    start: int
    end: int
    filters: str
    sure: bool = False
    titled: str = ""
    behind: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A question as it is written, and plain: without accents, capitals, quotes and filters."""

    written: str
    plain: str

    def after(self, at: int) -> int:
        """Return where the next word begins."""
        match = _APART.match(self.plain, at)
        return match.end() if match else at


def plain_text(text: str) -> str:
    """Return a text without accents and capitals, character for character."""
    return text.lower() if text.isascii() else "".join(map(_letter, text))


@lru_cache(4096)
def _letter(character: str) -> str:
    """Return a character in lower case; a Latin letter without its accent."""
    base = unicodedata.normalize("NFD", character)[0]
    letter = base if base.isascii() else character
    return "'" if letter == "’" else letter.lower()[:1]


def times(text: Text, today: date) -> Iterator[Phrase]:
    """Yield times, most of those counted from today as sure."""
    for match in rules()["relative"].finditer(text.plain):
        filters = _relative(match.lastgroup or "", match[0], today)
        # "Today" is mostly said of these days.
        sure = filters != f"after:{today.isoformat()}"
        yield Phrase(match.start(), match.end(), filters, sure, match[0])
    spans = [*rules()["span"].finditer(text.plain)]
    for match in spans:
        # "Between June and August the harbour is closed": in any year.
        behind = not _YEAR.search(match[0])
        yield from _time(text, match, _span(match, text.written, today), behind=behind)
    for match in rules()["season"].finditer(text.plain):
        # "Spring 2025" alone may be part of a name.
        if match["since"] or match["in"] or not match["year"]:
            yield from _time(text, match, _season(match, today))
    for match in rules()["absolute"].finditer(text.plain):
        if not any(span.start() <= match.start() < span.end() for span in spans):
            yield from _time(text, match, _absolute(match, text.written, today))


def _time(
    text: Text, match: re.Match[str], filters: str, *, behind: bool = False
) -> Iterator[Phrase]:
    """Yield a time, unless it is none, or part of a name as in "the March 2025 report"."""
    if filters and not rules()["titled"].match(text.plain, match.end()):
        titled = match["time"]
        yield Phrase(match.start(), match.end(), filters, titled=titled, behind=behind)


def _relative(kind: str, time: str, today: date) -> str:
    """Return the filter for documents from a time counted from today, or later."""
    if kind == "day":
        days = next(days for name, days in words.DAYS.items() if name in time)
        return f"after:{(today - timedelta(days=days)).isoformat()}"
    last = kind.startswith("last")
    if kind.endswith("week"):
        return f"after:{(today - timedelta(days=today.weekday() + 7 * last)).isoformat()}"
    if kind.endswith("year"):
        return f"after:{today.year - last}"
    return "after:{}-{:02}".format(*months_later(today.year, today.month, -last))


def _season(match: re.Match[str], today: date) -> str:
    """Return the filters of a season, the last one that is over where no year is named."""
    first = words.SEASONS[match["last"] or match["gone"] or match["named"]]
    year = int(match["year"] or today.year)
    if not match["year"]:
        year -= (year, today.month) < months_later(year, first, 3)
    start, end = f"{year}-{first:02}", "{}-{:02}".format(*months_later(year, first, 3))
    return f"after:{start}" if match["since"] else f"after:{start} before:{end}"


def _absolute(match: re.Match[str], question: str, today: date) -> str:
    """Return the filter of a named time, or nothing where it is none."""
    period = _period(match, question, today)
    if not period:
        return ""
    if match["since"]:
        return f"after:{period}"
    if match["before"]:
        return f"before:{period}"
    return f"before:{day_after(period)}" if match["until"] else f"date:{period}"


def _span(match: re.Match[str], question: str, today: date) -> str:
    """Return the filters of a time with two ends, or nothing where it is none."""
    last = _period(match, question, today, "_last")
    if not last:
        return ""
    # The first month is of the last one's year, or of the year before.
    for year in (int(last[:4]), int(last[:4]) - 1):
        first = _period(match, question, today, "_first", str(year))
        if first and (first <= last or first.startswith(last)):
            return f"after:{first} before:{day_after(last)}"
    return ""


def _period(
    match: re.Match[str], question: str, today: date, mark: str = "", unsaid_year: str = ""
) -> str:
    """Return a year, month or day in ISO form; ``mark`` ends the names of its groups."""
    year = match[f"year{mark}"] or match[f"y{mark}"] or ""
    month, day = match[f"month{mark}"], match[f"d1{mark}"] or match[f"d2{mark}"]
    period = match[f"iso{mark}"] or year
    if month:
        number = words.MONTHS[month]
        if not (year or unsaid_year) and not question[match.start(f"month{mark}")].isupper():
            # "may" and "march" are no months unless they are written like names.
            return ""
        year = year or unsaid_year or str(today.year - (number > today.month))
        period = f"{year}-{number:02}" + (f"-{int(day):02}" if day else "")
    return iso_period(period)


def languages(text: Text) -> Iterator[Phrase]:
    """Yield languages behind their preposition: "in Japanese"."""
    for match in rules()["in language"].finditer(text.plain):
        code = words.language_codes()[match["named"].rpartition(" ")[2]]
        yield Phrase(match.start(), match.end(), f"lang:{code}", behind=True)


def senders(text: Text, values: LibraryValues) -> Iterator[Phrase]:
    """Yield who has written or spoken: names behind "from", or before "'s notes"."""
    for match in rules()["from"].finditer(text.plain):
        name = _NAME.match(text.written, match.end())
        if name is None or "\0" in text.plain[match.start() : name.end()]:
            continue
        parts = name[0].split()
        known = (at for at in range(len(parts), 0, -1) if values.is_sender(" ".join(parts[:at])))
        count = next(known, 0)
        name_text = " ".join(parts[:count])
        # A name goes on as long as its words have capitals.
        is_cut = count < len(parts) and parts[count][0].isupper()
        if is_cut or len(name_text) < 3 or name_text.lower() in words.NO_NAMES:
            continue
        end = match.end() + len(name_text)
        if not _OWNER.search(name_text + text.written[end : end + 2]):
            yield Phrase(match.start(), end, format_filter("from", (name_text,)))
    for match in rules()["owned"].finditer(text.plain):
        both = text.written[match.start() : match.end("name")]
        name_text = both if both[0].isupper() else both.rpartition(" ")[2]
        if name_text[0].isupper() and values.is_sender(name_text):
            start = match.end("name") - len(name_text)
            yield Phrase(start, match.end(), format_filter("from", (name_text,)), sure=True)


def places(text: Text, values: LibraryValues) -> Iterator[Phrase]:
    """Yield folders and documents by their names: "in the travel handbook", "im Ordner Reisen"."""
    for match in rules()["place"].finditer(text.plain):
        start = match.start("name")
        listed = text.written[start : match.end("name")].split()
        for count in range(len(listed), 0, -1):
            name = " ".join(listed[:count])
            behind = "" if match["folder"] else " ".join(listed[count : count + 1])
            end, filters = start + len(name), ""
            if match["folder"] or rules()["folder"].fullmatch(plain_text(behind)):
                end += len(behind) + 1 if behind else 0
                sure = _is_folder_meant(text, match.start(), end, name)
                if values.has_folder(name):
                    filters = format_filter("path", (f"{name}/",))
            elif name[0].isalpha():
                sure = rules()["named"].fullmatch(plain_text(listed[count - 1])) is not None
                if (sure or count == 1) and values.has_folder(name):
                    filters = format_filter("path", (f"{name}/",))
                elif sure and values.has_title(name):
                    filters = format_filter("title", (name,))
            if filters:
                yield Phrase(match.start(), end, filters, sure)
                break


def _is_folder_meant(text: Text, start: int, end: int, name: str) -> bool:
    """Return whether a folder of the library is meant, not what documents tell of folders."""
    if start == 0 and text.plain[end : end + 1] in (":", ","):
        return True
    told = rules()["how"].match(text.plain) or name.lower() in words.FOLDERS_OF_SYSTEMS
    return not told
