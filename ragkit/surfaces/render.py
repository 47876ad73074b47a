"""Answers and documents as JSON values and as text, for all surfaces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ragkit.formatting import is_seen, page_range, shortened
from ragkit.types import Level

if TYPE_CHECKING:
    from ragkit.answering.excerpts import Excerpt
    from ragkit.catalog.records import DocumentRecord
    from ragkit.results import (
        Answer,
        Contribution,
        DocumentRef,
        MatchedChunk,
        Passage,
        Result,
    )
    from ragkit.retrieval.multi_query import ChunkedAnswer
    from ragkit.retrieval.similar import Similar, SimilarDocuments

_MARK_ON, _MARK_OFF = "\x1b[1m", "\x1b[0m"
_PASSAGE_CHARACTERS = 600


def answer_as_json(
    answer: Answer, excerpts: Sequence[Excerpt | None] | None = None, *, marks: bool = True
) -> dict[str, Any]:
    """Return the JSON object that ``ragkit search --json`` prints.

    ``excerpts`` are those of the results, in order. Without ``marks`` it lacks the places of the
    question's words, which take as long as a third of the search to find.
    """
    return {
        "query": answer.query,
        "results": results_as_json(answer.results, excerpts, marks=marks),
        "notices": list(answer.notices),
        "total_documents": answer.total_documents,
        "nothing_close": answer.nothing_close,
        "missing_terms": list(answer.missing_terms),
        "suggestion": answer.suggestion,
        "corrected": answer.corrected,
        "spelled": [asdict(spelling) for spelling in answer.spelled],
        "phrasings": asdict(answer.phrasings) if answer.phrasings else None,
        "questions": answer.questions,
        "listed": answer.listed,
        "readings": [asdict(reading) for reading in answer.readings],
        "trace": answer.trace.as_json(),
    }


def results_as_json(
    results: Sequence[Result],
    excerpts: Sequence[Excerpt | None] | None = None,
    *,
    marks: bool = True,
) -> list[dict[str, Any]]:
    """Return results as JSON objects, with their excerpts if those are given."""
    values = [result_as_json(result, marks=marks) for result in results]
    for value, excerpt in zip(values, excerpts or (), strict=excerpts is not None):
        value["excerpt"] = _excerpt_as_json(excerpt) if excerpt else None
    return values


def result_as_json(result: Result, *, marks: bool = True) -> dict[str, Any]:
    """Return one result as a JSON object."""
    document = result.document
    return {
        "document": {
            **reference_as_json(document),
            "file": document.file,
            "metadata": document.metadata,
        },
        "score": result.score,
        "max_score": result.max_score,
        "avg_score": result.avg_score,
        "chunk_coverage": result.chunk_coverage,
        "passages": [passage_as_json(passage, marks=marks) for passage in result.passages],
        "matched_chunks": [_match_as_json(chunk, marks=marks) for chunk in result.matched_chunks],
        "wholes": [_match_as_json(whole, marks=marks) for whole in result.wholes],
        "context_chunks": list(result.context_chunks),
        "more": [_match_as_json(chunk, marks=marks) for chunk in result.more],
        "also_at": list(result.also_at),
        "missing": result.missing,
        "fit": result.fit,
        "weak": result.weak,
        **({"missing_terms": list(result.missing_terms)} if marks else {}),
    }


def reference_as_json(document: DocumentRef) -> dict[str, Any]:
    """Return the reference to a document as a JSON object."""
    return {
        "id": document.id,
        "path": document.path,
        "title": document.title,
        "collection": document.collection,
        "pages": document.pages,
        "format": document.format,
        "date": document.date,
        "chunks": document.chunks,
    }


def _excerpt_as_json(excerpt: Excerpt) -> dict[str, Any]:
    passage = excerpt.passage
    return {
        "start": passage.start + excerpt.start,
        "end": passage.start + excerpt.end,
        "text": passage.text[excerpt.start : excerpt.end],
        "header": excerpt.header,
    }


def document_as_json(record: DocumentRecord) -> dict[str, Any]:
    """Return a document as ``ragkit list --json`` prints it."""
    return {
        "id": record.id,
        "path": record.path,
        "status": record.status.value,
        "reason": record.reason,
        "chunks": record.chunks,
        "title": record.title,
        "collection": record.collection,
        "source": record.root,
        "format": record.format,
        "bytes": record.size,
        "warnings": list(record.warnings),
    }


def chunked_answer_as_json(answer: ChunkedAnswer) -> dict[str, Any]:
    """Return the JSON object that ``ragkit search --chunked --json`` prints."""
    return {
        "topics": [
            {
                "name": topic_answer.topic.name,
                "start": topic_answer.topic.start,
                "end": topic_answer.topic.end,
                "weak": topic_answer.weak,
                "documents": [
                    {"id": document_id, "score": score}
                    for document_id, score in topic_answer.documents
                ],
            }
            for topic_answer in answer.topics
        ],
        "results": [
            {**result_as_json(merged.result), "topics": list(merged.topics)}
            for merged in answer.results
        ],
        "metrics": {
            "segments": answer.segments,
            "hits": answer.hits,
            "documents": answer.documents,
            "shown": len(answer.results),
        },
        "notices": list(answer.notices),
        "trace": answer.trace.as_json(),
    }


def remarks(answer: Answer, *, apart: bool = False) -> Iterator[str]:
    """Yield sentences about an answer that a person should read before its results.

    ``apart`` says that each of several questions is answered by itself.
    """
    yield from answer.notices
    if answer.questions > 1 and not apart:
        yield f"These are {answer.questions} questions in one. To search for each, add: --chunked"
    yield from map(plain, answer.understood)
    if any(reading.restricts for reading in answer.readings):
        yield "To search for these as words, add: -o read_filters=false"
    for phrasing in answer.phrasings.phrasings if answer.phrasings else ():
        alone = f", {len(phrasing.only)} alone" if phrasing.only else ""
        yield f"Also searched for: {plain(phrasing.text)} (finds {phrasing.found} of these{alone})"
    if answer.corrected:
        yield "To search for it as typed, add: -o correct_spelling=false"
    elif answer.suggestion:
        yield f"Did you mean: {plain(answer.suggestion)}"
    if answer.missing_terms:
        yield f"Not in your documents: {words_as_text(answer.missing_terms)}"
    if answer.results and answer.nothing_close:
        yield "Nothing here is close. The nearest:"
    elif answer.total_documents > len(answer.results) > 0:
        yield f"{len(answer.results)} of {answer.total_documents} documents"


def answer_as_text(
    answer: Answer,
    excerpts: Sequence[Excerpt | None] = (),
    *,
    explain: bool,
    colour: bool,
) -> Iterator[str]:
    """Yield lines for a terminal, without any control characters of documents.

    A long passage is shown from its excerpt on, unless its beginning contains that.
    """
    quoted = list(excerpts) or [None] * len(answer.results)
    for number, (result, excerpt) in enumerate(zip(answer.results, quoted, strict=True), start=1):
        document = result.document
        pages = (passage.page for passage in result.passages if passage.page is not None)
        page = next((f" · {page_range(page, page, document.format)}" for page in pages), "")
        missing = f" · missing: {words_as_text(result.missing_terms)}"
        gone = " · its file is gone" if result.missing else ""
        score = "" if answer.listed else f"  {result.score:.2f}{' (weak)' if result.weak else ''}"
        yield f"{number}. {plain(document.title)}{score}"
        yield (
            f"   {plain(document.path)}{page} · {result.chunk_coverage}"
            f"{missing if result.missing_terms else ''}{gone}"
        )
        for passage in result.passages:
            if passage.heading_path:
                yield f"   {plain(' › '.join(passage.heading_path))}"
            first = excerpt.start if excerpt and excerpt.passage is passage else 0
            if first and excerpt and excerpt.end <= _PASSAGE_CHARACTERS:
                first = 0
            yield from (f"     {line}" for line in _passage_lines(passage, first, colour))
            if passage.shortens is not None:
                yield f"     … (chunk {passage.chunks[0] + 1} shortened)"
        if explain:
            yield from (f"   {line}" for line in _why(result))
        yield ""
    if explain:
        yield from trace_lines(answer)


def similar_as_json(similar: SimilarDocuments) -> dict[str, Any]:
    """Return similar documents and copies of a document as a JSON object."""
    return {
        "copies": [_named(record) for record in similar.copies],
        "documents": [similar_document_as_json(document) for document in similar.documents],
    }


def similar_document_as_json(similar: Similar) -> dict[str, Any]:
    """Return a document that is like another one as a JSON object."""
    return {
        **_named(similar.record),
        "cosine": similar.score,
        "words": similar.words,
        "copies": [_named(record) for record in similar.copies],
    }


def _named(record: DocumentRecord) -> dict[str, Any]:
    return {"id": record.id, "path": record.path, "title": record.title}


def similar_as_text(similar: SimilarDocuments) -> Iterator[str]:
    """Yield a line for each similar document that is not distant, and one for copies."""

    def also_in(records: Sequence[DocumentRecord], words: str) -> Iterator[str]:
        if records:
            yield f"{words} {', '.join(plain(record.path) for record in records)}"

    yield "Similar documents"
    yield from also_in(similar.copies, "The same text, or nearly, is in")
    for document in similar.close:
        title = plain(document.record.title or document.record.path)
        yield f"- {title} · {plain(document.record.path)} · {document.likeness}"
        yield from also_in(document.copies, "  also in")
    if not similar.close:
        yield "- none"
    yield ""


def chunked_answer_as_text(answer: ChunkedAnswer) -> Iterator[str]:
    """Yield the topics of a long question, then its results with their topics."""
    yield from (answer.summary, "")
    for topic_answer in answer.topics:
        note = " (nothing fits; the nearest)" if topic_answer.weak else ""
        yield f"[{topic_answer.topic.index + 1}] {plain(topic_answer.topic.name)}{note}"
    yield ""
    for number, merged in enumerate(answer.results, start=1):
        result, document = merged.result, merged.result.document
        topics = " ".join(f"[{index + 1}]" for index in merged.topics)
        yield f"{number}. {plain(document.title)}  {result.score:.2f}  {topics}"
        yield f"   {plain(document.path)} · {result.chunk_coverage}"


def trace_lines(answer: Answer) -> Iterator[str]:
    """Yield the metrics and stages of a search, one a line."""
    yield f"{answer.trace.ms:.1f} ms, index {answer.trace.generation or 'in memory'}"
    if metrics := answer.trace.metrics:
        yield from (f"  {phrase}" for phrase in metrics.phrases)
    for stage in answer.trace.stages:
        note = f"  {stage.note}" if stage.note else ""
        yield f"  {stage.name:<14}{stage.ms:8.2f} ms  {stage.count_in} → {stage.count_out}{note}"


def plain(text: str, *, keep: str = "") -> str:
    """Return a text that cannot control a terminal: unprintable characters become spaces."""
    return "".join(c if is_seen(c) or c in keep else " " for c in text)


def words_as_text(words: Sequence[str]) -> str:
    """Return words on one line, long ones shortened."""
    return plain(", ".join(map(shortened, words)))


def _passage_lines(passage: Passage, first: int, colour: bool) -> Iterator[str]:
    # Each character is replaced by one, so highlights keep their places.
    shown = plain(passage.text[: first + _PASSAGE_CHARACTERS], keep="\n")
    marked, position = "", first
    for start, end in passage.highlights if colour else ():
        if end > len(shown):
            break
        if start >= first:
            marked += f"{shown[position:start]}{_MARK_ON}{shown[start:end]}{_MARK_OFF}"
            position = end
    lines = (marked + shown[position:]).split("\n")
    if first:
        yield "…"
    yield from (line.strip() for line in lines if line.strip())
    if len(passage.text) > len(shown):
        yield "…"


def _why(result: Result) -> Iterator[str]:
    for chunk in (*result.wholes, *result.matched_chunks):
        parts = " + ".join(map(_part, chunk.contributions))
        words = f"  ({', '.join(chunk.terms)})" if chunk.terms else ""
        grade = "" if chunk.grade is None else f", graded {round(chunk.grade, 1):g} of 10"
        what = _LEVELS.get(chunk.level, "chunk {}").format(chunk.index + 1)
        if chunk.block is not None:
            what = f"{chunk.block.value} in {what}"
        yield f"{what}: {parts} = {chunk.score:.4f}{grade}{plain(words)}"


def _part(part: Contribution) -> str:
    rank = f" rank {part.rank}" if part.rank else ""
    return f"{part.index}{rank}, {part.normalised:.4f} × {part.weight:.2f}"


def passage_as_json(passage: Passage, *, marks: bool = True) -> dict[str, Any]:
    """Return one passage as a JSON object."""
    return {
        "start": passage.start,
        "end": passage.end,
        "text": passage.text,
        "page": passage.page,
        "heading_path": list(passage.heading_path),
        **({"highlights": [list(span) for span in passage.highlights]} if marks else {}),
        "chunks": list(passage.chunks),
        "cut": passage.cut,
        "shortens": [passage.shortens.start, passage.shortens.end] if passage.shortens else None,
    }


def _match_as_json(chunk: MatchedChunk, *, marks: bool) -> dict[str, Any]:
    return {
        "index": chunk.index,
        "number": chunk.index + 1,
        "score": chunk.score,
        "grade": chunk.grade,
        "level": chunk.level.value,
        "part_of": chunk.part_of.value if chunk.part_of else None,
        "block": chunk.block.value if chunk.block else None,
        "span": [chunk.span.start, chunk.span.end] if chunk.span else None,
        **({"terms": list(chunk.terms)} if marks else {}),
        "contributions": [_part_as_json(part) for part in chunk.contributions],
    }


def _part_as_json(part: Contribution) -> dict[str, Any]:
    # An answer has about a hundred, for which asdict would take longer than all the rest.
    return {
        "index": part.index,
        "rank": part.rank,
        "raw": part.raw,
        "normalised": part.normalised,
        "weight": part.weight,
        "value": part.value,
    }


_LEVELS = {
    Level.SECTION: "section from chunk {}",
    Level.DOCUMENT: "document",
}
