"""Measurements may search some of a chunk's vectors and some fields of its words."""

from __future__ import annotations

import pytest
from small_library import add, find, open_library, write_files

from ragkit.background.contexts import Backfill, Throttle
from ragkit.evaluation.search_config import as_text, from_text
from ragkit.models.context_checks import WrittenContext
from ragkit.options import Contexts, Fusion, Mode, QuestionMerge
from ragkit.types import Field, Level

FILES = {"a.txt": "Seals rest on the sandbank.\n", "b.txt": "Gulls nest on the roof.\n"}


class Writer:
    """Writes one line for each chunk; words that stand nowhere else."""

    model = "small"

    def prompt_hash(self, _kind):
        return "p"

    def summarise(self, _request, _attempt=0):
        return None

    def write(self, request, _attempt=0):
        name = request.chunk_text.split()[0].lower()
        return WrittenContext(
            f"ctx{name}", (f"key{name}",), (f"quest{name} harbour tide",), {}, 5, 0.1, False
        )


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    root = tmp_path_factory.mktemp("switches")
    opened = open_library(root / "library")
    add(opened, write_files(root / "files", FILES))
    backfill = Backfill(opened.writer(), lambda _c: Writer(), Throttle(), heed_pause=False)
    assert backfill.work()
    yield opened
    opened.close()


def found(library, word, *fields):
    weights = tuple((one, 1.0) for one in fields)
    answer = find(library, word, mode=Mode.KEYWORD, field_weights=weights)
    return [one.document.path for one in answer.results]


@pytest.mark.parametrize(
    ("word", "field"),
    [
        ("gulls", Field.TEXT),
        ("ctxgulls", Field.CONTEXT),
        ("keygulls", Field.KEYWORDS),
        ("questgulls", Field.QUESTIONS),
    ],
)
def test_a_word_is_found_in_its_field_alone(library, word, field):
    assert found(library, word, field) == ["b.txt"]
    assert found(library, word, *(one for one in Field if one is not field)) == []
    assert found(library, word, *Field) == ["b.txt"]


def score(library, question, **options):
    answer = find(library, question, **options)
    return {one.document.path: one.score for one in answer.results}["b.txt"]


def test_vectors_of_a_level_are_looked_at_or_not(library):
    question = "questgulls harbour tide"
    levels = {
        "own": (),
        "context": (Level.CONTEXT,),
        "all": (Level.CONTEXT, Level.QUESTION),
    }
    scores = {
        name: find(library, question, mode=Mode.VECTOR, vector_levels=wanted).results
        for name, wanted in levels.items()
    }
    best = {name: max((r.score for r in rs), default=0.0) for name, rs in scores.items()}
    # A question is embedded with the title of its document, which was not asked for.
    assert 0.8 < best["all"] < 0.95
    assert max(best["own"], best["context"]) < 0.5
    every = find(library, question, mode=Mode.VECTOR, question_merge=QuestionMerge.BEST)
    assert [(r.document.path, r.score) for r in every.results] == [
        (r.document.path, r.score) for r in scores["all"]
    ]


@pytest.mark.parametrize("mode", [Mode.VECTOR, Mode.HYBRID])
def test_usually_the_vector_of_a_context_stands_for_its_chunk(library, mode):
    def likeness(question, **options):
        (result,) = (
            one
            for one in find(library, question, mode=mode, **options).results
            if one.document.path == "b.txt"
        )
        parts = {one.index: one.raw for one in result.matched_chunks[0].contributions}
        return parts["vector"]

    of_context = {"vector_levels": (Level.CONTEXT,)}
    written, said = "gulls ctxgulls keygulls", "Gulls nest on the roof."
    assert (
        likeness(written) == likeness(written, **of_context) > likeness(written, vector_levels=())
    )
    assert likeness(said) < likeness(said, vector_levels=())
    asked = "gulls questgulls harbour tide"
    assert likeness(asked) < likeness(asked, question_merge=QuestionMerge.BEST)


def test_exact_scores_look_at_the_same_vectors(library):
    question = "gulls questgulls harbour tide"
    chosen = {"fusion": Fusion.WEIGHTED, "vector_weight": 1.0, "keyword_weight": 1.0}
    own = score(library, question, vector_levels=(), **chosen)
    every = score(library, question, question_merge=QuestionMerge.BEST, **chosen)
    text = ((Field.TEXT, 1.0),)
    plain = score(library, question, contexts=Contexts.STRUCTURAL, **chosen)
    assert score(
        library, question, vector_levels=(), field_weights=text, **chosen
    ) == pytest.approx(plain)
    assert own < every


def test_switches_for_measuring_are_in_no_address_and_no_setting(library):
    options = library.options(vector_levels=(), field_weights=((Field.TEXT, 1.0),))
    column, strange = from_text("mode:keyword,vector_levels:chunk")
    assert column.options.vector_levels is None
    assert strange == ("vector_levels:chunk",)
    assert as_text(type(column)(options)) == "mode:hybrid"
