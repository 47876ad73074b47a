"""Searches that a model reranks, over real libraries and a server that speaks as Ollama does."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from grading import grading, passages_in
from model_folders import cross_encoder_folder
from ollama_stand_in import WRITER, OllamaStandIn
from small_library import add, find, open_library, paths, without_times, write_files

from ragkit.background.context_model import grader_of
from ragkit.errors import ModelError
from ragkit.options import Granularity, Rerank
from ragkit.retrieval.rerank import NOT_RERANKED
from ragkit.retrieval.search import AnswerCache
from ragkit.surfaces.render import answer_as_text

FILES = {
    "one.md": "# Turbines\n\nThe turbine turbine turbine turns in the mill.\n",
    "two.md": "# Mills\n\nA mill has one turbine, and a wheel of oak.\n",
    "three.md": "# Wheels\n\nThe wheel of a turbine is made of oak. It answers all.\n",
    "copy.md": "# Wheels\n\nThe wheel of a turbine is made of oak. It answers all.\n",
    "long.md": "# Parts\n\n" + "\n\n".join(
        f"## Part {n}\n\nPart {n} of the turbine is " + f"described in word {n} here. " * 40
        for n in range(4)
    ),
}  # fmt: skip
QUESTION = "turbine"


@pytest.fixture(scope="module")
def library(tmp_path_factory, running):
    place = tmp_path_factory.mktemp("reranked")
    models = {"embedder": "hash", "ollama_url": running.url, "rerank_seconds": 5}
    opened = open_library(place / "library", models=models)
    add(opened, write_files(place / "files", FILES))
    add(opened, write_files(place / "other", {"secret.md": "# A secret turbine\n\nIt answers."}),
        "private")  # fmt: skip
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def forgetful(library):
    """Every test asks the model itself."""
    library.engine._answers = AnswerCache()
    library.engine.open_grader = grader_of(library.settings.models, library.catalog)


def reranked(library, question=QUESTION, **options):
    return find(library, question, rerank=Rerank.MODEL, **options)


def answers(text):
    return 10 if "answers" in text else 1


def stages(answer):
    return [one.name for one in answer.trace.stages]


def test_grades_decide_and_documents_follow_their_chunks(library, server):
    server.reply = grading(answers)
    usual = find(library, QUESTION)
    assert paths(usual)[0] == "one.md"
    found = reranked(library)
    assert paths(found)[0] in ("three.md", "copy.md")
    assert paths(found)[1:] == [one for one in paths(usual) if one not in ("three.md", "copy.md")]
    assert found.results[0].also_at in (("copy.md",), ("three.md",))
    assert found.notices == ()
    scores = {one.document.path: one.score for one in usual.results}
    assert {one.document.path: one.score for one in found.results} == scores
    assert [one.matched_chunks[0].grade for one in found.results[:2]] == [10, 1]
    stage = next(one for one in found.trace.stages if one.name == "reranking")
    assert stages(found)[-4:] == ["reranking", "deduplication", "reconstruction", "fit"]
    assert (stage.note, stage.count_in, stage.count_out) == (f"{WRITER}: 8 of 8 graded", 8, 8)
    assert stage.ms > 0
    assert "graded 10 of 10" in "\n".join(answer_as_text(found, explain=True, colour=False))
    asked = passages_in(server.asked("/api/chat")[0].body["messages"])
    assert len(asked) == 7
    assert "Wheels\n\n" in next(text for text in asked.values() if "answers" in text)


def test_the_best_graded_part_of_a_document_leads_it(library, server):
    server.reply = grading(lambda text: 9 if "Part 2 of" in text else 1)
    found = reranked(library, chunks_per_doc=2, expansion="chunk")
    best = found.results[0]
    assert best.document.path == "long.md"
    assert "Part 2 of" in best.passages[-1].text + best.passages[0].text
    assert [one.grade for one in best.matched_chunks] == [9, 1]
    assert best.score == best.matched_chunks[0].score


def test_parts_of_one_document_are_capped_after_reranking(library, server):
    server.reply = grading(lambda text: 9 if "of the turbine is" in text else 1)
    found = reranked(library, per_document=2)
    assert paths(found)[:2] == ["long.md", "long.md"]
    assert paths(found).count("long.md") == 2
    assert "long.md" not in paths(found)[2:]
    every = reranked(library, per_document=0)
    assert paths(every)[:4] == ["long.md"] * 4


def test_the_order_without_results_is_the_same(library, server):
    server.reply = grading(answers)
    options = library.options(rerank=Rerank.MODEL, per_document=0)
    hits = library.engine.best_hits(QUESTION, options)
    whole = library.engine.search(QUESTION, options)
    assert [(one.document.id, one.matched_chunks[0].index) for one in whole.results] == [
        (one.document_id, one.chunk_index) for one in hits
    ]
    server.failure = "broken"
    with pytest.raises(ModelError, match="Ollama reported an error"):
        library.engine.best_hits(QUESTION, options)


def test_an_answer_is_the_same_again_and_asked_once(library, server):
    server.reply = grading(lambda text: len(text) % 11)
    first = reranked(library)
    assert reranked(library) is first
    assert len(server.asked("/api/chat")) == 1
    library.engine._answers = AnswerCache()
    assert without_times(reranked(library)) == without_times(first)


def test_another_model_is_asked_anew(library, server):
    server.models["small:1b"] = server.models[WRITER]
    server.reply = grading(answers)
    reranked(library)
    library.contexts.choose_model("small:1b")
    try:
        found = reranked(library)
    finally:
        library.contexts.choose_model("")
    assert [one.body["model"] for one in server.asked("/api/chat")] == [WRITER, "small:1b"]
    note = next(one.note for one in found.trace.stages if one.name == "reranking")
    assert note.startswith("small:1b: ")


def test_filters_and_collections_are_kept(library, server):
    server.reply = grading(answers)
    found = reranked(library, f"{QUESTION} path:one path:two")
    assert sorted(paths(found)) == ["one.md", "two.md"]
    prompt = server.asked("/api/chat")[0].body["messages"][-1]["content"]
    assert "secret" not in prompt
    assert "path:one" not in prompt
    assert len(passages_in([{"content": prompt}])) == 2
    assert paths(reranked(library, collections=("private",))) == ["secret.md"]
    both = reranked(library, collections=("default", "private"))
    assert {one.document.collection for one in both.results[:2]} == {"default", "private"}


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        ("wrong-schema", "graded only 0 of 8 passages"),
        ("refusal", "graded only 0 of 8 passages"),
        ("half-json", "sent an invalid answer"),
        ("broken", "reported an error"),
        ("close", "in the middle of"),
        ("out-of-memory", "enough memory"),
    ],
)
def test_what_fails_leaves_the_usual_order_with_a_notice(library, server, failure, said):
    usual = find(library, QUESTION)
    server.reply, server.failure = grading(answers), failure
    found = reranked(library)
    assert paths(found) == paths(usual)
    assert [one.score for one in found.results] == [one.score for one in usual.results]
    (notice,) = found.notices
    assert notice.startswith(NOT_RERANKED)
    assert said in notice
    stage = next(one for one in found.trace.stages if one.name == "reranking")
    assert (stage.note, stage.count_out) == ("failed: the usual order", 0)


def test_missing_grades_are_said(library, server):
    server.reply = grading(lambda text: None if "Part 2 of" in text else answers(text))
    found = reranked(library)
    assert paths(found)[0] in ("three.md", "copy.md")
    assert found.notices == (
        f"{WRITER} did not grade 1 of 8 passages: they come after the others.",
    )


def test_time_that_runs_out_leaves_the_usual_order(library, server):
    usual = find(library, QUESTION)
    server.reply, server.delay = grading(answers), 30
    started = time.monotonic()
    found = reranked(library)
    assert time.monotonic() - started < 25
    assert paths(found) == paths(usual)
    assert "graded 0 of 7 passages within 5 s. Choose a smaller model" in found.notices[0]
    # A page that is drawn again does not wait again.
    assert reranked(library) is found


def test_where_ollama_is_away_search_goes_on(tmp_path):
    with OllamaStandIn() as gone:
        pass
    opened = open_library(tmp_path / "away", models={"embedder": "hash", "ollama_url": gone.url})
    add(opened, write_files(tmp_path / "files", FILES))
    usual = find(opened, QUESTION)
    for question in (QUESTION, "wheel", "oak"):
        started = time.monotonic()
        found = reranked(opened, question)
        assert time.monotonic() - started < opened.settings.models.connect_seconds
        assert found.notices[0].startswith(f"{NOT_RERANKED} Ollama ")
    assert paths(reranked(opened)) == paths(usual)
    opened.close()


def test_an_address_that_is_refused_is_said(tmp_path):
    models = {"embedder": "hash", "ollama_url": "http://example.org:1"}
    opened = open_library(tmp_path / "remote", models=models)
    add(opened, write_files(tmp_path / "files", {"a.md": "# A\n\nA turbine.\n"}))
    assert "names another machine" in reranked(opened).notices[0]
    opened.close()


def test_sections_and_topics_are_not_reranked(library, server):
    found = reranked(library, granularity=Granularity.SECTION)
    assert found.notices == (f"{NOT_RERANKED} only chunks are. Search in chunks.",)
    long = library.search_chunked(QUESTION, library.options(rerank=Rerank.MODEL))
    assert long.notices[-1].startswith(f"{NOT_RERANKED} topics are asked one by one.")
    assert reranked(library, "path:one").listed
    assert server.asked("/api/chat") == []


def test_a_collection_may_rerank_by_itself(library, server):
    server.reply = grading(answers)
    record = library.catalog.collections.get("private")
    library.catalog.collections.set_settings(record.id, {"search": {"rerank": "model"}})
    assert library.options(collections=("private",)).rerank is Rerank.MODEL
    assert library.options().rerank is Rerank.NONE
    found = library.search(QUESTION, library.options(collections=("private",)))
    assert "reranking" in stages(found)
    library.catalog.collections.set_settings(record.id, {})


_WITHOUT = """
import sys
from pathlib import Path
from ragkit.library import Library
from ragkit.settings import load_settings
library = Library.open(load_settings(library=Path(sys.argv[1])))
answer = library.search("turbine")
assert answer.results and "reranking" not in [one.name for one in answer.trace.stages]
print(*sorted(set(sys.modules) & {"ragkit.retrieval.rerank", "ragkit.models.grader", "httpx",
                                  "ollama", "ragkit.models.ollama"}))
