"""Checks without a model: what of a sentence its source does not hold, and what is fair."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragkit.answering.checks import check_sentence
from ragkit.answering.citations import CitationReader, CitedSentence
from ragkit.answers import Check, CheckKind, Source
from ragkit.chunking.units import text_units

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "library"


def missing(text: str, ground: str, question: str = "") -> list[str]:
    checks = check_sentence(CitedSentence(text, (1,), (1,)), [ground], question)
    assert {check.kind for check in checks} <= {CheckKind.NOT_IN_SOURCE}
    return [check.detail for check in checks]


@pytest.mark.parametrize(
    ("text", "ground"),
    [
        ("It costs 1,000 euros.", "Es kostet 1.000 Euro."),
        ("It costs 1000 euros.", "It costs a thousand euros."),
        ("It costs 1 000 euros.", "It costs 1000 euros."),
        ("It cost 1.2 million.", "It cost 1,200,000."),
        ("Half apply.", "50 % apply."),
        ("50% of them apply.", "Half of the customers apply."),
        ("The rate is 12 %.", "12 percent"),
        ("Customers have thirty days.", "within 30 days"),
        ("They have 30 days.", "within thirty days"),
        ("It has twenty-five seats.", "25 seats"),
        ("Es hat fünfundzwanzig Sitze.", "25 seats"),
        ("It lasts 1 hour.", "It lasts an hour."),
        ("A 3rd try.", "the third try"),
        ("It was 10-14 days.", "10 to 14 days"),
        ("There are two ways.", "One may walk. One may run."),
        ("(1) Open it, (2) close it.", "Open it and close it."),
        ("需要30天。", "需要三十天"),
        ("It began on 1 March 2025.", "started 2025-03-01"),
        ("It began on March 1, 2025.", "am 1. März 2025"),
        ("Am 1. März 2025 begann es.", "March 1st, 2025"),
        ("It began 01.03.2025.", "1 March 2025"),
        ("It began in March 2025.", "2025-03-01"),
        ("It began on 1 March 2025.", "2025\nIt began on 1 March."),
        ("在2025年3月1日开始。", "2025-03-01"),
        ("It opens at 9 am.", "Öffnet um 9:00 Uhr"),
        ("It is open until 9 pm.", "until 21:00"),
        ("Then on Monday.", "starts Mon"),
        ("So Anna's book is there.", "By Anna Meier"),
        ("The German team won.", "In Germany the team won"),
        ("The EU said so.", "The European Union said so."),
        ("A loan (MIP), that is mortgage insurance premiums.", "mortgage insurance premiums"),
        ("Die Tomaten brauchen Wasser.", "tomatoes need water"),
        ("He said “Never paid back!”.", "Gift cards are never   paid back."),
        ('He said "gift cards … paid back".', "Gift cards are never paid back."),
        ("Set `refund_policy_id` to v2.0.1.", "See refund_policy_id v2.0.1."),
        ("See AB-123 in report.pdf.", "AB 123 and report.pdf"),
        ("Call Display.handle_update then.", "impl Display { fn handle_update() }"),
        ("Tanaka-san came.", "田中さんが来た"),
    ],
)
def test_the_same_in_another_form_is_no_finding(text, ground):
    assert missing(text, ground) == []


@pytest.mark.parametrize(
    ("text", "ground", "details"),
    [
        ("It costs 45 euros.", "It costs 44 euros, or 4.5, or 1,045.", ["45"]),
        ("It is 87 % and 3 m.", "It is 85 % and 3 m.", ["87 %"]),
        ("It cost 5 million.", "It cost 5 thousand.", ["5 million"]),
        ("They have forty days.", "They have 30 days.", ["forty"]),
        ("It began on 2 March 2025.", "1 March 2025", ["2 March 2025"]),
        ("It ended in April 2025.", "March 2025", ["April 2025"]),
        ("It opens at 9:30.", "It opens at 9:00.", ["9:30"]),
        ("It was by Anna Schmidt then.", "It was by Anna Meier.", ["Anna Schmidt"]),
        ("The NATO said so.", "The UN said so.", ["NATO"]),
        ("See AB-124.", "See AB-123.", ["AB-124"]),
        ("Use v2.1 now.", "Use v2.10 now.", ["v2.1"]),
        ("See http://a.example/c.", "http://a.example/d", ["http://a.example/c"]),
        ('He said "always paid back".', "never paid back", ['"always paid back"']),
        ("在2025年3月2日开始。", "2025-03-01", ["2025年3月2日"]),
    ],
)
def test_what_is_not_there_is_named_as_the_sentence_has_it(text, ground, details):
    assert missing(text, ground) == details


def test_names_of_the_question_are_not_held_against_an_answer_but_its_figures_are():
    question = "Did Rumpelstiltskin pay 700 euros?"
    said = "He says that Rumpelstiltskin paid 700 euros."
    assert missing(said, "The dwarf paid.", question) == ["700"]
    assert missing(said, "The dwarf paid.") == ["700", "Rumpelstiltskin"]


def test_only_a_sentence_that_claims_something_needs_a_source():
    nothing = CitedSentence("It is so.")
    assert check_sentence(nothing, [], "") == (Check(CheckKind.NO_SOURCE),)
    assert check_sentence(CitedSentence("These are they:", claims=False), [], "") == ()


def test_documents_that_cite_themselves_have_no_finding():
    """Each sentence of the sample documents, read as an answer that cites that sentence."""
    looked_at = 0
    for file in sorted(SAMPLE.rglob("*.md")):
        text = file.read_text("utf-8")
        for unit in text_units(text, code=False):
            if unit.kind not in ("prose", "row"):
                continue
            source = text[unit.start : unit.end]
            reader = CitationReader([Source(source, unit.start, unit.end)])
            reader.feed(" ".join(source.split()) + " [1]")
            reader.finish()
            for sentence in reader.sentences:
                looked_at += 1
                assert missing(sentence.text, source) == []
    assert looked_at > 400
