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
"""Metadata that neither a language model nor an embedder gets to see."""


class RagkitRetriever(BaseRetriever):
    """Searches a library; each node is a passage, ``text[start:end]`` of a document.

    It takes options as ``Library.search`` does: ``RagkitRetriever(library, limit=5,
    mode="keyword", collections=("work",))``. ``limit`` counts documents, each of which has one or
    more passages. ``library`` may also be a directory; ``close`` then closes the library, while one
    that was passed open stays open. Safe to share between threads; async calls search in a thread.

    A node's score is that of the best chunk in its passage (``MatchedChunk.score``): it orders the
    nodes of one answer, and 1.0 is high. After reranking it is the grade divided by the best
    possible one, and ``None`` for chunks that were not graded. It is ``None``, too, if the question
    has only filters, and for shortened passages without a match. Nodes are sorted by score, or as
    ``sort`` says. Ids (``document:start``) and metadata do not depend on the question, so nodes of
    several questions can be merged.
    """

    def __init__(
        self,
        library: Library | Path | str,
        options: SearchOptions | None = None,
        *,
        callback_manager: CallbackManager | None = None,
        **changes: Any,
    ) -> None:
        """Create a retriever with these options, or with ``changes`` to the library's.

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
        return _nodes(answer, answer.sorted_by(options.sort))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)

    def _options_now(self) -> SearchOptions:
        """Return the search options, including the collection's own, which may have changed."""
        # A node without its text would be useless.
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
    """Return the best score of the chunks in a passage, or the best grade as a fraction."""
    first, last = passage.chunks
    own = [chunk for chunk in result.matched_chunks if first <= chunk.index <= last]
    if graded:
        grades = [chunk.grade / BEST_GRADE for chunk in own if chunk.grade is not None]
        return max(grades, default=None)
    # What was found as a whole is ranked by that, not by its parts.
    return max((result.score if chunk.part_of else chunk.score for chunk in own), default=None)


def _node(document: DocumentRef, passage: Passage) -> TextNode:
    """Return a passage as a node, with the metadata that is not empty."""
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
