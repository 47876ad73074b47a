"""What pages say of contexts: every state has its words, and whatever was written is only text."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import pytest

from pages.parts.document import outcomes, reader
from pages.parts.health import health_view
from pages.parts.search import cards
from pages.parts.search.passages import ExpandedContent
from ragkit.answering.outcomes import Outcome
from ragkit.catalog.background_state import BackfillState, BackgroundPhase
from ragkit.catalog.context_records import (
    BY_PERSON,
    RECORDED,
    ContextAnswer,
    ContextCost,
    ContextCounts,
    ContextRecord,
    ContextStatus,
    FailedContext,
)
from ragkit.catalog.records import ChunkRecord, JobRecord, JobState
from ragkit.catalog.summaries import SummaryRecord
from ragkit.health import checks
from ragkit.health.environment import ENVIRONMENT_CHECKS
from ragkit.health.findings import Depth, Finding
from ragkit.models.ollama_monitor import Download, OllamaLook
from ragkit.models.ollama_text import Health, ModelInfo
from ragkit.results import DocumentRef, MatchedChunk, Result
from ragkit.types import Chunk, Span

HOSTILE = '<script>x()</script><img src=x onerror=y()> " onmouseover="z()" \u202e\x00 **b** $x$'
ANSWER = ContextAnswer(
    "About the promotion.", ("promotion", "career"), ("Who is promoted?",),
    {"speakers": ["Nora", "Ines"], "has_decision": True, "topic_summary": ""},
    model="llama3.2:3b", tokens=1384, seconds=1.25,
)  # fmt: skip
RECORD = ContextRecord(7, 2, ContextStatus.COMPLETE, ANSWER, 1, "", 1_700_000_000.0)
STATE = BackfillState(
    counts=ContextCounts(pending=180, complete=212, failed=3, truncated=7),
    phase=BackgroundPhase.WORKING, message="", model="llama3.2:3b", per_minute=13.7,
    seconds_left=790.0, last_error="", current="handbook/security.md", running=True, paused=False,
)  # fmt: skip
TAGS = {"p", "span", "details", "summary", "dl", "dt", "dd", "ul", "li", "div", "button", "b",
        "bdi", "br", "a", "i"}  # fmt: skip


class _Reader(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.said: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.said.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.said).split())


def words(html: str) -> str:
    return _Reader(html).text


def test_who_wrote_it_is_said_with_the_model_on_hover():
    html = reader.author_label(ANSWER)
    assert words(html) == "AI context"
    assert 'title="Model: llama3.2:3b. It may be wrong' in html
    assert 'tabindex="0"' in html
    assert words(reader.author_label(replace(ANSWER, model=BY_PERSON))) == "Edited by you"
    recorded = reader.author_label(replace(ANSWER, model=RECORDED))
    assert words(recorded) == "AI context (from the sample)"
    assert "Model:" not in recorded


def test_a_card_shows_what_was_written_of_its_best_chunk():
    document = DocumentRef(7, "a.md", "A", "default", "markdown", 0, 3, "/a.md")
    result = Result(document, 0.5, (), (MatchedChunk(2, 0.5),))
    assert "rk-written" not in cards.card(result, 0)
    assert "rk-written" not in cards.card(
        result, 0, "", ExpandedContent(context=replace(RECORD, answer=ContextAnswer("")))
    )
    assert "AI context About the promotion." in words(
        cards.card(result, 0, "", ExpandedContent(context=RECORD))
    )


def test_all_that_is_known_of_a_chunk_can_be_seen():
    said = words(reader.chunk_context(RECORD, 2))
    for part in (
        "About the promotion.", "Modelllama3.2:3b", "Attempts1", "1.2 s",
        "Keywordspromotion, career",
        "Who is promoted?", "SpeakersNora, Ines", "Has decisionyes", "written · 2023-11-1",
        "Edit contextRegenerate",
    ):  # fmt: skip
        assert part in said
    assert "Topic summary" not in said
    assert "Last error" not in said
    mine = words(reader.chunk_context(replace(RECORD, answer=replace(ANSWER, model=BY_PERSON)), 2))
    assert "Edited by you" in mine
    assert "Cost" not in mine


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (None, "No AI context yet.Edit contextRegenerate"),
        (
            replace(RECORD, status=ContextStatus.FAILED, answer=ContextAnswer(""), error="No. Do."),
            "The context could not be written. No. Do.",
        ),
        (
            replace(RECORD, status=ContextStatus.PENDING),
            "Waiting to be regenerated. Searches use the old one until then.",
        ),
        (replace(RECORD, status=ContextStatus.TRUNCATED), "saw only part of it"),
    ],
)
def test_what_is_missing_is_said(record, said):
    assert said in words(reader.chunk_context(record, 2))


def test_what_was_decided_links_to_its_sentence_or_chunk():
    said = Outcome("decision", 2, HOSTILE, f"So be it {HOSTILE}.", Span(40, 60))
    html = outcomes.outcomes([said, Outcome("action", 4), *[said] * 6], 7, "who?")
    read = _Reader(html)
    assert read.tags <= TAGS | {"section"}
    assert read.names <= {
        "class", "id", "aria-label", "href", "data-rk", "data-id", "title", "target", "dir",
    }  # fmt: skip
    assert "document?id=7&amp;find=who%3F&amp;span=40-60&amp;said=" in html
    assert "document?id=7&amp;chunk=5&amp;find=who%3F" in html
    assert "To do Somewhere in chunk 5" in read.text
    assert "2 more" in read.text
    assert outcomes.outcomes([], 7, "") == ""


def test_where_a_decision_leads_is_said_as_it_is_written():
    said = Outcome("decision", 2, "Budget", 'R&D gets "more".', Span(40, 56))
    assert 'title="“R&amp;D gets &quot;more&quot;.”"' in outcomes.outcomes([said], 7, "")


def test_what_could_not_be_used_is_said_in_the_details():
    answer = replace(ANSWER, details={"dropped": {"sentiment": HOSTILE[:8]}})
    assert "Dropped" + f"sentiment ({HOSTILE[:8]})" in words(
        reader.chunk_context(replace(RECORD, answer=answer), 2)
    )


def test_a_chunk_list_holds_both_contexts_and_its_buttons():
    chunk = ChunkRecord(Chunk(2, 0, 5, 0, ("Top",)), "Where › it stands")
    html = reader.chunk_list([chunk], "Hello", 7, None, "", {2: RECORD})
    assert "Where › it stands" in words(html)
    assert "About the promotion." in words(html)
    assert 'data-rk="edit-context" data-chunk="2" aria-label="Edit context of chunk 3"' in html
    assert 'data-rk="write-again" data-chunk="2"' in html


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "Writing 219 of 402 chunks · 14 a minute · about 13 min left · handbook/security.md"),
        ({"ready": 5, "per_minute": 3.21}, "Writing 224 of 402 chunks · 3.2 a minute"),
        ({"per_minute": None, "seconds_left": None}, "402 chunks · handbook/security.md"),
        ({"paused": True, "phase": BackgroundPhase.PAUSED}, "Paused · 219 of 402 chunks"),
        (
            {"paused": True, "phase": BackgroundPhase.PAUSED, "running": False},
            "searches use those that are written · the worker is not running",
        ),
        (
            {"running": False, "phase": BackgroundPhase.OFF},
            "Stopped · 219 of 402 chunks · the worker is not running; what is written is kept",
        ),
        (
            {"phase": BackgroundPhase.WAITING, "message": "Ollama does not answer. Start it."},
            "Waiting · 219 of 402 chunks · Ollama does not answer. Start it.",
        ),
        ({"phase": BackgroundPhase.DONE}, "Starting · 219 of 402 chunks"),
        ({"counts": ContextCounts(complete=9)}, "Complete · 9 of 9 chunks"),
        (
            {"counts": ContextCounts(complete=9, failed=2)},
            "Finished · 9 of 11 chunks, 2 failed",
        ),
        ({"counts": ContextCounts()}, "Nothing to write · no documents are indexed yet"),
    ],
)
def test_how_the_writing_stands(changes, said):
    assert said in words(health_view.contexts_status(replace(STATE, **changes), True))


def test_the_figures_and_the_meter():
    html = health_view.contexts_status(STATE, True)
    assert "212 written180 pending3 failed7 truncated" in words(html)
    assert 'aria-valuenow="54"' in html
    assert "Off · 219 of 402 chunks · turn it on" in words(
        health_view.contexts_status(STATE, False)
    )


def test_what_contexts_cost_is_summed():
    assert "Cost" not in words(health_view.contexts_status(STATE, True))
    cost = ContextCost(212, 2, 1, tokens=123_456, seconds=1500.0)
    said = words(health_view.contexts_status(replace(STATE, cost=cost), True))
    assert said.endswith(
        "Cost: 123,456 tokens, 25 min; 2 long documents summarised; "
        "1 long document could not be summarised"
    )


def test_a_document_says_what_its_contexts_cost_and_how_it_was_summarised():
    assert reader.about_contexts(ContextCost(), None) == ""
    cost = ContextCost(3, 1, tokens=4512, seconds=95.0)
    written = SummaryRecord("h", "llama3.2:3b", "p", "Of <b>voyages</b>.", "", 900, 2.0)
    said = words(reader.about_contexts(cost, written))
    assert said == (
        "Summary of the documentAI context Of <b>voyages</b>.Contexts cost 4,512 tokens, 2 min."
    )
    failed = replace(written, summary="", error="It is empty. Try again.")
    assert words(reader.about_contexts(ContextCost(), failed)) == (
        "The document could not be summarised; its contexts were written without. "
        "It is empty. Try again."
    )


def test_failures_name_their_chunks_and_cures():
    assert health_view.failures([], 0) == ""
    one = FailedContext(7, "notes/a b.md", 2, "It is empty. Try again.", 2, 1_700_000_000.0)
    html = health_view.failures([one], 4)
    assert 'href="document?id=7&amp;chunk=3"' in html
    assert "notes/a b.md, chunk 3" in words(html)
    assert "2 attemptsIt is empty. Try again." in words(html)
    assert "and 3 more" in words(html)


def look(*names: str, best: str = "", reachable: bool = True, cure: str = "") -> OllamaLook:
    health = Health(reachable, "0.12.0", names, "Ollama is so.", cure)
    return OllamaLook(health, tuple(ModelInfo(one, ("completion",)) for one in names), best)


def test_what_is_said_of_ollama():
    assert words(health_view.ollama_line(None, "")) == "Looking for Ollama …"
    there = look("a:1b", "b:1b", best="b:1b")
    assert words(health_view.ollama_line(there, "")) == "Ollama is so. b:1b writes contexts."
    assert words(health_view.ollama_line(there, "a:1b")) == "Ollama is so. a:1b writes contexts."
    gone = words(health_view.ollama_line(there, "c:1b"))
    assert gone == "Ollama is so. c:1b is chosen, but not installed."
    away = words(health_view.ollama_line(look(reachable=False, cure="Start it."), ""))
    assert away.startswith("Ollama is so. Start it.Ollama is a free program")


def test_how_a_download_stands():
    begun = Download("a:1b", "pulling", 500_000_000, 2_000_000_000)
    html = health_view.download_line(begun)
    assert words(html) == "Downloading a:1b · pulling · 500 MB of 2.0 GB"
    assert 'aria-valuenow="25"' in html
    ended = replace(begun, ended=True)
    assert "is installed and writes contexts from now on" in words(health_view.download_line(ended))
    assert "cancelled" in words(health_view.download_line(replace(ended, cancelled=True)))
    assert words(health_view.download_line(replace(ended, problem="No. Do."))) == "No. Do."


def test_whatever_was_written_is_only_text():
    answer = ContextAnswer(
        HOSTILE, (HOSTILE,), (HOSTILE,), {HOSTILE: HOSTILE, "x": [HOSTILE]}, model=HOSTILE
    )
    record = ContextRecord(7, 2, ContextStatus.FAILED, answer, 1, HOSTILE, 0.0)
    failed = FailedContext(7, HOSTILE, 2, HOSTILE, 2, 0.0)
    state = replace(STATE, current=HOSTILE, message=HOSTILE)
    sick = OllamaLook(Health(False, HOSTILE, (), HOSTILE, HOSTILE))
    summary = SummaryRecord("h", HOSTILE, "p", HOSTILE, HOSTILE)
    for html in (
        reader.about_contexts(ContextCost(), summary),
        reader.about_contexts(ContextCost(), replace(summary, summary="")),
        reader.card_context(record),
        reader.chunk_context(record, 2),
        health_view.failures([failed], 1),
        health_view.contexts_status(state, True),
        health_view.contexts_status(replace(state, phase=BackgroundPhase.WAITING), True),
        health_view.ollama_line(sick, HOSTILE),
        health_view.ollama_line(look(HOSTILE, best=HOSTILE), HOSTILE),
        health_view.download_line(Download(HOSTILE, HOSTILE)),
        health_view.download_line(Download(HOSTILE, ended=True, problem=HOSTILE)),
    ):
        read = _Reader(html)
        assert read.tags <= TAGS
        assert not {one for one in read.names if one.startswith("on") or one == "src"}
        assert "\x00" not in html


def test_what_ollama_does_not_answer_is_not_said_to_be_written():
    assert words(health_view.contexts_status(STATE, True, False)).startswith(
        "Waiting for Ollama · 219 of 402 chunks212 written"
    )
    away = replace(STATE, phase=BackgroundPhase.WAITING, message="Ollama does not answer. Start.")
    assert "does not answer" not in words(health_view.contexts_status(away, True, True))


def test_health_in_one_line_says_what_failed():
    well = Finding("disk", True, "Room enough.")
    failed = Finding("contexts", True, "659 contexts failed.", "retry_contexts", 659)
    broken = Finding("privacy", False, "Others can read.", "make_private", 3)
    assert words(health_view.headline([well])) == "✓ Everything works"
    verified = health_view.headline([well], verified=True)
    assert words(verified) == "✓ Every text, vector and word is as it should be"
    assert words(health_view.headline([well, failed])) == "! Search works · 659 contexts failed"
    assert words(health_view.headline([failed, broken])) == "✕ 1 problem · Privacy"
    assert health_view.concerns([failed, well, broken]) == [broken, failed]
    assert words(health_view.folded([well])) == "1 check OK✓ Disk OKRoom enough."


@pytest.mark.parametrize("name", [*ENVIRONMENT_CHECKS, *checks._CHECKS[Depth.VERIFY]])
def test_every_check_has_a_title(name):
    said = words(health_view.folded([Finding(name, True, "Fine.")]))
    assert said.startswith("1 check OK✓ ")
    assert said.removeprefix("1 check OK✓ ")[0].isupper()


def test_equal_jobs_in_a_row_are_one_line():
    def job(number: int, message: str) -> JobRecord:
        return JobRecord(number, "sync", {}, JobState.DONE, {}, message, False, 1, 1.0, 2.0, 3.0)

    jobs = [job(3, "Nothing new."), job(2, "Nothing new."), job(1, "4 new.")]
    html = health_view.jobs_table(jobs)
    assert html.count("<tr>") == 3
    assert "Nothing new (2 times).</td>" in html
    assert "4 new.</td>" in html
