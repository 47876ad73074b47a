"""A retriever for llama-index: the passages of a search as nodes with scores.

Importing this module imports llama_index (about 2 s).
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.schema import (
    NodeRelationship,
    NodeWithScore,
    ObjectType,
    QueryBundle,
    RelatedNodeInfo,
    TextNode,
)

import ragkit
from ragkit.library import Library
from ragkit.options import SearchOptions, Sort
from ragkit.results import Answer, DocumentRef, Passage, Result
from ragkit.retrieval.rerank import BEST_GRADE

_FOR_PROGRAMS = ["path", "collection", "document", "format"]
"""What of the metadata neither a language model nor an embedder is shown."""


class RagkitRetriever(BaseRetriever):
    """Searches a library. A node is a passage, as ragkit reconstructs it: ``text[start:end]``.

    Takes options as ``Library.search`` does: ``RagkitRetriever(library, limit=5, mode="keyword",
    collections=("work",))``. ``limit`` counts documents, of which each has one or more passages.
    ``library`` may also be the directory of one, which ``close`` closes then; one that is given
    opened is left open. Safe to share between threads; asynchronous calls search in a thread.

    A node's score is that of the best chunk in its passage (``MatchedChunk.score``), made for
    ordering within one answer: more is better, and 1.0 is much. Where a model reranked, it is the
    grade as a share of the best, and ``None`` for what was not graded. Documents that filters alone
    name have none, nor has what is shown shortened between matches without being one. Nodes come
    best first, or as ``sort`` orders their documents. Ids (``document:start``, of one library) and
    metadata are the same whatever was asked, so that the nodes of several questions can be merged.
    """

    def __init__(
        self,
        library: Library | Path | str,
        options: SearchOptions | None = None,
        *,
        callback_manager: CallbackManager | None = None,
        **changes: Any,
    ) -> None:
        """Make a retriever of a library, with these options, or with ``changes`` to its own.

        Raises:
            LibraryError: there is no library at the path.
            TypeError: options and changes were given, or there is no such option.
            SettingsError: an option cannot have this value.
        """
        super().__init__(callback_manager=callback_manager)
        if options is not None and changes:
            raise TypeError("RagkitRetriever() takes either options or single changes, not both.")
        self._options, self._changes = options, changes
        self._opened = not isinstance(library, Library)
        self.library = library if isinstance(library, Library) else ragkit.open(library)
        try:
            self._options_now()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the library if it was opened here."""
        if self._opened:
            self.library.close()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        options = self._options_now()
        answer = self.library.search(query_bundle.query_str, options)
        self.library.searches.note(query_bundle.query_str, answer, options, door="program")
        return _nodes(answer, options.sort)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)

    def _options_now(self) -> SearchOptions:
        """Return the options of a search, with what its collection sets for itself by now."""
        # A node without its text would be of no use.
        return replace(self._options or self.library.options(**self._changes), show_content=True)


def _nodes(answer: Answer, sort: Sort) -> list[NodeWithScore]:
    """Return the passages of an answer as nodes, best first."""
    graded = answer.rerank is not None and answer.rerank.graded > 0
    nodes = [
        NodeWithScore(
            node=_node(result.document, passage),
            score=None if answer.listed else _score(result, passage, graded=graded),
        )
        for result in answer.results
        for passage in result.passages
    ]
    if sort is Sort.RELEVANCE:
        nodes.sort(key=lambda node: node.get_score(), reverse=True)
    return nodes


def _score(result: Result, passage: Passage, *, graded: bool) -> float | None:
    """Return the score, or the grade as a share, of the best matched chunk in a passage."""
    first, last = passage.chunks
    own = [chunk for chunk in result.matched_chunks if first <= chunk.index <= last]
    if graded:
        grades = [chunk.grade / BEST_GRADE for chunk in own if chunk.grade is not None]
        return max(grades, default=None)
    # What was found as a whole has its place by that, and not by its parts.
    return max((result.score if chunk.part_of else chunk.score for chunk in own), default=None)


def _node(document: DocumentRef, passage: Passage) -> TextNode:
    """Return a passage as a node; of its metadata there is what is known."""
    metadata = {
        "title": document.title,
        "headings": " › ".join(passage.path_at(passage.start)),
        "page": passage.page,
        "date": document.date,
        "path": document.path,
        "collection": document.collection,
        "document": document.id,
        "format": document.format,
    }
    return TextNode(
        id_=f"{document.id}:{passage.start}",
        text=passage.text,
        start_char_idx=passage.start,
        end_char_idx=passage.end,
        metadata={name: value for name, value in metadata.items() if value not in ("", None)},
        excluded_llm_metadata_keys=[*_FOR_PROGRAMS],
        excluded_embed_metadata_keys=[*_FOR_PROGRAMS, "page", "date"],
        relationships={
            NodeRelationship.SOURCE: RelatedNodeInfo(
                node_id=str(document.id),
                node_type=ObjectType.DOCUMENT,
                metadata={"title": document.title, "path": document.path},
            )
        },
    )
