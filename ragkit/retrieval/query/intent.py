"""Intent: phrases of a question that mean documents, not their content, as filters.

"PDFs about refunds" asks for a type, "mails from Anna since 2024" for a sender and a time. A rule
restricts a search only where a phrase can hardly mean anything else, and where its filter leaves
some documents; what may be meant either way is only offered, if its filter does not leave all. Both
are said (``Answer.readings``), and a person can have any of them searched as words.

What restricts: a type or language that is asked for ("PDFs about", "in the slides", "French PDFs"),
a sender, time or language right behind what documents are called ("notes from Anna", "mails since
2024"), times counted from today ("last week"), and places called as folders or documents are ("in
the travel handbook"). Nothing is read in quotes, in filters, before "'s", or in a question of
several lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from ragkit.options import Sort
from ragkit.results import Answer, FilterReading
from ragkit.retrieval.query import intent_words as words
from ragkit.retrieval.query.filter_syntax import quotations
from ragkit.retrieval.query.intent_details import (
    LibraryValues,
    Phrase,
    Text,
    languages,
    places,
    plain_text,
    senders,
    times,
)
from ragkit.retrieval.query.intent_words import rules
from ragkit.retrieval.query.parser import parse_query

LONGEST_READ = 300
"""Characters of a question up to which phrases are read."""

_MOST_OFFERED = 2
_MOST_WORDS = 6
_MAY_RESTRICT = re.compile("[:-]|NOT")
_TIMES = {"date", "after", "before", "newer_than", "older_than"}
_TELLING = (
    "relative", "absolute", "season", "span", "from", "owned", "place", "code", "noun", "form",
)  # fmt: skip
_END = re.compile(r"[\s.?!]*\Z")
_EDGES = " ,;:"


def read(question: str, values: LibraryValues, today: date) -> tuple[FilterReading, ...]:
    """Return the phrases of a question that can be read as filters, in its order."""
    readings, passed_by_all = [], set()
    for phrase in phrases(question, values, today):
        sure = phrase.sure and not (phrase.titled and values.has_title(phrase.titled))
        left = values.count(phrase.filters)
        if left >= values.total:
            passed_by_all.add(phrase.filters)
        # If all pass, the words of a sure phrase are still none to look for.
        if left and (sure or left < values.total):
            text = question[phrase.start : phrase.end]
            readings.append(FilterReading(text, phrase.filters, sure, phrase.start, phrase.end))
    kept: list[FilterReading] = []
    # The language is not known of every document: what else is read comes first.
    for reading in sorted(readings, key=lambda own: (not own.restricts, "lang:" in own.filters)):
        # What fits none of the documents that those before leave is searched as words.
        before = [other.filters for other in kept if other.restricts]
        before = [filters for filters in before if filters not in passed_by_all]
        fitting = not before or reading.filters in passed_by_all
        if not fitting and not values.count(" ".join([*before, reading.filters])):
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


def as_meant(question: str, readings: Sequence[FilterReading]) -> tuple[str, Sort]:
    """Return what a question looks for, with filters, and the order that it asks for.

    The order is ``Sort.RELEVANCE`` where it asks for none.
    """
    left_out = [reading for reading in readings if reading.restricts]
    order = _asked_order(question, restricted=bool(left_out))
    if order is None:
        return with_filters(question, left_out) if left_out else question, Sort.RELEVANCE
    if all(order.end <= reading.start or reading.end <= order.start for reading in left_out):
        words = question[order.start : order.end]
        left_out.append(FilterReading(words, "", True, order.start, order.end))
        left_out.sort(key=lambda reading: reading.start)
    return with_filters(question, left_out), order.sort


def order_notices(order: Sort, answer: Answer) -> tuple[str, ...]:
    """Return a sentence on the order by date that a question asks for, if results need it.

    Whatever filters alone name is listed with the newest first anyway.
    """
    if len(answer.results) < 2 or (order is Sort.NEWEST and answer.listed):
        return ()
    return (f"The {order} are listed first, as the question asks.",)


def phrases(question: str, values: LibraryValues, today: date) -> list[Phrase]:
    """Return the slices of a question that rules know, in its order; they do not overlap.

    ``values`` are asked only for names.
    """
    if len(question) > LONGEST_READ or "\n" in question.strip():
        return []
    plain = plain_text(question)
    # One after the other: joined to one pattern, they take more than twice as long.
    told = any(rules()[name].search(plain) for name in _TELLING)
    if not told or " OR " in question or "collection:" in plain:
        return []
    restrictions = parse_query(question).restrictions if _MAY_RESTRICT.search(question) else ()
    taken = quotations(question)
    for start, end in (*taken, *(restriction.span for restriction in restrictions)):
        plain = plain[:start] + "\0" * (end - start) + plain[end:]
    filtered = {restriction.name for restriction in restrictions}
    chosen: list[Phrase] = []
    candidates = _found(Text(question, plain), values, today)
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
class _Noun:
    """What documents are called in a question.

    ``type`` is the value of ``type:`` for them, or empty. ``is_form`` where the name of a format
    says it ("CSV files"), ``is_generic`` where any document is called so. ``begins`` where the
    question asks for them, apart from words such as "find the latest French"; ``language`` is then
    the code of such a language, and ``order`` is "newest", "oldest" or empty, and
    ``order_span`` are the words that say so.
    """

    start: int
    end: int
    type: str
    is_form: bool
    is_generic: bool
    several: bool
    begins: bool
    language: str
    order: str
    order_span: tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Order:
    """An order that a question asks for, and the words that do."""

    sort: Sort
    start: int
    end: int


def _asked_order(question: str, *, restricted: bool) -> _Order | None:
    """Return the order that a question asks for, or ``None``.

    Where its filters do not restrict the search ("the newest member", "evict the oldest first"),
    the words must say more clearly that documents are meant.
    """
    if len(question) > LONGEST_READ or "\n" in question.strip():
        return None
    text = Text(question, plain_text(question))
    asked = next((noun for noun in _nouns(text) if noun.begins), None)
    last = rules()["order last"].search(text.plain)
    if last and not rules()["question"].search(text.plain):
        is_apart = bool(last["apart"].strip())
        if is_apart or restricted or asked or parse_query(question).restrictions:
            sort = Sort.NEWEST if last["newest"] else Sort.OLDEST
            return _Order(sort, *last.span())
    if asked is None or not asked.order:
        return None
    if not (restricted or _is_of_documents(text, asked)):
        return None
    return _Order(Sort(asked.order), *asked.order_span)


def _is_of_documents(text: Text, noun: _Noun) -> bool:
    """Return whether a noun that any document may be called by is followed by what it is about."""
    subject = rules()["joins to subject"].match(text.plain, noun.end)
    if noun.type or not subject:
        return False
    return noun.several or bool(rules()["only about"].fullmatch(subject[0]))


def _found(text: Text, values: LibraryValues, today: date) -> Iterator[Phrase]:
    """Yield the phrases that the rules find, in no particular order."""
    plain = text.plain
    details = [*times(text, today), *languages(text), *senders(text, values)]
    for noun in _nouns(text):
        described = _descriptions(text, noun, details)
        yield from described
        owned = any(detail.sure and detail.end + 1 == noun.start for detail in details)
        yield from _asked_for(text, noun, behind=bool(described), owned=owned)
    short = len(plain.split()) <= _MOST_WORDS and not rules()["question"].search(plain)
    for detail in details:
        by = detail.filters.startswith("from:")
        last_word = text.written[: detail.end].split()[-1]
        if not detail.behind and (not by or detail.start == 0 or not last_word.islower()):
            yield replace(detail, sure=detail.sure or (by and (short or detail.start == 0)))
    yield from places(text, values)
    for code in rules()["code"].finditer(plain):
        if code["language"] in words.programming_languages():
            yield Phrase(code.start(), code.end(), f"type:{code['language']}")


def _nouns(text: Text) -> Iterator[_Noun]:
    """Yield what documents are called, in no particular order."""
    plain = text.plain
    asked = rules()["asking"].match(plain)
    found = [
        (match.start(), match.end(), match.lastgroup or "", False)
        for match in rules()["noun"].finditer(plain)
    ]
    for match in rules()["form"].finditer(plain):
        if form := _type_of_form(match):
            end = max(match.end("part"), match.end("behind"))
            found.append((match.start(), end, form, True))
    for start, noun_end, kind, is_form in found:
        noun, end, language, order, span = plain[start:noun_end], noun_end, "", "", (0, 0)
        if behind := rules()["order behind"].match(plain, end):
            end, order, span = behind.end(), behind.lastgroup or "", behind.span()
        begins = asked is not None and asked.end() == start
        if asked is not None and begins:
            before = "newest" if asked["newest"] else "oldest" if asked["oldest"] else ""
            if before and not order:
                order, span = before, asked.span(before)
            language = _adjective(text, asked)
        several = (
            not rules()["singular"].fullmatch(noun)
            if is_form
            else rules()["plural"].fullmatch(noun)
        ) or rules()["several"].fullmatch(plain, 0, start)
        yield _Noun(
            start, end, "" if kind in ("generic", "kind") else kind, is_form, kind == "generic",
            bool(several), begins, language, order, span,
        )  # fmt: skip


def _type_of_form(match: re.Match[str]) -> str:
    """Return the type that the name of a format beside "files" or the like means, or ""."""
    part, name = match["part"] or match["before"], match["name"] or match["behind"]
    type_ = words.forms().get(name, "")
    if match["behind"] and name in words.NO_FORMS_BEHIND:
        return ""
    if rules()["pages"].fullmatch(part) and name not in words.PAGES_OF:
        return ""
    if rules()["scripts"].fullmatch(part) and type_ not in words.programming_languages():
        return ""
    return type_


def _adjective(text: Text, asked: re.Match[str]) -> str:
    """Return the code of the language before what is asked for, or ""."""
    name = asked["language"]
    if not name or (name == "polish" and text.written[asked.start("language")].islower()):
        return ""
    codes = words.language_codes()
    return codes.get(name) or codes[re.sub(r"e[nrs]?\Z", "", name)]


def _descriptions(text: Text, noun: _Noun, details: Sequence[Phrase]) -> list[Phrase]:
    """Return what stands behind a noun: attached, written, by whom, when and how, in any order."""
    described: list[Phrase] = []
    at = noun.end
    if attached := rules()["attached"].match(text.plain, at):
        at = attached.end()
        described.append(Phrase(attached.start() + 1, at, "has:attachment", sure=True))
    while True:
        start = text.after(at)
        told = rules()["written"].match(text.plain, start)
        behind = told.end() if told else start
        detail = next((detail for detail in details if detail.start == behind), None)
        if detail is None:
            break
        described.append(replace(detail, start=start, sure=True))
        at = detail.end
    if not described:
        return []
    about = rules()["about"].match(text.plain, at)
    # "Articles in German" may be what is looked for.
    unsure = described[-1].behind and not (about or noun.type or noun.is_generic)
    end = about.end() if about else at
    described[-1] = replace(described[-1], end=end, sure=not unsure)
    if noun.is_generic and noun.begins and not noun.language:
        described[0] = replace(described[0], start=0)
    return described


def _asked_for(text: Text, noun: _Noun, *, behind: bool, owned: bool) -> Iterator[Phrase]:
    """Yield phrases that ask for a type or language: "PDFs about …", "in the slides".

    ``behind`` and ``owned`` where descriptions stand behind the noun, or a sender before it.
    """
    about = None if behind else rules()["about"].match(text.plain, noun.end)
    start, end = 0 if noun.begins else noun.start, about.end() if about else noun.end
    described = behind or owned
    is_asked_for = bool(noun.type) and _is_asked_for(text, noun, about)
    if noun.language and (noun.type or noun.is_generic):
        named = about and rules()["only about"].fullmatch(about[0])
        if behind or named or is_asked_for or _END.match(text.plain, noun.end):
            before = noun.start - 1 if noun.type else end
            yield Phrase(0, before, f"lang:{noun.language}", sure=True)
            start, described = noun.start, True
        elif about:
            # "French documents of 1789" may be in any language.
            yield Phrase(0, noun.start - 1, f"lang:{noun.language}")
    if not noun.type:
        return
    if described or is_asked_for:
        yield Phrase(start, end, f"type:{noun.type}", sure=True)
    elif noun.is_form and noun.type in words.programming_languages():
        yield Phrase(noun.start, noun.end, f"type:{noun.type}")


def _is_asked_for(text: Text, noun: _Noun, about: re.Match[str] | None) -> bool:
    """Return whether the words before and behind a type show that its documents are meant."""
    plain = text.plain
    inside = rules()["in"].search(plain, 0, noun.start)
    which = rules()["which"].fullmatch(plain, 0, noun.start)
    # Files are also what documents on computers are about.
    is_told_of = noun.is_form and noun.type in words.TOLD_OF
    if inside or which:
        mentions = which and rules()["mentions"].match(plain, noun.end)
        begins = inside and not inside.start() and not is_told_of
        return not noun.is_form or bool(mentions or begins)
    if not noun.begins:
        return False
    if about is None:
        is_named = noun.is_form and noun.several and not is_told_of
        ends = bool(_END.match(plain, noun.end))
        return ends and (noun.order == "newest" or is_named or bool(noun.language))
    if rules()["only about"].fullmatch(about[0]):
        return True
    if not rules()["joins else"].fullmatch(about[0]):
        return noun.several
    return noun.several and not (is_told_of or rules()["states"].search(plain, about.end()))
