"""A document that is too long for a prompt is summarised once, before its chunks' contexts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

import pytest
from context_library import Model
from ollama_answers import summarised
from ollama_failures import described, passage_of
from ollama_stand_in import OllamaStandIn
from small_library import add, do, make_older, open_library, sync, write_files

from ragkit.background.context_model import context_models
from ragkit.background.contexts import Backfill
from ragkit.catalog.context_records import ContextCounts
from ragkit.errors import OllamaUnreachableError
from ragkit.library import Library

CHAPTERS = "\n\n".join(
    f"## Chapter {n}\n\n" + f"Of the {n}. voyage the log tells what befell the crew. " * 20
    for n in range(12)
)
FILES = {
    "voyages.md": f"# The voyages\n\n{CHAPTERS}\n",
    "memo.md": "# A memo\n\nThe office is closed on Friday.\n",
}
_SUMMARY = re.compile(r"^Summary:\n<(summary-[0-9a-f]+)>\n(.*?)\n</\1>$", re.M | re.S)


@pytest.fixture
def library(tmp_path, server) -> Iterator[Library]:
    models = {"embedder": "hash", "ollama_url": server.url, "context_window": 2048}
    opened = open_library(tmp_path / "library", models=models)
    make_older(write_files(tmp_path / "files", FILES))
    add(opened, tmp_path / "files")
    yield opened
    opened.close()


def backfill(library: Library) -> Backfill:
    writer = library.writer()
    return Backfill(writer, context_models(writer))


def asked(server: OllamaStandIn, what: str) -> list[str]:
    """The prompts of requests for a "summary" or a "context"."""
    bodies = [one.body for one in server.asked("/api/chat")]
    return [
        one["messages"][-1]["content"] for one in bodies if one["format"]["required"][0] == what
    ]


def hash_of(library: Library, path: str) -> str:
    return library.documents.list(containing=path)[0].hash


def test_each_chunk_of_a_long_document_is_shown_with_its_summary(library, server):
    backfill(library).work()
    (prompt,) = asked(server, "summary")
    every = [one.body["messages"][-1]["content"] for one in server.asked("/api/chat")]
    of_voyages = [content for content in every if "The voyages" in content]
    assert of_voyages[0] == prompt
    assert 'Title: "The voyages"' in prompt
    assert "## Chapter 0" in prompt
    # The end is seen as well as the beginning.
    assert prompt.count("[…]") >= 4
    assert "Of the 11. voyage" in prompt
    kept = library.catalog.summaries.of(hash_of(library, "voyages"))
    assert kept.summary == json.loads(summarised([{"content": prompt}]))["summary"]
    assert (kept.model, kept.error) == ("llama3.2:3b", "")
    assert kept.tokens > len(prompt) // 4
    shown = {"voyages": [], "memo": []}
    for content in asked(server, "context"):
        title = "memo" if "A memo" in content else "voyages"
        shown[title] += [found[2] for found in _SUMMARY.finditer(content)]
    chunks = library.documents.list(containing="voyages")[0].chunks
    assert chunks > 3
    assert shown == {"voyages": [kept.summary] * chunks, "memo": []}
    assert library.catalog.summaries.of(hash_of(library, "memo")) is None


def test_it_is_written_once_and_again_when_all_is(library, server, tmp_path):
    backfill(library).work()
    document = library.documents.list(containing="voyages")[0].id
    do(library, "regenerate_contexts", document_id=document, chunk_index=1)
    backfill(library).work()
    assert len(asked(server, "summary")) == 1
    do(library, "regenerate_contexts", document_id=document)
    backfill(library).work()
    assert len(asked(server, "summary")) == 2
    before = hash_of(library, "voyages")
    write_files(tmp_path / "files", {"voyages.md": f"# Other voyages\n\n{CHAPTERS}\n"})
    make_older(tmp_path / "files", 30)
    sync(library)
    backfill(library).work()
    assert len(asked(server, "summary")) == 3
    assert hash_of(library, "voyages") != before
    do(library, "compact")
    assert library.catalog.summaries.of(before) is None
    assert library.catalog.summaries.of(hash_of(library, "voyages")) is not None


def test_contexts_are_written_without_one_where_the_model_fails_at_it(library, server):
    def reply(messages: Sequence[dict[str, str]]) -> str:
        passage = passage_of(messages)
        refusal = {"summary": "I'm sorry, but I cannot help with that."}
        return json.dumps(described(passage) if passage else refusal)

    server.reply = reply
    backfill(library).work()
    chunks = library.documents.counts().chunks
    assert library.contexts.status().counts == ContextCounts(complete=chunks)
    assert len(asked(server, "summary")) == 2
    assert not any(_SUMMARY.search(content) for content in asked(server, "context"))
    kept = library.catalog.summaries.of(hash_of(library, "voyages"))
    assert (kept.summary, kept.tokens) == ("", 0)
    assert kept.error.startswith("The model's answer was rejected. The model refused")
    document = library.documents.list(containing="voyages")[0].id
    do(library, "regenerate_contexts", document_id=document, chunk_index=0)
    backfill(library).work()
    assert len(asked(server, "summary")) == 2
    server.reply, before = None, len(asked(server, "context"))
    of_document = library.documents.list(containing="voyages")[0].chunks
    assert do(library, "retry_contexts").message == (
        "0 failed contexts will be tried again. "
        f"1 long document will be summarised again, and {of_document} contexts rewritten."
    )
    backfill(library).work()
    assert len(asked(server, "summary")) == 3
    again = asked(server, "context")[before:]
    assert len(again) == of_document
    assert all(_SUMMARY.search(content) for content in again)


def test_another_prompt_for_summaries_writes_the_contexts_again(library, server):
    backfill(library).work()
    before = len(asked(server, "context"))
    library.contexts.set_prompt("default", "summary", "In a word.\n=====\n{{title}} {{document}}")
    backfill(library).work()
    assert len(asked(server, "context")) == before
    of_document = library.documents.list(containing="voyages")[0].chunks
    assert library.contexts.outdated("default", "document") == 0
    library.jobs.wait(library.contexts.rewrite("default", "summary"))
    backfill(library).work()
    assert len(asked(server, "summary")) == 2
    assert (
        server.asked("/api/chat")[-1 - of_document].body["messages"][0]["content"] == "In a word."
    )
    again = asked(server, "context")[before:]
    kept = library.catalog.summaries.of(hash_of(library, "voyages")).summary
    assert [_SUMMARY.search(content)[2] for content in again] == [kept] * of_document


def test_when_ollama_goes_the_summary_is_awaited_like_a_context(library):
    gone = OllamaUnreachableError("Ollama does not answer.", "Start it.")

    class Away(Model):
        def summarise(self, request, attempt=0):
            raise gone

    with pytest.raises(OllamaUnreachableError):
        Backfill(library.writer(), lambda _one: Away()).work()
    assert library.catalog.summaries.of(hash_of(library, "voyages")) is None
