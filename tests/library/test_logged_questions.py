"""Questions of the log become a set that is rated and evaluated."""

from __future__ import annotations

import csv
import io
import time
from dataclasses import replace

import pytest
from small_library import add, open_library, write_files

from ragkit.catalog.judgments import Origin
from ragkit.evaluation.measuring import measure
from ragkit.evaluation.search_config import SearchConfig
from ragkit.library.logged_questions import LOGGED, LoggedQuestion, as_csv
from ragkit.library.search_log import Shown
from ragkit.options import ChunkedOptions, Filters
from ragkit.types import Span

FILES = {
    "reefs.md": "# Coral reefs\n\nReefs grow slowly in warm water, a few millimetres a year.\n",
    "heron.md": "# Heron\n\nThe heron wades slowly in the harbour.\n",
    "notes/tide.txt": "The tide turns in the harbour at nine.\n",
}


@pytest.fixture
def library(tmp_path):
    library = open_library(tmp_path / "library")
    add(library, write_files(tmp_path / "files", FILES))
    yield library
    library.close()


def search(library, question, **options):
    asked = library.options(**options)
    library.searches.note(question, library.search(question, asked), asked, door="page")


def logged(library, question_set=LOGGED):
    return library.judgments.logged("default", library.searches.log(), question_set)


def rate(library, one, path, grade, question_set=LOGGED):
    places = library.judgments.offered("default", one, question_set)
    place = next(place for place in places if place.path == path)
    library.judgments.add(
        "default", one.question, place.document_id, grade,
        span=place.span, origin=Origin.SEARCH, question_set=question_set, filter_=one.filter,
    )  # fmt: skip
    return place


def test_questions_are_listed_once_with_the_places_of_all_their_searches(library):
    search(library, "slow  Reefs", mode="keyword")
    search(library, "harbour type:txt")
    search(library, "slow reefs", mode="vector")
    search(library, "zzqx", mode="keyword")
    library.searches.note(
        "a long text", library.search("harbour"), library.options(), door="page",
        chunked=ChunkedOptions(),
    )  # fmt: skip
    search(library, "herons", filters=Filters(paths=("her",)))
    search(library, '"wades slowly" -reefs')
    found = logged(library)
    assert [(one.question, one.filter, one.times) for one in found] == [
        ("slow reefs", "", 2),
        ('"wades slowly" -reefs', "", 1),
        ("herons", "path:her", 1),
        ("harbour", "type:txt", 1),
    ]
    by_id = {record.id: record.path for record in library.documents.list()}
    assert sorted(by_id[place.document_id] for place in found[0].shown) == ["heron.md", "reefs.md"]
    assert library.judgments.logged("default", (), LOGGED) == ()


def test_what_is_offered_is_what_stands_there_now(library, tmp_path):
    search(library, "slow reefs")
    [one] = logged(library)
    place = rate(library, one, "reefs.md", 2)
    assert "a few millimetres a year" in place.text
    again = next(
        place for place in library.judgments.offered("default", one, LOGGED)
        if place.path == "reefs.md"
    )  # fmt: skip
    assert again.grade == 2
    gone = replace(one, shown=(Shown(999, 0.0), Shown(place.document_id, 0.0, Span(5, 9999))))
    [whole] = library.judgments.offered("default", gone, LOGGED)
    assert (whole.span, whole.text[:6]) == (None, "# Cora"[:6]) or whole.text.startswith("Coral")


def test_a_set_of_logged_questions_is_rated_and_evaluated(library):
    search(library, "slow reefs")
    search(library, "harbour type:txt")
    reefs, tide = sorted(logged(library), key=lambda one: one.filter)
    rate(library, reefs, "reefs.md", 2)
    rate(library, reefs, "heron.md", 0)
    rate(library, tide, "notes/tide.txt", 2)
    assert library.judgments.sets("default") == {LOGGED: (2, 3)}
    assert [one.rated for one in logged(library)] == [True, True]
    # The same question in other letters is the one that is rated.
    search(library, "SLOW reefs")
    first = logged(library)[0]
    assert (first.question, first.times, first.rated) == ("slow reefs", 2, True)
    assert not any(one.rated for one in logged(library, "another"))
    experiment = library.experiment("default", LOGGED)
    assert {(one.text, one.filters.types) for one in experiment.questions} == {
        ("slow reefs", ()), ("harbour", ("txt",)),
    }  # fmt: skip
    measured = measure(experiment, SearchConfig(library.options()))
    record = library.runs.keep(measured, "default")
    assert record.run.means["hit@1"] == 1.0
    assert record.run.questions == 2


