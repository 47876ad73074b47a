"""What the Evaluate page says, as HTML; text from documents and people is only ever text."""

from __future__ import annotations

import re
from dataclasses import replace

from pages.parts.evaluate import charts
from pages.parts.evaluate import evaluation_html as evaluating
from ragkit.catalog.judgments import Origin
from ragkit.catalog.runs import RunDraft, RunRecord
from ragkit.errors import EvaluationError
from ragkit.evaluation.background import RunStatus, WritingStatus
from ragkit.evaluation.generated_sets import GenerationReport, KeptQuestion
from ragkit.evaluation.metrics import Metric, TypeFigures
from ragkit.evaluation.question_sets import Imported
from ragkit.evaluation.runs import Difference, MetricChange, QuestionChange
from ragkit.indexing.progress import Progress
from ragkit.models.ollama_monitor import OllamaLook
from ragkit.models.ollama_text import Health, ModelInfo


def record(number, address="mode:keyword", ndcg=0.5, asked=4, **changed):
    values = {
        "collection_id": 1, "question_set": "judged", "name": f"Way <{number}>",
        "address": address, "settings": {}, "version": 1, "generation": "", "ragkit": "1",
        "revision": "", "asked": asked, "questions": 4, "documents": 5, "chunks": 7, "tokens": 0,
        "seconds": 1.0, "metrics": (("ndcg@10", ndcg, ndcg - 0.1, ndcg + 0.1),),
        "stages": (("total", 12.0, 40.0),), "at": 0.0,
    }  # fmt: skip
    return RunRecord(number, RunDraft(**{**values, **changed}))


def test_sets_say_where_they_come_from():
    assert evaluating.set_title("") == "Rated on the pages"
    assert evaluating.set_title("a*b :red[x]") == r"a\*b \:red\[x\]"
    caption = evaluating.set_caption
    assert caption((1, 2), frozenset({Origin.SEARCH})) == "1 question · 2 ratings · by you"
    assert caption((5, 1), frozenset({Origin.IMPORT})) == "5 questions · 1 rating · imported"
    model = frozenset({Origin.MODEL})
    assert caption((5, 9), model) == "5 questions · 9 ratings · written by a model"
    assert caption((5, 9), model, ("a:1", "*b*")).endswith(r"written by a\:1 and \*b\*")


def test_the_writing_of_a_set_says_how_far_it_is_and_what_came_of_it():
    now = WritingStatus(
        running=True, progress=Progress("Writing questions", 4, 20, "a<b>.md"), collection="mine"
    )
    html = evaluating.writing_line(now)
    assert "<b>Writing questions: 4 of 20</b>" in html
    assert "<bdi>a&lt;b&gt;.md</bdi>" in html
    assert 'aria-valuenow="20"' in html
    assert "Preparing to write" in evaluating.writing_line(WritingStatus(running=True))
    assert "stopping after this passage" in evaluating.writing_line(replace(now, cancelled=True))
    assert evaluating.writing_ended(WritingStatus()) == ""
    found = GenerationReport("written", "a<b>:1", 20, 4, (KeptQuestion("Who?", "number", "x"),),
                    ended="It died.")  # fmt: skip
    html = evaluating.writing_ended(WritingStatus(report=found))
    assert "a&lt;b&gt;:1 wrote 1 question; &quot;written&quot; has 4 now. It died." in html
    assert 'role="alert">No &lt;model&gt;. Get one.' in evaluating.writing_ended(
        WritingStatus(problem="No <model>.", cure="Get one.")
    )


def test_without_a_model_it_says_what_to_do():
    assert "Looking for Ollama" in evaluating.nobody_writes(None)
    away = OllamaLook(Health(False, "", (), "Nothing <answers>.", "Start it."))
    assert "Nothing &lt;answers&gt;. Start it. You can import" in evaluating.nobody_writes(away)
    empty = OllamaLook(Health(True, "1", (), "It answers."))
    assert "Get one on the Health page." in evaluating.nobody_writes(empty)
    there = OllamaLook(Health(True, "1", ("a",), "It answers."), (ModelInfo("a"),), "a")
    assert evaluating.nobody_writes(there) == ""