"""


def test_without_it_nothing_of_it_is_loaded(library):
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT, str(library.paths.root)],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


def test_a_cross_encoder_in_a_folder_reranks_and_without_it_the_order_is_the_usual(tmp_path):
    folder = cross_encoder_folder(tmp_path / "tiny-reranker")
    models = {"embedder": "hash", "rerank_model": f"folder:{folder}"}
    files = {
        "a.md": "# Zeppelins\n\nA zeppelin is an airship, a balloon and a zeppelin.\n",
        "b.md": "# Cooks\n\nThe cook may return the carrots to the soup, with onions.\n",
    }
    with open_library(tmp_path / "library", models=models) as library:
        add(library, write_files(tmp_path / "files", files))
        usual = find(library, "zeppelin airship balloon cook carrots")
        found = reranked(library, "zeppelin airship balloon cook carrots")
        folder.rename(tmp_path / "elsewhere")
        left = reranked(library, "zeppelin airship balloon cook carrots ")

    assert (paths(usual), paths(found)) == (["a.md", "b.md"], ["b.md", "a.md"])
    best, second = (result.matched_chunks[0].grade for result in found.results)
    assert 10 >= best > 9 > second > 0
    stage = next(one for one in found.trace.stages if one.name == "reranking")
    assert stage.note == "tiny-reranker: 2 of 2 graded"
    assert "graded 10 of 10" in "\n".join(answer_as_text(found, explain=True, colour=False))
    assert paths(left) == paths(usual)
    assert left.notices == (f"{NOT_RERANKED} There is no folder {folder}. Mount its drive, or name "
        "another; names of models on the web are not looked up.",)  # fmt: skip


def test_the_newest_are_not_reranked_and_the_person_is_told(library, server):
    server.reply = grading(answers)
    newest = find(library, QUESTION, sort="newest")
    answer = reranked(library, sort="newest")
    assert paths(answer) == paths(newest)
    assert answer.notices == (
        "The newest are listed first. Sort by relevance to have results reranked.",
    )
    assert (answer.rerank.graded, answer.rerank.failure) == (0, "")
    assert server.asked("/api/chat") == []


def test_a_collection_that_is_named_twice_is_searched_once(library):
    once = find(library, QUESTION, collections=("default",))
    twice = find(library, QUESTION, collections=("default", "default"))
    assert without_times(twice) == without_times(once)
