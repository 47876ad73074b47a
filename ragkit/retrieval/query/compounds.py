"""Compounds: a word that no document has, and the words of a text that say the same.

German and its kin write in one word what may stand apart, or within a longer word: "Mietkaution" is
asked where a contract says "Kaution" and "Miete", and "Meniskusriss" where a letter has
"Innenmeniskusriss". Parts count only where a chunk has both: of two words that nothing joins,
neither is what the compound names ("Hundesteuer").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ragkit.catalog import Catalog
from ragkit.indexes.protocol import EntryIndex
from ragkit.indexes.tokenizer import index_tokens

_LANGUAGES = frozenset(("de", "nl", "sv", "da", "no", "fi", "hu"))
"""Languages in which a word within a longer one names the same, or nearly."""

_SHORTEST_PART, _SHORTEST_WITHIN, _FEWEST_MORE = 4, 5, 3
_JOINTS = ("", "s", "es", "n", "en", "er")
"""What may join a part to the next, besides what ends its own forms."""

_MOST_LONGER = 200
_LETTERS = re.compile(r"[^\W\d_]+")


def apart_or_within(catalog: Catalog, indexes: Sequence[EntryIndex], word: str) -> str:
    """Return what texts have instead of a compound, as they write it; or nothing."""
    return _apart(catalog, indexes, word) or _within(catalog, indexes, word)


def _apart(catalog: Catalog, indexes: Sequence[EntryIndex], word: str) -> str:
    """Return two words of a chunk, or of it and its folders, that make up a word."""
    splits = dict(_splits(word))
    ids = catalog.entries.token_ids([token for split in splits for token in split])
    known = [split for split in splits if ids.keys() >= {*split}]
    # The shorter of two words says more of where a word is parted than the longer one.
    for split in sorted(known, key=lambda split: -min(map(len, split))):
        for index in indexes:
            entries = index.holding([ids[token] for token in split])[0]
            for text in _texts(catalog, entries[:1].tolist()):
                pairs = zip(split, splits[split], strict=True)
                # Words of a document's folders, which its first chunk has too, are not in the text.
                return " ".join(_written(text, token) or part for token, part in pairs)
    return ""


def _splits(word: str) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Yield the tokens of each two parts that a word may be made of, with the parts."""
    for end in range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1):
        before, second = word[:end], word[end:]
        for first in {before.removesuffix(joint) for joint in _JOINTS}:
            tokens = [*index_tokens(first), *index_tokens(second)]
            if len(tokens) == 2 and len(first) >= _SHORTEST_PART:
                parts = (first, second.capitalize() if word.istitle() else second)
                yield (tokens[0], tokens[1]), parts


def _within(catalog: Catalog, indexes: Sequence[EntryIndex], word: str) -> str:
    """Return a longer word that ends or begins with a word, the one that most chunks have."""
    own = index_tokens(word)
    if len(own) != 1 or len(word) < _SHORTEST_WITHIN:
        return ""
    longer = catalog.entries.longer_words(own[0], _FEWEST_MORE)[:_MOST_LONGER]
    ids = catalog.entries.token_ids(longer)
    held = [(token, *index.holding([ids[token]])) for token in ids for index in indexes]
    held.sort(key=lambda each: (not each[0].endswith(own[0]), -len(each[1]), len(each[0])))
    for token, entries, documents in held:
        languages = catalog.documents.languages(documents[:1].tolist())
        if not _LANGUAGES.isdisjoint(languages.values()):
            for text in _texts(catalog, entries[:1].tolist()):
                return _written(text, token)
    return ""


def _texts(catalog: Catalog, entries: Sequence[int]) -> Iterator[str]:
    """Yield chunks with their headings."""
    for chunk in catalog.chunk_texts(entries):
        yield f"{chunk.context}\n{chunk.text}"


def _written(text: str, token: str) -> str:
    """Return the first word of a text that has a token, or nothing."""
    return next((word for word in _LETTERS.findall(text) if index_tokens(word) == [token]), "")
