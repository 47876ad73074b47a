"""Numbers that documents write in other groups: of accounts, telephones and parcels, and amounts.

"DE89370400440532013000" is one word, and "DE89 3704 0044 0532 0130 00" are six, as "1250" is one
and "1 250" are two. A number that no document has as it is typed becomes the same one as a document
writes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ragkit.catalog import Catalog
from ragkit.indexes.protocol import EntryIndex
from ragkit.indexes.tokenizer import index_tokens
from ragkit.results import Spelling
from ragkit.retrieval.query.date_forms import date_forms
from ragkit.retrieval.query.filter_syntax import quotations
from ragkit.types import Field

_LONGEST_TEXT, _MOST_NUMBERS = 500, 3
_FEWEST_DIGITS, _MOST_SIGNS = 8, 34
_SHORTEST_PIECE, _LONGEST_PIECE = 3, 12
_PIECES_TRIED, _CHUNKS_READ = 4, 40
_GROUP = r"[A-Za-z]{0,2}\d[A-Za-z\d]*"
_NUMBER = re.compile(
    rf"(?<![\w.,:/@#-])\+?\(?{_GROUP}\)?"
    rf"(?:(?:[ /.-]|(?<=\)))\(?(?:[A-Z]{{4}}(?=[ -]?\d)|{_GROUP})\)?){{0,9}}(?![\w@-]|[.,:/]\w)"
)
_THOUSANDS = re.compile(r"[1-9]\d{3,6}|[1-9]\d{0,2}(?:([ .])\d{3})(?:\1\d{3})?")
_BETWEEN_THOUSANDS = re.compile(r"(?<=\d)(?=(?:\d{3})+$)")
_SPACE = "[ \u00a0\u202f]"
_TRUNK = "(0)"
_BETWEEN = r"(?:[ \u00a0\u202f()/.-]{0,3}| ?\(0\) ?)"
_SEPARATORS = re.compile(r"[^A-Za-z\d]+")


def regrouped(
    catalog: Catalog, indexes: Sequence[EntryIndex], text: str, token_ids: Mapping[str, int]
) -> tuple[Spelling, ...]:
    """Return the numbers of a text that no document has so, as one of ``indexes`` has them.

    ``token_ids`` are those of its tokens that the vocabulary holds. Days have other forms anyway.
    """
    if len(text) > _LONGEST_TEXT:
        return ()
    quoted = quotations(text)
    found: dict[str, Spelling] = {}
    for match in _NUMBER.finditer(text):
        number = match[0]
        is_long = sum(map(str.isdigit, number)) >= _FEWEST_DIGITS
        if not (is_long or _THOUSANDS.fullmatch(number)) or len(found) == _MOST_NUMBERS:
            continue
        if any(start <= match.start() < end for start, end in quoted) or date_forms(number):
            continue
        if not is_long:
            meant = _amount(catalog, indexes, number)
        elif all(token in token_ids for token in index_tokens(number)):
            continue
        else:
            meant = next(filter(None, (_written(catalog, indexes, s) for s in _same(number))), "")
        if meant and meant != number:
            found[number] = Spelling(number, meant)
    return tuple(found.values())


def _same(number: str) -> Iterator[str]:
    """Yield a number without what separates its groups; of another country also as from within."""
    together = _SEPARATORS.sub("", number.replace(_TRUNK, ""))
    if len(together) <= _MOST_SIGNS:
        yield together
        abroad = together.removeprefix("00")
        if together.isdigit() and (number.startswith("+") or abroad != together):
            yield abroad
            yield from (f"0{abroad[code:].removeprefix('0')}" for code in (2, 1, 3))


def _amount(catalog: Catalog, indexes: Sequence[EntryIndex], number: str) -> str:
    """Return how a chunk writes a number of thousands: as it is typed, with spaces, or without."""
    whole = _SEPARATORS.sub("", number)
    groups = _BETWEEN_THOUSANDS.split(whole)
    ids = catalog.entries.token_ids([whole, *groups])
    is_there = whole in ids and any(
        index.document_frequencies([ids[whole]], Field.TEXT)[0] for index in indexes
    )
    if is_there and " " not in number:
        return number
    if all(group in ids for group in groups):
        apart = _by_itself(_SPACE.join(groups), " .,/-")
        held = [ids[group] for group in groups]
        found = (_in_chunks(catalog, index, held, apart) for index in indexes)
        if written := next(filter(None, found), ""):
            return number if " " in number else written
    return whole if is_there else ""


def _written(catalog: Catalog, indexes: Sequence[EntryIndex], number: str) -> str:
    """Return how a chunk writes a number; empty if none has it."""
    token = number.lower()
    pieces = [
        token[start:end]
        for start in range(len(token))
        for end in range(start + _SHORTEST_PIECE, min(start + _LONGEST_PIECE, len(token)) + 1)
    ]
    pairs = [token[at : at + 2] for at in range(0, len(token), 2)]
    ids = catalog.entries.token_ids([token, *pieces, *pairs])
    pattern = _by_itself(_BETWEEN.join(number), " ./-")
    for index in indexes:
        if token in ids and index.document_frequencies([ids[token]], Field.TEXT)[0]:
            return number
        known = [piece for piece in pieces if piece in ids]
        counts = index.document_frequencies([ids[piece] for piece in known], Field.TEXT)
        rarest = [known[at] for at in np.argsort(counts, kind="stable").tolist() if counts[at]]
        tried = [[ids[piece]] for piece in rarest[:_PIECES_TRIED]]
        if all(pair in ids for pair in pairs):
            tried.append([ids[pair] for pair in dict.fromkeys(pairs)])
        for held in tried:
            if as_written := _in_chunks(catalog, index, held, pattern):
                return as_written
    return ""


def _in_chunks(
    catalog: Catalog, index: EntryIndex, held: Sequence[int], pattern: re.Pattern[str]
) -> str:
    """Return what a pattern finds in the first chunks that hold some tokens."""
    entries, _ = index.holding(held)
    chunks = catalog.chunk_texts(entries[:_CHUNKS_READ].tolist(), whole=True)
    return next((found[0] for chunk in chunks if (found := pattern.search(chunk.text))), "")


def _by_itself(number: str, joints: str) -> re.Pattern[str]:
    """Return the pattern of a number that no digits continue, also beyond one of ``joints``."""
    return re.compile(
        rf"(?<![^\W_])(?<!\d[{joints}]){number}(?![^\W_])(?![{joints}]\d)", re.IGNORECASE
    )
