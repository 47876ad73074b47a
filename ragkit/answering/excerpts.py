"""Excerpts: the sentence, line or row of a result that answers best, with what fits around it.

It is the one that the quick answer would choose (``evidence.py``). Of results that were not read
for one, the words of the question decide: those that are rare among the results count most, so
that the sentence with the answer wins over one that repeats what every result says.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ragkit.answering.evidence import Evidence
from ragkit.chunking.units import Unit, text_units
from ragkit.indexes.tokenizer import tokenize, without_stop_words
from ragkit.results import Passage, Result
from ragkit.retrieval.highlight import best_window

LONGEST_READ = 40_000
"""Characters of one passage in which an excerpt is looked for."""

_MOST_LINES = {"code": 3, "row": 1, "heading": 1, "entry": 1, "prose": 12}
_LONGEST_WORD = 40
_OUTSIDE = 0.5
_FURTHER = 0.9


class ExcerptKind(StrEnum):
    """What an excerpt is cut from, which decides how it is shown."""

    PROSE = "prose"
    CODE = "code"
    ROW = "row"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The slice ``passage.text[start:end]``; ``header`` is the header line of a table's row."""

    passage: Passage
    start: int
    end: int
    kind: ExcerptKind = ExcerptKind.PROSE
    header: str = ""


def best_excerpts(
    results: Sequence[Result], evidence: Evidence, width: int
) -> list[Excerpt | None]:
    """Return the excerpt of each result, of about ``width`` characters; none without passages.

    ``evidence`` is the evidence in the first results. Whole sentences of a document's prose, whole
    lines of its code, whole rows of its tables.
    """
    chosen = [_answering(result, place, evidence, width) for place, result in enumerate(results)]
    others = iter(
        by_words(
            evidence.question.text,
            [result for result, own in zip(results, chosen, strict=True) if own is None],
            width,
        )
    )
    return [next(others) if own is None else own for own in chosen]


def by_words(question: str, results: Sequence[Result], width: int) -> list[Excerpt | None]:
    """Return excerpts by the question's words alone, the cheaper way."""
    terms = frozenset(without_stop_words(sorted(set(tokenize(question)))))
    read = [[_Read.of(passage, result, terms) for passage in result.passages] for result in results]
    weights = _rarity(unit for of_result in read for each in of_result for unit in each.terms)
    return [
        _best(result, of_result, weights, width)
        for result, of_result in zip(results, read, strict=True)
    ]


def _answering(result: Result, place: int, evidence: Evidence, width: int) -> Excerpt | None:
    """Return the excerpt at the sentence with the best score, if any of the result has one."""
    row = evidence.best_of(place)
    if row is None:
        return None
    source = evidence.sentences[row]
    passage = next(each for each in result.passages if each.start <= source.start < each.end)
    read = _Read.of(passage, result, frozenset())
    start = source.start - passage.start
    at = next((at for at, unit in enumerate(read.units) if unit.end > start), None)
    if at is None:
        return None
    units, first = read.units, at
    if at and evidence.needs_before(row) and _follows(units[at - 1], units[at], width):
        first = at - 1
    return _excerpt(read, first, at, width)


@dataclass(frozen=True, slots=True)
class _Read:
    """A passage taken apart: its units, and the words of the question in each."""

    passage: Passage
    units: list[Unit]
    terms: list[frozenset[str]]

    @classmethod
    def of(cls, passage: Passage, result: Result, asked_terms: frozenset[str]) -> _Read:
        value = passage.text[:LONGEST_READ]
        code = result.document.format == "code"
        units = list(text_units(value, code=code, above=passage.header))
        terms: list[set[str]] = [set() for _ in units]
        marks = iter(passage.highlights if asked_terms else ())
        mark = next(marks, None)
        for unit, inside in zip(units, terms, strict=True):
            while mark is not None and mark[1] <= unit.start:
                mark = next(marks, None)
            while mark is not None and mark[0] < unit.end:
                tokens = tokenize(value[mark[0] : mark[1]])
                own = (result.forms.get(token, token) for token in tokens)
                inside.update(asked_terms.intersection(own))
                mark = next(marks, None)
        return cls(passage, units, [frozenset(inside) for inside in terms])


def _rarity(units: Iterator[frozenset[str]]) -> Mapping[str, float]:
    """Return a weight for each word: high when few units of the results have it."""
    counts: Counter[str] = Counter()
    total = 0
    for terms in units:
        total += 1
        counts.update(terms)
    return {term: math.log(1 + total / count) ** 1.5 for term, count in counts.items()}


