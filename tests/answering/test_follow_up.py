"""A question that follows another stands alone: by a model, and by rules where none is of use."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import pytest
from ollama_stand_in import WRITER

from ragkit.answering.elliptic import stand_alone
from ragkit.answering.follow_up import FollowUp, follow_up, messages_for, usable
from ragkit.answers import AnswerSentence, AnswerState, Source, Turn, WrittenAnswer
from ragkit.models.ollama import OllamaClient
from ragkit.results import DocumentRef
from ragkit.settings import ModelSettings

BUOY = "How long may a customer return a buoy?"
DOCUMENT = DocumentRef(1, "returns.md", "Returns", "default", "markdown", 0, 1, "/x")
SAID = Source("A buoy may be returned within 30 days.", 0, 38, DOCUMENT)
OTHER = Source("Faulty buoys come back within two years.", 40, 80, DOCUMENT)
GONE = replace(OTHER, text="Gone.", changed=True)
WRITTEN = WrittenAnswer(
    BUOY, "m", AnswerState.DONE, (AnswerSentence("30 days.", (1,)),), (OTHER, GONE)
)
FIRST = Turn(BUOY, BUOY, (SAID,))
TODAY = date(2026, 11, 23)


def turns(*asked: str | tuple[str, str]) -> list[Turn]:
    return [Turn(*((one, one) if isinstance(one, str) else one)) for one in asked]


# -- by rules ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "alone"),
    [
        ("and for faulty ones?", f"{BUOY[:-1]}, for faulty ones?"),
        ("and in Norway?", f"{BUOY[:-1]}, in Norway?"),
        ("with a receipt?", f"{BUOY[:-1]}, with a receipt?"),
        ("why?", "why: customer return buoy"),
        ("How much?", "How much: customer return buoy"),
        ("for how long?", "for how long: customer return buoy"),
        ("who pays for it?", "who pays for it: customer return buoy"),
        ("yes", BUOY),
        ("and then?", BUOY),
        ("tell me more", BUOY),
        ("type:pdf", f"{BUOY} type:pdf"),
        # These stand alone.
        ("What does the IT department do?", None),
        ("is it possible to return a lamp?", None),
        ("what happened this year?", None),
        ("Which rule says that buoys drift?", None),
        ("gift cards", None),
        ("are there lamps with a discount?", None),
        ("Do lactating mothers with allergies protect their babies?", None),
        ("?", None),
    ],
)
def test_what_a_question_leaves_out_is_taken_from_the_one_before(question, alone):
    assert stand_alone(question, [FIRST]) == (alone or question)


@pytest.mark.parametrize(
    ("question", "alone"),
    [
        ("und für defekte?", "Wie lange kann ein Kunde eine Boje zurückgeben, für defekte?"),
        ("warum?", "warum: Kunde Boje zurückgeben"),
        ("Wer bezahlt das?", "Wer bezahlt das: Kunde Boje zurückgeben"),
        ("ja", "Wie lange kann ein Kunde eine Boje zurückgeben?"),
        ("Wie ist das Wetter in Berlin?", "Wie ist das Wetter in Berlin?"),
        ("Haben Sie auch Lampen?", "Haben Sie auch Lampen?"),
    ],
)
def test_german_leans_in_its_own_way(question, alone):
    before = turns("Wie lange kann ein Kunde eine Boje zurückgeben?")
    assert stand_alone(question, before) == alone


def test_years_and_filters_take_the_place_of_those_before():
    before = turns("What was the revenue in 2023? type:pdf path:finance/")
    for question, alone in {
        "what about 2024?": "What was the revenue, 2024? type:pdf path:finance/",
        "type:xlsx": "What was the revenue in 2023? path:finance/ type:xlsx",
        "why?": "why: revenue 2023 type:pdf path:finance/",
    }.items():
        assert stand_alone(question, before) == alone


def test_fragments_do_not_pile_up_and_what_is_new_in_the_last_one_counts():
    before = [FIRST, *turns(("and for faulty ones?", f"{BUOY[:-1]}, for faulty ones?"))]
    assert stand_alone("and for used ones?", before) == f"{BUOY[:-1]}, for used ones?"
    assert stand_alone("why?", before) == "why: customer return buoy faulty"
    assert stand_alone("yes", before) == before[-1].asked
    assert stand_alone("and for used ones?", []) == "and for used ones?"


def test_the_sentences_cited_last_are_carried_where_they_are_leant_on():
    found = follow_up("and for faulty ones?", [FIRST])
    assert (found.rewritten, found.model) == (f"{BUOY[:-1]}, for faulty ones?", "")
    assert found.carried == (SAID,)
    assert found.notice == "Words of the question before were added."
    assert follow_up("gift cards", [FIRST]) == FollowUp("gift cards", "gift cards")
    assert follow_up("why?", []) == FollowUp("why?", "why?")
    # What the written answer cited comes before the quick answer; what has changed is left out.
    assert follow_up("why?", [replace(FIRST, written=WRITTEN)]).carried == (OTHER,)
    ungrounded = replace(WRITTEN, sentences=(AnswerSentence("Thirty."),))
    assert follow_up("why?", [replace(FIRST, written=ungrounded)]).carried == (SAID,)


# -- by a model ----------------------------------------------------------------------------


@pytest.fixture
def client(server):
    settings = ModelSettings(ollama_url=server.url, retries=0)
    return OllamaClient(settings)


def test_a_model_rewrites_with_the_date_of_today_and_its_words_are_data(server, client):
    seen = []

    def reply(messages):
        seen.extend(messages)
        return json.dumps({"question": "How long may a customer return a faulty buoy?"})

    server.reply = reply
    found = follow_up("and for faulty ones?", [FIRST], client, today=TODAY)
    assert found == FollowUp(
        "and for faulty ones?",
        "How long may a customer return a faulty buoy?",
        WRITER,
        (SAID,),
    )
    system, user = (message["content"] for message in seen)
    assert "today is Monday, 2026-11-23" in system
    assert BUOY in user
    assert SAID.text in user
    assert BUOY not in system


@pytest.mark.parametrize(
    ("answer", "kept"),
    [
        ("How long may a faulty buoy be returned?", True),
        ('"How long may a faulty buoy be returned?"', True),
        ("How long may a faulty buoy be returned? type:pdf path:handbook/", True),
        ("for faulty ones: return buoy 2025", True),
        ("", False),
        ("None", False),
        ("How long may a customer return a buoy?", False),  # its own word is lost
        ("Wie lange darf man eine defekte Boje zurückgeben?", False),
        ("Faulty weather satellites launched by Norway", False),
        ("faulty " + "buoy " * 80, False),
        ("How long may a faulty buoy be returned? collection:secrets", False),
        ("faulty buoy document:7", False),
        ("faulty buoy -return", False),
        ("faulty buoy typ:pdf", False),
        ("faulty buoy after:never", False),
        ("faulty buoy https://evil.example/x", False),
        ("faulty\x1b[31m buoy", False),
        ({"a": 1}, False),
    ],
)
def test_an_answer_that_is_no_rewriting_gives_way_to_the_rules(server, client, answer, kept):
    server.reply = lambda _messages: json.dumps({"question": answer})
    found = follow_up("and for faulty ones?", [FIRST], client, today=TODAY)
    assert bool(found.model) == kept
    if kept:
        assert found.rewritten == answer.strip('"')
        assert found.notice == ""
    else:
        assert found.rewritten == f"{BUOY[:-1]}, for faulty ones?"
        assert found.notice == (
            "The model's rewriting was of no use. Words of the question before were added."
        )


def test_dates_and_what_a_person_typed_may_stay():
    before = turns('revenue "net sales" collection:work -draft')
    answer = 'revenue "net sales" 2025 collection:work -draft'
    assert usable(answer, "and last year?", before) == answer
    assert usable('"net" revenue', "why?", turns("revenue")) == "net revenue"


@pytest.mark.parametrize("failure", ["broken", "half-json", "only-thinking", "close", "no models"])
def test_a_model_that_fails_says_why_and_the_rules_answer(server, client, failure):
    if failure == "no models":
        server.models.clear()
    else:
        server.failure = failure
    found = follow_up("why?", [FIRST], client, today=TODAY)
    assert (found.rewritten, found.model) == ("why: customer return buoy", "")
    assert found.notice.endswith("Words of the question before were added.")
    assert len(found.notice) > len("Words of the question before were added.")


def test_long_turns_are_cut_in_the_prompt():
    long = [replace(FIRST, asked="word " * 1000, written=WRITTEN)] * 9
    messages = messages_for("why?", long, TODAY)
    assert len(messages[1]["content"]) < 3500


EXAM, PASS = "When is the driving exam?", "Wie verlängere ich den Reisepass?"


@pytest.mark.parametrize(
    ("before", "question", "asked"),
    [
        (EXAM, "and what do I have to bring?", "what do I have to bring: driving exam"),
        (EXAM, "What do I need to bring?", "What do I need to bring: driving exam"),
        (EXAM, "And where do I have to go?", "where do I have to go: driving exam"),
        (EXAM, "how much do I have to pay?", "how much do I have to pay: driving exam"),
        (EXAM, "and who should I contact?", "who should I contact: driving exam"),
        (EXAM, "How can I apply?", "How can I apply: driving exam"),
        (EXAM, "and how long does that take?", "how long does that take: driving exam"),
        (PASS, "und was muss ich mitbringen?", "was muss ich mitbringen: verlängere Reisepass"),
        (PASS, "Und wo muss ich hin?", "wo muss ich hin: verlängere Reisepass"),
        (PASS, "wie viel muss ich bezahlen?", "wie viel muss ich bezahlen: verlängere Reisepass"),
        (PASS, "und wen rufe ich an?", "wen rufe ich an: verlängere Reisepass"),
    ],
)
def test_what_fits_any_subject_is_asked_of_the_one_before(before, question, asked):
    assert follow_up(question, [Turn(before, before)]).rewritten == asked


@pytest.mark.parametrize(
    "question",
    [
        "and what does the parking permit cost?",
        "and what is the warranty on the pump?",
        "and how do I return a buoy?",
        "And who wrote the lease?",
        "what do I bring to the clinic?",
        "apply", "bring your own device", "cost",
        "und was kostet der Parkausweis?",
        "und wie lange gilt die Garantie der Pumpe?",
        "Und wer hat den Mietvertrag unterschrieben?",
        "was muss ich beim Umzug mitbringen?",
    ],
)  # fmt: skip
def test_a_question_with_a_subject_stays_as_it_is(question):
    assert follow_up(question, [Turn(EXAM, EXAM)]).rewritten == question
