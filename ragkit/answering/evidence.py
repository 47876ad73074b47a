"""What speaks for each sentence of found passages as an answer, in columns.

A sentence is read in its place: words of its headings, of a table's header, of the line that
leads into it and of the sentences around it count for it too, the less the farther away they are.
Words are compared as they are written and by their meaning.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.answering.labels import is_pair, labelled, with_labels
from ragkit.answering.meaning import Meaning
from ragkit.answering.questions import Question
from ragkit.answering.sentences import part_to_read, sentences_of
from ragkit.answering.titles_and_menus import Titles, is_only_links, of_term_lists
from ragkit.answers import Source
from ragkit.chunking.units import of_contents
from ragkit.indexes.analyzer import STOP_WORDS
from ragkit.indexes.tokenizer import fold, index_tokens, word_pattern
from ragkit.results import Passage, Result
from ragkit.retrieval.definitions import definitions
from ragkit.retrieval.query.date_forms import with_date_forms
from ragkit.retrieval.query.subject import defined_term

_WEIGHTS: Mapping[str, float] = {
    "like": 3.0, "wide": 4.5, "alike": 5.0, "alike_around": 4.5, "placed": 1.5, "chunk": 1.2,
    "kind": 1.0, "defines": 3.0, "figure": 5.0, "asks": -2.0, "leads": -1.5, "long": -1.0,
    "short": -2.0,
}  # fmt: skip
_RESULTS = 5
_MOST_READ = 12_000
"""Characters of passages that are read."""
_LONGEST = 2_000
_FARTHEST = 6
_COMPARED = 32
_ENOUGH = 40
_RARITY_POWER = 1.5
_FADES = 0.75
_OF_HEADINGS = 0.5
_SAYS = 0.5
_SHORT_LEAD = 60
_SHORT, _LONG = 40, 600
_MOST_WORDS = 60

_SENTENCE_ENDS = frozenset(".!?:;…。！？؟।")
_LEADS_IN = re.compile(r"[:?：？][\s*_.\"”)]*$|^:[^:\n]{1,60}:(?:\s\S{1,20}){0,4}$")
_BETWEEN = re.compile(r"\s*(?:(?:[-*+•>]|\d{1,3}[.)])\s+)?(?:\[[ xX]\]\s+)?")
_FOLLOWS_ON = re.compile(
    r"(?:It|Its|This|They|These|Those|He|She|His|Her|Their|Both|Such|That|There|Then|However|Also|But|So|Thus"
    r"|Therefore|Moreover|Otherwise|In (?:it|this|these|his|her|their|addition)|By (?:this|doing)"
    r"|Er|Sie|Es|Dies\w*|Diese\w*|Dabei|Dann|Sonst|Il|Elle|Ils|Elles|Ce(?:la|tte|s)?)\b"
)

Column = NDArray[np.float64]
_Forms: TypeAlias = Mapping[str, tuple[str, ...]]
"""Other forms of words and days, each with the tokens for which it stands."""


@dataclass(slots=True, eq=False)
class Evidence:
    """Sentences and what speaks for each, a row each.

    ``group`` and ``result`` say by number of which of the ``passages`` and results a sentence is.
    ``columns`` hold shares from 0 to 1 by name; ``weights`` are the rarities of the question's
    words, and ``held`` says which of them a sentence has. ``compared`` are the rows that were
    compared by their meaning; they alone have ``scores``, which say how well each answers,
    compared with the others of ``question``. ``matched`` says from 0 to 1 how like the likest word
    of a sentence is to each of the question's.
    """

    question: Question
    sentences: list[Source]
    words: list[set[str]]
    passages: list[Passage]
    group: list[int]
    result: list[int]
    weights: Column
    held: NDArray[np.bool_]
    columns: dict[str, Column] = field(default_factory=dict)
    compared: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    scores: Column = field(default_factory=lambda: np.zeros(0))
    matched: Column = field(default_factory=lambda: np.zeros((0, 0)))

    def best_of(self, result: int) -> int | None:
        """Return the row of a result's best sentence; none where none was compared."""
        rows = [row for row in self.compared.tolist() if self.result[row] == result]
        return max(rows, key=lambda row: self.scores[row], default=None)

    def same_passage(self, first: int, last: int) -> bool:
        """Return whether two rows are sentences of one passage."""
        within = 0 <= first < len(self.group) and 0 <= last < len(self.group)
        return within and self.group[first] == self.group[last]

    def stand_together(self, first: int, last: int) -> bool:
        """Return whether two rows follow one another, with at most a list's mark between.

        A table's last row and the text below it do not.
        """
        if not self.same_passage(first, last):
            return False
        if len({self.sentences[row].text.startswith("|") for row in (first, last)}) > 1:
            return False
        passage = self.passages[self.group[first]]
        between = passage.text[
            self.sentences[first].end - passage.start : self.sentences[last].start - passage.start
        ]
        return bool(_BETWEEN.fullmatch(between))

    def leads_in(self, row: int) -> bool:
        """Return whether a sentence leads into the next one.

        It ends in a colon, asks, or is a headword.
        """
        return bool(_LEADS_IN.search(self.sentences[row].text))

    def follows_on(self, row: int) -> bool:
        """Return whether a sentence begins with a word that points back."""
        return bool(_FOLLOWS_ON.match(self.sentences[row].text))

    def needs_before(self, row: int) -> bool:
        """Return whether a sentence is understood only behind the one before it."""
        together = self.stand_together(row - 1, row)
        return together and (self.follows_on(row) or self.leads_in(row - 1))


