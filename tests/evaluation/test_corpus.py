"""Question sets: what a folder may hold, and what is said about what it should not."""

from __future__ import annotations

import json

import pytest

from ragkit.errors import EvaluationError, NotFoundError
from ragkit.evaluation.corpus import Excerpt, Question, Row, load_question_set
from ragkit.options import Filters


def write(folder, **files):
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_j", ".j").replace("_t", ".t")
        path.parent.mkdir(exist_ok=True)
        if isinstance(content, list):
            content = "\n".join(json.dumps(line, ensure_ascii=False) for line in content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def good(tmp_path, **changed):
    files = {
        "corpus_jsonl": [
            {"_id": "a", "title": "T", "text": "one\u2028two"},
            {"_id": "b", "text": "three", "metadata": {"doc": "f"}},
        ],
        "queries_jsonl": [{"_id": "q1", "text": "one?"}, {"_id": "q2", "text": "three?"}],
        "qrels_tsv": "query-id\tcorpus-id\tscore\nq1\ta\t1\r\nq2\tb\t2\n",
    }
    return write(tmp_path / "set", **{**files, **changed})


def test_a_folder_is_read(tmp_path):
    found = load_question_set(good(tmp_path))
    assert found.name == "set"
    assert found.rows == (Row("a", "T", "one\u2028two"), Row("b", "", "three"))
    assert found.questions == (Question("q1", "one?"), Question("q2", "three?"))
    assert found.judgments == {"q1": {"a": 1}, "q2": {"b": 2}}
    assert found.notices == ()
    assert load_question_set(good(tmp_path), limit=1).questions == (Question("q1", "one?"),)


def test_paths_of_files_are_the_titles_of_their_rows(tmp_path):
    folder = good(
        tmp_path,
        documents_jsonl=[{"_id": "f", "metadata": {"path": "/src/f.rs"}}],
        dups_by_content_json=json.dumps([["b", "a"]]),
    )
    found = load_question_set(folder)
    assert [row.title for row in found.rows] == ["T", "/src/f.rs"]
    assert found.same == {"a": "a", "b": "a"}


def test_judgments_may_lie_deeper_and_have_four_columns(tmp_path):
    folder = good(tmp_path, qrels__test_tsv="q1\t0\ta\t1\n")
    found = load_question_set(folder)
    assert found.judgments == {"q1": {"a": 1}}
    assert found.notices == ("1 questions have no judgment: q2.",)


def test_what_is_left_out_is_said(tmp_path):
    folder = good(
        tmp_path,
        corpus_jsonl=[{"_id": "a", "text": "x"}, {"_id": "a", "text": "y"}, {"text": "z"}],
        qrels_tsv="q1\ta\t1\nq1\tnone\t1\nq9\ta\t1\nq2\ta\t0\n",
    )
    found = load_question_set(folder)
    assert found.rows == (Row("a", "", "x"),)
    assert found.questions == (Question("q1", "one?"),)
    assert found.notices == (
        "1 rows of the corpus have an id that came before: a.",
        "1 rows of the corpus have no _id and are left out.",
        "1 judgments are of rows that the corpus lacks: none.",
        "1 questions have no judgment: q2.",
        "1 judged questions are not asked: q9.",
    )


def test_judgments_that_contradict_an_earlier_one_are_said(tmp_path):
    lines = "q1\ta\t1\nq1\ta\t1\nq1\ta\t0\nq2\tb\t0\nq2\tb\t2\n"
    found = load_question_set(good(tmp_path, qrels_tsv=lines))
    assert found.judgments == {"q1": {"a": 1}, "q2": {"b": 0}}
    assert found.notices == (
        "2 judgments contradict an earlier one, which holds: q1 a, q2 b.",
        "1 questions have no judgment: q2.",
    )


def test_excerpts_are_read_unless_judgments_are_named(tmp_path):
    folder = good(
        tmp_path,
        excerpts_jsonl=[{"query": "q1", "doc": "d", "start": 1, "end": 4, "text": "abc"}],
        docs__d_txt="xabc",
    )
    found = load_question_set(folder)
    assert found.excerpts == {"q1": (Excerpt("d", 1, 4, "abc"),)}
    assert found.questions == (Question("q1", "one?"),)
    assert load_question_set(folder, qrels=folder / "qrels.tsv").excerpts == {}


def test_rows_may_name_their_file_and_questions_what_they_are_restricted_to(tmp_path):
    folder = good(
        tmp_path,
        corpus_jsonl=[
            {"_id": "a", "title": "T", "text": "one", "metadata": {"path": "reports/a.pdf"}},
            {"_id": "b", "text": "three", "metadata": {"path": 7}},
        ],
        queries_jsonl=[
            {"_id": "q1", "text": "one?", "filter": " path:reports/ type:pdf "},
            {"_id": "q2", "text": "three?", "filter": None},
        ],
    )
    found = load_question_set(folder)
    assert found.rows == (Row("a", "T", "one", "reports/a.pdf"), Row("b", "7", "three", "7"))
    filters = Filters(paths=("reports/",), types=("pdf",))
    assert found.questions == (
        Question("q1", "one?", "path:reports/ type:pdf", filters),
        Question("q2", "three?"),
    )


@pytest.mark.parametrize(
    ("filter_", "said"),
    [
        ("date:2021-13", 'queries.jsonl, line 2: Invalid filter: Invalid date: "2021-13".'),
        ("paht:reports/", 'line 2: Invalid filter: There is no filter "paht:".'),
        ("type:pdf reports", 'line 2: Invalid filter: "type:pdf reports" holds words'),
        ("-type:pdf", 'line 2: Invalid filter: "-type:pdf" holds words, phrases, exclusions'),
        ("collection:other", "or a collection."),
    ],
)
def test_a_filter_that_is_none_is_named_with_its_line(tmp_path, filter_, said):
    lines = [{"_id": "q1", "text": "one?"}, {"_id": "q2", "text": "x", "filter": filter_}]
    with pytest.raises(EvaluationError) as caught:
        load_question_set(good(tmp_path, queries_jsonl=lines))
    assert said in caught.value.message
    assert caught.value.cure


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"corpus_jsonl": "{oops\n"}, "corpus.jsonl, line 1 is not JSON"),
        ({"corpus_jsonl": "[1]\n"}, "corpus.jsonl, line 1 is not an object"),
        ({"corpus_jsonl": '{"_id": "é"}'.encode("latin-1")}, "is not UTF-8 (byte 9)"),
        ({"qrels_tsv": "head\nq1 a 1\n"}, "qrels.tsv, line 2 is not a question, a row and a"),
        ({"qrels_tsv": "q1\ta\tmuch\nq1\ta\tmuch\n"}, "qrels.tsv, line 2"),
        ({"qrels_tsv": "head\nq7\ta\t1\n"}, "None of the questions has a judgment"),
        ({"dups_by_content_json": "{}["}, "dups_by_content.json is not a list"),
        (
            {"excerpts_jsonl": [{"query": "q1"}], "docs__d_txt": "x"},
            "excerpts.jsonl, line 1 lacks doc, start or end",
        ),
    ],
)
def test_bad_files_are_named(tmp_path, files, said):
    with pytest.raises(EvaluationError) as caught:
        load_question_set(good(tmp_path, **files))
    assert said in caught.value.message
    assert caught.value.cure


def test_what_is_not_there_is_named(tmp_path):
    with pytest.raises(NotFoundError, match="Folder not found"):
        load_question_set(tmp_path / "none")
    folder = good(tmp_path)
    (folder / "qrels.tsv").unlink()
    with pytest.raises(NotFoundError, match=r"qrels\.tsv"):
        load_question_set(folder)
