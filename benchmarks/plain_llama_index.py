"""The yardstick of bench_indexing: what a plain llama-index script does over the same files.

Reads Markdown files, splits them at headings and by size, embeds with the same WordLlama vectors,
and keeps them in a FAISS index. No catalog, no keyword index, no update.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import faiss
import numpy as np
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import MarkdownNodeParser, SentenceSplitter
from llama_index.core.schema import Document

from ragkit.models.factory import local_embedder


class SameVectors(BaseEmbedding):
    """The built-in embedder as llama-index knows one."""

    def _get_text_embeddings(self, texts: Sequence[str]) -> list[list[float]]:
        return local_embedder().embed_passages(texts).tolist()

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return local_embedder().embed_queries([query])[0].tolist()

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


def main(folder: Path) -> None:
    files = sorted(path for path in folder.rglob("*") if path.suffix in {".md", ".mdx", ".txt"})
    documents = [
        Document(text=path.read_text("utf-8", "replace"), metadata={"path": str(path)})
        for path in files
    ]
    pipeline = IngestionPipeline(
        transformations=[
            MarkdownNodeParser(),
            SentenceSplitter(chunk_size=430, chunk_overlap=100),
            SameVectors(embed_batch_size=512),
        ],
        disable_cache=True,
    )
    nodes = pipeline.run(documents=documents)
    vectors = np.array([node.embedding for node in nodes], dtype=np.float32)
    index = faiss.IndexScalarQuantizer(
        vectors.shape[1], faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
    )
    index.add(vectors)
    print(len(files), "files", len(nodes), "nodes", index.ntotal, "vectors")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
