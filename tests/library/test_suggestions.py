"""Suggestions while typing, names of documents, and example questions."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from support import note_searches

from ragkit.library import Library
from ragkit.library.examples import question_by_itself
from ragkit.library.names import _WORD, DocumentNames, NamedDocument, _Names, folded
from ragkit.library.suggestions import LONGEST, Kind
from ragkit.settings import Settings

FILES = {
    "notes/Café de Lyon.md": "---\ntags: [travel, food]\n---\n# Café de Lyon\n\nGood coffee.\n",
    "notes/2026/trip.md": "---\ntags: [travel]\n---\n# Trip to Lake Biwa\n\nBoats and fish.\n",
    "handbook/refund-policy.md": "# Refund policy\n\n## How long may I wait?\n\nThirty days.\n",
    "handbook/report.txt": "Type sizes of the annual report.\n",
    "mail/hello.eml": "From: Mia Ray <mia@x.org>\nTo: Jo <jo@x.org>\nCc: Noa Ziv <n@x.org>\n"
    "Subject: Hello\n\nGood morning.\n",
    "tools/parse.py": "def parse():\n    '''Parse type lines.'''\n    return 1\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for name, text in FILES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    settings = Settings(
        library=tmp_path_factory.mktemp("library") / "one", models={"embedder": "hash"}
    )
    with Library.open(settings, create=True) as opened:
        opened.jobs.wait(opened.sources.sync(opened.sources.add_folder(folder)))
        yield opened


def labels(library, text, kind=None, **where):
    found = library.suggestions.suggest(text, **where)
    return [one.label for one in found if kind in (None, one.kind)]


def test_folding_ignores_case_and_accents():
    assert [folded(text) for text in ("CAFÉ", "Straße", "naïve")] == ["cafe", "strasse", "naive"]


def test_titles_are_found_at_the_starts_of_words(library):
    assert labels(library, "cafe") == ["Café de Lyon"]
    assert labels(library, "LYON ca") == ["Café de Lyon"]
    assert labels(library, "biw") == ["Trip to Lake Biwa"]
    assert labels(library, "iwa") == []
    assert (
        labels(library, "x") == labels(library, "") == labels(library, " " * LONGEST + "ca") == []
    )
    found = library.suggestions.suggest("refund pol type:md")
    assert [one.document for one in found] == [None] * len(found)
    found = library.suggestions.suggest("type:md refund pol")
    assert [(one.kind, one.label, one.detail) for one in found] == [
        (Kind.DOCUMENT, "Refund policy", "handbook/refund-policy.md")
    ]
    assert library.documents.get(found[0].document).record.path == "handbook/refund-policy.md"


def test_names_of_filters_are_completed_at_the_cursor(library):
    filters = [one for one in library.suggestions.suggest("buoy ty") if one.kind is Kind.FILTER]
    assert [(one.label, one.text, one.cursor) for one in filters] == [("type:", "buoy type:", 10)]
    assert filters[0].detail.startswith("markdown, md")
    assert labels(library, "spea", Kind.FILTER) == []
    inside = library.suggestions.suggest("ta days", cursor=2)
    assert [(one.text, one.cursor) for one in inside if one.label == "tag:"] == [("tag: days", 4)]


def test_values_of_filters_exist_and_are_counted(library):
    def values(text):
        return [(one.label, one.count) for one in library.suggestions.suggest(text)]

    assert values("type:p") == [("type:py", 1)]
    assert values("tag:") == [("tag:travel", 2), ("tag:food", 1)]
    assert values("path:no") == [("path:notes/", 2), ("path:notes/2026/", 1)]
    assert values("older_than:") == [
        (f"older_than:{age}", None) for age in ("1m", "1y", "6m", "7d")
    ]
    assert values("from:m") == [("from:Mia Ray", 1)]
    assert values("cc:") == [("cc:Noa Ziv", 1)]
    assert values("collection:") == [("collection:default", None)]
    assert values("nonsense:a") == values("tag:xyz") == []


def test_a_value_completes_the_last_alternative_and_keeps_what_follows(library):
    found = library.suggestions.suggest("fish tag:food,tr", cursor=16)
    assert [(one.text, one.cursor) for one in found] == [("fish tag:food,travel ", 21)]
    found = library.suggestions.suggest("tag:fo boats", cursor=6)
    assert [(one.text, one.cursor) for one in found] == [("tag:food boats", 9)]
    assert library.search(found[0].text).query == found[0].text


def test_past_searches_are_suggested_with_the_pinned_first(library):
    note_searches(library.searches, "lake oxygen", "oxygen in the lake", "flakes")
    library.searches.pin("lake oxygen")
    found = library.suggestions.suggest("Lak")
    assert [(one.label, one.pinned) for one in found if one.kind is Kind.SEARCH] == [
        ("lake oxygen", True), ("oxygen in the lake", False),
    ]  # fmt: skip


def test_where_no_spaces_are_a_word_may_begin_at_each_letter(library):
    titles = ("町内会の議事録", "บันทึกร้านก๋วยเตี๋ยว", "游泳馆使用说明", "Café中文")
    names = _Names(
        [NamedDocument(n, "default", title, f"{n}.md", n, 1) for n, title in enumerate(titles)]
    )
    for text, number in (("議事", 0), ("ร้าน", 1), ("使用说明", 2), ("中文", 3), ("文", 3)):
        assert [one.id for one in names.matching(_WORD.findall(folded(text)))] == [number]
    assert list(names.matching(["afe"])) == []
    note_searches(library.searches, "町内会の会長は誰")
    assert labels(library, "会長") == ["町内会の会長は誰"]


def test_a_collection_that_is_not_searched_suggests_nothing(library):
    assert labels(library, "cafe", collections=["other"]) == []
    assert labels(library, "tag:", collections=["other"]) == []


def test_the_latest_documents_are_those_whose_files_changed_last(library):
    latest = library.names.latest(["default"], 2)
    assert len(latest) == 2
    assert latest[0].changed_at >= latest[1].changed_at
    assert library.names.latest(["other"], 2) == []


def found_examples(library, collections, offered=()):
    for _ in range(200):
        found = library.examples.of(collections, offered)
        if found is not None:
            return found
        time.sleep(0.02)
    raise AssertionError("no examples")


def test_an_example_has_found_its_document(library):
    offered = [
        ("Which fish swim beside boats?", "notes/2026/trip.md"),
        ("Which moon is the largest?", "handbook/gone.md"),
    ]
    found = found_examples(library, ["default"], offered)
    assert found[:2] == ("Which fish swim beside boats?", "How long may I wait?")
    for question in found:
        assert library.search(question).results
    assert "Which moon is the largest?" not in found


@pytest.mark.parametrize(
    ("heading", "question"),
    [
        ("1.2. What is a type?", "What is a type?"),
        ("Example: what happens when the same class is defined twice?",
         "What happens when the same class is defined twice?"),
        ("Q3: Who pays?", "Who pays?"),
        ("12 days of notice?", "12 days of notice?"),
        ("2024 in review?", "2024 in review?"),
        ("How does it work?", ""),
        ("What is this specification?", ""),
        ("Wie lange gilt der Vertrag?", "Wie lange gilt der Vertrag?"),
    ],
)  # fmt: skip
def test_an_example_is_understood_by_itself(heading, question):
    assert question_by_itself(heading) == question


def test_a_library_without_documents_has_no_examples(tmp_path):
    settings = Settings(library=tmp_path / "empty", models={"embedder": "hash"})
    with Library.open(settings, create=True) as opened:
        assert found_examples(opened, ["default"]) == ()


def test_threads_share_names_of_more_collections_than_are_kept(library, monkeypatch):
    monkeypatch.setattr("ragkit.library.names._MOST_KEPT", 20)
    names, before = DocumentNames(library.catalog), sys.getswitchinterval()
    monkeypatch.setattr(library.catalog.documents, "names", lambda _collection: [])
    with ThreadPoolExecutor(8) as pool:
        sys.setswitchinterval(1e-6)
        try:
            asked = pool.map(lambda at: names._kept_names(at % 100, None), range(20_000))
            assert all(found.documents == [] for found in asked)
        finally:
            sys.setswitchinterval(before)
    assert len(names._kept) == 20


def test_twenty_thousand_names_are_searched_at_once():
    words = ("report", "budget", "lake", "sensor", "meeting", "invoice", "policy", "travel")
    names = _Names(
        [
            NamedDocument(
                n, "default", f"{words[n % 8]} {words[n // 8 % 8]} {n}", f"a/{n}.md", n, 1
            )
            for n in range(20_000)
        ]
    )
    assert len(list(names.matching(["re", "19999"]))) == 0
    assert [one.id for one in names.matching(["tra", "19999"])] == [19_999]
    begun = time.process_time()
    for text in ("r", "re", "bud", "lake me"):
        list(names.matching(text.split()))
    assert time.process_time() - begun < 1.0
