"""The retriever for llama-index, in llama-index's own query engine, fusion, router and cutoff."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from llama_index.core.base.base_selector import BaseSelector, SelectorResult, SingleSelection
from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.retrievers import QueryFusionRetriever, RouterRetriever
from llama_index.core.schema import MetadataMode
from llama_index.core.tools import RetrieverTool
from small_library import HANDBOOK, add, open_library, write_files
from support import run_async

from ragkit.errors import LibraryError, NotFoundError, SettingsError
from ragkit.integrations.llama_index import RagkitRetriever

_PAPERS = Path(__file__).resolve().parents[2] / "sample_data" / "library" / "papers"
_ASKED = "refund within thirty days"
_WORDS = ["harbour", "ledger", "quarry", "lantern", "meadow", "saddle", "timber", "orchard"]


def _long_document() -> str:
    """Twenty sections of their own chunks; two of them, far apart, are about tides."""
    sections = []
    for number in range(20):
        season = {2: "spring", 15: "autumn"}.get(number)
        about = f"The tide table of {season} is kept by the pilot. " if season else ""
        body = " ".join(f"{_WORDS[(number + at) % 8]}{number}" for at in range(230))
        sections.append(f"## Part {number}\n\n{about}{body}.\n")
    return "# Almanac\n\n" + "\n".join(sections)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    place = tmp_path_factory.mktemp("retriever")
    write_files(place / "documents", {**HANDBOOK, "almanac.md": _long_document()})
    write_files(place / "other", {"tea.md": "# Tea\n\nTea is steeped within thirty days.\n"})
    with open_library(place / "library") as opened:
        add(opened, place / "documents")
        add(opened, place / "other", "kitchen")
        add(opened, _PAPERS, "papers")
        yield opened


def _cut(library, node) -> str:
    """The span of a node in the stored text of its document."""
    text = library.documents.get(int(node.ref_doc_id)).text
    return text[node.start_char_idx : node.end_char_idx]


def test_a_passage_is_a_node_with_its_place_and_its_score(library):
    [first, *_] = RagkitRetriever(library).retrieve(_ASKED)
    [result, *_] = library.search(_ASKED).results
    document = result.document
    assert first.node.text == result.passages[0].text == _cut(library, first.node)
    assert "thirty days" in first.node.text
    assert first.score == result.matched_chunks[0].score > 0.5
    assert first.node.node_id == f"{document.id}:{result.passages[0].start}"
    assert first.node.metadata == {
        "title": "Refunds",
        "headings": "Refunds",
        "date": "2025-03-01",
        "path": "handbook/refunds.md",
        "collection": "default",
        "document": document.id,
        "format": "markdown",
    }
    assert first.node.source_node.node_id == str(document.id)
    assert first.node.source_node.metadata["path"] == "handbook/refunds.md"


def test_a_model_reads_the_title_and_headings_before_a_passage_and_nothing_of_the_machine(library):
    [first, *_] = RagkitRetriever(library).retrieve(_ASKED)
    head = "title: Refunds\nheadings: Refunds\n"
    text = first.node.text.strip()
    shown = first.node.get_content(MetadataMode.LLM)
    assert shown == f"{head}date: 2025-03-01\n\n{text}"
    assert first.node.get_content(MetadataMode.EMBED) == f"{head}\n{text}"


def test_a_long_document_gives_a_node_for_each_passage_best_first(library):
    retriever = RagkitRetriever(library, mode="keyword", expansion="chunk", limit=1)
    nodes = retriever.retrieve("tide table pilot spring")
    assert len(nodes) == 2
    assert [node.node.metadata["headings"] for node in nodes] == [
        "Almanac › Part 2",
        "Almanac › Part 15",
    ]
    assert nodes[0].score > nodes[1].score > 0
    assert all(node.node.text == _cut(library, node.node) for node in nodes)
    later_first = retriever.retrieve("tide table pilot autumn")
    assert [node.node_id for node in later_first] == [node.node_id for node in nodes][::-1]


def test_a_node_of_a_pdf_says_on_which_page_it_begins(library):
    options = {"collections": "papers", "filters": "type:pdf", "expansion": "chunk"}
    nodes = RagkitRetriever(library, **options).retrieve("temperature drift discussion")
    found = [(node.metadata["page"], node.metadata.get("headings", "")) for node in nodes]
    assert len({page for page, _headings in found}) > 1
    for node, (page, headings) in zip(nodes, found, strict=True):
        span = node.node.start_char_idx, node.node.end_char_idx
        passage = library.documents.passage(node.metadata["document"], *span)
        assert (passage.text, passage.page) == (node.node.text, page)
        assert " › ".join(passage.heading_path) == headings


def test_the_newest_come_first_where_that_is_asked_for(library):
    newest = RagkitRetriever(library, sort="newest", collections=("default", "kitchen"))
    tea, refunds = newest.retrieve("within thirty days")
    assert (tea.metadata["title"], refunds.metadata["title"]) == ("Tea", "Refunds")
    assert tea.score < refunds.score


def test_metadata_does_not_depend_on_the_question(library):
    retriever = RagkitRetriever(library, expansion="document")
    by_words = {node.node_id: node.node.hash for node in retriever.retrieve("refund gift cards")}
    again = {node.node_id: node.node.hash for node in retriever.retrieve(_ASKED)}
    assert set(by_words) & set(again)
    assert all(by_words[name] == again[name] for name in set(by_words) & set(again))


def test_documents_that_filters_alone_name_have_no_score(library):
    nodes = RagkitRetriever(library).retrieve("path:handbook/")
    assert {node.node.metadata["title"] for node in nodes} == {"Refunds", "Logging in"}
    assert [node.score for node in nodes] == [None, None]


def test_what_was_reranked_has_its_grade_as_score(library, monkeypatch):
    class Grader:
        name, tokens = "stand-in", 0

        def grade(self, question, passages):
            return [2.0 if "within" in one else 9.0 for one in passages]

    monkeypatch.setattr(library.engine, "open_grader", Grader)
    nodes = RagkitRetriever(library, rerank="model", rerank_depth=3).retrieve(_ASKED)
    scores = [node.score for node in nodes]
    assert scores[0] == 0.9
    assert scores.count(0.2) == 1
    assert [score or 0 for score in scores] == sorted(
        (score or 0 for score in scores), reverse=True
    )


def test_the_query_engine_answers_with_the_passages_as_its_sources(library):
    engine = RetrieverQueryEngine(
        RagkitRetriever(library, limit=2),
        get_response_synthesizer(llm=MockLLM()),
        node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=0.5)],
    )
    response = engine.query(_ASKED)
    [source] = response.source_nodes
    assert source.node.metadata["path"] == "handbook/refunds.md"
    assert source.node.text == _cut(library, source.node)
    # The stand-in repeats its prompt: it was given the passage and the question.
    assert source.node.text.strip() in response.response
    assert _ASKED in response.response
    assert str(library.paths.root) not in response.response
    later = run_async(engine.aquery(_ASKED))
    assert later.response == response.response
    assert later.source_nodes == response.source_nodes
    logged = library.searches.log()[0]
    assert (logged.question, logged.door) == (_ASKED, "program")


def test_many_asynchronous_searches_at_once_give_what_single_ones_do(library):
    retriever = RagkitRetriever(library)
    asked = [_ASKED, "tomatoes in summer", "OAuth token", "tide table"] * 4

    async def all_at_once():
        return await asyncio.gather(*map(retriever.aretrieve, asked))

    assert run_async(all_at_once()) == [retriever.retrieve(one) for one in asked]


def test_collections_are_fused_and_routed(library):
    retrievers = [
        RagkitRetriever(library, limit=1, collections=name) for name in ("default", "kitchen")
    ]
    paths = ["handbook/refunds.md", "tea.md"]
    for mode in ("reciprocal_rerank", "relative_score", "dist_based_score", "simple"):
        fused = QueryFusionRetriever(
            retrievers, llm=MockLLM(), mode=mode, num_queries=1, use_async=False
        ).retrieve(_ASKED)
        assert sorted(node.node.metadata["path"] for node in fused) == paths, mode

    class Second(BaseSelector):
        def _select(self, choices, query):
            selections = [SingleSelection(index=1, reason=choices[1].description)]
            return SelectorResult(selections=selections)

        async def _aselect(self, choices, query):
            return self._select(choices, query)

        def _get_prompts(self):
            return {}

        def _update_prompts(self, prompts):
            pass

    tools = [RetrieverTool.from_defaults(one, description="of it") for one in retrievers]
    router = RouterRetriever(Second(), tools, llm=MockLLM())
    assert [node.node.metadata["path"] for node in router.retrieve(_ASKED)] == ["tea.md"]


def test_one_passage_that_two_questions_find_is_fused_into_one_node(library):
    whole = RagkitRetriever(library, expansion="document", limit=1)
    words = RagkitRetriever(library, expansion="document", limit=1, mode="keyword")
    fused = QueryFusionRetriever([whole, words], llm=MockLLM(), num_queries=1, use_async=False)
    assert [node.node.metadata["path"] for node in fused.retrieve(_ASKED)] == [
        "handbook/refunds.md"
    ]


def test_options_are_those_of_a_search(library):
    one = RagkitRetriever(library, library.options(mode="keyword", limit=1, show_content=False))
    [node] = one.retrieve(_ASKED)
    assert "thirty days" in node.node.text
    with pytest.raises(SettingsError, match="mode"):
        RagkitRetriever(library, mode="guess")
    with pytest.raises(TypeError, match="not both"):
        RagkitRetriever(library, library.options(), limit=1)
    with pytest.raises(NotFoundError, match="nowhere"):
        RagkitRetriever(library, collections="nowhere").retrieve(_ASKED)


def test_a_library_that_it_opened_is_closed_and_another_is_not(library):
    own = RagkitRetriever(str(library.paths.root), mode="keyword")
    assert own.retrieve(_ASKED)[0].node.metadata["title"] == "Refunds"
    own.close()
    with pytest.raises(LibraryError, match="closed"):
        own.library.documents.list()
    RagkitRetriever(library).close()
    assert library.documents.counts().indexed == 8
    with pytest.raises(LibraryError, match="There is no library"):
        RagkitRetriever(library.paths.root / "nothing")


def test_an_id_outlives_a_change_elsewhere_in_its_document(tmp_path):
    folder = write_files(tmp_path / "documents", HANDBOOK)
    with open_library(tmp_path / "library") as opened:
        add(opened, folder)
        retriever = RagkitRetriever(opened, limit=1)
        before = retriever.retrieve(_ASKED)[0].node_id
        refunds = folder / "handbook" / "refunds.md"
        refunds.write_text(refunds.read_text("utf-8") + "\n## More\n\nNothing else.\n", "utf-8")
        opened.jobs.wait(opened.sources.sync())
        [node] = retriever.retrieve(_ASKED)
        assert (node.node_id, "Nothing else." in node.node.text) == (before, True)


def test_other_modules_of_integrations_load_no_framework():
    code = "import sys, ragkit.integrations; print('llama_index' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
