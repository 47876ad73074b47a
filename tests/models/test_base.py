from __future__ import annotations

import numpy as np
import pytest

from ragkit.models.base import Embedder, to_unit_length


def test_every_embedder_keeps_the_contract(embedder: Embedder):
    assert isinstance(embedder, Embedder)
    texts = [
        "a database connection",
        "",
        "  \n ",
        "日本語の文書",
        "a database connection",
        "x" * 5000,
    ]
    vectors = embedder.embed_passages(texts)
    assert vectors.shape == (6, embedder.dimensions)
    assert vectors.dtype == np.float32
    lengths = np.linalg.norm(vectors, axis=1)
    assert lengths == pytest.approx([1, 0, 0, 1, 1, 1], abs=1e-5)
    assert np.array_equal(vectors[0], vectors[4])
    query = embedder.embed_queries(["a database connection"])[0]
    assert query.shape == (embedder.dimensions,)
    assert float(query @ vectors[0]) == pytest.approx(1.0, abs=1e-5)
    assert not embedder.embed_queries([""])[0].any()
    assert embedder.embed_passages([]).shape == (0, embedder.dimensions)


def test_rows_that_cannot_be_scaled_become_zeros():
    rows = np.array([[3, 4], [0, 0], [np.nan, 1], [np.inf, 1], [1e-20, 0]], np.float32)
    assert to_unit_length(rows) == pytest.approx(
        np.array([[0.6, 0.8], [0, 0], [0, 0], [0, 0], [0, 0]])
    )
