"""The size of texts in words, for scripts with and without spaces, and the sizes of chunks.

Weights are tenths of a word, so that sums are integers: a run of ordinary characters weighs 10, an
East Asian character 6, a Thai, Lao, Khmer, Burmese or Tibetan one 2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragkit.settings import ChunkingSettings

WORD = 10
"""The weight of one word."""

_EAST_ASIAN = (
    "\u2e80-\u2fff\u3001-\u312f\u31a0-\u31bf\u31f0-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff01-\uff9f\U00020000-\U0003ffff"
)
_SOUTH_EAST_ASIAN = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff"
_SOUTH_EAST_ASIAN_CHARACTER = re.compile(f"[{_SOUTH_EAST_ASIAN}]")
_UNSPACED = re.compile(f"[{_EAST_ASIAN}{_SOUTH_EAST_ASIAN}]")

TOKEN = re.compile(
    f"(?P<east>[{_EAST_ASIAN}])|(?P<south>[{_SOUTH_EAST_ASIAN}])"
    f"|[^\\s{_EAST_ASIAN}{_SOUTH_EAST_ASIAN}]+"
)
"""A unit with weight: one character of an unspaced script, or a run of others."""

RUN = re.compile(TOKEN.pattern.replace("])", "]{1,8})"))
"""The same, with up to eight characters of an unspaced script in one match."""


@dataclass(frozen=True, slots=True)
class ChunkSizes:
    """The sizes of chunks. Not a pydantic model, so that reading processes start quickly.

    A chunk has at most ``words`` words, up to ``overlap`` of them repeated from the previous chunk.
    Neighbouring sections with fewer than ``min_words`` are merged.
    """

    words: int
    overlap: int
    min_words: int

    @classmethod
    def of(cls, settings: ChunkingSettings) -> ChunkSizes:
        """Return the sizes of the settings."""
        return cls(settings.words, settings.overlap, settings.min_words)


def weight(text: str) -> int:
    """Return the weight of a text, which is at most the sum of the weights of its parts."""
    if text.isascii() or _UNSPACED.search(text) is None:
        return WORD * len(text.split())
    spaced, unspaced = _UNSPACED.subn(" ", text)
    south = len(_SOUTH_EAST_ASIAN_CHARACTER.findall(text))
    return WORD * len(spaced.split()) + 6 * (unspaced - south) + 2 * south


def token_weight(token: re.Match[str]) -> int:
    """Return the weight of one match of ``TOKEN`` or ``RUN``."""
    if token.lastgroup is None:
        return WORD
    return (6 if token.lastgroup == "east" else 2) * (token.end() - token.start())


def is_unspaced(character: str) -> bool:
    """Return whether a character belongs to a script without spaces between words."""
    return _UNSPACED.match(character) is not None


def word_count(text: str) -> int:
    """Return the number of words, rounded up; in unspaced scripts, it is estimated."""
    return -(-weight(text) // WORD)
