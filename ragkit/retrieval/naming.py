"""Which documents a question names, and what it asks of them.

"What did Corvane spend on leases in 2019?" names the documents about Corvane, above all the one of
2019, and asks any page of them what was spent on leases. A name is written with a capital or a
digit; its words occur in a document's title, its file's name or its folders, or on its first page,
and are rare over documents. Numbers, such as years, tell documents apart that words name. Only long
documents are named: in a short one the words that are asked for are those that it opens with.

The name of a file, alone and with its suffix, names any document.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TypeAlias

import numpy as np

from ragkit.indexes.protocol import EntryIndex
from ragkit.indexes.rows import Ids, distinct
from ragkit.indexes.tokenizer import index_tokens
from ragkit.reading.formats import readable_suffixes
from ragkit.retrieval.proximity import Scores
from ragkit.retrieval.query.encoding import Query
from ragkit.types import Field

FEWEST_CHUNKS = 20
"""How many chunks a document has that can be named."""

LEAST_SHARE = 0.3
"""Which share of the documents that have a word it has to name."""

LEAST_RARITY = math.log(3)
"""How rare the words of a name are together, as the logarithm of documents to those with them."""

NEAREST = 0.5
"""Documents whose words are less than this share as rare as the best one's are not named."""

_LONGEST_FILE_NAME = 255

# A product's "HX-300" is a name, whereas an identifier of code is none.
_CODE = re.compile(r"[`_/\\]|::|\(\)|\w\.\w|^[a-z]+[A-Z]")
_JOINED = re.compile(r"[a-z][A-Z]")

_NONE = np.zeros(0, np.int64)

Nameable: TypeAlias = Callable[[Ids], Mapping[int, bool]]
"""Returns which documents may be named, and whether by words of their first page as well."""


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """The documents that a question names, ascending, how well from 0 to 1, and what is left.

    ``rest`` is the question without the words of names; ``documents`` and ``shares`` are (n,).
    """

    documents: Ids
    shares: Scores
    rest: str


def named_documents(
    query: Query, indexes: Sequence[EntryIndex], nameable: Nameable
) -> Named | None:
    """Return the documents of some collections that a query names; ``None`` if it names none.

    A question that does nothing but name is none.
    """
    # In a question in small letters any word may be a name: only a title with a number is enough.
    small = query.text == query.text.lower()
    tokens = _tokens_of_names(query, every=small)
    if not tokens or (small and not any(map(_has_digit, tokens))):
        return None
    opened = _opened(tokens, indexes, nameable, by_page=not small)
    if not any(map(len, opened.values())):
        return None
    spread = np.sum([index.spread(list(tokens.values())) for index in indexes], axis=0)
    total = sum(index.documents for index in indexes)
    names = {
        token: math.log(total / holding)
        for token, holding in zip(tokens, spread.tolist(), strict=True)
        if holding and not token.isdigit() and len(opened[token]) >= max(LEAST_SHARE * holding, 1)
    }
    # Of "Corvane FY2020" the year only tells documents apart, whereas "3M" is a name.
    named = {token: weight for token, weight in names.items() if token.isalpha()} or names
    everyone = np.unique(np.concatenate([opened[token] for token in named] or [_NONE]))
    rarity = np.zeros(len(everyone))
    for token, weight in named.items():
        rarity[np.isin(everyone, opened[token])] += weight
    if rarity.max(initial=0.0) < LEAST_RARITY:
        return None
    kept = rarity >= NEAREST * rarity.max()
    everyone, rarity = everyone[kept], rarity[kept]
    name_tokens = set(named)
    for token, documents in opened.items():
        of_number = np.isin(everyone, documents)
        if token not in named and _has_digit(token) and of_number.any():
            rarity[of_number] += math.log(total / len(documents))
            name_tokens.add(token)
    if small and not any(map(_has_digit, name_tokens)):
        return None
    name_tokens |= _in_titles(query, indexes, everyone[rarity == rarity.max()])
    rest = " ".join(
        word for word in query.text.split() if name_tokens.isdisjoint(index_tokens(word))
    )
    return Named(everyone, rarity / rarity.max(), rest) if index_tokens(rest) else None


def named_files(query: Query, with_name: Callable[[str], Sequence[int]]) -> Named | None:
    """Return the documents whose files have the query for a name; ``None`` if there are none.

    All of it is asked within them as well, since other texts may speak of the file.
    """
    name = query.text.strip()
    suffix = PurePosixPath(name.lower()).suffix if len(name) <= _LONGEST_FILE_NAME else ""
    if not suffix or suffix not in readable_suffixes():
        return None
    documents = np.array(with_name(name), np.int64)
    return Named(documents, np.ones(len(documents)), name) if len(documents) else None


def _opened(
    tokens: Mapping[str, int],
    indexes: Sequence[EntryIndex],
    nameable: Nameable,
    *,
    by_page: bool,
) -> dict[str, Ids]:
    """Return the documents that each token may name, by their titles or their first pages.

    Nothing where no token may name any.
    """
    ids = list(tokens.values())
    columns = [_throughout(indexes, ids, field) for field in (Field.TITLE, Field.FOLDERS)]
    pages = [_NONE] * len(ids)
    if by_page:
        pages = _of_tokens([index.openings(ids, FEWEST_CHUNKS) for index in indexes])
    every = distinct(np.concatenate([*pages, *columns[0], *columns[1]]))
    if not len(every):
        return {}
    has_pages = nameable(every)
    allowed = np.array(list(has_pages), np.int64)
    paged = np.array([document for document, its in has_pages.items() if its], np.int64)
    return {
        token: np.union1d(
            np.intersect1d(np.concatenate(titles), allowed), np.intersect1d(opening, paged)
        )
        for token, opening, *titles in zip(tokens, pages, *columns, strict=True)
    }


def _tokens_of_names(query: Query, *, every: bool) -> dict[str, int]:
    """Return the known tokens, with their ids, of words written as names, or of every word."""
    return {
        token: query.known[token]
        for word in query.text.split()
        if (every or word != word.lower() or _has_digit(word)) and not _CODE.search(word)
        for token in _parts(word)
        if token in query.known
    }


def _parts(word: str) -> list[str]:
    """Return the tokens of a word; a word such as "YouTube" is one token, not also its parts."""
    tokens = index_tokens(word)
    if _JOINED.search(word):
        tokens = tokens[:1]
    return [token for token in tokens if len(token) > 1 or token.isdigit()]


def _throughout(indexes: Sequence[EntryIndex], ids: Sequence[int], field: Field) -> list[Ids]:
    return _of_tokens([index.throughout(ids, field, FEWEST_CHUNKS) for index in indexes])


def _of_tokens(of_indexes: Sequence[Sequence[Ids]]) -> list[Ids]:
    return [np.concatenate(of_token) for of_token in zip(*of_indexes, strict=True)]


def _in_titles(query: Query, indexes: Sequence[EntryIndex], documents: Ids) -> set[str]:
    """Return the tokens of a query that occur in the title of each of some documents."""
    tokens = [token for token in query.tokens if token in query.known]
    opened = _throughout(indexes, [query.known[token] for token in tokens], Field.TITLE)
    return {
        token
        for token, titles in zip(tokens, opened, strict=True)
        if np.isin(documents, titles).all()
    }


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))