def test_a_question_is_another_one_under_another_filter(library):
    search(library, "harbour")
    search(library, "harbour type:txt")
    everywhere, in_text = sorted(logged(library), key=lambda one: one.filter)
    rate(library, everywhere, "heron.md", 2)
    rate(library, everywhere, "notes/tide.txt", 0)
    assert [one.rated for one in logged(library)].count(True) == 1
    [place] = library.judgments.offered("default", in_text, LOGGED)
    assert (place.path, place.grade) == ("notes/tide.txt", None)
    rate(library, in_text, "notes/tide.txt", 2)
    assert library.judgments.sets("default") == {LOGGED: (2, 3)}
    questions = library.judgments.collect("default", LOGGED).questions
    assert [(one.text, one.filter, one.documents) for one in questions] == [
        ("harbour", "", {"heron.md": 2, "notes/tide.txt": 0}),
        ("harbour", "type:txt", {"notes/tide.txt": 2}),
    ]
    measured = measure(library.experiment("default", LOGGED), SearchConfig(library.options()))
    assert {measured.filters.get(key, ""): text for key, text in measured.asked.items()} == {
        "": "harbour", "type:txt": "harbour",
    }  # fmt: skip


def test_a_file_is_rated_and_imported_again(library, tmp_path):
    search(library, "=slow reefs")
    rows = [(one, library.judgments.offered("default", one, LOGGED)) for one in logged(library)]
    text = as_csv(rows)
    read = list(csv.DictReader(io.StringIO(text)))
    assert {row["grade"] for row in read} == {"?"}
    assert {row["question"] for row in read} == {" =slow reefs"}
    file = tmp_path / "mine.csv"
    file.write_text(text.replace(",?,reefs.md", ",2,reefs.md"), "utf-8")
    imported = library.judgments.import_file("default", file, LOGGED)
    assert (imported.questions, imported.judgments) == (1, 1)
    assert "Left out, since the grade is not 0, 1 or 2 but '?'" in imported.notices[0]
    [question] = library.judgments.collect("default", LOGGED).questions
    assert (question.text, question.documents) == ("=slow reefs", {"reefs.md": 2})
    assert question.judgments[0].span is not None
    [one] = logged(library)
    assert one.rated
    assert ",2,reefs.md" in as_csv([(one, library.judgments.offered("default", one, LOGGED))])


def test_what_was_rated_in_a_file_is_rated_again_on_the_page(library, tmp_path):
    search(library, "slow reefs")
    rows = [(one, library.judgments.offered("default", one, LOGGED)) for one in logged(library)]
    file = tmp_path / "mine.csv"
    file.write_text(as_csv(rows).replace(",?,reefs.md", ",2,reefs.md"), "utf-8")
    library.judgments.import_file("default", file, LOGGED)
    [one] = logged(library)
    rate(library, one, "reefs.md", 1)
    rate(library, one, "heron.md", 0)
    assert library.judgments.sets("default") == {LOGGED: (1, 2)}
    [question] = library.judgments.collect("default", LOGGED).questions
    assert question.documents == {"heron.md": 0, "reefs.md": 1}


def test_the_log_of_hundreds_is_read_quickly(library):
    found = library.search("slow reefs")
    for number in range(500):
        library.searches.note(f"slow reefs {number}", found, library.options(), door="api")
    begun = time.process_time()
    assert len(logged(library)) == 500
    assert time.process_time() - begun < 2.0
    assert isinstance(logged(library)[0], LoggedQuestion)
