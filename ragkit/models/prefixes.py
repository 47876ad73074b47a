"""Prefixes of questions and passages for the models that were trained with them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prefixes:
    """The prefixes of questions and passages that a model was trained with."""

    query: str = ""
    passage: str = ""

    def __bool__(self) -> bool:
        return bool(self.query or self.passage)


_SEARCHING = Prefixes("Represent this sentence for searching relevant passages: ")
_SHORT = Prefixes("query: ", "passage: ")
_NOMIC = Prefixes("search_query: ", "search_document: ")
_KNOWN: tuple[tuple[str, Prefixes], ...] = (
    ("nomic-embed", _NOMIC),
    ("embeddinggemma", Prefixes("task: search result | query: ", "title: none | text: ")),
    (
        "qwen3-embedding",
        Prefixes(
            "Instruct: Given a web search query, retrieve relevant passages that answer the "
            "query\nQuery:"
        ),
    ),
    ("mxbai-embed", _SEARCHING),
    ("snowflake-arctic-embed2", Prefixes("query: ")),
    ("snowflake-arctic-embed", _SEARCHING),
    ("bge-m3", Prefixes()),
    ("bge-", _SEARCHING),
    ("e5-", _SHORT),
)
"""The first name that occurs in a model's name decides."""


def prefixes_of(model: str) -> Prefixes:
    """Return the prefixes of a model; an unknown one has none."""
    name = model.rstrip("/").rsplit("/", 1)[-1].partition(":")[0].casefold()
    return next((prefixes for part, prefixes in _KNOWN if part in name), Prefixes())