def test_the_newest_whole_run_of_each_setting_counts():
    runs = [
        record(1, ndcg=0.9),
        record(2, ndcg=0.4),
        record(3, ndcg=0.8, asked=2),
        record(4, "mode:vector", 0.6),
        record(5, "mode:hybrid", 0.2, asked=1),
    ]
    assert [one.id for one in evaluating.latest(runs)] == [4, 2, 5]


def test_the_best_is_bold_and_a_stopped_run_never_is():
    html = evaluating.runs_table(
        [record(1, ndcg=0.9, asked=2), record(2, "a", 0.6), record(3, "b", 0.4)]
    )
    assert "<b>0.600</b><small>0.50 – 0.70</small>" in html
    assert html.count("<b>") == 1
    assert "2 questions, stopped after 2 of 4" in html
    assert "Way &lt;1&gt;" in html
    assert "12 ms<small>40 ms</small>" in html
    assert "MRR" not in html
    assert 'scope="col" title="How near the top' in html
    assert "<td>–</td><td>12 ms" in html
    rated = record(4, metrics=(("ndcg@10", 0.6, 0.5, 0.7), ("judged@10", 0.25, 0.1, 0.4)))
    assert "<td>75 %</td>" in evaluating.runs_table([rated])


def test_kinds_of_question_stand_beside_each_other():
    def figures(**values):
        return tuple(
            TypeFigures(kind, 2, (Metric("mrr", value, 0.1, 0.9),))
            for kind, value in values.items()
        )

    hostile = {"<i>*a*</i>": 0.25, "": 0.5}
    html = evaluating.types_table(
        [record(1), record(2), record(3, asked=2)],
        {1: figures(number=0.75, **hostile), 2: figures(number=1.0), 3: figures(**{"": 0.6})},
        "mrr",
    )
    assert "By kind of question (MRR)" in html
    heads = re.findall(r"<bdi>(.*?)</bdi>", html)
    assert heads == ["&lt;i&gt;*a*&lt;/i&gt;", "number", "not named"]
    assert html.count("<small>2 questions</small>") == 3
    rows = [re.findall(r"<td>(.*?)(?:<small>.*?)?</td>", row) for row in html.split("<tr>")[2:]]
    assert rows == [
        ["<b>0.250</b>", "0.750", "<b>0.500</b>"],
        ["–", "<b>1.000</b>", "–"],
        ["–", "–", "0.600"],
    ]
    assert evaluating.types_table([record(1)], {1: ()}, "mrr") == ""


def test_progress_says_what_how_far_and_how_long():
    now = RunStatus(
        running=True, name="Keyword", number=2, count=3,
        progress=Progress("Asking", 3, 12, "what <b>is</b> it?"),
    )  # fmt: skip
    html = evaluating.progress_line(now)
    assert "<b>Keyword (2 of 3): 3 of 12 questions</b>" in html
    assert "what &lt;b&gt;is&lt;/b&gt; it?" in html
    assert 'aria-valuenow="25"' in html
    assert "<b>Preparing</b>" in evaluating.progress_line(RunStatus(running=True))


def test_how_it_ended_is_said_when_it_is_not_plain():
    assert evaluating.ended(RunStatus(kept=(1,))) == ""
    assert "The questions run so far are kept" in evaluating.ended(
        RunStatus(stopped=True, kept=(1,))
    )
    assert "Nothing was kept" in evaluating.ended(RunStatus(stopped=True))
    failed = evaluating.ended(RunStatus(problem="No <set>.", cure="Judge."))
    assert "No &lt;set&gt;. Judge." in failed