def evidence(question: Question, results: Sequence[Result], meaning: Meaning) -> Evidence:
    """Return the sentences of the first results with what speaks for each."""
    results = results[:_RESULTS]
    of_words = {form: own for result in results for form, own in result.forms.items()}
    forms = with_date_forms(of_words, question.text)
    candidates = _read(question, results, forms)
    if not candidates.sentences or not question.words:
        return candidates
    columns = candidates.columns
    weights, total = candidates.weights, candidates.weights.sum() or 1.0
    columns["defines"] = _defines(candidates, question)
    held = _held(candidates, question)
    placed = _placed(candidates, held, results, forms)
    columns["held"] = held @ weights / total
    columns["placed"] = _faded(placed, candidates.group) @ weights / total
    columns["chunk"] = _chunk_scores(candidates, results)
    figures = np.array(question.figures[: held.shape[1]])
    columns["figure"] = held[:, figures].sum(axis=1) / max(int(np.count_nonzero(figures)), 1)
    _of_form(candidates, question)
    rough = 2 * columns["placed"] + columns["held"] + columns["chunk"] / 2
    rough += columns["defines"] + columns["figure"]
    candidates.compared = np.sort(np.argsort(-rough, kind="stable")[:_COMPARED])
    _compare(candidates, question, meaning, held, placed)
    rows = candidates.compared
    candidates.scores = np.full(len(candidates.sentences), -np.inf)
    candidates.scores[rows] = sum(columns[name][rows] * weight for name, weight in _WEIGHTS.items())
    return candidates


def _read(question: Question, results: Sequence[Result], forms: _Forms) -> Evidence:
    """Return the sentences of the first passages, with the question's words in each."""
    candidates = Evidence(question, [], [], [], [], [], np.zeros(0), np.zeros((0, 0), np.bool_))
    tokens = list(question.words)[:_MOST_WORDS]
    numbers = {token: number for number, token in enumerate(tokens)}
    # Most words of a text come several times; each is looked at once.
    numbers_of: dict[str, tuple[int, ...]] = {}
    starts = {token[:2] for token in tokens}
    rows: list[set[int]] = []
    left = _MOST_READ
    titles_of = list(map(Titles.of, results))
    passages = [
        (place, passage) for place, result in enumerate(results) for passage in result.passages
    ]
    for number, (place, passage) in enumerate(passages):
        near = part_to_read(passage, results[place], left)
        left -= len(near.text)
        candidates.passages.append(near)
        titles = titles_of[place]
        own = (each for each in sentences_of(near, results[place].document) if each not in titles)
        sources = with_labels(own, near, {*question.words, *forms})
        contents = of_contents([source.text for source in sources])
        listed = list(map(max, contents, of_term_lists(sources, near)))
        leaders, followers = [*sources[:1], *sources[:-1]], [*sources[1:], *sources[-1:]]
        for before, source, after, is_listed in zip(
            leaders, sources, followers, listed, strict=True
        ):
            if is_listed or is_only_links(source.text):
                continue
            if not source.header and after.header == source.text and not is_pair(source.text):
                # The header of a table answers nothing.
                continue
            folded = fold(labelled(source, before, after, question.words)[:_LONGEST])
            words = set(word_pattern(ascii_only=folded.isascii()).findall(folded))
            for word in words.difference(numbers_of):
                held = () if _is_other(word, starts) else index_tokens(word)
                meant = [*held, *(own for token in held for own in forms.get(token, ()))]
                numbers_of[word] = tuple(numbers[token] for token in meant if token in numbers)
            if _is_bare_term(source, words, numbers_of):
                continue
            rows.append({at for word in words for at in numbers_of[word]})
            candidates.sentences.append(source)
            candidates.words.append(words)
            candidates.group.append(number)
            candidates.result.append(place)
        if left <= 0:
            break
    candidates.held = np.zeros((len(rows), len(tokens)), np.bool_)
    for row, of_row in enumerate(rows):
        candidates.held[row, list(of_row)] = True
    candidates.weights = _rarities(question, candidates)
    return candidates


