"""Results of tools as text for a model: numbered passages in fences that they cannot close."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ragkit.formatting import page_range
from ragkit.retrieval.context_block import escaped, fenced, one_line

_LONGEST = 200


def answer_as_text(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the results of a search as lines."""
    results, total = value["results"], value["total_documents"]
    if not results:
        yield "Nothing found."
    else:
        yield f"{len(results)} of {total} documents. {value['note']}"
    yield from map(one_line, value["notices"])
    if value["questions"] > 1:
        yield (
            f"These are {value['questions']} questions in one: rag_search_long searches for each."
        )
    if value["suggestion"]:
        yield f"Did you mean: {plain(value['suggestion'])}"
    if value["missing_terms"]:
        yield f"Nowhere in the documents: {plain(', '.join(value['missing_terms']))}"
    if results and value["nothing_close"]:
        yield "Nothing here is close to the question. The nearest:"
    yield from results_as_text(results, scored=not value["listed"])
    yield from _ending(value)


def chunked_answer_as_text(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the results of a search with a long text as lines."""
    results = value["results"]
    yield f"{len(results)} results. {value['note']}" if results else "Nothing found."
    yield from map(one_line, value["notices"])
    for number, topic in enumerate(value["topics"], start=1):
        yield f"Topic {number}: {plain(topic['name'])}"
    yield from results_as_text(results)
    yield from _ending(value)


def results_as_text(results: Sequence[Mapping[str, Any]], *, scored: bool = True) -> Iterator[str]:
    """Yield numbered results with numbered passages."""
    for number, result in enumerate(results, start=1):
        document = result["document"]
        yield ""
        yield f"## {number}. {plain(document['title'] or document['path'])}"
        facts = [f"id {document['id']}", path_of(document)]
        facts += [document["date"][:10]] if document["date"] else []
        facts += [result["chunk_coverage"]]
        facts += [f"score {result['score']:.2f}{' (weak)' if result['weak'] else ''}"] * scored
        if result["missing_terms"]:
            facts.append(f"without: {plain(', '.join(result['missing_terms']))}")
        if topics := result.get("topics"):
            facts.append(f"topics {', '.join(str(topic + 1) for topic in topics)}")
        facts += ["its file is gone"] * result["missing"]
        facts += [f"also at {plain(', '.join(result['also_at']))}"] * bool(result["also_at"])
        yield " · ".join(facts)
        for within, passage in enumerate(result["passages"], start=1):
            yield f"[{number}.{within}] {place_of(passage, document)}"
            if passage["text"]:
                yield fenced(passage["text"]).rstrip("\n")


def place_of(passage: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    """Return where a passage of a document is: its headings, page, chunks and characters."""
    heading = " › ".join(passage["heading_path"])
    facts = [plain(heading)] if heading else []
    page = passage["page"]
    facts += [] if page is None else [page_range(page, page, document["format"])]
    first, last = (index + 1 for index in passage["chunks"])
    facts += [f"chunk {first}" if first == last else f"chunks {first}-{last}"]
    facts += [f"characters {passage['start']}-{passage['end']}"]
    facts += ["cut"] * passage["cut"]
    return " · ".join(facts)


def path_of(document: Mapping[str, Any]) -> str:
    """Return the path of a document in a code span that it cannot end."""
    return f"`{one_line(document['path']).replace('`', '_')}`"


def _ending(value: Mapping[str, Any]) -> Iterator[str]:
    if value["left_out"]:
        yield ""
        yield value["left_out"]
    if value["results"]:
        yield ""
        yield "To read on: get_document(id, start, end), or neighbours(id, chunk)."


def plain(text: str, longest: int = _LONGEST) -> str:
    """Return a text on one line, shortened and without markup."""
    line = one_line(text)
    return escaped(line if len(line) <= longest else f"{line[: longest - 1]}…")
