"""The quick answer: which sentences of the found passages answer a question best."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from ragkit.answering.sentences import found_sentences
from ragkit.answers import Source
from ragkit.indexes.tokenizer import index_tokens
from ragkit.models.base import Embedder
from ragkit.results import Answer
from ragkit.retrieval.query_parser import parse_query

MOST = 3
"""How many sentences a quick answer has at most."""

_RESULTS = 5
_READ = 1000
_EMBEDDED = 64
_COSINE = 0.5


@dataclass(slots=True)
class _Candidate:
    """A sentence with the words of the question in it, and how well it answers."""

    source: Source
    held: frozenset[str]
    score: float


def quick_answer(question: str, answer: Answer, embedder: Embedder | None) -> tuple[Source, ...]:
    """Return the one to three sentences that answer a question best, best first, or none.

    ``answer`` is what a search found for it. ``embedder`` made its vectors; without one, as where
    a server would have to be waited for, words alone decide. What is read and embedded is bounded.
    """
    if answer.listed or answer.nothing_close:
        return ()
    question = parse_query(question).text
    candidates = _candidates(frozenset(index_tokens(question)), answer)
    if embedder is not None and candidates:
        candidates = heapq.nlargest(_EMBEDDED, candidates, key=lambda one: one.score)
        vectors = embedder.embed_passages([one.source.text for one in candidates])
        cosines = vectors @ embedder.embed_queries([question])[0]
        for one, cosine in zip(candidates, cosines, strict=True):
            one.score += _COSINE * float(cosine)
    chosen: dict[str, Source] = {}
    for one in sorted(candidates, key=lambda one: -one.score):
        chosen.setdefault(one.source.text, one.source)
        if len(chosen) == MOST:
            break
    return tuple(chosen.values())


def _candidates(wanted: frozenset[str], answer: Answer) -> list[_Candidate]:
    """Return the sentences of the first results, by the question's words and their result."""
    results = answer.results[:_RESULTS]
    scores = {result.document.id: result.score for result in results}
    read = [
        (source, wanted.intersection(index_tokens(source.text)))
        for source in islice(found_sentences(results), _READ)
    ]
    weights = _rarity([held for _source, held in read])
    total = sum(weights.values()) or 1.0
    return [
        _Candidate(
            source, held, sum(weights[word] for word in held) / total + _score(source, scores)
        )
        for source, held in read
    ]


def _score(source: Source, scores: dict[int, float]) -> float:
    return scores[source.document.id] if source.document else 0.0


def _rarity(sentences: Sequence[frozenset[str]]) -> dict[str, float]:
    """Return a weight for each word: high when few of the sentences have it."""
    counts = Counter(word for held in sentences for word in held)
    return {word: math.log(1 + len(sentences) / count) for word, count in counts.items()}