def _best(
    result: Result, read: Sequence[_Read], weights: Mapping[str, float], width: int
) -> Excerpt | None:
    """Return the excerpt with most of the question's words."""
    best: tuple[float, _Read, int, int] | None = None
    for each in read:
        trust = [_trust(result, each.passage, unit) for unit in each.units]
        for first, last, score in _windows(each, trust, weights, width):
            if best is None or score > best[0]:
                best = score, each, first, last
    if best is None:
        shown = next((passage for passage in result.passages if passage.text), None)
        return None if shown is None else Excerpt(shown, *best_window(shown.text, (), width))
    _score, chosen, first, last = best
    return _excerpt(chosen, first, last, width)


def _trust(result: Result, passage: Passage, unit: Unit) -> float:
    """Return how much a unit counts for its place: best in the best matched chunk."""
    start, end = passage.start + unit.start, passage.start + unit.end
    for place, chunk in enumerate(result.matched_chunks):
        if chunk.span is not None and chunk.span.start < end and start < chunk.span.end:
            return unit.quality * (1.0 if place == 0 else _FURTHER)
    return unit.quality * _OUTSIDE


def _windows(
    read: _Read, trust: Sequence[float], weights: Mapping[str, float], width: int
) -> Iterator[tuple[int, int, float]]:
    """Yield runs of neighbouring units that fit, as first and last index, with their scores."""
    for first, unit in enumerate(read.units):
        gains: dict[str, float] = {}
        densest = 0.0
        for last in range(first, min(first + _MOST_LINES[unit.kind], len(read.units))):
            after = read.units[last]
            if last > first and not _follows(unit, after, width):
                break
            own = 0.0
            for term in read.terms[last]:
                gain = trust[last] * weights[term]
                own += gain
                gains[term] = max(gains.get(term, 0.0), gain)
            densest = max(densest, own)
            if last > first and not own:
                continue
            # The last part decides where nothing matched: the best chunk's first sentence.
            yield first, last, sum(gains.values()) + densest / 2 + 1e-6 * trust[first]


def _excerpt(read: _Read, first: int, last: int, width: int) -> Excerpt:
    """Return a run of units, with as many of its neighbours as fit."""
    units = read.units
    speaker = units[first].start if units[first].speaker else -1
    while _names_what_follows(units[last]) and last + 1 < len(units):
        first = last = last + 1
    most = _MOST_LINES[units[first].kind]
    while last + 1 < min(first + most, len(units)) and _goes_on(units, first, last, width):
        last += 1
    while units[first].kind == "prose" and first > 0:
        if not _follows(units[first - 1], units[last], width):
            break
        first -= 1
    kind, header = units[first].kind, units[first].header
    start, end = units[first].start, units[last].end
    if end - start > width and kind != "row":
        start, end = _cut(read.passage, start, end, width)
    shown = ExcerptKind(kind) if kind in ("code", "row") else ExcerptKind.PROSE
    return Excerpt(read.passage, start if speaker < 0 else speaker, end, shown, header)


def _names_what_follows(unit: Unit) -> bool:
    """Return whether the next unit says more: below a heading, or a table's header."""
    return unit.kind == "heading" or unit.is_header


def _goes_on(units: Sequence[Unit], first: int, last: int, width: int) -> bool:
    """Return whether the next unit is added: of the same block, or of prose that is short yet."""
    after = units[last + 1]
    if units[last].kind == after.kind == "prose" and after.end - units[first].start <= width:
        short = units[last].end - units[first].start < width // 2
        return short or units[last].block == after.block
    return _follows(units[first], after, width)


def _follows(first: Unit, last: Unit, width: int) -> bool:
    """Return whether a run of units that ends with ``last`` is of one block and fits."""
    return first.kind == last.kind and first.block == last.block and last.end - first.start <= width


def _cut(passage: Passage, start: int, end: int, width: int) -> tuple[int, int]:
    """Cut a sentence that is too long to the part with most of the question's words."""
    marks = [(a - start, b - start) for a, b in passage.highlights if start <= a and b <= end]
    first, last = best_window(passage.text[start:end], marks, width)
    word = passage.text.rfind(" ", max(start, start + first - _LONGEST_WORD), start + first)
    return word + 1 if first and word >= 0 else start + first, start + last
