"""The quick answer: which sentences of the found passages answer a question best, if any do.

Each sentence has a score, a weighted sum of what speaks for it (``evidence.py``), which orders
sentences of one question. Whether the best is good enough is another question, which compares
questions: how sure the answer is decides it (``_sureness``). How both were chosen and measured:
docs/decisions.md and docs/measurements.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ragkit.answering.evidence import Evidence
from ragkit.answering.questions import Kind
from ragkit.answers import Source
from ragkit.indexes.tokenizer import index_tokens
from ragkit.results import Answer
from ragkit.retrieval.figures import is_figure
from ragkit.retrieval.query.date_forms import date_forms

MOST = 3
"""How many sentences a quick answer has at most, not counting those that they follow on."""

_FURTHER = 5.0
"""How far below the best score another sentence may be."""

_ADDS = 4.0
"""Points of score for all of the question's words; those that no sentence before has are gained."""

_FITS = 0.8
"""The share of the best fit that a result needs, so that a sentence of it is shown."""

_SURE = 2.6
"""How sure it must be; in cosines and shares, as ``_sureness`` adds them."""

_DEFINES = 0.5
"""How surely a sentence says what a term means, so that its result need not fit as well."""

_YES_NO, _AMOUNT, _NO_AMOUNT = 1.6, 1.2, 3.2
"""How much surer it must be of a yes or no, of an amount, and of one that is not in sight."""
_MOST_MISSING = 2 / 3
"""The share of the question's words that the document of the best sentence may not lack."""
_LEAST_FIGURES = 0.25
"""The share of its words from which a question asks for its figures."""
_ALIKE = 0.6
"""The share of their words that sentences have in common of which only the best is shown."""
_SHORT_FOLLOWER = 200
_HEADING = re.compile(
    r"((?:\d{1,2}(?:\.\d{1,2})*\.?[ \t]+)?[^\W\d_a-z][^\n.!?。！？]{0,69})(?<![,:;：])\n[ \t]*"
    r"((?=[^\W\d_a-z])\S+)"
)
"""A line that begins like a title, and the first word of the line after it, which does too."""
_NO_LETTERS = re.compile(r"[\W_]*\n\s*")


def quick_answer(answer: Answer, evidence: Evidence) -> tuple[Source, ...]:
    """Return the one to three sentences that answer a question best, best first, or none.

    ``answer`` is what a search found for it, ``evidence`` the evidence in its results.
    """
    if answer.listed or answer.nothing_close or not evidence.compared.size:
        return ()
    if _sureness(evidence, answer) < _SURE or _is_about_else(evidence, answer):
        return ()
    rows = _shown_first(evidence, answer)
    return tuple(
        _without_heading(source) if _begins_line(answer, source) else source
        for source in _chosen(evidence, rows)
    )


def _sureness(evidence: Evidence, answer: Answer) -> float:
    """Return how sure it is that the best sentence answers, whatever the question.

    The fit of a result is that of the library's embedder; where there is none, words decide.
    """
    columns = evidence.columns
    shown = np.argsort(-evidence.scores, kind="stable")[:MOST]
    best = int(shown[0])
    fit = answer.results[evidence.result[best]].fit
    if fit is None:
        fit = float(columns["held"][best])
    like, wide, alike, defines = (
        float(columns[name][best]) for name in ("like", "wide", "alike", "defines")
    )
    harder = _YES_NO if evidence.question.kind is Kind.YES_NO else 0.0
    if evidence.question.kind is Kind.AMOUNT:
        harder = _AMOUNT if columns["kind"][shown].any() else _NO_AMOUNT
    if answer.foreign:
        # Sentences of other languages are alike whatever they say; their words tell more.
        return 4.3 * fit + 2.2 * alike + 1.5 * defines - harder / 4
    return 3.7 * fit + 2.7 * like + 2.0 * wide + 1.5 * defines - harder


def _is_about_else(evidence: Evidence, answer: Answer) -> bool:
    """Return whether the document of the best sentence lacks what the question asks about.

    That are most of its words, or its figures.
    """
    best = int(np.argmax(evidence.scores))
    lacking = answer.results[evidence.result[best]].missing_terms
    question = evidence.question
    asked = question.words
    missing = {token for word in lacking for token in index_tokens(word)}.intersection(asked)
    figures = set(filter(is_figure, asked))
    of_figures, of_all = ({question.words[token] for token in each} for each in (figures, asked))
    if figures and figures <= missing and len(of_figures) >= _LEAST_FIGURES * len(of_all):
        # Of a question for a figure, what has another one says nothing.
        text = "\n".join(passage.text for passage in answer.results[evidence.result[best]].passages)
        return not any(_is_in_groups(figure, text) for figure in figures)
    return len(missing) > _MOST_MISSING * len(asked)


def _is_in_groups(figure: str, text: str) -> bool:
    """Return whether a text has a number as "10 000", which are words of their own."""
    grouped = f"{int(figure):,}".replace(",", r"[\s.,'’]") if figure.isdecimal() else ""
    return bool(grouped) and bool(re.search(rf"(?<!\d){grouped}(?!\d)", text))


def _shown_first(evidence: Evidence, answer: Answer) -> list[int]:
    """Return the rows of sentences, best first, of results that fit nearly as well as the best.

    What says what the term of the question means is among them, whatever is around it.
    """
    fits = [answer.results[at].fit for at in evidence.result]
    least = _FITS * max((fit for fit in fits if fit is not None), default=0.0)
    order = np.argsort(-evidence.scores, kind="stable").tolist()
    defines = evidence.columns["defines"]
    return [
        row
        for row in order
        if (fit := fits[row]) is None or fit >= least or defines[row] >= _DEFINES
    ]


