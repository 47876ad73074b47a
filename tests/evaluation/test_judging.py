"""Judging: grades of passages, and where they stand when documents change."""

from __future__ import annotations

import pytest

from ragkit.catalog.judgments import Origin
from ragkit.errors import EvaluationError, NotFoundError
from ragkit.evaluation.judging import (
    Grades,
    Judging,
    PlaceState,
    find_quote,
    normalised_question,
)
from ragkit.types import FileState, Span, Status

PIECES = ("Refunds take thirty days.", "Gift cards are never paid back.", "Ask the desk.")
GIFT = Span(27, 58)


@pytest.fixture
def judging(catalog):
    return Judging(catalog)


@pytest.fixture
def document(shelf):
    return shelf.put("refunds.md", *PIECES)


def placed(catalog, shelf, judging):
    return judging.place(shelf.collection_id, catalog.judgments.current(shelf.collection_id))


def test_a_passage_is_kept_with_its_words(catalog, shelf, judging, document):
    made = judging.judge(
        shelf.collection_id, " gift \n cards? ", document, 2, span=GIFT, origin=Origin.COMPARE
    )
    judged = made.judged
    assert (judged.question, judged.quote) == ("gift cards?", PIECES[1])
    assert (judged.path, judged.start, judged.end) == ("refunds.md", 27, 58)
    assert judged.content_hash == catalog.documents.get(document).hash
    assert judged.origin is Origin.COMPARE


def test_grades_are_of_places_that_mostly_agree(shelf, judging, document):
    judging.judge(shelf.collection_id, "cards", document, 2, span=GIFT)
    grades = judging.grades(shelf.collection_id, "cards")
    assert grades.of(document, GIFT) == 2
    assert grades.of(document, Span(20, 60)) == 2
    assert grades.of(document, Span(40, 100)) == 2
    assert grades.of(document, Span(0, 30)) is None
    assert grades.of(document) is None
    assert grades.of(document + 1, GIFT) is None
    assert judging.grades(shelf.collection_id, "other").of(document, GIFT) is None
    assert Grades().of(document) is None


def test_a_whole_document_s_grade_holds_for_passages_without_their_own(shelf, judging, document):
    judging.judge(shelf.collection_id, "cards", document, 1)
    judging.judge(shelf.collection_id, "cards", document, 0, span=GIFT)
    grades = judging.grades(shelf.collection_id, "cards")
    assert (grades.of(document), grades.of(document, GIFT)) == (1, 0)
    assert grades.of(document, Span(0, 20)) == 1


def test_undo_gives_back_what_was_said_before(shelf, judging, document):
    for grade in (2, 1):
        judging.judge(shelf.collection_id, "cards", document, grade, span=GIFT)
    assert judging.undo(shelf.collection_id).judged.grade == 1
    assert judging.grades(shelf.collection_id, "cards").of(document, GIFT) == 2
    assert judging.undo(shelf.collection_id).judged.grade == 2
    assert judging.grades(shelf.collection_id, "cards").placed == ()
    assert judging.undo(shelf.collection_id) is None


def test_undo_leaves_alone_what_was_rated_for_a_set(shelf, judging, document):
    here = shelf.collection_id
    judging.judge(here, "cards", document, 2, span=GIFT)
    judging.judge(here, "cards", document, 1, question_set="searches")
    assert judging.undo(here).judged.grade == 2
    assert judging.undo(here) is None
    assert judging.grades(here, "cards", question_set="searches").of(document) == 1
    assert judging.undo(here, question_set="searches").judged.grade == 1


def test_judgments_survive_other_chunks_and_moves(catalog, shelf, judging, document):
    judging.judge(shelf.collection_id, "cards", document, 2, span=GIFT)
    whole = "\n\n".join(PIECES)
    assert shelf.put("refunds.md", whole) == document
    catalog.documents.rename(document, "archive/refunds.md", [])
    (found,) = placed(catalog, shelf, judging)
    assert (found.span, found.state) == (GIFT, PlaceState.HERE)
    assert found.path == "archive/refunds.md"


def test_a_changed_text_is_searched_for_the_words(catalog, shelf, judging, document):
    judging.judge(shelf.collection_id, "cards", document, 2, span=GIFT)
    judging.judge(shelf.collection_id, "cards", document, 1)
    shelf.put("refunds.md", "A new beginning.", "Gift cards are\nnever  paid back.")
    passage, whole = placed(catalog, shelf, judging)
    assert (passage.span, passage.state) == (Span(18, 50), PlaceState.FOUND_AGAIN)
    assert (whole.span, whole.state, whole.grade) == (None, PlaceState.HERE, 1)
    assert judging.grades(shelf.collection_id, "cards").of(document, Span(18, 50)) == 2


