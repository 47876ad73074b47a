"""The embedded embedder: static token vectors of the installed wordllama wheel, pooled here.

The wheel's own loader looks for its tokenizer in another place and then turns to the network, and
its pooling is half as fast, so only its two data files are used.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ragkit.errors import ModelError
from ragkit.models.base import to_unit_length

if TYPE_CHECKING:
    from tokenizers import Tokenizer

LONGEST_TEXT = 200_000
"""Characters of one text that are embedded; what comes after them is not."""

COUNT_POWER = 0.6
"""A token that stands n times counts n ** this: measured better than 1 on most question sets."""

_WEIGHTS = Path("weights", "l2_supercat_256.safetensors")
_TOKENIZER = Path("tokenizers", "l2_supercat_tokenizer_config.json")
_WORDS_IN_NAMES = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_")
_PUNCTUATION = re.compile(
    r"[!-/:-@\[-^`{-~\u00a1\u00ab\u00b7\u00bb\u00bf\u2010-\u205e\u3001-\u3003\u3008-\u3011]+"
)
_BATCH_TEXTS = 512
_BATCH_CHARACTERS = 1_000_000


class WordLlamaEmbedder:
    """Weighted means of token vectors; the order of words makes no difference.

    Safe between threads.
    """

    name = "wordllama"

    def __init__(
        self,
        vectors: NDArray[np.float32],
        tokenizer: Tokenizer,
        fingerprint: str,
        count_power: float = COUNT_POWER,
    ) -> None:
        """Take token vectors (v, d), already weighted; a row of zeros counts for nothing."""
        self._count_power = count_power
        self._vectors = vectors
        self._tokenizer = tokenizer
        self.fingerprint = fingerprint
        self.dimensions = int(vectors.shape[1])

    @classmethod
    def open(
        cls, token_weights: NDArray[np.float32] | None = None, count_power: float = COUNT_POWER
    ) -> WordLlamaEmbedder:
        """Read the weights and the tokenizer of the installed wheel; about 0.1 s, no network.

        ``token_weights`` (v,) say how much each token of the tokenizer's vocabulary counts;
        ``count_power`` of 1 gives plain means.

        Raises:
            ModelError: the wheel is missing or damaged.
        """
        folder = _wheel_folder()
        try:
            from safetensors.numpy import load_file
            from tokenizers import Tokenizer

            vectors = next(iter(load_file(folder / _WEIGHTS).values())).astype(np.float32)
            tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
        except Exception as error:  # the two libraries raise bare exceptions of their own
            raise ModelError(
                f"The embedded model cannot be read: {error}.", "Install ragkit again."
            ) from error
        tokenizer.no_padding()
        tokenizer.no_truncation()
        digest = hashlib.blake2b(digest_size=8)
        digest.update(f"wordllama 2 {count_power} {LONGEST_TEXT} {vectors.shape}".encode())
        digest.update((folder / _TOKENIZER).read_bytes())
        digest.update((folder / _WEIGHTS).read_bytes())
        if token_weights is not None:
            vectors *= token_weights.astype(np.float32)[:, None]
            digest.update(token_weights.astype("<f4").tobytes())
        unknown = tokenizer.token_to_id("<unk>")
        if unknown is not None:
            vectors[unknown] = 0.0
        return cls(
            vectors, tokenizer, f"wordllama-{vectors.shape[1]}-{digest.hexdigest()}", count_power
        )

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts to be searched, (n, d): unit rows, or zeros for a text without words."""
        pooled = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for start, end in _batches(texts):
            batch = [plain_words(_bounded(text)) for text in texts[start:end]]
            encoded = self._tokenizer.encode_batch_fast(batch, add_special_tokens=False)
            for row, encoding in enumerate(encoded, start):
                self._pool(encoding.ids, pooled[row])
        return to_unit_length(pooled)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed a question, (d,): a unit vector, or zeros for one without words."""
        pooled = np.zeros((1, self.dimensions), dtype=np.float32)
        encoding = self._tokenizer.encode(plain_words(_bounded(text)), add_special_tokens=False)
        self._pool(encoding.ids, pooled[0])
        unit: NDArray[np.float32] = to_unit_length(pooled)[0]
        return unit

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions, (n, d): questions and passages are embedded alike."""
        return self.embed_passages(texts)

    def _pool(self, ids: list[int], into: NDArray[np.float32]) -> None:
        """Write the weighted sum of the tokens' vectors; its length does not matter."""
        if not ids:
            return
        if self._count_power == 1.0:
            np.add.reduce(self._vectors[ids], axis=0, out=into)
            return
        ordered = np.sort(np.array(ids, dtype=np.int32))
        first = np.flatnonzero(np.diff(ordered, prepend=-1))
        counts = np.diff(first, append=len(ordered)).astype(np.float32)
        counts **= self._count_power
        np.dot(counts, self._vectors[ordered[first]], out=into)


def plain_words(text: str) -> str:
    """Write a text as its words are best known: names divided, lower case, no punctuation.

    A text of nothing but punctuation comes back as it is.
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    divided = _WORDS_IN_NAMES.sub(" ", text)
    return " ".join(_PUNCTUATION.sub(" ", divided).lower().split()) or text


def _bounded(text: str) -> str:
    """Cut what is too long, and give nothing for white space alone."""
    return text[:LONGEST_TEXT] if text and not text.isspace() else ""


def _batches(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Give ranges of texts that hold a bounded number of texts and characters."""
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
        raise ModelError("The package wordllama is not installed.", "Install ragkit again.")
    return Path(spec.origin).parent
