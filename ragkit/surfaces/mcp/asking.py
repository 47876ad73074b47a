"""The tool ``ask``: sentences of the documents that answer, and a local model's answer."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragkit.answers import AnswerState, WrittenAnswer
from ragkit.formatting import plural
from ragkit.results import Answer
from ragkit.retrieval.context_block import one_line
from ragkit.retrieval.query.parser import LONGEST_QUERY
from ragkit.surfaces.http.writing import Writing, writings
from ragkit.surfaces.mcp.parameters import Parameter
from ragkit.surfaces.mcp.text import path_of, plain
from ragkit.surfaces.mcp.tool import Call, Found, Tool, collection, filters
from ragkit.surfaces.mcp.values import NOTE
from ragkit.surfaces.render import reference_as_json
from ragkit.surfaces.render_answers import asked_as_json, has_text, written_as_text

if TYPE_CHECKING:
    from ragkit.settings import Settings

_SECONDS, _MOST_SECONDS = 45, 600
_LOOK_SECONDS = 0.5
_LONGEST = 400


def ask(settings: Settings) -> Tool:
    """Return the tool that answers a question."""
    return Tool(
        "ask",
        "Answer a question",
        "Answers a question with the one to three sentences of the documents that answer it best, "
        "each with its place; none where none is good. With write, a model on this machine also "
        "writes an answer from the passages found, whose sentences are checked against them: that "
        "takes seconds to minutes. To read the passages yourself, use rag_search.",
        (
            Parameter("question", "string", "What to answer.", bounds=(1, LONGEST_QUERY)),
            filters(),
            collection(settings),
            Parameter("write", "boolean", "Have a local model write an answer too.", False),
            Parameter("model", "string", "The Ollama model that writes; empty: that of the "
                      "settings.", settings.answers.model, bounds=(0, 200)),
            Parameter("seconds", "integer", "How long the model may write; what is there then is "
                      "returned.", _SECONDS, bounds=(1, _MOST_SECONDS)),
        ),
        {"note": "string", "query": "string", "quick": "array", "documents": "array",
         "notices": "array"},
        _ask,
    )  # fmt: skip


def _ask(call: Call) -> Found:
    library = call.library
    # Answers need texts, even if the collection's own options leave them out.
    options = library.options(
        collections=call["collection"], filters=call["filters"], show_content=True
    )
    answer = library.search(call["question"], options)
    library.contexts.note_hits(answer)
    library.searches.note(call["question"], answer, options, door="mcp")
    quick = library.answers.quick(answer)
    written = _written(call, answer) if call["write"] else None
    fields = asked_as_json(quick, written, replace(answer, results=()))
    notices = [*answer.notices, *answer.understood]
    if written is not None:
        notices += _troubles(written)
    value = {
        "note": NOTE,
        "query": answer.query,
        "quick": fields["quick"],
        "answer": fields["answer"],
        "documents": [reference_as_json(result.document) for result in answer.results],
        "notices": notices,
    }
    return _as_text(value, written), value


def _written(call: Call, answer: Answer) -> WrittenAnswer:
    """Return the model's answer when it has ended, or when the time is up."""
    question, model = call["question"], call["model"] or ""
    until = time.monotonic() + (call["seconds"] or _SECONDS)
    writing = writings().start(
        Writing(
            lambda: call.library.answers.write(question, answer, model=model),
            lambda _: {},
            lambda _: None,
            WrittenAnswer(question),
        )
    )
    version, progress, is_over = -1, "", False
    while not is_over and not call.cancelled.is_set() and time.monotonic() < until:
        version = writing.told(version, _LOOK_SECONDS)["version"]
        # First, so that the last state is reported as well.
        is_over, written = writing.is_over, writing.answer
        last, progress = progress, f"{written.state}, {plural(len(written.sentences), 'sentence')}"
        if progress != last:
            call.say(progress)
    writing.cancel()
    return writing.answer


def _troubles(written: WrittenAnswer) -> list[str]:
    """Return why there is no written answer, or why it is incomplete."""
    if written.state is AnswerState.CANCELLED:
        reason = "The time was up before the model had finished its answer."
        return [f"{reason} Ask with more seconds, or read the passages with rag_search."]
    if written.state is AnswerState.FAILED and not has_text(written):
        return [f"No written answer: {written.failure} {written.cure}".strip()]
    return []


def _as_text(value: dict[str, Any], written: WrittenAnswer | None) -> Iterator[str]:
    yield value["note"]
    yield from map(one_line, value["notices"])
    if not value["quick"]:
        yield "No sentence of the documents answers this by itself. Search with rag_search."
    question = None
    for number, source in enumerate(value["quick"], start=1):
        document = source["document"]
        if source.get("question") != question:
            question = source["question"]
            yield from ("", one_line(question))
        yield ""
        yield f"{number}. “{plain(source['text'], _LONGEST)}”"
        yield (
            f"   {plain(document['title'] or document['path'])} · id {document['id']} · "
            f"{path_of(document)} · characters {source['start']}-{source['end']}"
        )
    if written is not None and has_text(written):
        yield ""
        yield f"{plain(written.model)} wrote, from the documents:"
        yield from written_as_text(written)
    if value["documents"]:
        yield ""
        yield "Found in:"
    for document in value["documents"]:
        yield f"- {plain(document['title'] or document['path'])} · id {document['id']} · " + (
            path_of(document)
        )
