"""The words of the vocabulary in memory, to find those spelled alike."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from ragkit.catalog.connection import Connections

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Vocabulary:
    """Words by length, each with the set of its letters as bits. Safe to share between threads.

    Each call reads the words added since the one before.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._guard = threading.Lock()
        self._words: dict[int, list[str]] = {}
        self._letters: dict[int, NDArray[np.uint32]] = {}
        self._newest = 0

    def near(self, word: str, most: int) -> list[tuple[str, int]]:
        """Return words within ``most`` edits (OSA), each with their number, the nearest first.

        Some may be in no document any more.
        """
        import numpy as np
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        (letters_of_word,) = _letters_of([word], len(word))
        candidates: list[str] = []
        with self._guard:
            self._catch_up()
            for length in range(max(1, len(word) - most), len(word) + most + 1):
                words = self._words.get(length, [])
                letters = self._letters.get(length)
                if letters is None or len(letters) < len(words):
                    new = words[0 if letters is None else len(letters) :]
                    added = _letters_of(new, length)
                    letters = added if letters is None else np.concatenate([letters, added])
                    self._letters[length] = letters
                # Another letter changes two bits at most; one more or less changes one.
                apart = 2 * most - abs(length - len(word))
                rows = np.flatnonzero(np.bitwise_count(letters ^ letters_of_word) <= apart)
                candidates += [words[row] for row in rows.tolist()]
        matches = process.extract(
            word, candidates, scorer=OSA.distance, score_cutoff=most, limit=None
        )
        return [(token, int(distance)) for token, distance, _ in matches]

    def longer(self, word: str, least: int) -> list[str]:
        """Return words that end or begin with one and have at least ``least`` more letters."""
        with self._guard:
            self._catch_up()
            lengths = [length for length in sorted(self._words) if length >= len(word) + least]
            return [
                longer
                for length in lengths
                for longer in self._words[length]
                if longer.endswith(word) or longer.startswith(word)
            ]

    def _catch_up(self) -> None:
        (newest,) = self._connections.row("SELECT max(id) FROM vocabulary") or (None,)
        if (newest or 0) < self._newest:
            self._newest = 0
            self._words.clear()
            self._letters.clear()
        rows: list[Any] = self._connections.rows(
            "SELECT id, token FROM vocabulary WHERE id > ? ORDER BY id", (self._newest,)
        )
        for token_id, token in rows:
            self._newest = token_id
            if token.isalpha():
                self._words.setdefault(len(token), []).append(token)


def _letters_of(words: list[str], length: int) -> NDArray[np.uint32]:
    """Return the letters of each word as a set of 32 bits, (n,), by code modulo 32."""
    import numpy as np

    codes = np.array(words, f"<U{length}").view(np.uint32).reshape(len(words), length)
    bits: NDArray[np.uint32] = np.bitwise_or.reduce(np.uint32(1) << (codes & np.uint32(31)), axis=1)
    return bits