def test_changes_are_told_with_their_chance_and_lead_to_results():
    told = Difference(
        record(1), record(2), "ndcg@10", 4,
        (MetricChange("ndcg@10", 0.5, 0.75, 0.01), MetricChange("mrr", 0.5, 0.5, 1.0),
         MetricChange("precision@5", 0.1, 0.2, 0.5)),
        (QuestionChange("a", "who & <why>?", 0.0, 1.0),), (), (),
    )  # fmt: skip
    html = evaluating.difference_table(told) + evaluating.moved_html(told, "mine")
    assert "<td>+0.250</td><td><b>0.010</b></td>" in html
    assert "<td>=</td><td>1.000</td>" in html
    assert "precision@5" not in html
    assert "Better by nDCG@10: 1 question<" in html
    assert "Worse by nDCG@10: 0 questions<" in html
    assert 'href="./?q=who+%26+%3Cwhy%3E%3F&amp;collection=mine"' in html
    assert "<bdi>who &amp; &lt;why&gt;?</bdi></a>" in html


def test_every_changed_question_leads_to_what_its_run_asked():
    moved = tuple(QuestionChange(f"q{n}", f"reef {n}", 0.0, 1.0, "type:pdf") for n in range(14))
    html = evaluating.moved_html(
        Difference(record(1), record(2), "mrr", 14, (), moved, (), ()), "mine"
    )
    assert 'href="./?q=reef+0+type%3Apdf&amp;collection=mine"' in html
    assert "<bdi>reef 13 type:pdf</bdi>" in html
    assert [html.count("<li>"), html.count("<summary>2 more</summary>")] == [14, 1]


def test_few_unused_and_unevenly_rated_questions_are_cautioned_about():
    def judged(number, name, share):
        return record(number, name=name, metrics=(("judged@10", share, 0.0, 1.0),))

    uneven = [judged(1, "Hybrid", 0.8), judged(2, "Keyword", 0.3)]
    assert evaluating.cautions(uneven, 7, self_made=True) == [
        "Too few to tell (4). 30 or more are better.",
        "4 of 7 rated questions are run: the others have no relevant result, or were rated later.",
        "These ratings were made on results of Hybrid: other settings look worse than they are.",
    ]
    even = [record(1, asked=40, questions=40)]
    assert evaluating.cautions(even, 40, self_made=False) == []
    assert "results that were shown" in evaluating.cautions(even, 40, self_made=True)[0]


def test_what_an_import_did_is_only_text():
    told = evaluating.imported_notice(Imported("x", 1, 2, ("Left out: <b>.",)))
    assert "Imported 1 question with 2 ratings. Left out: &lt;b&gt;." in told
    assert "&lt;x&gt; is wrong. Fix it." in evaluating.refused(
        EvaluationError("<x> is wrong.", "Fix it.")
    )


def test_charts_show_each_setting_with_its_interval_and_its_times():
    runs = [record(1), record(2, "a", stages=()), record(3, "b", 0.7)]
    rows = charts.metric_rows(runs, "ndcg@10")
    assert rows[2] == {"settings": "Way <3>", "value": 0.7, "low": 0.6, "high": 0.8}
    value = charts.metric_chart(rows, "nDCG@10").to_dict()
    assert value["layer"][0]["encoding"]["x"]["scale"]["domain"] == [0, 1]
    assert value["description"].startswith("nDCG@10 by setting. Way <1>: 0.500 (0.40 to 0.60);")
    times = charts.latency_rows(runs)
    assert times == [
        {"settings": "Way <1>", "median": 12.0, "p95": 40.0},
        {"settings": "Way <3>", "median": 12.0, "p95": 40.0},
    ]
    assert "12.0 ms, 40.0 ms" in charts.latency_chart(times).to_dict()["description"]


def test_bars_are_the_questions_that_changed_from_best_to_worst():
    told = Difference(
        record(1), record(2), "mrr", 9, (),
        (QuestionChange("a", "much better", 0.0, 1.0), QuestionChange("b", "better", 0.2, 0.5)),
        (QuestionChange("c", "worse", 1.0, 0.5),), (),
    )  # fmt: skip
    rows = charts.difference_rows(told)
    assert [(row["question"], row["change"]) for row in rows] == [
        ("much better", 1.0),
        ("better", 0.3),
        ("worse", -0.5),
    ]
    chart = charts.difference_chart(rows, "MRR").to_dict()
    assert "2 better, 1 worse" in chart["description"]
    assert chart["layer"][0]["encoding"]["tooltip"][0]["field"] == "question"
