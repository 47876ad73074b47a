"""The newest or the oldest first: asked for in words, or chosen."""

from __future__ import annotations

import pytest
from intent_reading import TODAY, Known, asked
from small_library import add, open_library, write_files

from ragkit.options import Sort
from ragkit.retrieval.query.intent import as_meant, read

MAIL = "From: {sender} <a@example.org>\nSubject: {subject}\nDate: {date}\n\n{text}\n"


@pytest.mark.parametrize(
    ("question", "meant", "order"),
    [
        ("latest mail from Anna", "type:mail from:Anna", "newest"),
        ("last mail about rain", "rain type:mail", "newest"),
        ("show me the 3 most recent PDFs about rain", "rain type:pdf", "newest"),
        ("latest emails", "type:mail", "newest"),
        ("oldest mail from Anna", "type:mail from:Anna", "oldest"),
        ("the first documents from Anna on rent", "rent from:Anna", "oldest"),
        ("latest notes from Anna", "latest notes from:Anna", "newest"),
        ("letzte Nachricht von Anna", "letzte Nachricht from:Anna", "newest"),
        ("die neuesten Mails von Anna", "type:mail from:Anna", "newest"),
        ("letzte Mail von Anna über Miete", "Miete type:mail from:Anna", "newest"),
        ("älteste Mails von Anna", "type:mail from:Anna", "oldest"),
        ("les derniers courriels d'Anna", "type:mail from:Anna", "newest"),
        ("les courriels les plus récents d'Anna", "type:mail from:Anna", "newest"),
        ("últimos correos de Anna", "type:mail from:Anna", "newest"),
        ("los correos más recientes de Anna", "type:mail from:Anna", "newest"),
        ("le ultime mail di Anna", "type:mail from:Anna", "newest"),
        ("laatste mails van Anna", "type:mail from:Anna", "newest"),
        ("последние письма от Anna", "type:mail from:Anna", "newest"),
    ],
)
def test_the_newest_or_oldest_may_be_asked_for(question, meant, order):
    assert asked(question) == (meant, [])
    assert ordered(question)[1] == order


def ordered(question):
    """The question as it is searched, and the order that it asks for."""
    return as_meant(question, read(question, Known(), TODAY))


@pytest.mark.parametrize(
    ("question", "meant", "order"),
    [
        ("oldest notes about tax", "notes about tax", "oldest"),
        ("latest notes from Anna", "notes from:Anna", "newest"),
        ("show me the newest documents about rent", "show me the documents about rent", "newest"),
        ("latest papers on rain", "papers on rain", "newest"),
        ("die ältesten Notizen zur Steuer", "die Notizen zur Steuer", "oldest"),
        ("neueste Berichte über Miete", "Berichte über Miete", "newest"),
        ("les notes les plus anciennes sur l'impôt", "les notes sur l'impôt", "oldest"),
        ("las facturas más antiguas sobre agua", "las facturas sobre agua", "oldest"),
        ("oudste documenten over belasting", "documenten over belasting", "oldest"),
        ("i documenti più vecchi sulle tasse", "i documenti sulle tasse", "oldest"),
        ("первые документы о налогах", "документы о налогах", "oldest"),
    ],
)
def test_an_order_of_notes_needs_no_filter(question, meant, order):
    assert ordered(question) == (meant, order)


@pytest.mark.parametrize(
    ("question", "meant", "order"),
    [
        ("tax, oldest first", "tax", "oldest"),
        ("tax (newest first)", "tax", "newest"),
        ("notes about tax oldest first", "notes about tax", "oldest"),
        ("mails from Anna newest first", "type:mail from:Anna", "newest"),
        ("tax oldest first type:pdf", "tax type:pdf", "oldest"),
        ("type:md the oldest ones first", "type:md", "oldest"),
        ("tax, latest first type:pdf -draft", "tax type:pdf -draft", "newest"),
        ("Steuer, älteste zuerst", "Steuer", "oldest"),
        ("Steuer, die neuesten zuerst", "Steuer", "newest"),
        ("impôts, les plus anciens d'abord", "impôts", "oldest"),
        ("impôts, les plus récents en premier", "impôts", "newest"),
        ("impuestos, los más antiguos primero", "impuestos", "oldest"),
        ("impuestos, más recientes primero", "impuestos", "newest"),
        ("tasse, prima i più vecchi", "tasse", "oldest"),
        ("tasse, prima le più recenti", "tasse", "newest"),
        ("belasting, oudste eerst", "belasting", "oldest"),
        ("belasting, de nieuwste eerst", "belasting", "newest"),
        ("налоги, сначала старые", "налоги", "oldest"),
        ("налоги, сначала новые", "налоги", "newest"),
    ],
)
def test_an_order_may_be_asked_for_at_the_end(question, meant, order):
    assert ordered(question) == (meant, order)


