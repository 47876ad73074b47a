"""Vectors to measure indexes with: of texts by the product's embedder, their pairs, or clusters.

``texts``: every vector is that of a text, embedded as the product embeds it. A text is a window of
60 to 180 words anywhere in the sets beside the project (in the sample library where there are
none); half of them go on with up to 60 words of a window nearby, and a tenth with some of any
other, as documents quote and repeat. Questions are those of the sets, or words of windows.

``pairs``: every vector is half that of one of 100,000 such texts and half of another, with noise:
as many as are wanted, spread out more than texts are. The questions are those of texts.

``clusters``: centres of Zipf's sizes, one for 100 vectors, with noise; questions are vectors of the
same kind.
"""

from __future__ import annotations

import hashlib
import random
import tempfile
from pathlib import Path

import numpy as np
from common import SHARED
from large_library import questions, texts

from ragkit.models.factory import open_embedder
from ragkit.settings import load_settings

KINDS = ("texts", "pairs", "clusters")
_LAYOUT = 1
_SHORTEST, _LONGEST, _MORE, _NEAR = 60, 180, 60, 2_000
_BATCH = 10_000
_PER_CENTRE, _NOISE = 100, 0.7
_TEXTS, _PAIR_NOISE = 100_000, 0.3


def vectors_of(kind: str, rows: int, asked: int) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors (rows, d) in half precision, and questions (asked, d).

    Texts of fewer rows are the first of those of more, and kept in the temporary folder.
    """
    if kind == "clusters":
        return _clusters(rows, asked)
    if kind == "pairs":
        of_texts, of_questions = vectors_of("texts", min(_TEXTS, rows), asked)
        return _pairs(of_texts, rows), of_questions
    embedder = open_embedder(load_settings().models)
    parts = [_LAYOUT, SHARED.is_dir(), embedder.fingerprint]
    key = hashlib.blake2b(repr(parts).encode(), digest_size=4).hexdigest()
    file = Path(tempfile.gettempdir(), f"ragkit-bench-vectors-{key}.npy")
    have = np.load(file) if file.is_file() else np.zeros((0, embedder.dimensions), np.float16)
    if len(have) < rows:
        words = [word for text in texts() for word in text.split()]
        found = [have]
        for start in range(len(have), rows, _BATCH):
            written = [variation(words, number) for number in range(start, start + _BATCH)]
            found.append(embedder.embed_passages(written[: rows - start]).astype(np.float16))
        have = np.concatenate(found)
        making = file.with_suffix(".making.npy")
        np.save(making, have)
        making.replace(file)
    return have[:rows], embedder.embed_queries(questions(asked, random.Random(7)))


def variation(words: list[str], number: int) -> str:
    """Write the text of a number: the same one whenever it is asked for."""
    chooser = random.Random(number)
    start = chooser.randrange(len(words))
    text = words[start : start + chooser.randint(_SHORTEST, _LONGEST)]
    share = chooser.random()
    if share < 0.6:
        other = start + chooser.randint(-_NEAR, _NEAR) if share < 0.5 else chooser.getrandbits(40)
        other %= len(words)
        text = text + words[other : other + chooser.randint(1, _MORE)]
    return " ".join(text)


def _pairs(texts: np.ndarray, rows: int) -> np.ndarray:
    random_numbers = np.random.default_rng(5)
    found = np.zeros((rows, texts.shape[1]), np.float16)
    for start in range(0, rows, _BATCH):
        part = found[start : start + _BATCH]
        one, other = random_numbers.integers(0, len(texts), (2, len(part)))
        vectors = texts[one].astype(np.float32) + texts[other]
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        noise = random_numbers.standard_normal(part.shape, dtype=np.float32)
        vectors += noise * (_PAIR_NOISE / np.sqrt(part.shape[1]))
        part[:] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return found


def _clusters(rows: int, asked: int, dimensions: int = 256) -> tuple[np.ndarray, np.ndarray]:
    random_numbers = np.random.default_rng(20260101)
    centres = max(rows // _PER_CENTRE, 1)
    middles = random_numbers.standard_normal((centres, dimensions), dtype=np.float32)
    middles /= np.linalg.norm(middles, axis=1, keepdims=True)
    sizes = 1 / np.arange(1, centres + 1)
    found = np.zeros((rows + asked, dimensions), np.float16)
    for start in range(0, len(found), _BATCH):
        part = found[start : start + _BATCH]
        noise = random_numbers.standard_normal(part.shape, dtype=np.float32)
        of = random_numbers.choice(centres, len(part), p=sizes / sizes.sum())
        vectors = middles[of] + noise * (_NOISE / np.sqrt(dimensions))
        part[:] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    mixed = found[random_numbers.permutation(len(found))]
    return mixed[:rows], mixed[rows:].astype(np.float32)
