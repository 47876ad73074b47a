"""The embedded embedder: static token vectors of the installed wordllama wheel, pooled here.

The wheel's own loader looks for its tokenizer in another place and then turns to the network, and
its pooling is half as fast, so only its two data files are used.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from ragkit.errors import ModelError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    _Parts: TypeAlias = tuple[NDArray[np.float32], Tokenizer]

LONGEST_TEXT = 200_000
"""Characters of one text that are embedded; what comes after them is not."""

COUNT_POWER = 0.6
"""A token that occurs n times counts n ** this: measured better than 1 on most question sets."""

_WEIGHTS = Path("weights", "l2_supercat_256.safetensors")
_WORD_START = "\u2581"
_TOKENIZER = Path("tokenizers", "l2_supercat_tokenizer_config.json")
_WORDS_IN_NAMES = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")
_PUNCTUATION = re.compile(
    r"[!-/:-@\[-^`{-~\u00a1\u00ab\u00b7\u00bb\u00bf\u2010-\u205e\u3001-\u3003\u3008-\u3011]+"
)
_FEW_WORDS = 16
_BATCH_TEXTS = 512
_BATCH_CHARACTERS = 1_000_000
_CACHED_CHARACTERS = 300_000

_DIMENSIONS = 256
_DIGESTS = {
    (
        "ZLR6LcSTy46FlEB2YBGJc5hS17ZODh7tyxk3olHNn9U",
        "v0Z8ng9Ta9onEoPG74XrGpQ-MZa2IcipEtZJU7IF34M",
    ): "29bed97a722efe54",
}
"""Fingerprints by the checksums (SHA-256) of weights and tokenizer in the wheel's list of files.

