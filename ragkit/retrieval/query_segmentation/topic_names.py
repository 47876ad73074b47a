"""Names of topics: the few words that tell what each part of a long text is about."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.analyzer import STOP_WORDS
from ragkit.indexes.protocol import EntryIndex
from ragkit.indexes.tokenizer import index_tokens
from ragkit.retrieval.query.word_forms import LONGEST_JUDGED, foreign_language, function_tokens
from ragkit.types import Field

Embed: TypeAlias = Callable[[Sequence[str]], NDArray[np.float32]]

LONGEST_NAME = 60
"""Characters."""

_MOST_WORDS = 4
_SHORTEST_WORD = 3
_LONGEST_WORD = 24
_MOST_PARTS = 4
_UNKNOWN = 0.6
_CONSIDERED = 12
_LONGEST_READ = 20_000

_WORD = re.compile(r"[^\W\d_][\w]*(?:[.'\u2019-][^\W_]+)*")
_OPENING = re.compile(r"(?:^|[.!?:\n])[\s\"'(\u2018\u201c*_]*$")
_UNBROKEN = re.compile(r"\S+")
_PATH = re.compile(r"\b\w+(?:/\w+)+")
_TALK = """
above actually after again against all also any anyone anything anyway aren't around back because
before below better between bit both bring can't come could couldn't didn't doesn't doing don
don't down during each else even ever every everybody everyone everything feel few find fine first
further get gets getting give go goes going good got great guess hadn't happen hasn't haven't
having hello help her here here's hers herself hey hi him himself his hope hour hours i'd i'll i'm
i've isn't it's itself just keep kind know last later least let let's like little long look looks
lot make makes making many matter maybe mean might minute minutes more most much must myself near
need needs never new next nice nor nothing now off oh ok okay old once one ones only other ours
ourselves out over own part people perhaps please pretty put quarter question quite rather really
reminder right said same say says see seem seems send sent she's should've shouldn't since some
someone something sorry still stuff sure take tell thank thanks that'll that's theirs them
themselves there's thing things think those though through time today told tomorrow too took tried
try two under until use used using very want wanted wants wasn't way we'll we're week well went
weren't what's whether while without won't wonder word work works would wouldn't wrong yeah year
yes yesterday yet you'd you'll you're you've yours yourself yourselves
"""


@dataclass(frozen=True, slots=True)
class _Term:
    """A word of a topic: how it is written most often, how often it is there, where first.

    ``opens``: its capital letter may be that of the sentence that it begins.
    """

    token: str
    written: str
    count: int
    first: int
    opens: bool


_Weighted: TypeAlias = tuple[float, _Term]


@cache
def plain_words() -> frozenset[str]:
    """Return English words, in lower case, that say little of what a message is about."""
    return STOP_WORDS.union(_TALK.split())


def telling_tokens(text: str) -> set[str]:
    """Return the tokens of the words of a text that may say what it is about."""
    return {term.token for term in _terms(text)}


def rarities(token_ids: Mapping[str, int], indexes: Sequence[EntryIndex]) -> dict[str, float]:
    """Return how rare tokens are, from 0 to 1 for the rarest; ``token_ids`` has their ids."""
    if not token_ids or not indexes:
        return {}
    idf = [index.idf(list(token_ids.values()), Field.TEXT) for index in indexes]
    # A word that is common in any of them is common.
    least = [float(min(of_token)) for of_token in zip(*idf, strict=True)]
    most = max(least) or 1.0
    return {token: value / most for token, value in zip(token_ids, least, strict=True)}


def topic_names(
    texts: Sequence[str], rarity: Mapping[str, float], embed: Embed | None
) -> list[str]:
    """Name topics by words that are frequent in each, rare elsewhere, and near its meaning.

    ``rarity`` is that of tokens in the library; those that it does not know are missing.

    A name has up to four words as they are written, in reading order. It is empty where a text
    has none that would tell, as those in scripts without spaces.
    """
    only_form = function_tokens(foreign_language(" ".join(texts)[:LONGEST_JUDGED]))
    terms = [[term for term in _terms(text) if term.token not in only_form] for text in texts]
    topics_with = Counter(term.token for of_topic in terms for term in of_topic)
    weighted = [_weighted(of_topic, topics_with, len(texts), rarity) for of_topic in terms]
    if embed is not None:
        weighted = _by_meaning(texts, weighted, embed)
    return [
        _joined(sorted((term for _weight, term in of_topic[:_MOST_WORDS]), key=_first), text)
        for text, of_topic in zip(texts, weighted, strict=True)
    ]


def _first(term: _Term) -> int:
    return term.first


def _terms(text: str) -> list[_Term]:
    text = _UNBROKEN.sub(_without_addresses, text[:_LONGEST_READ])
    written: dict[str, Counter[str]] = defaultdict(Counter)
    first: dict[str, int] = {}
    inside: set[str] = set()
    for match in _WORD.finditer(text):
        word = match.group()
        if not _SHORTEST_WORD <= len(word) <= _LONGEST_WORD or _is_plain(word):
            continue
        tokens = index_tokens(word)
        # A run of a script without spaces is a sentence rather than a word.
        if tokens and (word.isascii() or len(tokens) <= _MOST_PARTS):
            written[tokens[0]][word] += 1
            first.setdefault(tokens[0], match.start())
            if word.islower() or not _OPENING.search(
                text[max(0, match.start() - 4) : match.start()]
            ):
                inside.add(tokens[0])
    return [
        _Term(token, forms.most_common(1)[0][0], forms.total(), first[token], token not in inside)
        for token, forms in written.items()
    ]


def _without_addresses(run: re.Match[str]) -> str:
    """Return a run without spaces as it is, with spaces instead of what is an address or a path."""
    text = run.group()
    if "://" in text or "@" in text:
        return " " * len(text)
    return _PATH.sub(lambda match: " " * len(match.group()), text)


def _is_plain(word: str) -> bool:
    return word.lower().replace("\u2019", "'") in plain_words()


def _weighted(
    terms: Sequence[_Term], topics_with: Mapping[str, int], topics: int, rare: Mapping[str, float]
) -> list[_Weighted]:
    """Return the terms that tell most, heaviest first."""
    weighted = []
    for term in terms:
        apart = 1 + math.log((1 + topics) / topics_with[term.token])
        rareness = rare.get(term.token, _UNKNOWN) ** 0.3
        opening = 0.7 if term.opens else 1.0
        weighted.append((term.count**0.8 * rareness * apart * opening, term))
    return sorted(weighted, key=lambda each: (-each[0], each[1].first))[:_CONSIDERED]


def _by_meaning(
    texts: Sequence[str], weighted: Sequence[Sequence[_Weighted]], embed: Embed
) -> list[list[_Weighted]]:
    """Weigh the terms of each text by how near they are to its meaning as a whole."""
    words = [term.written for of_topic in weighted for _weight, term in of_topic]
    vectors = embed([*(text[:_LONGEST_READ] for text in texts), *words])
    near = iter(vectors[len(texts) :])
    return [
        sorted(
            (
                (weight * (0.1 + max(0.0, float(next(near) @ whole))), term)
                for weight, term in of_topic
            ),
            key=lambda each: -each[0],
        )
        for whole, of_topic in zip(vectors, weighted, strict=False)
    ]


def _joined(terms: Sequence[_Term], text: str) -> str:
    """Join words by a space where they are side by side in the text, else by a comma."""
    name = ""
    for before, term in zip([None, *terms], terms, strict=False):
        beside = before is not None and re.search(
            rf"\b{re.escape(before.written)}\s+{re.escape(term.written)}\b", text
        )
        longer = f"{name}{' ' if beside else ', ' if name else ''}{term.written}"
        if len(longer) > LONGEST_NAME:
            break
        name = longer
    return name