def _chosen(evidence: Evidence, rows: Sequence[int]) -> Iterator[Source]:
    """Yield sentences, each with what it follows on or leads to, none nearly twice.

    The first is the best; those after it gain by words of the question that are not answered yet.
    One that goes with a sentence that is there already is added to it.
    """
    scores, matched = evidence.scores, evidence.matched
    weights = _ADDS * evidence.weights / (evidence.weights.sum() or 1.0)
    left = [row for row in rows if scores[row] >= scores[rows[0]] - _FURTHER]
    left = _of_day(evidence, left)
    chosen: list[set[str]] = []
    places: list[tuple[int, int]] = []
    answered, gains = np.zeros(len(weights)), np.zeros(len(scores))
    while left and len(chosen) < MOST:
        row = left.pop(int(np.argmax((scores + gains)[left])))
        words = evidence.words[row]
        used = any(first <= row <= last for first, last in places)
        if used or any(_are_alike(words, other) for other in chosen):
            continue
        place = _together(evidence, _first_place(evidence, row))
        chosen.append(words)
        places = _with_place(evidence, places, place)
        answered = np.maximum(answered, matched[row])
        gains = np.maximum(matched - answered, 0.0) @ weights
    for first, last in places:
        yield _joined(evidence, first, last)


def _with_place(
    evidence: Evidence, places: Sequence[tuple[int, int]], place: tuple[int, int]
) -> list[tuple[int, int]]:
    """Add the rows of a sentence; instead of a sentence that they repeat, or joined with its rows.

    Of what says the same elsewhere and goes on, only the whole is shown.
    """
    first, last = place
    for at, (start, end) in enumerate(places):
        if start <= last and first <= end:
            return [*places[:at], (min(start, first), max(end, last)), *places[at + 1 :]]
        repeats = (
            _are_alike(evidence.words[start], evidence.words[row]) for row in range(first, last + 1)
        )
        if start == end and any(repeats):
            return [*places[:at], place, *places[at + 1 :]]
    return [*places, place]


def _of_day(evidence: Evidence, rows: list[int]) -> list[int]:
    """Leave out rows of tables that lack the day of the question, if the best is one of that day.

    They are alike but for the day; other sentences may answer without it.
    """
    tabular = [evidence.sentences[row].text.startswith("|") for row in rows]
    if not any(tabular[:1]):
        return rows
    places = {token: place for place, token in enumerate(evidence.question.words)}
    known = evidence.held.shape[1]
    for day in dict.fromkeys(date_forms(evidence.question.text).values()):
        own = [places[token] for token in day if places.get(token, known) < known]
        if own and evidence.held[rows[0], own].all():
            both = zip(rows, tabular, strict=True)
            return [row for row, is_row in both if not is_row or evidence.held[row, own].all()]
    return rows


def _are_alike(words: set[str], other: set[str]) -> bool:
    """Return whether two sentences say nearly the same: most of their words, all their figures."""
    apart = words ^ other
    if len(apart) > (1 - _ALIKE) * len(words | other):
        return False
    return not any(character.isdecimal() for word in apart for character in word)


def _first_place(evidence: Evidence, row: int) -> int:
    """Return the first row of the same document that says the same."""
    sentence = evidence.sentences[row]
    same = [
        at
        for at, other in enumerate(evidence.sentences)
        if other.text == sentence.text and other.document == sentence.document
    ]
    return min(same, key=lambda at: evidence.sentences[at].start)


def _together(evidence: Evidence, row: int) -> tuple[int, int]:
    """Return the rows that are shown for one: with its predecessor, or what follows on it."""
    first = row - 1 if evidence.needs_before(row) else row
    if evidence.stand_together(row, row + 1):
        if evidence.leads_in(row):
            return first, row + 1
        short = len(evidence.sentences[row + 1].text) < _SHORT_FOLLOWER
        follows = evidence.follows_on(row + 1) and not evidence.leads_in(row + 1)
        if first == row and follows and short:
            return row, row + 1
    return first, row


def _joined(evidence: Evidence, first: int, last: int) -> Source:
    """Return neighbouring sentences as one slice."""
    passage = evidence.passages[evidence.group[first]]
    start, end = evidence.sentences[first].start, evidence.sentences[last].end
    text = passage.text[start - passage.start : end - passage.start]
    return replace(evidence.sentences[first], text=text, start=start, end=end)


def _begins_line(answer: Answer, source: Source) -> bool:
    """Return whether a sentence begins where a line of its passage does, as a heading would."""
    for result in answer.results:
        for passage in result.passages:
            at = source.start - passage.start
            if result.document == source.document and 0 <= at < len(passage.text):
                return not passage.text[:at].rpartition("\n")[2].strip()
    return True


def _without_heading(source: Source) -> Source:
    """Leave out lines above a sentence that are its heading, where no mark says that they are."""
    text = source.text
    while (end := _heading_end(text)) and 2 * len(text[:end].strip()) <= len(text) - end:
        text = text[end:]
    return replace(source, text=text, start=source.end - len(text))


def _heading_end(text: str) -> int:
    """Return where the heading above a text ends, or a line without letters; 0 if there is none.

    A line that breaks only since the next word did not fit is of the sentence; so is a name that
    is explained below it, such as an option's or a function's.
    """
    if line := _NO_LETTERS.match(text):
        return line.end()
    heading = _HEADING.match(text)
    if heading is None:
        return 0
    wide = text.find("\n", heading.end())
    below = (wide if wide >= 0 else len(text)) - heading.start(2)
    return heading.start(2) if len(heading[1]) + 1 + len(heading[2]) <= below else 0
