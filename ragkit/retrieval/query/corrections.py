"""Corrections: what a question that finds little was probably meant to be.

Misspelled words are looked for in the vocabulary of what is searched, values of filters among those
that the documents have. Nothing here runs for a question that finds what it asks for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ragkit.catalog import Catalog
from ragkit.catalog.chunk_notes import ACTION, ATTACHMENT, DECISION
from ragkit.catalog.filter_conditions import type_families, without_mark
from ragkit.catalog.records import CollectionRecord
from ragkit.indexes.protocol import EntryIndex
from ragkit.indexes.tokenizer import index_tokens
from ragkit.models.context_prompt import SENTIMENTS
from ragkit.options import Filters
from ragkit.reading.languages import language_names
from ragkit.results import Answer, Spelling
from ragkit.retrieval.query.encoding import Query
from ragkit.retrieval.query.filter_syntax import (
    filters_of,
    format_filter,
    format_filters,
    strictly,
)
from ragkit.retrieval.query.parser import Condition, Restriction, parse_query, without_quotes
from ragkit.retrieval.query.scope import entries_with
from ragkit.retrieval.query.spelling import may_be_misspelled, nearest_word, respelled_text

_SHORTEST_NAME = 4
_ALIKE = 70
_GOOD = 0.4
_FEWEST_WORDS = 3
_ENDS = " .?!"
_MOST_READ = 20_000
"""Chunks whose texts are read for a phrase that no index can tell of: half a second."""

_MOST_LISTED = 8
_MOST_TOPICS = 2000
_WORD = re.compile(r"[^\W\d_]+")
_OF_VALUE = {
    "type": 'No files of type "{}".', "path": 'No files in a path with "{}".',
    "title": 'No document has "{}" in its title.', "in": 'No heading has "{}" in it.',
    "lang": 'No document says that its language is "{}".', "tag": 'No documents with the tag "{}".',
    "source": 'No folder has "{}" in its name.', "from": 'Nothing from "{}".',
    "to": 'Nothing sent to "{}".', "cc": 'No mail with a copy to "{}".',
    "bcc": 'No mail with a blind copy to "{}".', "speaker": 'Nobody called "{}" speaks here.',
    "topic": 'No topic has "{}" in it.', "has": 'No document passes "has:{}".',
    "sentiment": 'No document passes "sentiment:{}".',
}  # fmt: skip
_LISTED = {"has": (ATTACHMENT, DECISION, ACTION), "sentiment": SENTIMENTS}
_OF_PEOPLE = frozenset(("from", "to", "cc", "bcc", "speaker"))


@dataclass(frozen=True, slots=True)
class Correction:
    """A question as it was probably meant, or empty, and why the one asked found little.

    ``searched`` is True when it may be searched for without asking.
    """

    question: str = ""
    notices: tuple[str, ...] = ()
    searched: bool = False


def correct(
    catalog: Catalog,
    indexes: Sequence[EntryIndex],
    query: Query,
    answer: Answer,
) -> Correction:
    """Return the question as it was probably meant, by the words of the chunk ``indexes``."""
    parsed = query.parsed
    if parsed.suggestion:
        return Correction(parsed.suggestion, searched=not query.text and not query.lists)
    if answer.nothing_close and (phrase := _as_phrase(catalog, indexes, query)):
        return Correction(f'"{phrase}"', searched=True)
    if not answer.results:
        absent = list(_absent_phrases(catalog, indexes, query))
        if absent:
            notices = tuple(f'No document has the exact phrase "{phrase}".' for phrase in absent)
            return Correction(without_quotes(answer.query), notices)
        return _without_bad_values(catalog, query, answer.query)
    if any(result.fit is None or result.fit >= _GOOD for result in answer.results):
        # A word that is nowhere is no slip where the rest is found.
        return Correction()
    spelled = _respelled(catalog, indexes, answer)
    return Correction(spelled, searched=bool(spelled))


def with_spelling(answer: Answer, question: str) -> Answer:
    """Return an answer that says what was searched for instead of misspelled words."""
    corrected = respelled_text(answer.corrected or question, answer.spelled)
    # Where more was changed than words, the corrected question tells all of it.
    spelled = () if answer.corrected else answer.spelled
    return replace(answer, spelled=spelled, corrected=corrected)


def _absent_phrases(catalog: Catalog, indexes: Sequence[EntryIndex], query: Query) -> Iterator[str]:
    """Yield the phrases that are required and occur in nothing that is searched."""
    for alternatives in query.parsed.required:
        if all(
            condition.phrase and not _is_there(catalog, indexes, query.collections, condition)
            for condition in alternatives
        ):
            yield alternatives[0].phrase


def _as_phrase(catalog: Catalog, indexes: Sequence[EntryIndex], query: Query) -> str:
    """Return a question of words that are in no index, if something searched has it as a phrase."""
    text = query.text
    if query.parsed.restricts or len(text.split()) < _FEWEST_WORDS or index_tokens(text):
        return ""
    if sum(index.entries for index in indexes) > _MOST_READ:
        return ""
    phrase = Condition(text.rstrip(_ENDS))
    return phrase.phrase if _is_there(catalog, indexes, query.collections, phrase) else ""


def _is_there(
    catalog: Catalog,
    indexes: Sequence[EntryIndex],
    collections: Sequence[CollectionRecord],
    condition: Condition,
) -> bool:
    return any(
        len(entries_with(catalog, index, collection, condition)[0])
        for index, collection in zip(indexes, collections, strict=True)
    )


def _without_bad_values(catalog: Catalog, query: Query, question: str) -> Correction:
    """Look for values of filters that no document has, and what is like them."""
    kept, last, all_near = [], 0, True
    notices = list(_bad_options(catalog, query))
    for each in query.parsed.restrictions:
        name = _checked_name(each)
        values = []
        for value in each.values if name else ():
            if _is_anywhere(catalog, query, each, value):
                values.append(value)
                continue
            plain = without_mark(name, value)
            notices.append(_why_nothing(catalog, query.collections, name, plain))
            near = _nearest_value(catalog, query.collections, name, plain)
            all_near = all_near and bool(near)
            if near:
                values.append(near if plain == value else strictly(name, near))
        if name and tuple(values) != each.values:
            kept.append(question[last : each.start])
            kept.append(format_filter(each.name, values) if values else "")
            last = each.end
    corrected = " ".join("".join([*kept, question[last:]]).split()) if kept else ""
    return Correction(corrected, tuple(notices), bool(corrected) and all_near)


def _bad_options(catalog: Catalog, query: Query) -> Iterator[str]:
    """Yield a notice for each value of the filters beside the question that no document has."""
    for filters in query.filters:
        if filters != query.parsed.filters:
            fields = [name for name, _ in filters.fields]
            for each in parse_query(format_filters(filters), fields).restrictions:
                name = _checked_name(each)
                for value in each.values if name else ():
                    if not _is_anywhere(catalog, query, each, value):
                        plain = without_mark(name, value)
                        yield _why_nothing(catalog, query.collections, name, plain)


def _checked_name(each: Restriction) -> str:
    """Return the name of a filter whose values can be looked up, or an empty string."""
    name = "title" if each.name == "subject" else each.name.removeprefix("=")
    beside_or = each.span != (each.start, each.end)
    known = name in _OF_VALUE or each.name.startswith("=")
    return name if known and not each.excluded and not beside_or else ""


def _is_anywhere(catalog: Catalog, query: Query, each: Restriction, value: str) -> bool:
    """Return whether a document of the searched collections has a value of a filter."""
    alone = filters_of({each.name: (value,)})
    return any(_has_documents(catalog, collection, alone) for collection in query.collections)


def _why_nothing(
    catalog: Catalog, collections: Sequence[CollectionRecord], name: str, value: str
) -> str:
    """Return why no document has a value of a filter."""
    listed = _LISTED.get(name, ())
    if listed and value not in listed:
        names = [f'"{name}:{value}"' for value in listed]
        return f'There is no "{name}:{value}", only {", ".join(names[:-1])} and {names[-1]}.'
    of_contexts = name in ("topic", "sentiment") or (name == "has" and value != ATTACHMENT)
    if of_contexts and not any(catalog.notes.contexts(collection.id) for collection in collections):
        return f'No contexts have been written yet, and only they say "{name}:{value}".'
    why = _OF_VALUE.get(name, f'No documents with {name} "{{}}".').format(value)
    if name == "lang" and (there := catalog.filters.facets(collections).values(name)):
        spoken = (
            f"{language_names().get(code, code)} (lang:{code})" for code, _ in there[:_MOST_LISTED]
        )
        return f"{why} There are documents in {', '.join(spoken)}."
    return why


def _has_documents(catalog: Catalog, collection: CollectionRecord, filters: Filters) -> bool:
    if filters.headings:
        return bool(len(catalog.filters.entries_under(collection.id, filters.headings)))
    return bool(len(catalog.filters.documents(collection.id, filters)))


def _nearest_value(
    catalog: Catalog, collections: Sequence[CollectionRecord], name: str, value: str
) -> str:
    """Return the value in use that is most like one that no document has; empty if none is."""
    from rapidfuzz import fuzz, process, utils

    candidates: set[str] = set()
    for collection in collections:
        if name == "path":
            candidates.update(catalog.filters.folders(collection.id))
        elif name in _LISTED:
            candidates.update(_LISTED[name])
        elif name == "topic":
            topics = catalog.notes.topics(collection.id, _MOST_TOPICS)
            candidates.update(word for topic in topics for word in _WORD.findall(topic))
        else:
            candidates.update(
                value for value, _ in catalog.filters.facets([collection]).values(name)
            )
        if name in _OF_PEOPLE and len(value) >= _SHORTEST_NAME:
            candidates.update([word for value in candidates for word in _WORD.findall(value)])
        if name == "type":
            candidates.update(type_families(), catalog.filters.suffixes(collection.id))
    candidates.discard(value)
    match = process.extractOne(
        value, sorted(candidates), scorer=fuzz.ratio, processor=utils.default_process,
        score_cutoff=_ALIKE,
    )  # fmt: skip
    return match[0] if match else ""


def _respelled(catalog: Catalog, indexes: Sequence[EntryIndex], answer: Answer) -> str:
    """Return the question with unknown words replaced by similar known ones; empty if none is."""
    question = answer.query
    spellings = []
    for place, word in enumerate(answer.missing_terms):
        first = place == 0 and question.lstrip().startswith(word)
        if may_be_misspelled(word, first=first):
            near = nearest_word(catalog, indexes, word.lower())
            if near:
                near = near.capitalize() if word.istitle() else near
                spellings.append(Spelling(word, near))
    meant = respelled_text(question, spellings)
    return meant if meant != question else ""
