"""Intent: phrases of a question that mean documents, not their content, as filters.

"PDFs about refunds" asks for a type, "mails from Anna since 2024" for a sender and a time. A rule
restricts a search only where a phrase can hardly mean anything else, and where its filter leaves
some documents, but not all; what may be meant either way is only offered. Both are said
(``Answer.readings``), and a person can have any of them searched as words.

What restricts: a type that is asked for ("PDFs about", "in the slides"), a sender or a time right
behind what documents are called ("notes from Anna", "mails since 2024"), times counted from today
("last week"), and places called as documents are ("in the travel handbook"). Nothing is read in
quotes, in filters, before "'s", or in a question of several lines.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache, reduce
from typing import Protocol

from ragkit.results import FilterReading
from ragkit.retrieval.query import intent_words as words
from ragkit.retrieval.query.filter_syntax import day_after, format_filter, iso_period
from ragkit.retrieval.query.parser import parse_query

LONGEST_READ = 300
"""Characters of a question up to which phrases are read."""

_MOST_OFFERED = 2
_MOST_WORDS = 6
_QUOTES = re.compile(r'"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」')
_OWNER = re.compile(r"['’]s?\Z|['’]s$")
_NAME = re.compile(r"[^\W\d_][\w'’.-]+(?: [^\W\d_][\w'’.-]+){0,3}")
_TIMES = {"date", "after", "before", "newer_than", "older_than"}
_TELLING = ("relative", "absolute", "from", "owned", "place", "code", "noun")
_APART = re.compile(r"[\s,]*+")
_EDGES = " ,;:"


class KnownValues(Protocol):
    """What the searched collections hold."""

    @property
    def total(self) -> int:
        """How many documents there are."""
        ...

    def count(self, filters: str) -> int:
        """Return how many documents pass filters, as they are typed."""
        ...

    def is_sender(self, name: str) -> bool:
        """Return whether somebody who wrote or spoke here has all words of a name."""
        ...

    def has_folder(self, name: str) -> bool:
        """Return whether a folder has this name."""
        ...

    def has_title(self, phrase: str) -> bool:
        """Return whether the title of a document holds a phrase."""
        ...


@dataclass(frozen=True, slots=True)
class Phrase:
    """A slice of a question that a rule knows, and the filters it may mean, as they are typed.

    ``sure`` where it can hardly mean anything else. ``titled`` are words that in a title mean
    that document.
    """

    start: int
    end: int
    filters: str
    sure: bool = False
    titled: str = ""


def read(question: str, values: KnownValues, today: date) -> tuple[FilterReading, ...]:
    """Return the phrases of a question that can be read as filters, in its order."""
    readings = []
    for phrase in phrases(question, values, today):
        if not 0 < values.count(phrase.filters) < values.total:
            continue
        sure = phrase.sure and not (phrase.titled and values.has_title(phrase.titled))
        phrase_text = question[phrase.start : phrase.end]
        readings.append(FilterReading(phrase_text, phrase.filters, sure, phrase.start, phrase.end))
    kept: list[FilterReading] = []
    for reading in sorted(readings, key=lambda reading: not reading.restricts):
        # What fits none of the documents that those before leave is searched as words.
        before = [other.filters for other in kept if other.restricts]
        if before and not values.count(" ".join([*before, reading.filters])):
            continue
        if reading.restricts or sum(not other.restricts for other in kept) < _MOST_OFFERED:
            kept.append(reading)
    return tuple(sorted(kept, key=lambda reading: reading.start))


def with_filters(question: str, readings: Sequence[FilterReading]) -> str:
    """Return a question with the filters of some readings in place of their phrases."""
    kept, last = [], 0
    for reading in readings:
        kept.append(question[last : reading.start])
        last = reading.end
    kept += [question[last:], *(reading.filters for reading in readings)]
    return " ".join(part for part in (part.strip(_EDGES) for part in kept) if part)


def phrases(question: str, values: KnownValues, today: date) -> list[Phrase]:
    """Return the slices of a question that rules know, in its order; they do not overlap.

    ``known`` is asked only for names.
    """
    if len(question) > LONGEST_READ or "\n" in question.strip():
        return []
    plain = _plain(question)
    # One after the other: joined to one pattern, they take more than twice as long.
    told = any(_rules()[name].search(plain) for name in _TELLING)
    if not told or " OR " in question or "collection:" in plain:
        return []
    restrictions = parse_query(question).restrictions
    taken = [match.span() for match in _QUOTES.finditer(question)]
    for start, end in (*taken, *(restriction.span for restriction in restrictions)):
        plain = plain[:start] + "\0" * (end - start) + plain[end:]
    filtered = {restriction.name for restriction in restrictions}
    chosen: list[Phrase] = []
    candidates = _found(_Text(question, plain), values, today)
    for phrase in sorted(
        candidates, key=lambda phrase: (not phrase.sure, phrase.start, -phrase.end)
    ):
        name = phrase.filters.partition(":")[0]
        names = _TIMES if name in _TIMES else {name}
        apart = all(phrase.end <= other.start or other.end <= phrase.start for other in chosen)
        if apart and filtered.isdisjoint(names):
            chosen.append(phrase)
            filtered |= names
    return sorted(chosen, key=lambda phrase: phrase.start)


@dataclass(frozen=True, slots=True)
class _Text:
    """A question as it is written, and plain: without accents, capitals, quotes and filters."""

    written: str
    plain: str

    def after(self, at: int) -> int:
        """Return where the next word begins."""
        match = _APART.match(self.plain, at)
        return match.end() if match else at


def _found(text: _Text, values: KnownValues, today: date) -> Iterator[Phrase]:
    """Yield the phrases that the rules find, in no particular order."""
    rules, plain = _rules(), text.plain
    details = [*_times(text, today), *_senders(text, values)]
    chained: dict[Phrase, int] = {}
    for noun in rules["noun"].finditer(plain):
        attached = rules["attached"].match(plain, noun.end())
        if attached:
            yield Phrase(attached.start() + 1, attached.end(), "has:attachment", sure=True)
        at, before = attached.end() if attached else noun.end(), len(chained)
        while at:
            # What was written, by whom and when, in any order.
            start = text.after(at)
            told = rules["written"].match(plain, start)
            behind = told.end() if told else start
            detail = next((detail for detail in details if detail.start == behind), None)
            at = detail.end if detail is not None else 0
            if detail is not None:
                chained[detail] = start
        owned = any(detail.sure and detail.end + 1 == noun.start() for detail in details)
        yield from _types_in(text, noun, described=bool(attached) or owned or len(chained) > before)
    generic = rules["generic"].match(plain)
    short = len(plain.split()) <= _MOST_WORDS and not rules["question"].search(plain)
    for detail in details:
        by = detail.filters.startswith("from:")
        sure = detail in chained or detail.sure or (by and (short or detail.start == 0))
        start = chained.get(detail, detail.start)
        if generic and start == text.after(generic.end()):
            start = 0
        last_word = text.written[: detail.end].split()[-1]
        if not by or detail in chained or detail.start == 0 or not last_word.islower():
            yield replace(detail, start=start, sure=sure)
    yield from _places(text, values)
    for code in rules["code"].finditer(plain):
        if code["language"] in _languages():
            sure = bool(re.fullmatch(words.CODE_FILES, code["part"]))
            yield Phrase(code.start(), code.end(), f"type:{code['language']}", sure)


def _types_in(text: _Text, noun: re.Match[str], *, described: bool) -> Iterator[Phrase]:
    """Yield phrases that ask for a type of document: "PDFs about …", "in the slides"."""
    rules, plain = _rules(), text.plain
    type_ = next((name for name, pattern in _types().items() if pattern.fullmatch(noun[0])), "")
    if not type_:
        return
    asked = rules["asking"].match(plain)
    begins = asked is not None and asked.end() == noun.start()
    about = None if described else rules["about"].match(plain, noun.end())
    several = re.fullmatch(words.PLURALS, noun[0]) or rules["several"].fullmatch(
        plain, 0, noun.start()
    )
    if not (
        described
        or rules["in"].search(plain, 0, noun.start())
        or rules["which"].fullmatch(plain, 0, noun.start())
        or (begins and about and (several or re.fullmatch(words.ONLY_ABOUT, about[0].strip())))
    ):
        return
    start = 0 if begins else noun.start()
    yield Phrase(start, about.end() if about else noun.end(), f"type:{type_}", sure=True)


def _times(text: _Text, today: date) -> Iterator[Phrase]:
    """Yield times, most of those counted from today as sure."""
    rules = _rules()
    for match in rules["relative"].finditer(text.plain):
        filters = _relative(match.lastgroup or "", match[0], today)
        # "Today" is mostly said of these days.
        sure = filters != f"after:{today.isoformat()}"
        yield Phrase(match.start(), match.end(), filters, sure, match[0])
    for match in rules["absolute"].finditer(text.plain):
        filters = _absolute(match, text.written, today)
        if filters and not rules["titled"].match(text.plain, match.end()):
            yield Phrase(match.start(), match.end(), filters, titled=match["time"])


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
    months = today.year * 12 + today.month - 1 - last
    return f"after:{months // 12}-{months % 12 + 1:02}"


def _absolute(match: re.Match[str], question: str, today: date) -> str:
    """Return the filter of a named time, or nothing where it is none."""
    year, month, day = match["year"] or match["y"], match["month"], match["d1"] or match["d2"]
    period = match["iso"] or year
    if month:
        number = words.MONTHS[month]
        if not year and not question[match.start("month")].isupper():
            # "may" and "march" are no months unless they are written like names.
            return ""
        year = year or str(today.year - (number > today.month))
        period = f"{year}-{number:02}" + (f"-{int(day):02}" if day else "")
    if not iso_period(period):
        return ""
    if match["since"]:
        return f"after:{period}"
    if match["before"]:
        return f"before:{period}"
    return f"before:{day_after(period)}" if match["until"] else f"date:{period}"


def _senders(text: _Text, values: KnownValues) -> Iterator[Phrase]:
    """Yield who has written or spoken: names behind "from", or before "'s notes"."""
    for match in _rules()["from"].finditer(text.plain):
        name = _NAME.match(text.written, match.end())
        if name is None or "\0" in text.plain[match.start() : name.end()]:
            continue
        parts = name[0].split()
        count = next((at for at, part in enumerate(parts) if not part[0].isupper()), len(parts))
        name_text = " ".join(parts[: count or 1])
        after = text.written[match.end() + len(name_text) :]
        if (
            len(name_text) > 2
            and not _OWNER.search(name_text + after[:2])
            and values.is_sender(name_text)
        ):
            yield Phrase(
                match.start(), match.end() + len(name_text), format_filter("from", (name_text,))
            )
    for match in _rules()["owned"].finditer(text.plain):
        both = text.written[match.start() : match.end("name")]
        name_text = both if both[0].isupper() else both.rpartition(" ")[2]
        if name_text[0].isupper() and values.is_sender(name_text):
            start = match.end("name") - len(name_text)
            yield Phrase(start, match.end(), format_filter("from", (name_text,)), sure=True)


def _places(text: _Text, values: KnownValues) -> Iterator[Phrase]:
    """Yield folders and documents by their names: "in the travel handbook"."""
    for match in _rules()["place"].finditer(text.plain):
        listed = text.written[match.start("name") : match.end("name")].split()
        for count in range(len(listed), 0, -1):
            name = " ".join(listed[:count])
            like_one = re.fullmatch(words.NAMED, _plain(listed[count - 1])) is not None
            filters = ""
            if (like_one or count == 1) and values.has_folder(name):
                filters = format_filter("path", (f"{name}/",))
            elif like_one and values.has_title(name):
                filters = format_filter("title", (name,))
            if filters:
                yield Phrase(match.start(), match.start("name") + len(name), filters, like_one)
                break


@cache
def _types() -> Mapping[str, re.Pattern[str]]:
    return {name: re.compile(pattern) for name, pattern in words.TYPES.items()}


@cache
def _languages() -> frozenset[str]:
    from ragkit.catalog.filter_conditions import type_families
    from ragkit.reading.formats import CODE_SUFFIXES

    return frozenset(CODE_SUFFIXES.values()) & type_families().keys()


@cache
def _rules() -> Mapping[str, re.Pattern[str]]:
    """Return the rules, compiled when the first question is asked."""
    types, nouns = "|".join(words.TYPES.values()), f"{words.GENERIC}|{words.KINDS}"
    months = "|".join(sorted(words.MONTHS, key=len, reverse=True))
    year = r"(?:19|20)\d\d(?![\w-])"
    time = (
        r"(?P<iso>(?:19|20)\d\d-\d\d(?:-\d\d)?(?![\w-]))"
        r"|(?:(?P<d1>\d{1,2})(?:st|nd|rd|th|er|\.)? (?:de |of )?)?"
        rf"(?P<month>{months})\b(?: (?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b(?=,))?"
        rf"(?:,? (?:de |of )?(?P<y>{year}))?"
        rf"|(?P<year>{year})"
    )
    relative = "|".join(
        f"(?P<{which}{kind}>{pattern})"
        for which, table in (("last", words.LAST), ("this", words.THIS))
        for kind, pattern in table.items()
    )
    not_owned = r"(?!['’]s\b)(?!-\w)(?! (?:of|in) \w)"
    made = {
        "noun": rf"\b(?:{types}|{nouns})(?![\w-])",
        "asking": words.ASKING,
        "which": r"(?:(?:in )?(?:which|what|welche[nrm]?|quel(?:le)?s?) )",
        "several": rf".*\b(?:{words.SEVERAL}) ",
        "in": rf"\b(?:{words.IN_PLACE}|(?:in|aus) den |(?:dans|en) (?:les|mes|nos|los|las) )\Z",
        "about": rf" (?:{words.ABOUT})\b",
        "written": rf"(?:(?:{words.WRITTEN}) )",
        "attached": rf" (?:{words.ATTACHED})\b",
        "generic": rf"(?:{words.ASKING})(?:{words.GENERIC})(?![\w-])",
        "question": r"\?|\b(?:who|what|when|where|why|how|which|do|does|did|is|are|was|were|can|"
        r"wer|wie|wann|warum|wo|ist|sind|war|hat|haben|qui|que|quand|comment|pourquoi|est|"
        r"quien|cuando|donde|como|es|son)\b",
        "titled": rf" (?:{words.KINDS}|{words.NAMED})\b",
        "relative": rf"(?<![\w-])(?:(?:{words.IN_TIME}|{words.SINCE}) )?"
        rf"(?:(?P<day>{'|'.join(words.DAYS)})|{relative})(?!\w)" + not_owned,
        "absolute": rf"(?<![\w-])(?:(?P<since>{words.SINCE})|(?P<until>{words.UNTIL})"
        rf"|(?P<before>{words.BEFORE})|{words.IN_TIME}) (?P<time>{time})" + not_owned,
        "from": rf"(?<![\w-])(?:(?:{words.FROM}) |d')",
        "owned": r"\b(?P<name>(?:[^\W\d_]{2,} )?[^\W\d_]{2,})['’]s"
        rf"(?= (?:{types}|{nouns})(?![\w-]))",
        "place": rf"(?<![\w-])(?:{words.IN_PLACE})"
        r"(?P<name>[^\W\d_][\w-]+(?: [^\W\d_][\w-]+){0,3})",
        "code": r"\b(?P<language>[a-z]{2,}) "
        rf"(?P<part>{words.CODE_FILES}|{words.CODE_PARTS})(?![\w-])",
    }
    return {name: re.compile(pattern) for name, pattern in made.items()}


def _plain(text: str) -> str:
    """Return a text without accents and capitals, character for character."""
    if text.isascii():
        return text.lower()
    return reduce(lambda all_, letter: all_ + _letter(letter), text, "")


def _letter(character: str) -> str:
    base = unicodedata.normalize("NFD", character)[0].lower()
    return "'" if base == "’" else base[:1]
