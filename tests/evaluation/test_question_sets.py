"""Question sets: from judgments, from files, and out again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragkit.errors import EvaluationError, NotFoundError
from ragkit.evaluation.corpus import load_question_set
from ragkit.evaluation.judging import Judging
from ragkit.evaluation.question_sets import collect, export_set, import_set
from ragkit.evaluation.set_files import read_set
from ragkit.types import Span

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "questions.jsonl"


@pytest.fixture
def papers(shelf):
    return {
        path: shelf.put(path, *pieces, title=title)
        for path, title, pieces in (
            ("handbook/refunds.md", "Refunds", ("Refunds take thirty days.", "No gift cards.")),
            ("notes/harbour.txt", "Notes", ("The harbour opens at nine.",)),
            ("notes/größe.txt", "Notes", ("Die Größe der Boje.",)),
        )
    }


def put(tmp_path, name, content):
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def jsonl(*lines):
    return "".join(json.dumps(line) + "\n" for line in lines)


def take(catalog, shelf, place, name=None):
    return import_set(catalog, shelf.collection_id, place, name)


# -- from judgments ------------------------------------------------------------------------------


def test_a_set_grows_with_judgments(catalog, shelf, papers):
    judging, here = Judging(catalog), shelf.collection_id
    refunds, harbour = papers["handbook/refunds.md"], papers["notes/harbour.txt"]
    judging.judge(here, "refund?", refunds, 1, span=Span(0, 25))
    judging.judge(here, "refund?", refunds, 2, span=Span(27, 41))
    judging.judge(here, "refund?", harbour, 0)
    judging.judge(here, "moon?", harbour, 0)
    found = collect(catalog, here)
    (question,) = found.questions
    assert (question.text, question.documents) == (
        "refund?",
        {"handbook/refunds.md": 2, "notes/harbour.txt": 0},
    )
    assert found.qrels == {question.key: question.documents}
    assert found.notices == (
        'Asked for their answers alone, since nothing right is known for them: "moon?".',
    )
    assert [one.text for one in found.unanswerable] == ["moon?"]
    key = question.key
    judging.judge(here, "harbour?", harbour, 2)
    judging.judge(here, "refund?", refunds, 0)
    again = {one.text: one for one in collect(catalog, here).questions}
    assert again["refund?"].key == key
    assert again["refund?"].documents["handbook/refunds.md"] == 0


def test_what_is_gone_is_left_out_and_said(catalog, shelf, papers):
    judging, here = Judging(catalog), shelf.collection_id
    judging.judge(here, "refund?", papers["handbook/refunds.md"], 2, span=Span(0, 25))
    judging.judge(here, "refund?", papers["notes/harbour.txt"], 1)
    shelf.put("handbook/refunds.md", "All is new.")
    found = collect(catalog, here)
    assert found.questions[0].documents == {"notes/harbour.txt": 1}
    assert found.notices == (
        "Not used: the rated passage is gone: handbook/refunds.md no longer holds what was judged.",
    )


# -- from files ----------------------------------------------------------------------------------


def test_a_csv_is_taken_over(catalog, shelf, papers, tmp_path):
    file = put(
        tmp_path,
        "mine.csv",
        '\ufeffQuestion,path,Grade,kind\n"refund, when?",handbook/refunds.md,,number\n'
        '"refund, when?",notes\\harbour.txt,0,\nopening,harbour.txt,partly,\n',
    )
    found = take(catalog, shelf, file)
    assert (found.name, found.questions, found.judgments, found.notices) == ("mine", 2, 3, ())
    given = collect(catalog, shelf.collection_id, "mine")
    assert [(one.text, one.kind, one.documents) for one in given.questions] == [
        ("refund, when?", "number", {"handbook/refunds.md": 2, "notes/harbour.txt": 0}),
        ("opening", "", {"notes/harbour.txt": 1}),
    ]
    assert sorted(question.kind for question in given.questions) == ["", "number"]
    kinds = catalog.judgments.kinds(shelf.collection_id, "mine")
    assert kinds == {"refund, when?": "number", "opening": ""}
    assert catalog.judgments.kinds(shelf.collection_id, "other") == {}
    assert collect(catalog, shelf.collection_id).questions == ()


def test_filters_of_questions_go_in_and_out(catalog, shelf, papers, tmp_path):
    file = put(
        tmp_path,
        "filed.csv",
        "question,path,filter\nwhen?,harbour.txt,path:notes/\nwhen?,refunds.md,type:md\n"
        "when?,harbour.txt,\nwhat?,harbour.txt,after:soon\n",
    )
    found = take(catalog, shelf, file)
    assert (found.questions, found.judgments) == (3, 3)
    said = 'line 5 (Invalid filter: Invalid date: "soon")'
    assert found.notices == (f"Left out, since the filter is invalid: {said}.",)
    given = collect(catalog, shelf.collection_id, "filed")
    assert [(one.text, one.filter) for one in given.questions] == [
        ("when?", "path:notes/"), ("when?", "type:md"), ("when?", ""),
    ]  # fmt: skip
    export_set(catalog, shelf.collection_id, given, tmp_path / "out")
    again = load_question_set(tmp_path / "out")
    assert [one.filter for one in again.questions] == ["path:notes/", "type:md", ""]
    for place in (tmp_path / "out", tmp_path / "out" / "questions.jsonl"):
        read, _ = read_set(place)
        assert [one.filter for one in read] == ["path:notes/", "type:md", ""]


def test_the_good_rest_of_a_bad_csv_is_kept(catalog, shelf, papers, tmp_path):
    file = put(
        tmp_path,
        "bad.csv",
        "path;question;grade\nharbour.txt;opens?;2\nnone.txt;opens?;2\n;opens?;1\n"
        "harbour.txt;;1\n\nharbour.txt;high?;9\nharbour.txt;odd?;good\nnone.txt;lost?;2\n"
        "harbour.txt;half?;0.5\nharbour.txt;whole?;1.0\n",
    )
    found = take(catalog, shelf, file, "named")
    assert (found.name, found.questions, found.judgments) == ("named", 3, 3)
    assert found.notices == (
        "Left out, since the question or the path is empty: line 4, line 5.",
        "Taken as 2, since the grade is higher: line 7.",
        "Left out, since the grade is not 0, 1 or 2 but 'good': line 8.",
        "Left out, since the grade is not 0, 1 or 2 but '0.5': line 10.",
        "Left out, since no such document is indexed: none.txt, none.txt.",
        "Left out, since none of their documents is indexed: q3.",
    )


def test_another_encoding_is_read_and_said(catalog, shelf, papers, tmp_path):
    text = "question,path\nWie groß ist die Boje für Möwen?,notes/größe.txt\n"
    found = take(catalog, shelf, put(tmp_path, "latin.csv", text.encode("cp1252")))
    assert found.notices == ("Not UTF-8, read in another encoding: latin.csv (byte 21).",)
    (question,) = collect(catalog, shelf.collection_id, "latin").questions
    assert question.text == "Wie groß ist die Boje für Möwen?"
    assert question.documents == {"notes/größe.txt": 2}


def test_jsonl_with_quotations_becomes_spans(catalog, shelf, papers, tmp_path):
    file = put(
        tmp_path,
        "set.jsonl",
        jsonl(
            {"id": "a", "text": "refund?", "kind": "number", "relevant": [
                {"path": "handbook/refunds.md", "grade": 2, "quote": "take\nthirty  days"},
                {"path": "notes/harbour.txt", "quote": "never said"}]},
            {"id": "a", "text": "twice", "relevant": [{"path": "notes/harbour.txt"}]},
            {"id": "b", "text": "unjudged"},
            {"id": "c", "text": " ", "relevant": [{"path": "notes/harbour.txt"}]},
            {"id": "d", "text": "nameless", "relevant": [{"grade": 2}, 7]},
            [1],
        )
        + "{broken\n",
    )  # fmt: skip
    found = take(catalog, shelf, file)
    assert (found.questions, found.judgments) == (1, 2)
    assert found.notices == (
        "Left out, since a judgment names no path: set.jsonl, line 5, set.jsonl, line 5.",
        "Left out, since it is not an object: set.jsonl, line 6.",
        "Left out, since it is not JSON: set.jsonl, line 7.",
        "Left out, since the id came before: a.",
        "Left out, since nothing is judged for them: b, d.",
        "Left out, since they hold no question: c.",
        "Kept for the whole document, since the quotation is not in it: notes/harbour.txt.",
    )
    (question,) = collect(catalog, shelf.collection_id, "set").questions
    assert (question.key, question.kind) == ("a", "number")
    assert [(one.path, one.span) for one in question.judgments] == [
        ("handbook/refunds.md", Span(8, 24)),
        ("notes/harbour.txt", None),
    ]


def test_a_beir_folder_is_taken_over(catalog, shelf, papers, tmp_path):
    folder = tmp_path / "beir"
    put(folder, "queries.jsonl", jsonl({"_id": "1", "text": "refund?"}, {"_id": "2", "text": "x"}))
    put(
        folder,
        "qrels/test.tsv",
        "query-id\tcorpus-id\tscore\n1\thandbook/refunds.md\t1\r\n1\t0\tnotes/harbour.txt\t3\n"
        "1\tbroken\n9\tnotes/harbour.txt\t1\n",
    )
    found = take(catalog, shelf, folder)
    assert (found.name, found.questions, found.judgments) == ("beir", 1, 2)
    assert set(found.notices) == {
        "Left out, since it is not a question, a document and a number: test.tsv, line 4.",
        "Taken as 2, since the grade is higher: test.tsv, line 3.",
        "Left out, since these judged questions are not asked: 9.",
        "Left out, since nothing is judged for them: 2.",
    }


def test_questions_may_be_numbered_from_0(catalog, shelf, papers, tmp_path):
    folder = tmp_path / "numbered"
    put(folder, "queries.jsonl", jsonl({"_id": 0, "text": "refund?"}, {"_id": 1, "text": "x"}))
    put(folder, "qrels.tsv", "0\thandbook/refunds.md\t1\n1\tnotes/harbour.txt\t1\n")
    assert take(catalog, shelf, folder).notices == ()
    keys = [one.key for one in collect(catalog, shelf.collection_id, "numbered").questions]
    relevant = [{"path": "notes/harbour.txt"}]
    file = put(tmp_path, "lines.jsonl", jsonl({"id": 0, "text": "harbour?", "relevant": relevant}))
    take(catalog, shelf, file)
    (question,) = collect(catalog, shelf.collection_id, "lines").questions
    assert (keys, question.key) == (["0", "1"], "0")


def test_importing_again_replaces_and_undo_leaves_imports_alone(catalog, shelf, papers, tmp_path):
    for path in ("harbour.txt", "refunds.md"):
        take(catalog, shelf, put(tmp_path, "one.csv", f"question,path\nq?,{path}\n"))
    assert catalog.judgments.sets(shelf.collection_id) == {"one": (1, 1)}
    (question,) = collect(catalog, shelf.collection_id, "one").questions
    assert question.documents == {"handbook/refunds.md": 2}
    assert Judging(catalog).undo(shelf.collection_id) is None


def test_a_path_that_could_be_two_documents_is_none(catalog, shelf, tmp_path):
    for path in ("a/same.md", "b/same.md"):
        shelf.put(path, f"text of {path}")
    file = put(tmp_path, "x.csv", "question,path\nq?,same.md\nr?,/srv/files/a/same.md\n")
    found = take(catalog, shelf, file)
    assert (found.questions, found.notices[0]) == (
        1,
        "Left out, since no such document is indexed: same.md.",
    )


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    [
        ("x.csv", "a,b\n1,2\n", EvaluationError, "lacks the columns question and path"),
        ("x.csv", "", EvaluationError, "lacks the columns"),
        ("x.csv", "question,path\nq,none\n", EvaluationError, "about this collection.*: none"),
        ("x.jsonl", "", EvaluationError, "has no question with a judgment"),
        ("x.jsonl", "[" * 100_000, EvaluationError, "not JSON: x.jsonl, line 1"),
        ("x.txt", "hello", EvaluationError, "not a question set"),
        ("missing.csv", None, NotFoundError, "File not found"),
        ("missing", None, NotFoundError, "File not found"),
    ],
)
@pytest.mark.usefixtures("nothing_collected")
def test_what_cannot_be_used_is_refused(
    catalog, shelf, papers, tmp_path, name, content, error, message
):
    place = tmp_path / name if content is None else put(tmp_path, name, content)
    with pytest.raises(error, match=message):
        take(catalog, shelf, place)
    assert catalog.judgments.sets(shelf.collection_id) == {}


def test_the_sample_questions_are_of_this_form():
    asked, notices = read_set(SAMPLE)
    assert len(asked) == len(SAMPLE.read_text("utf-8").splitlines())
    assert notices.sentences == ()
    assert (asked[0].key, asked[0].kind, asked[0].judgments[1].grade) == ("q01", "exact term", 1)


# -- out again -----------------------------------------------------------------------------------


def test_an_export_is_a_corpus_that_can_be_evaluated_and_imported(catalog, shelf, papers, tmp_path):
    judging, here = Judging(catalog), shelf.collection_id
    judging.judge(here, "refund?", papers["handbook/refunds.md"], 2, span=Span(27, 41))
    judging.judge(here, "refund?", papers["notes/harbour.txt"], 0)
    judging.judge(here, "Größe?", papers["notes/größe.txt"], 1)
    given = collect(catalog, here)
    folder = tmp_path / "out"
    export_set(catalog, here, given, folder)
    corpus = load_question_set(folder)
    assert corpus.notices == ()
    assert corpus.judgments == given.qrels
    assert [(one.id, one.title) for one in corpus.rows] == [
        ("handbook/refunds.md", "Refunds"),
        ("notes/größe.txt", "notes/größe.txt"),
        ("notes/harbour.txt", "notes/harbour.txt"),
    ]
    assert corpus.rows[0].text == "Refunds take thirty days.\n\nNo gift cards."
    for place, name in ((folder, "beir"), (folder / "questions.jsonl", "lines")):
        take(catalog, shelf, place, name)
        assert collect(catalog, here, name).qrels == given.qrels
    spans = {
        one.span
        for question in collect(catalog, here, "lines").questions
        for one in question.judgments
    }
    assert spans == {Span(27, 41), None}


def test_a_question_that_nothing_answers_stays_one_in_an_export(catalog, shelf, papers, tmp_path):
    judging, here, folder = Judging(catalog), shelf.collection_id, tmp_path / "out"
    judging.judge(here, "harbour?", papers["notes/harbour.txt"], 2)
    judging.judge(here, "moon?", papers["notes/harbour.txt"], 0)
    export_set(catalog, here, collect(catalog, here), folder)
    assert [one.text for one in load_question_set(folder).unanswerable] == ["moon?"]
    for number, place in enumerate((folder, folder / "questions.jsonl")):
        assert take(catalog, shelf, place, f"set {number}").judgments == 2
        given = collect(catalog, here, f"set {number}")
        assert [one.text for one in given.questions] == ["harbour?"]
        assert [one.text for one in given.unanswerable] == ["moon?"]


def test_nothing_to_export_and_nowhere_to_write(catalog, shelf, papers, tmp_path):
    here = shelf.collection_id
    with pytest.raises(EvaluationError, match="no rated questions"):
        export_set(catalog, here, collect(catalog, here), tmp_path / "out")
    Judging(catalog).judge(here, "q", papers["notes/harbour.txt"], 2)
    put(tmp_path, "file", "x")
    with pytest.raises(EvaluationError, match="cannot be written"):
        export_set(catalog, here, collect(catalog, here), tmp_path / "file")
