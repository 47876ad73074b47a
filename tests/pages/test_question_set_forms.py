"""Question sets on the Evaluate page: imported from a file, and the sample's."""

from __future__ import annotations

from pathlib import Path

from running import html, run

from pages.parts.evaluate import from_searches
from ragkit.indexing.writer import writer_lock
from ragkit.library import Library
from ragkit.library.logged_questions import LoggedQuestion, OfferedPlace
from ragkit.surfaces.serve import app_folder


def fill(library: Library, folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "refund.md").write_text("# Refund policy\n\nA full refund within 30 days.\n")
    library.jobs.wait(library.sources.sync(library.sources.add_folder(folder)))


def import_file(library: Library, name: str, data: bytes):
    app = run(library, "evaluate")
    with writer_lock(library.paths.lock, "test"):
        app.file_uploader[0].set_value((name, data, "text/csv")).run()
        app.button(key="evaluate-import-begin").click().run()
    assert not app.exception
    return app


def test_a_file_becomes_a_set_that_is_chosen(library, tmp_path):
    fill(library, tmp_path / "papers")
    rows = b"question,path,grade\nHow long for a refund?,refund.md,2\nWhat else?,gone.md,2\n"
    app = import_file(library, "mine.csv", rows)
    assert library.judgments.sets("default") == {"mine": (1, 1)}
    said = html(app)
    assert "Imported 1 question with 1 rating." in said
    assert "gone.md" in said
    assert app.radio(key="eval_set").value == "mine"


def test_a_file_that_is_no_set_says_what_to_do(library, tmp_path):
    fill(library, tmp_path / "papers")
    said = html(import_file(library, "<b>.csv", b"one,two\n1,2\n"))
    assert "&lt;b&gt;.csv lacks the columns question and path." in said
    assert "question,path,grade" in said
    assert library.judgments.sets("default") == {}


def test_the_sample_brings_its_questions(library):
    folder = app_folder() / "sample_data" / "library"
    source = library.sources.add_folder(folder)
    keys = [button.key for button in run(library, "evaluate").button]
    assert "evaluate-sample" not in keys
    library.jobs.wait(library.sources.sync(source))
    app = run(library, "evaluate")
    with writer_lock(library.paths.lock, "test"):
        app.button(key="evaluate-sample").click().run()
    assert not app.exception
    assert library.judgments.sets("default")["sample questions"][0] == 40
    assert "Imported 40 questions with 59 ratings." in html(app)
    assert "quotation is not in it" not in html(app)
    assert "evaluate-sample" not in [button.key for button in app.button]


def places_of_expanders(block, place=()):
    """Return where each expander of a page stands, by its label."""
    found = {block.label: place} if block.type == "expander" else {}
    for index, child in getattr(block, "children", {}).items():
        found |= places_of_expanders(child, (*place, index))
    return found


def test_the_first_set_moves_no_part_of_the_page(library):
    # What has moved is on the page twice until it is drawn, and loses what was open in it.
    source = library.sources.add_folder(app_folder() / "sample_data" / "library")
    library.jobs.wait(library.sources.sync(source))
    app = run(library, "evaluate")
    before = places_of_expanders(app.main)
    assert set(before) == {
        "Rate questions from your searches",
        "Import a question set",
        "Generate questions with a model",
    }
    with writer_lock(library.paths.lock, "test"):
        app.button(key="evaluate-sample").click().run()
    assert app.radio(key="eval_set").value == "sample questions"
    assert places_of_expanders(app.main).items() >= before.items()


# -- of the log of searches --------------------------------------------------------------------


def test_questions_of_the_log_are_listed_once_they_are_asked_for(library, tmp_path):
    fill(library, tmp_path / "papers")
    app = run(library, "evaluate")
    assert "rk-logged" not in html(app)
    with writer_lock(library.paths.lock, "test"):
        app.session_state["evaluate-searches"] = True
        app.run()
    assert "No search of this collection is in the log yet." in html(app)
    options = library.options()
    for _ in range(2):
        library.searches.note("refund", library.search("refund"), options, door="mcp")
    with writer_lock(library.paths.lock, "test"):
        app.run()
    assert "0 of 1 question rated" in html(app)
    assert "2 ×" in html(app)
    [asked] = library.judgments.logged("default", library.searches.log(), "searches")
    [place] = library.judgments.offered("default", asked, "searches")
    with writer_lock(library.paths.lock, "test"):
        app.session_state["logged_chosen"] = asked
        app.run()
    said = html(app)
    assert "A full refund within 30 days." in said
    assert f'data-place="{place.span.start}-{place.span.end}"' in said
    assert not app.exception


def test_what_was_asked_and_shown_is_text_and_nothing_else():
    evil = '"><img src=x onerror=alert(1)>'
    one = LoggedQuestion(evil, f"path:{evil}", 3, 0.0, (), rated=True)
    place = OfferedPlace(4, evil, evil, None, evil)
    drawn = from_searches.listed([one], one, [place], evil)
    assert "<img" not in drawn
    assert drawn.count('data-rk="judge"') == 3
    assert 'data-place=""' in drawn
    assert "3 × · rated" in drawn
    assert "Nothing that it showed is left." in from_searches.listed([one], one, (), "default")


def test_a_click_opens_a_question_and_a_rating_makes_the_set(library, tmp_path, monkeypatch):
    fill(library, tmp_path / "papers")
    library.searches.note("refund", library.search("refund"), library.options(), door="api")
    [asked] = library.judgments.logged("default", library.searches.log(), "mine")
    [place] = library.judgments.offered("default", asked, "mine")
    session = {"logged_set": " mine "}
    monkeypatch.setattr(from_searches.st, "session_state", session)
    drawn = from_searches.listed([asked], None, (), "default")
    key = drawn.partition('data-key="')[2].partition('"')[0]
    from_searches.act(library, "default", {"rk": "logged", "key": key})
    assert session["logged_chosen"] == asked
    rating = {
        "rk": "judge", "collection": "default", "id": str(place.document_id), "grade": "2",
        "place": f"{place.span.start}-{place.span.end}",
    }  # fmt: skip
    from_searches.act(library, "default", rating)
    assert library.judgments.sets("default") == {"mine": (1, 1)}
    assert session["eval_new_set"] == "mine"
    assert library.judgments.logged("default", library.searches.log(), "mine")[0].rated
    from_searches.act(library, "default", {"rk": "unjudge", "collection": "default"})
    assert library.judgments.sets("default") == {}
    from_searches.act(library, "default", {"rk": "logged", "key": key})
    assert session["logged_chosen"] is None
