"""The tools that search with a question, and with a long text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.options import CHUNKED_OPTIONS
from ragkit.retrieval.query.filter_syntax import FILTER_NAMES
from ragkit.retrieval.query.parser import LONGEST_QUERY
from ragkit.surfaces.mcp import text, values
from ragkit.surfaces.mcp.parameters import Parameter
from ragkit.surfaces.mcp.tool import Call, Found, Tool, collection, filters, search_options

if TYPE_CHECKING:
    from ragkit.settings import Settings

_FILTERS = (
    'Which documents are searched, such as "type:pdf after:2025" or "path:notes tag:draft". The '
    f"filters are {', '.join(FILTER_NAMES)}, and the documents' own fields of front matter."
)

LONGEST_TEXT = 1_000_000
"""The most characters of a long text to search with."""


def rag_search(settings: Settings) -> Tool:
    """Return the tool that searches with a question."""
    return Tool(
        "rag_search",
        "Search the documents",
        "Searches the person's own documents (notes, mails, PDFs, code, conversations) by meaning "
        "and by words. Returns the best passages of each document with its id and path, and their "
        "headings, pages, chunks and characters. Ask in plain words, as specific as you can.",
        (
            Parameter("query", "string", "What to look for.", bounds=(1, LONGEST_QUERY)),
            *search_options(settings, "limit", "mode", "sort"),
            filters(what=_FILTERS),
            *search_options(settings, "chunk_aware", "show_content"),
            collection(settings),
        ),
        {
            "note": "string",
            "query": "string",
            "results": "array",
            "notices": "array",
            "total_documents": "integer",
            "nothing_close": "boolean",
            "missing_terms": "array",
            "suggestion": "string",
            "questions": "integer",
            "listed": "boolean",
            "left_out": "string",
        },
        _search,
    )


def rag_search_long(settings: Settings) -> Tool:
    """Return the tool that searches with a long text."""
    limit = settings.chunked.options().limit
    return Tool(
        "rag_search_long",
        "Search with a long text",
        "Searches with a whole text, such as a conversation, a mail or a draft: it searches for "
        "each of its topics, and merges the results. For a question of a sentence or two, use "
        "rag_search.",
        (
            Parameter("text", "string", "The text to search with.", bounds=(1, LONGEST_TEXT)),
            Parameter.of(CHUNKED_OPTIONS["limit"], limit),
            filters(),
            *search_options(settings, "show_content"),
            collection(settings),
        ),
        {
            "note": "string",
            "topics": "array",
            "results": "array",
            "notices": "array",
            "left_out": "string",
        },
        _search_long,
    )


def _search(call: Call) -> Found:
    library = call.library
    options = library.options(
        limit=call["limit"],
        mode=call["mode"],
        sort=call["sort"],
        chunk_aware=call["chunk_aware"],
        show_content=call["show_content"],
        collections=call["collection"],
        filters=call["filters"],
    )
    answer = library.search(call["query"], options)
    library.contexts.note_hits(answer)
    library.searches.note(call["query"], answer, options, door="mcp")
    value = values.answer_value(answer, call.tokens)
    return text.answer_as_text(value), value


def _search_long(call: Call) -> Found:
    library = call.library
    options = library.options(
        show_content=call["show_content"], collections=call["collection"], filters=call["filters"]
    )
    chunked = library.chunked_options(limit=call["limit"])
    answer = library.search_chunked(call["text"], options, chunked)
    library.searches.note(call["text"], answer, options, door="mcp", chunked=chunked)
    value = values.chunked_answer_value(answer, call.tokens)
    return text.chunked_answer_as_text(value), value
