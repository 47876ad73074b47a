"""Chinese in its other characters: what is asked in simplified ones finds traditional ones too."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ragkit.catalog import Catalog
from ragkit.indexes.analyzer import HAN
from ragkit.indexes.tokenizer import query_tokens

if TYPE_CHECKING:
    from opencc import OpenCC

_LONGEST = 500
_TRADITIONAL = ("s2t", "s2tw", "s2hk")
"""OpenCC's names of what it can do: as in its dictionary, in Taiwan and in Hong Kong."""


def writings(text: str) -> tuple[str, ...]:
    """Return a text in simplified characters and in traditional ones; none if it has no Chinese.

    Each has as many characters as the text, so that words stand in the same places.
    """
    if not HAN.search(text):
        return ()
    simplified = _converter("t2s").convert(text)
    written = (simplified, *(_converter(name).convert(simplified) for name in _TRADITIONAL))
    return tuple(each for each in dict.fromkeys(written) if len(each) == len(text))


def han_variants(catalog: Catalog, text: str) -> dict[str, tuple[str, ...]]:
    """Return a question's tokens in other characters that the vocabulary has, by its own tokens."""
    text = text[:_LONGEST]
    own = query_tokens(text)
    variants: dict[str, dict[str, None]] = {}
    for tokens in map(query_tokens, writings(text)):
        pairs = zip(own, tokens, strict=True) if len(tokens) == len(own) else ()
        for token, variant in pairs:
            if variant != token:
                variants.setdefault(token, {})[variant] = None
    known = catalog.entries.token_ids([each for others in variants.values() for each in others])
    found = ((own, tuple(filter(known.__contains__, others))) for own, others in variants.items())
    return {own: others for own, others in found if others}


@cache
def _converter(name: str) -> OpenCC:
    """Return a converter. It reads its dictionaries (70 ms for the first traditional one)."""
    from opencc import OpenCC

    return OpenCC(name)