def _is_bare_term(
    source: Source, words: Collection[str], numbers_of: Mapping[str, Sequence[int]]
) -> bool:
    """Return whether a line is no more than words of the question, as one of a list of terms is."""
    if source.header or source.text[-1:] in _SENTENCE_ENDS or source.text.startswith("|"):
        return False
    return bool(words) and all(numbers_of[word] for word in words)


def _having(text: str, tokens: Sequence[str], forms: _Forms) -> Column:
    """Return which tokens a text has as they stand or in another form: (n,)."""
    have = set(index_tokens(text))
    have.update(chain.from_iterable(forms.get(token, ()) for token in tuple(have)))
    return np.array([token in have for token in tokens], np.float64)


def _is_other(word: str, starts: Collection[str]) -> bool:
    """Return whether a plain word begins otherwise than all tokens, so that it is none of them."""
    plain = word.isascii() and word.isalpha() and (word.islower() or word[1:].islower())
    return plain and word[:2].lower() not in starts


def _rarities(question: Question, candidates: Evidence) -> Column:
    """Return a weight for each word: high where few sentences of the best results have it.

    A word that none has may still be there by its meaning.
    """
    best = 0
    places = np.array(candidates.result)
    while np.count_nonzero(places <= best) < min(_ENOUGH, len(places)):
        best += 1
    counts = candidates.held[places <= best].sum(axis=0) if len(places) else np.zeros(0)
    total = np.count_nonzero(places <= best)
    rarities = np.log1p(total / (np.maximum(counts, 1) + 0.5)) ** _RARITY_POWER
    weights: Column = rarities * np.array(question.factors()[: len(counts)])
    return weights


def _held(candidates: Evidence, question: Question) -> Column:
    """Return the words of each sentence; what says what a term means below it is about the term."""
    held = candidates.held.astype(np.float64)
    term = set(index_tokens(" ".join(defined_term(question.text))))
    says = candidates.columns["defines"] >= _SAYS
    for number, token in enumerate(list(question.words)[: held.shape[1]]):
        if token in term:
            held[says, number] = 1.0
    return held


def _placed(candidates: Evidence, held: Column, results: Sequence[Result], forms: _Forms) -> Column:
    """Return the words of each sentence with those of what it is under and follows from."""
    placed = held.copy()
    tokens = list(candidates.question.words)[: held.shape[1]]
    heads: dict[tuple[int, tuple[str, ...]], Column] = {}
    for row, source in enumerate(candidates.sentences):
        key = candidates.result[row], source.heading_path
        if key not in heads:
            title = results[key[0]].document.title
            text = " ".join((title, *source.heading_path))
            heads[key] = _OF_HEADINGS * _having(text, tokens, forms)
        placed[row] = np.maximum(placed[row], heads[key])
        before = row - 1 if candidates.same_passage(row - 1, row) else -1
        if source.header:
            header = _OF_HEADINGS * _having(source.header, tokens, forms)
            placed[row] = np.maximum(placed[row], header)
        elif before >= 0 and (
            candidates.leads_in(before)
            or len(candidates.sentences[before].text) < _SHORT_LEAD
            or candidates.follows_on(row)
        ):
            placed[row] = np.maximum(placed[row], held[before])
    return placed


def _faded(words: Column, group: Sequence[int]) -> Column:
    """Return the words of each sentence and, the fainter the farther away, of those around it."""
    faded = words.copy()
    of = np.array(group)
    for distance in range(1, min(_FARTHEST, len(of) - 1) + 1):
        near = _FADES**distance * (of[distance:] == of[:-distance])[:, None]
        np.maximum(faded[distance:], words[:-distance] * near, out=faded[distance:])
        np.maximum(faded[:-distance], words[distance:] * near, out=faded[:-distance])
    return faded