@pytest.mark.parametrize(
    "question",
    [
        "the last page of the contract", "first aid",
        "who wrote the last mail?", "last will", "", "oldest first",
        "are jobs claimed oldest first?",
        "claim jobs oldest first", "evict the oldest first", '"tax, oldest first"',
        "the first letter of the alphabet", "last notes of a piano", "oldest first, then the rest",
        "wird der älteste zuerst gelöscht", "the oldest file", "newest member about town",
        "tax\n\nnotes, oldest first",
    ],
)  # fmt: skip
def test_no_other_question_asks_for_an_order(question):
    assert ordered(question) == (question, "relevance")


@pytest.fixture(scope="module")
def mails(tmp_path_factory):
    """Mails about leases by Anna Berg and Max Stein, and a note."""
    folder = tmp_path_factory.mktemp("mails")
    files = {
        f"{name}.eml": MAIL.format(sender=sender, subject=subject, date=date, text=text)
        for name, sender, subject, date, text in (
            ("best", "Anna Berg", "The lease", "Tue, 2 Mar 2010 10:00:00 +0000",
             "The lease of the flat: the lease ends in May, so sign the new lease."),
            ("later", "Anna Berg", "Keys", "Fri, 4 Jun 2010 10:00:00 +0000",
             "The lease of the flat comes with two keys. Who signs the lease gets both."),
            ("last", "Max Stein", "Flat", "Sat, 4 Sep 2010 10:00:00 +0000",
             "The lease of the flat is renewed until next autumn, said the office."),
        )
    }  # fmt: skip
    files["note.md"] = "# Lease\n\nThe lease is a contract for a flat.\n"
    with open_library(folder / "library", models={"embedder": "hash"}) as library:
        add(library, write_files(folder / "files", files))
        yield library


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("latest mail about the lease", ["last", "later", "best"]),
        ("latest mail from Anna Berg", ["later", "best"]),
        ("mails between March and June 2010 about the lease", ["best", "later"]),
    ],
)
def test_the_newest_are_listed_first_where_a_question_asks_for_them(mails, question, expected):
    answer = mails.search(question)
    assert [result.document.path.removesuffix(".eml") for result in answer.results] == expected
    assert answer.missing_terms == ()
    assert ("The newest are listed first, as the question asks." in answer.notices) == (
        question == "latest mail about the lease"
    )


OLDEST = ("The oldest are listed first, as the question asks.",)


@pytest.mark.parametrize(
    ("question", "sort", "expected", "notices"),
    [
        ("oldest mail from Anna Berg", "auto", ["best", "later"], OLDEST),
        ("mails about the lease, oldest first", "auto", ["best", "later", "last"], OLDEST),
        ("mails about the lease, oldest first", "newest", ["last", "later", "best"], ()),
        ("latest mail about the lease", "relevance", ["best", "later", "last"], ()),
        ("latest mail about the lease", "oldest", ["best", "later", "last"], ()),
        ("type:mail", "auto", ["last", "later", "best"], ()),
        ("type:mail", "oldest", ["best", "later", "last"], ()),
        ("type:mail", "date", ["last", "later", "best"], ()),
    ],
)
def test_a_chosen_order_wins_over_the_words(mails, question, sort, expected, notices):
    answer = mails.search(question, sort=sort)
    assert [result.document.path.removesuffix(".eml") for result in answer.results] == expected
    assert answer.notices == notices


@pytest.mark.parametrize(
    ("question", "sort", "in_force"),
    [
        ("latest mail about the lease", "auto", "newest"),
        ("latest mail about the lease", "relevance", "relevance"),
        ("lease", "auto", "relevance"),
        ("lease", "oldest", "oldest"),
        ("type:mail", "auto", "newest"),
        ("type:mail", "relevance", "newest"),
        ("type:mail, oldest first", "auto", "oldest"),
        ("oldest mail from Anna Berg", "newest", "newest"),
    ],
)
def test_an_answer_knows_the_order_of_its_results(mails, question, sort, in_force):
    assert mails.search(question, sort=sort).sorted_by(Sort(sort)) == in_force


def test_words_that_are_searched_as_typed_ask_for_no_order(mails):
    answer = mails.search("latest mail about the lease", read_filters=False)
    assert (answer.asked_sort, answer.notices) == (None, ())