With it a process that embeds nothing need not read 18 MB to know what it would embed with.
"""


class _Known:
    """The tokens of words met before. Full, it makes way for another; who holds it may go on."""

    def __init__(self) -> None:
        self.ids: dict[str, tuple[int, ...]] = {}
        self._characters = 0

    def with_more(self, words: set[str], fresh: dict[str, tuple[int, ...]]) -> _Known:
        """Add fresh words; return a cache that holds all of ``words``."""
        cache = self
        more = sum(map(len, fresh))
        if self._characters + more > _CACHED_CHARACTERS:
            cache = _Known()
            cache.ids = {word: self.ids[word] for word in words if word in self.ids}
        cache.ids.update(fresh)
        cache._characters += more
        return cache


class WordLlamaEmbedder:
    """Weighted means of token vectors; the order of words makes no difference.

    Safe between threads.
    """

    name = "wordllama"

    def __init__(
        self,
        load: Callable[[], _Parts],
        fingerprint: str,
        dimensions: int,
        count_power: float = COUNT_POWER,
    ) -> None:
        """Keep a function that loads the weighted vectors (v, d) and the tokenizer.

        A row of zeros counts for nothing.
        """
        self._load = load
        self._count_power = count_power
        self._words, self._plain_words = _Known(), _Known()
        self._asked: dict[str, NDArray[np.float32]] = {}
        self.fingerprint = fingerprint
        self.dimensions = dimensions

    @classmethod
    def open(cls, count_power: float = COUNT_POWER) -> WordLlamaEmbedder:
        """Find the installed wheel; no network. Its files are read (about 0.1 s) when needed.

        A ``count_power`` of 1 means plain means.

        Raises:
            ModelError: the wheel is missing or damaged.
        """
        folder = _wheel_folder()
        digest = _DIGESTS.get(_listed_files(folder) or ("", ""))
        if digest and count_power == COUNT_POWER:
            fingerprint = f"{cls.name}-{_DIMENSIONS}-{digest}"
            return cls(lambda: _read_whole(folder, fingerprint), fingerprint, _DIMENSIONS)
        vectors, tokenizer, fingerprint = _read(folder, count_power)
        return cls(lambda: (vectors, tokenizer), fingerprint, vectors.shape[1], count_power)

    @cached_property
    def _parts(self) -> _Parts:
        return self._load()

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts to be searched, (n, d): unit rows, or zeros for a text without words."""
        import numpy as np

        from ragkit.models.base import to_unit_length

        pooled = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for start, end in _batches(texts):
            # Nothing of white space, which the tokenizer would make tokens of.
            bounded = ["" if text.isspace() else text[:LONGEST_TEXT] for text in texts[start:end]]
            words = [text.split() for text in bounded]
            ids_of = self._look_up(set(chain.from_iterable(words)))
            for row, (text, inside) in enumerate(zip(bounded, words, strict=True), start):
                ids = list(chain.from_iterable(map(ids_of.__getitem__, inside)))
                self._pool(ids or self._encode(text), pooled[row])
        return to_unit_length(pooled)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions, (n, d): questions and passages are embedded alike.

        Those of the last call are remembered: the messages that show where a long text changes
        its topic are asked next.
        """
        import numpy as np

        vectors = self._asked
        unknown = [text for text in dict.fromkeys(texts) if text not in vectors]
        if unknown:
            vectors = {**vectors, **dict(zip(unknown, self.embed_passages(unknown), strict=True))}
        self._asked = {text: vectors[text] for text in texts}
        rows = np.empty((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            rows[row] = vectors[text]
        return rows

    def pieces(self, word: str) -> int:
        """Return into how many tokens a plain word is taken apart; one for a common word."""
        return len(self._encode_words({word})[word])

    def known_share(self, text: str) -> float:
        """Return the share of a text's letters that are in tokens of several letters.

        About 1 in languages that the vectors were made for. Near 0 where words fall into single
        letters and bytes, whose vectors say nothing: Arabic, Greek, Chinese, Japanese, Thai.
        """
        words = plain_words(text).split()
        tokens_of = self._encode_words(set(words))
        name_of = self._parts[1].id_to_token
        letters = sum(
            len(name)
            for word in words
            for token in tokens_of[word]
            if len(name := (name_of(token) or "").removeprefix(_WORD_START)) > 1
            and not name.startswith("<0x")
        )
        return min(letters / max(sum(map(len, words)), 1), 1.0)

    def _encode(self, text: str) -> list[int]:
        """Return the tokens of a whole text."""
        ids: list[int] = self._parts[1].encode(plain_words(text), add_special_tokens=False).ids
        return ids

    def _look_up(self, words: set[str]) -> dict[str, tuple[int, ...]]:
        """Return the tokens of words as they occur in texts, none for punctuation alone.

        No token of the vocabulary reaches over a space, so that the tokens of a text are those
        of its words, each of which is taken apart but once.
        """
        cache = self._words
        unknown = words.difference(cache.ids)
        if unknown:
            plain = {word: _plain(word).split() for word in unknown}
            pieces = self._encode_words(set(chain.from_iterable(plain.values())))
            fresh = {
                word: tuple(chain.from_iterable(map(pieces.__getitem__, parts)))
                for word, parts in plain.items()
            }
            self._words = cache = cache.with_more(words, fresh)
        return cache.ids

    def _encode_words(self, words: set[str]) -> dict[str, tuple[int, ...]]:
        """Return the tokens of plain words."""
        cache = self._plain_words
        unknown = list(words.difference(cache.ids))
        if unknown:
            tokenizer = self._parts[1]
            if len(unknown) < _FEW_WORDS:
                # Those of a question: waking threads takes longer, on a busy machine far longer.
                encoded = [tokenizer.encode(word, add_special_tokens=False) for word in unknown]
            else:
                encoded = tokenizer.encode_batch_fast(unknown, add_special_tokens=False)
            fresh = {
                word: tuple(encoding.ids) for word, encoding in zip(unknown, encoded, strict=True)
            }
            self._plain_words = cache = cache.with_more(words, fresh)
        return cache.ids

    def _pool(self, ids: list[int], into: NDArray[np.float32]) -> None:
        """Write the weighted sum of the tokens' vectors; its length does not matter."""
        import numpy as np

        if not ids:
            return
        vectors = self._parts[0]
        if self._count_power == 1.0:
            np.add.reduce(vectors[ids], axis=0, out=into)
            return
        ordered = np.array(ids, dtype=np.int32)
        ordered.sort()
        ends = np.append(np.flatnonzero(ordered[1:] != ordered[:-1]), len(ordered) - 1)
        counts = ends.astype(np.float32)
        counts[1:] -= ends[:-1]
        counts[0] += 1.0
        counts **= self._count_power
        np.dot(counts, vectors[ordered[ends]], out=into)