def test_what_is_gone_is_stale_and_says_why(catalog, shelf, judging, document):
    judging.judge(shelf.collection_id, "cards", document, 2, span=GIFT)
    judging.judge(shelf.collection_id, "cards", document, 0)
    shelf.put("refunds.md", "Nothing of that is left.")
    passage, whole = placed(catalog, shelf, judging)
    assert passage.state is PlaceState.STALE
    assert passage.why == "refunds.md no longer holds what was judged."
    assert whole.state is PlaceState.HERE
    catalog.documents.remove([document])
    assert [one.why for one in placed(catalog, shelf, judging)] == [
        "refunds.md is no longer indexed."
    ] * 2
    assert judging.grades(shelf.collection_id, "cards").of(document, GIFT) is None


def test_a_document_that_failed_since_does_not_shift_the_others(catalog, shelf, judging, document):
    other = shelf.put("other.md", "Something else entirely.", "More.")
    judging.judge(shelf.collection_id, "q", document, 2, span=GIFT)
    judging.judge(shelf.collection_id, "q", other, 1, span=Span(0, 9))
    state = catalog.documents.get(document)
    catalog.files.set_outcome(
        shelf.source_id, shelf.collection_id, FileState(state.path, 1, 1), Status.FAILED, "broken"
    )
    first, second = placed(catalog, shelf, judging)
    assert (first.state, second.state) == (PlaceState.STALE, PlaceState.HERE)
    assert second.span == Span(0, 9)


@pytest.mark.parametrize("path", ["refunds.md", "elsewhere.md"])
def test_a_document_removed_and_added_again_is_found_by_path_or_content(
    catalog, shelf, judging, document, path
):
    judging.judge(shelf.collection_id, "cards", document, 2, span=GIFT)
    catalog.documents.remove([document])
    again = shelf.put(path, *PIECES)
    (found,) = placed(catalog, shelf, judging)
    assert again != document
    assert (found.document_id, found.path, found.state) == (again, path, PlaceState.HERE)


def test_what_cannot_be_judged_is_said(catalog, shelf, judging, document):
    here = shelf.collection_id
    with pytest.raises(EvaluationError, match="no question"):
        judging.judge(here, "  ", document, 2)
    with pytest.raises(EvaluationError, match="Invalid grade: 3"):
        judging.judge(here, "q", document, 3)
    with pytest.raises(NotFoundError):
        judging.judge(here, "q", document + 5, 2)
    for span in (Span(5, 5), Span(-4, 3), Span(9, 3)):
        with pytest.raises(EvaluationError, match=f"no passage from {span.start} to {span.end}"):
            judging.judge(here, "q", document, 2, span=span)
    with pytest.raises(EvaluationError, match=r"refunds\.md has \d+ characters, and no passage"):
        judging.judge(here, "q", document, 2, span=Span(27, 9999))
    other = catalog.collections.ensure("other").id
    with pytest.raises(EvaluationError, match="another collection"):
        judging.judge(other, "q", document, 2)
    assert catalog.judgments.current(here) == []


def test_half_characters_and_forms_of_accents_do_not_part_questions():
    assert normalised_question("Caf\u0065\u0301  \t?") == "Caf\u00e9 ?"
    assert normalised_question("\ud800x") == "?x"


def test_votes_need_a_choice(catalog, shelf, judging):
    judging.vote(shelf.collection_id, " q ", ["mode:keyword", "mode:vector"], 1)
    judging.vote(shelf.collection_id, "q", ["mode:keyword", "mode:vector"], None)
    votes = catalog.judgments.votes(shelf.collection_id)
    assert [(one.question, one.winner) for one in votes] == [("q", 1), ("q", None)]
    for question, settings, winner in (("", ["a", "b"], 0), ("q", ["a"], 0), ("q", ["a", "b"], 2)):
        with pytest.raises(EvaluationError, match="A vote needs"):
            judging.vote(shelf.collection_id, question, settings, winner)


def test_a_quotation_is_found_nearest_to_its_place_whatever_the_spaces():
    text = "one two. one\ntwo. one two."
    assert find_quote(text, "one two", 20) == Span(18, 25)
    assert find_quote(text, "one two", 0) == Span(0, 7)
    assert find_quote("a one\n\n  two b", "one two") == Span(2, 12)
    assert find_quote(text, "three") is None
    assert find_quote(text, "  ") is None
    assert find_quote("cost (.*)", "(.*)") == Span(5, 9)
    assert find_quote("検索 システム", "検索\nシステム") == Span(0, 7)
