"""What a model is told of chunks, and what searches find of what it wrote."""

from __future__ import annotations

import pytest
from context_library import Model, backfill
from small_library import (
    add,
    find,
    make_older,
    open_library,
    paths,
    write_files,
)

from ragkit.models.context_checks import WrittenContext
from ragkit.options import Contexts, Mode, QuestionMerge
from ragkit.types import Level


def test_what_the_model_is_told(library):
    model = Model()
    backfill(library, model).work()
    told = {one.document_title: one for one in model.asked}["Refunds"]
    assert told.chunk_text in told.document_text
    assert told.document_text[told.chunk_span.start : told.chunk_span.end] == told.chunk_text
    assert [line.strip() for line in told.outline] == ["Refunds", "Exceptions"]
    assert told.structural_context.startswith("Refunds")
    assert told.kind == "document"


def test_a_conversation_is_told_by_who_takes_part(tmp_path):
    opened = open_library(tmp_path / "library")
    chat = "---\nparticipants: [Ines, Rui]\n---\nInes: Yes please.\n"
    files = {
        "chat.md": chat,
        "note.md": "# A\n\nNo one.\n",
        "minutes.md": "---\nattendees: [Ines]\n---\nWe ship.\n",
        "letter.eml": "From: Ines <i@x.org>\nSubject: Hello\n\nPlease call me.\n",
    }
    make_older(write_files(tmp_path / "files", files))
    add(opened, tmp_path / "files")
    model = Model()
    backfill(opened, model).work()
    kinds = {one.document_title: one.kind for one in model.asked}
    assert kinds.pop("A") == "document"
    assert list(kinds.values()) == ["conversation"] * 3


def test_words_of_contexts_and_questions_are_found_at_once(library):
    assert paths(find(library, "sprocket", mode="keyword")) == []

    def write(request):
        if request.document_title != "Refunds":
            return WrittenContext("Nothing.", (), (), {}, 1, 0.1, truncated=False)
        return WrittenContext(
            "Concerns the promotion.", ("sprocket",), ("Who is on top?",), {}, 1, 0.1, False
        )

    backfill(library, Model(write=write)).work()
    for question in ("sprocket", "promotion", "on top"):
        assert paths(find(library, question, mode="keyword"))[0] == "handbook/refunds.md"
        without = find(library, question, mode="keyword", contexts=Contexts.STRUCTURAL)
        assert paths(without) == []


def test_vectors_of_questions_lead_to_their_chunk(library):
    question = "Which wholly unusual thing happened upstairs?"

    def write(request):
        asked = (question,) if request.document_title == "Logging in" else ()
        return WrittenContext("Nothing.", (), asked, {}, 1, 0.1, truncated=False)

    backfill(library, Model(write=write)).work()
    # A question is embedded with where its chunk stands.
    (placed,) = library.embedder.embed_passages([f"Logging in\n\n{question}"])
    likeness = float(library.embedder.embed_queries([question])[0] @ placed)
    assert likeness < 0.99
    for merge in (QuestionMerge.BEST, QuestionMerge.SUM):
        answer = find(library, question, mode=Mode.VECTOR, question_merge=merge)
        # A sum is of all vectors of a chunk: one alone does not make it the first.
        place = paths(answer).index("handbook/login.md")
        assert place == 0 or merge is QuestionMerge.SUM
        matched = answer.results[place].matched_chunks[0]
        assert (matched.level, matched.index) == (Level.QUESTION, 0)
        if merge is QuestionMerge.BEST:
            assert matched.contributions[0].raw == pytest.approx(likeness, abs=0.01)
        indexes = [(one.document.id, m.index) for one in answer.results for m in one.matched_chunks]
        assert len(indexes) == len(set(indexes)) >= 4
    plain = find(library, question, mode=Mode.VECTOR, contexts=Contexts.STRUCTURAL)
    assert all(m.level is Level.CHUNK for one in plain.results for m in one.matched_chunks)


def test_the_search_without_contexts_is_what_it_was_before(library):
    before = find(library, "refund within thirty days")
    backfill(library, Model()).work()
    after = find(library, "refund within thirty days", contexts=Contexts.STRUCTURAL)
    assert paths(after) == paths(before)
    assert [one.score for one in after.results] == pytest.approx(
        [one.score for one in before.results], abs=1e-6
    )


def test_only_the_new_texts_are_embedded(library):
    embedded = library.embedder.passages
    before = len(embedded)
    backfill(library, Model()).work()
    assert len(embedded) - before == 2 * 5
    own = [text.split("\n\n", 1)[1] for text in embedded[before:]]
    assert all(text.startswith(("Context ", "What is ")) for text in own)