def plain_words(text: str) -> str:
    """Write a text as its words are best known: names divided, lower case, no punctuation.

    A text of nothing but punctuation comes back as it is.
    """
    return _plain(text) or unicodedata.normalize("NFKC", text)


def _plain(text: str) -> str:
    """Return a text in plain words, empty for punctuation alone; words do not affect each other."""
    if text.isascii() and text.isalpha() and text.islower():
        return text
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    divided = _WORDS_IN_NAMES.sub(" ", text)
    return " ".join(_PUNCTUATION.sub(" ", divided).lower().split())


def _batches(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield ranges of texts, bounded by the number of texts and characters."""
    start = size = 0
    for position, text in enumerate(texts):
        size += min(len(text), LONGEST_TEXT)
        if position + 1 - start >= _BATCH_TEXTS or size >= _BATCH_CHARACTERS:
            yield start, position + 1
            start, size = position + 1, 0
    if start < len(texts):
        yield start, len(texts)


def _wheel_folder() -> Path:
    """Find the installed wheel without importing it."""
    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise ModelError("The package wordllama is not installed.", "Reinstall ragkit.")
    return Path(spec.origin).parent


def _listed_files(folder: Path) -> tuple[str, str] | None:
    """Return the checksums of weights and tokenizer in the installer's list, if it has them."""
    names = [f"{folder.name}/{file.as_posix()}" for file in (_WEIGHTS, _TOKENIZER)]
    listed: dict[str, str] = {}
    try:
        for record in folder.parent.glob(f"{folder.name}-*.dist-info/RECORD"):
            for line in record.read_text("utf-8").splitlines():
                name, _, rest = line.partition(",")
                checksum, _, size = rest.partition(",")
                if name in names and (folder.parent / name).stat().st_size == int(size):
                    listed[name] = checksum.removeprefix("sha256=")
        return listed[names[0]], listed[names[1]]
    except (OSError, ValueError, KeyError):
        return None


def _read_whole(folder: Path, fingerprint: str) -> _Parts:
    """Read the two files, which must be those that the list of files promised."""
    vectors, tokenizer, actual = _read(folder, COUNT_POWER)
    if actual != fingerprint:
        raise ModelError("The built-in embedding model has been changed.", "Reinstall ragkit.")
    return vectors, tokenizer


def _read(folder: Path, count_power: float) -> tuple[NDArray[np.float32], Tokenizer, str]:
    """Read vectors and tokenizer, and name them."""
    import numpy as np

    try:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        vectors = next(iter(load_file(folder / _WEIGHTS).values())).astype(np.float32)
        tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
    except Exception as error:  # the two libraries raise bare exceptions of their own
        raise ModelError(
            f"The built-in embedding model cannot be read: {error}.", "Reinstall ragkit."
        ) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    digest = hashlib.blake2b(digest_size=8)
    digest.update(f"wordllama 2 {count_power} {LONGEST_TEXT} {vectors.shape}".encode())
    # Wheels differ in whether the file ends with a new line.
    digest.update((folder / _TOKENIZER).read_bytes().rstrip() + b"\n")
    digest.update((folder / _WEIGHTS).read_bytes())
    unknown = tokenizer.token_to_id("<unk>")
    if unknown is not None:
        vectors[unknown] = 0.0
    return vectors, tokenizer, f"wordllama-{vectors.shape[1]}-{digest.hexdigest()}"
