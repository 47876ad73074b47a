"""Plain words that are read as filters: only where they can hardly mean anything else."""

from __future__ import annotations

from datetime import date

import pytest
from small_library import add, open_library, write_files

from ragkit.options import Filters
from ragkit.retrieval.query.intent import read, with_filters
from ragkit.retrieval.query.known_values import LibraryValues
from ragkit.retrieval.query.parser import parse_query

TODAY = date(2026, 11, 23)


class Known:
    """A library in which every filter leaves a tenth, but not those of ``none`` and ``all``."""

    total = 100

    def __init__(self, none=(), every=()):
        self.none, self.every = none, every

    def count(self, filters):
        return 0 if filters in self.none else 100 if filters in self.every else 10

    def is_sender(self, name):
        return set(name.lower().split()) <= {"anna", "berg"}

    def has_folder(self, name):
        return name.lower() in ("handbook", "code")

    def has_title(self, phrase):
        return phrase.lower() in ("travel handbook", "summer 2019", "last month")


def asked(question, known=None):
    """The question as it is searched, and what is only offered."""
    readings = read(question, known or Known(), TODAY)
    for one in readings:
        assert question[one.start : one.end] == one.words
    meant = with_filters(question, [one for one in readings if one.restricts])
    return meant, [one.filters for one in readings if not one.restricts]


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("PDFs about refunds", "refunds type:pdf"),
        ("find all spreadsheets with budgets", "budgets type:excel"),
        ("which slides mention churn", "which mention churn type:powerpoint"),
        ("what is in the slides on churn", "what is in the churn type:powerpoint"),
        ("mails from Anna", "type:mail from:Anna"),
        ("emails from anna since 2024 on rent", "on rent type:mail from:anna after:2024"),
        ("Anna's mails about rent", "about rent from:Anna type:mail"),
        ("lease from Anna Berg", 'lease from:"Anna Berg"'),
        ("mails with attachments from Anna", "type:mail has:attachment from:Anna"),
        ("everything from Anna", "from:Anna"),
        ("notes from March 2025", "notes date:2025-03"),
        ("notes from 12 March 2025", "notes date:2025-03-12"),
        ("documents written in March 2025 on buoys", "on buoys date:2025-03"),
        ("invoices until March 2025", "invoices before:2025-04"),
        ("notes from March", "notes date:2026-03"),
        ("notes from December", "notes date:2025-12"),
        ("what did we decide last week", "what did we decide after:2026-11-16"),
        ("news since yesterday", "news after:2026-11-22"),
        ("mails from today about rain", "about rain type:mail after:2026-11-23"),
        ("decisions this month", "decisions after:2026-11"),
        ("travel in the handbook", "travel path:handbook/"),
        ("hotels in the travel handbook", 'hotels title:"travel handbook"'),
        ("python files with frames", "with frames type:python"),
        ("PDFs über Rückgabe", "Rückgabe type:pdf"),
        ("Mails von Anna aus dem März 2025", "type:mail from:Anna date:2025-03"),
        ("was wurde gestern beschlossen", "was wurde beschlossen after:2026-11-22"),
        ("Notizen von Anna seit letzter Woche", "Notizen from:Anna after:2026-11-16"),
        ("les PDF sur le remboursement", "le remboursement type:pdf"),
        ("courriels d'Anna la semaine dernière", "type:mail from:Anna after:2026-11-16"),
        ("correos de Anna sobre el contrato", "sobre el contrato type:mail from:Anna"),
        ("documentos del año pasado", "after:2025"),
    ],
)
def test_what_plainly_asks_for_documents_is_a_filter(question, meant):
    assert asked(question) == (meant, [])


@pytest.mark.parametrize(
    ("question", "offered"),
    [
        ("what happened in March 2025?", ["date:2025-03"]),
        ("contracts since 2024", ["after:2024"]),
        ("what did we get from Anna?", ["from:Anna"]),
        ("python example", ["type:python"]),
        ("the CSS file of a page", ["type:css"]),
        ("is it still spoken today", ["after:2026-11-23"]),
        ("bug in the code", ["path:code/"]),
        ("notes about last month", ["after:2026-10"]),
    ],
)
def test_what_may_be_said_in_the_documents_is_only_offered(question, offered):
    assert asked(question) == (question, offered)


@pytest.mark.parametrize(
    "question",
    [
        "how long may a customer return a buoy?",
        "we march on at dawn",
        "may I return it?",
        "a book from Anna Karenina",
        "how do I send emails from Python",
        "pdf from html conversion",
        "convert PDFs to text",
        "email of Anna",
        "last week's menu",
        "what is today's date",
        "the March 2025 report",
        "in the March 2025 report",
        '"last week" "PDFs about"',
        "type:docx PDFs about refunds",
        "after:2020 what did we decide last week",
        "PDFs about x OR y",
        "PDFs about refunds\nand other things",
        "reactions in the brain",
        "wo steht hier die Regel",
        "from 35 March 2025",
    ],
)
def test_all_else_is_words(question):
    assert asked(question) == (question, [])


def test_a_filter_that_leaves_nothing_or_everything_is_not_read():
    assert asked("PDFs about refunds", Known(none=["type:pdf"])) == ("PDFs about refunds", [])
    assert asked("PDFs about refunds", Known(every=["type:pdf"])) == ("PDFs about refunds", [])
    together = Known(none=["type:mail from:Anna"])
    assert asked("mails from Anna", together) == ("from Anna type:mail", [])
    together = Known(none=["type:mail date:2025-03"])
    assert asked("mails about rain in March 2025", together) == ("rain in March 2025 type:mail", [])


def test_what_is_known_of_a_library_is_what_its_filters_say(sample):
    collection = sample.catalog.collections.get("default")
    known = LibraryValues(sample.catalog, [collection])
    documents = sample.catalog.filters.documents
    assert known.total == len(documents(collection.id, Filters()))
    for filters in (
        "type:mail", "type:pdf,markdown", "type:MD", "type:excel", "type:zzz", "after:2026",
        "before:2026-02", "date:2026-03", "date:2026-03-14", "after:2026-01 before:2026-03",
        "from:ines", "path:handbook/", "type:mail after:2026-02",
    ):  # fmt: skip
        expected = len(documents(collection.id, parse_query(filters).filters))
        assert (filters, known.count(filters)) == (filters, expected)
    assert [known.is_sender(name) for name in ("Ines", "INES carvalho", "Ine", "Japan", "")] == [
        True, True, False, False, False,
    ]  # fmt: skip
    assert [known.has_folder(name) for name in ("Handbook", "slack", "hand")] == [True, True, False]
    assert [known.has_title(name) for name in ("REMOTE work", "work remote")] == [True, False]


def test_what_is_known_follows_a_collection_that_changes(tmp_path, monkeypatch):
    with open_library(tmp_path / "library", models={"embedder": "hash"}) as library:
        add(library, write_files(tmp_path / "files", {"one.md": "# One\n\nText.\n"}))
        collection = library.catalog.collections.get("default")
        assert library.catalog.values.of(collection).total == 1
        add(library, write_files(tmp_path / "files", {"two.md": "# Two\n\nText.\n"}))
        changed = library.catalog.collections.get("default")
        assert library.catalog.values.of(changed).total == 1
        monkeypatch.setattr("ragkit.catalog.document_values._STALE_SECONDS", 0.0)
        assert library.catalog.values.of(changed).total == 2
