from __future__ import annotations

import numpy as np

from ragkit.models.hashing import HashEmbedder


def test_the_hash_embedder_never_changes():
    vector = HashEmbedder(8).embed_queries(["ragkit"])[0]
    assert (vector * np.sqrt(8)).round().astype(int).tolist() == [1, 1, -1, 1, -1, -1, 1, -1]
    both = HashEmbedder().embed_passages(["red apple", "red pear", "blue sky"])
    assert both[0] @ both[1] > both[0] @ both[2]