def _chunk_scores(candidates: Evidence, results: Sequence[Result]) -> Column:
    """Return the score of the matched chunk that each sentence is of, as a share of the best."""
    scores = np.zeros(len(candidates.sentences))
    best = max((result.score for result in results), default=0.0) or 1.0
    for row, source in enumerate(candidates.sentences):
        for chunk in results[candidates.result[row]].matched_chunks:
            span = chunk.span
            if span is not None and span.start < source.end and source.start < span.end:
                scores[row] = max(scores[row], chunk.score / best)
    return scores


def _defines(candidates: Evidence, question: Question) -> Column:
    """Return how surely each sentence says what the term means that the question asks for."""
    shares = np.zeros(len(candidates.sentences))
    term = defined_term(question.text)
    found = [definitions(term, passage.text) for passage in candidates.passages if term]
    for row, source in enumerate(candidates.sentences if any(found) else ()):
        of = candidates.group[row]
        start = candidates.passages[of].start
        own = (sure for at, sure in found[of].items() if source.start <= start + at < source.end)
        shares[row] = max(own, default=0.0)
    return shares


def _with_header(source: Source) -> str:
    """Return a sentence as it is understood: a row of a table under its header."""
    return f"{source.header} {source.text}" if source.header else source.text


def _of_form(candidates: Evidence, question: Question) -> None:
    """Add what a sentence is like, whatever its words: what it asks or leads to, its length."""
    texts = [_with_header(source) for source in candidates.sentences]
    rows = len(texts)
    last = [text.rstrip(' *_"”)') for text in texts]
    forms = {
        "asks": (text.endswith(("?", "？")) for text in last),
        "leads": (text.endswith((":", ":.", "：")) for text in last),
        "short": (len(text) < _SHORT for text in texts),
        "long": (len(text) > _LONG for text in texts),
        "kind": map(question.is_met_by, texts),
    }
    for name, values in forms.items():
        candidates.columns[name] = np.fromiter(values, np.float64, rows)


def _compare(
    candidates: Evidence, question: Question, meaning: Meaning, held: Column, placed: Column
) -> None:
    """Add how like the compared sentences, and those with their neighbours, are to the question."""
    asked = meaning.question(question.text)
    compared = candidates.compared.tolist()
    around = [
        [row for row in (at - 1, at, at + 1) if candidates.same_passage(row, at)] for at in compared
    ]
    texts = [_with_header(source)[:_LONGEST] for source in candidates.sentences]
    wide = [" ".join(texts[row] for row in rows) for rows in around]
    for name, read in (("like", [texts[row] for row in compared]), ("wide", wide)):
        candidates.columns[name] = np.zeros(len(texts))
        candidates.columns[name][candidates.compared] = meaning.sentences(read) @ asked
    words = [_telling(candidates.words[row]) for row in compared]
    candidates.matched = held.copy()
    likest = _alike(question, words, meaning)[:, : held.shape[1]]
    candidates.matched[compared] = np.maximum(held[compared], likest)
    total = candidates.weights.sum() or 1.0
    candidates.columns["alike"] = candidates.matched @ candidates.weights / total
    around_alike = _faded(np.maximum(candidates.matched, placed), candidates.group)
    candidates.columns["alike_around"] = around_alike @ candidates.weights / total


def _alike(question: Question, words: Sequence[set[str]], meaning: Meaning) -> Column:
    """Return for each text how like its likest word is to each of the question's, squared."""
    distinct = list(dict.fromkeys(word for of_text in words for word in of_text))
    numbers = {word: number for number, word in enumerate(distinct)}
    asked = meaning.words(list(question.words.values()))
    cosines = np.clip(asked @ meaning.words(distinct).T, 0.0, 1.0) ** 2
    cosines[question.figures] = 0.0
    # A text of no words has that one column of zeros.
    cosines = np.hstack([cosines, np.zeros((len(asked), 1))])
    places = [[numbers[word] for word in of_text] or [len(distinct)] for of_text in words]
    starts = np.cumsum([0, *map(len, places[:-1])])
    alike: Column = np.maximum.reduceat(cosines[:, list(chain(*places))], starts, axis=1).T
    return alike


def _telling(words: set[str]) -> set[str]:
    """Return the words in small letters, without stop words and what is too long for a word."""
    small = (word.casefold() for word in words if len(word) <= _SHORT)
    return {word for word in small if word not in STOP_WORDS}
