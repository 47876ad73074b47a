from __future__ import annotations

import pytest

from ragkit.models.hashing import HashEmbedder


@pytest.mark.slow
def test_llama_index_gets_the_embedder_s_own_vectors():
    from llama_index.core.schema import TextNode

    from ragkit.models.llama_index import LlamaIndexEmbedding

    inner = HashEmbedder(16)
    adapter = LlamaIndexEmbedding(inner, embed_batch_size=2)
    nodes = adapter([TextNode(text=text) for text in ("one", "two words", "three")])
    for node in nodes:
        assert node.embedding == inner.embed_query(node.get_content()).tolist()
    assert adapter.get_query_embedding("one") == inner.embed_query("one").tolist()
    assert adapter.model_name == inner.fingerprint
