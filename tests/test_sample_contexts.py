"""The sample's contexts: what is only meant is found once they are written, not before."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from ollama_failures import replaying_sample
from ollama_stand_in import OllamaStandIn
from small_library import paths

from ragkit.background.context_jobs import read_recorded
from ragkit.catalog.context_records import RECORDED
from ragkit.errors import ContextsFileError
from ragkit.library import Library
from ragkit.models.context_checks import checked_context
from ragkit.models.context_prompt import ContextRequest
from ragkit.options import Contexts
from ragkit.settings import load_settings
from ragkit.types import Span

SAMPLE = Path(__file__).resolve().parents[1] / "sample_data"
CONTEXTS = SAMPLE / "contexts.jsonl"
IMPLICIT = {
    "the promotion": ("meetings/2025-11-18-ines-nora-chat.md", r"promot"),
    "phone number": ("conversations/2026-02-27-lena-and-jonas.md", r"phone|\bcall|number"),
    "worried about the cost": (
        "conversations/2026-03-24-felix-and-tomasz.md",
        r"worr|\bcosts?\b|expensive|price|spend",
    ),
    "forgot something": (
        "conversations/2026-04-16-sami-and-haruka.md",
        r"forg[eo]t|left|\bbehind|\blost",
    ),
}
FIRST = 3


@pytest.fixture(scope="module")
def server() -> Iterator[OllamaStandIn]:
    with OllamaStandIn(reply=replaying_sample(CONTEXTS)) as running:
        yield running


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, server: OllamaStandIn) -> Iterator[Library]:
    """The sample library as it is made by ``make run``, without any context yet."""
    models = {"ollama_url": server.url}
    place = tmp_path_factory.mktemp("sample") / "library"
    opened = Library.open(load_settings(library=place, models=models), create=True)
    opened.jobs.wait(opened.sources.sync(opened.sources.add_folder(SAMPLE / "library")))
    yield opened
    opened.close()


def place_of(
    library: Library, question: str, path: str, contexts: Contexts = Contexts.MODEL
) -> int:
    """At which place, from 1, a question finds a document; 1000 when it does not."""
    found = paths(library.search(question, library.options(limit=50, contexts=contexts)))
    return found.index(path) + 1 if path in found else 1000


@pytest.mark.parametrize("question", IMPLICIT)
def test_the_documents_do_not_say_what_they_mean(question):
    path, words = IMPLICIT[question]
    text = (SAMPLE / "library" / path).read_text("utf-8")
    assert re.search(words, text, re.IGNORECASE) is None


def test_every_recorded_context_belongs_to_a_chunk_and_a_model_could_have_given_it(library):
    rows = read_recorded(CONTEXTS)
    by_path = {one.path: library.documents.get(one.id) for one in library.documents.list()}
    assert {(one.path, one.chunk) for one in rows} == {
        (path, one.chunk.index)
        for path, detail in by_path.items()
        if path.startswith(("conversations/", "mail/", "meetings/"))
        for one in detail.chunks
    }
    for row, line in zip(rows, CONTEXTS.read_text("utf-8").splitlines(), strict=True):
        detail = by_path[row.path]
        chunk = detail.chunks[row.chunk].chunk
        text = detail.text[chunk.start : chunk.end]
        assert row.is_about(text), row.path
        kind = "conversation" if detail.record.format == "conversation" else "document"
        request = ContextRequest(
            row.path, detail.text, (), text, Span(chunk.start, chunk.end), kind=kind
        )
        checked = checked_context(json.loads(line), request)
        assert checked.context == row.answer.context
        assert checked.questions == row.answer.questions
        assert bool(checked.details) == (kind == "conversation")


def test_what_is_meant_is_found_once_its_context_is_written(library, server):
    before = {one: place_of(library, one, IMPLICIT[one][0]) for one in IMPLICIT}
    assert min(before.values()) > FIRST
    chunks = library.documents.counts().chunks
    state = library.contexts.write()
    assert (state.counts.pending, state.counts.chunks) == (0, chunks)
    # What is not recorded, the stand-in describes in English, whatever language it is in.
    failed = {one.path for one in library.contexts.failures(limit=-1)}
    assert {library.documents.list(containing=one)[0].language for one in failed} <= {
        "de",
        "fr",
        "ja",
    }
    after = {one: place_of(library, one, IMPLICIT[one][0]) for one in IMPLICIT}
    assert max(after.values()) <= FIRST
    assert after["the promotion"] == 1
    without = {
        one: place_of(library, one, IMPLICIT[one][0], Contexts.STRUCTURAL) for one in IMPLICIT
    }
    assert without == before


def test_without_ollama_the_recorded_contexts_are_recalled(tmp_path, server):
    opened = Library.open(load_settings(library=tmp_path / "library"), create=True)
    source = opened.sources.add_folder(SAMPLE / "library")
    opened.jobs.wait(opened.sources.sync(source))
    asked = len(server.requests)
    job = opened.jobs.wait(opened.contexts.import_file(source.id, CONTEXTS))
    rows = read_recorded(CONTEXTS)
    assert job.message == f"{len(rows)} recorded contexts recalled."
    assert opened.contexts.status().counts.complete == len(rows)
    path = IMPLICIT["the promotion"][0]
    chat = opened.documents.list(containing=path)[0]
    known = opened.contexts.of_document(chat.id)[0].answer
    assert (known.model, known.details["has_decision"]) == (RECORDED, True)
    assert max(place_of(opened, one, IMPLICIT[one][0]) for one in IMPLICIT) <= FIRST
    again = opened.jobs.wait(opened.contexts.import_file(source.id, CONTEXTS))
    assert again.message == "0 recorded contexts recalled."
    # Read again, it has its context back.
    opened.catalog.files.forget_attempt([chat.id])
    opened.jobs.wait(opened.sources.sync(source))
    assert opened.contexts.of_document(chat.id)[0].answer == known
    assert len(server.requests) == asked
    opened.close()


def test_a_chunk_that_begins_otherwise_is_left_alone(tmp_path, library):
    line = {"path": IMPLICIT["the promotion"][0], "chunk": 0, "starts": "Else", "context": "No."}
    (tmp_path / "c.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    source = library.sources.list()[0]
    job = library.jobs.wait(library.contexts.import_file(source.id, tmp_path / "c.jsonl"))
    assert job.message == "0 recorded contexts recalled."


@pytest.mark.parametrize("line", ['{"path": "a"}', "[1]", "{", '{"path": 1, "chunk": "x"}'])
def test_a_line_that_makes_no_sense_is_named(tmp_path, line):
    file = tmp_path / "c.jsonl"
    file.write_text(f"\n{line}\n", "utf-8")
    with pytest.raises(ContextsFileError, match="Line 2 of"):
        read_recorded(file)
    with pytest.raises(ContextsFileError, match="cannot be read"):
        read_recorded(tmp_path / "gone.jsonl")
