"""Kept runs: all that made a figure, and whether a change is more than chance."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_library import HANDBOOK, add, open_library, write_files

from ragkit import __version__
from ragkit.errors import EvaluationError, NotFoundError
from ragkit.evaluation import runs
from ragkit.evaluation.experiments import judged_experiment
from ragkit.evaluation.judging import Judging
from ragkit.evaluation.measuring import measure
from ragkit.evaluation.question_sets import import_set
from ragkit.evaluation.runs import difference, figures_of_run, keep
from ragkit.evaluation.search_config import SearchConfig
from ragkit.indexing.progress import JobCancelled, Reporter
from ragkit.options import Mode, SearchOptions

RIGHT = {
    "refund within thirty days": "handbook/refunds.md",
    "OAuth token": "handbook/login.md",
    "apple price": "data/prices.csv",
    "Tomaten Wasser": "notes/garten.txt",
}
ASKED = (
    "question,path,kind\n"
    "refund within thirty days,handbook/refunds.md,exact term\n"
    "how much is an apple,data/prices.csv,number\n"
    "OAuth token,notes/garten.txt,exact term\n"
    "Tomaten Wasser,notes/garten.txt,\n"
)
KEYWORD = SearchConfig(SearchOptions(mode=Mode.KEYWORD))


@pytest.fixture
def library(tmp_path):
    opened = open_library(tmp_path / "library")
    add(opened, write_files(tmp_path / "files", HANDBOOK))
    ids = {one.path: one.id for one in opened.documents.list()}
    home = opened.catalog.collections.get("default").id
    for question, path in RIGHT.items():
        Judging(opened.catalog).judge(home, question, ids[path], 2)
    yield opened
    opened.close()


def experiment_of(library):
    return judged_experiment(library, library.catalog, "default")


def home_of(library):
    return library.catalog.collections.get("default").id


def test_a_collections_own_questions_are_asked_of_it(library):
    found = measure(experiment_of(library), KEYWORD)
    assert (found.name, found.questions, found.documents, found.chunks) == ("judged", 4, 5, 5)
    assert found.values["mrr"] == dict.fromkeys(found.asked, 1.0)
    assert sorted(found.asked.values()) == sorted(RIGHT)
    assert not found.partial
    assert found.options.collections == ("default",)


def test_a_copy_that_is_folded_away_is_found(library, tmp_path):
    text = HANDBOOK["notes/garten.txt"]
    write_files(tmp_path / "files", {"aaa.txt": text, "zzz.txt": text})
    library.jobs.wait(library.sources.sync())
    found = measure(experiment_of(library), KEYWORD)
    assert found.values["recall@5"] == dict.fromkeys(found.asked, 1.0)


def test_a_run_is_kept_with_all_that_made_it(library):
    found = measure(experiment_of(library), KEYWORD)
    record = keep(library.catalog, found, home_of(library))
    run = record.run
    assert (run.question_set, run.name, run.address) == ("judged", "Keyword", "mode:keyword")
    assert run.settings["mode"] == "keyword"
    assert run.settings["collections"] == ["default"]
    assert run.version == library.catalog.collections.version(home_of(library)).number > 0
    assert run.generation.startswith("default@")
    assert run.ragkit == __version__
    assert (run.asked, run.questions, run.partial, run.tokens) == (4, 4, False, 0)
    assert run.means["mrr"] == 1.0
    assert run.stages[0][0] == "total"
    values = library.catalog.runs.values(record.id)
    assert {one.question: one.values["mrr"] for one in values} == dict.fromkeys(RIGHT, 1.0)


@pytest.mark.parametrize("stop", ["a page says so", "Ctrl-C"])
def test_a_stopped_run_keeps_what_was_asked_and_says_so(library, stop):
    class Stopping(Reporter):
        def step(self, current="", **more):
            super().step(current, **more)
            if self.progress.done == 2:
                raise JobCancelled if stop == "a page says so" else KeyboardInterrupt

    found = measure(experiment_of(library), KEYWORD, Stopping())
    assert (found.partial, len(found.asked), found.questions) == (True, 2, 4)
    assert set(found.values["mrr"]) == set(found.asked)
    said = "Stopped after 2 of 4 questions: the figures are of these only."
    assert found.notices[-1] == said
    record = keep(library.catalog, found, home_of(library))
    assert record.run.partial
    whole = keep(library.catalog, measure(experiment_of(library), KEYWORD), home_of(library))
    told = difference(library.catalog, record.id, whole)
    assert told.questions == 2
    assert told.notices == (
        f"Run {record.id} was stopped before its end.",
        f"2 questions of run {whole.id} are not in the other.",
    )


def test_a_run_that_is_stopped_at_once_leaves_nothing(library):
    with pytest.raises(JobCancelled):
        measure(experiment_of(library), KEYWORD, Reporter(lambda _progress: False))


def test_what_got_better_and_worse_is_said(library, monkeypatch):
    catalog = library.catalog
    good = measure(experiment_of(library), KEYWORD)
    first = keep(catalog, good, home_of(library))
    one, other, *_ = good.asked
    lost = {name: {**of, one: 0.0} for name, of in good.values.items()}
    bad = keep(catalog, replace(good, values=lost), home_of(library))
    told = difference(catalog, first.id, bad)
    assert told.metric == "ndcg@10"
    assert [(c.key, c.before, c.after) for c in told.worse] == [(one, 1.0, 0.0)]
    assert told.better == ()
    change = {c.name: c for c in told.metrics}["mrr"]
    assert (change.before, change.after, change.p) == (1.0, 0.75, 1.0)
    back = difference(catalog, bad.id, first, "mrr")
    assert ([c.question for c in back.better], back.worse) == ([good.asked[one]], ())
    assert other in good.asked
    with pytest.raises(NotFoundError, match="There is no run 99"):
        difference(catalog, 99, first)
    with pytest.raises(EvaluationError, match="Not both runs have the metric pass@5"):
        difference(catalog, first.id, bad, "pass@5")
    strangers = keep(catalog, replace(good, asked={"x": "else?"}, values={}))
    with pytest.raises(EvaluationError, match=f"Run {first.id} has none of these"):
        difference(catalog, first.id, strangers)


def test_questions_under_other_filters_are_not_compared(library):
    found = measure(experiment_of(library), KEYWORD)
    one, other, *rest = found.asked
    catalog = library.catalog
    first = keep(catalog, replace(found, filters={one: "type:md", other: "type:md"}))
    second = keep(catalog, replace(found, filters={one: "type:md", other: "type:pdf"}))
    assert [row.filter for row in catalog.runs.values(first.id) if row.filter] == ["type:md"] * 2
    told = difference(catalog, first.id, second)
    assert told.questions == len(rest) + 1
    assert told.notices == ("1 questions had other filters and are not compared.",)
    nothing = {name: dict.fromkeys(of, 0.0) for name, of in found.values.items()}
    lost = keep(catalog, replace(found, filters={one: "type:md"}, values=nothing))
    assert (one, "type:md") in [
        (c.key, c.filter) for c in difference(catalog, first.id, lost).worse
    ]
    third = keep(catalog, replace(found, filters=dict.fromkeys(found.asked, "type:txt")))
    with pytest.raises(EvaluationError, match="none of these questions under the same filters"):
        difference(catalog, first.id, third)


def test_a_judged_set_is_asked_under_its_filters(library, tmp_path):
    home, catalog = home_of(library), library.catalog
    path = RIGHT["OAuth token"]
    (tmp_path / "filed.csv").write_text(
        f"question,path,filter\nOAuth token,{path},path:handbook/\nOAuth token,{path},type:csv\n"
    )
    import_set(catalog, home, tmp_path / "filed.csv")
    found = measure(judged_experiment(library, catalog, "default", "filed"), KEYWORD)
    assert found.values["hit@10"] == {"q1": 1.0, "q2": 0.0}
    assert found.filters == {"q1": "path:handbook/", "q2": "type:csv"}


def test_other_causes_of_a_change_are_said(library, tmp_path, monkeypatch):
    first = keep(library.catalog, measure(experiment_of(library), KEYWORD), home_of(library))
    write_files(tmp_path / "files", {"new.txt": "Something else altogether.\n"})
    library.jobs.wait(library.sources.sync())
    monkeypatch.setattr(runs, "revision", lambda: "feedbeef")
    second = keep(library.catalog, measure(experiment_of(library), KEYWORD), home_of(library))
    told = difference(library.catalog, first.id, second)
    assert told.notices[0] == "The collection has changed in between."
    assert told.notices[1].startswith(f"Run {first.id} was made by ragkit {__version__}")


def test_a_question_set_that_is_not_there_is_said(library):
    with pytest.raises(EvaluationError, match='no question set "mine" in default'):
        judged_experiment(library, library.catalog, "default", "mine")
    library.catalog.collections.ensure("bare")
    with pytest.raises(EvaluationError, match="Nothing is rated in bare yet"):
        judged_experiment(library, library.catalog, "bare")


def test_a_set_is_asked_and_kept_by_kind(tmp_path):
    library = open_library(tmp_path / "library")
    add(library, write_files(tmp_path / "files", HANDBOOK))
    catalog = library.catalog
    home = catalog.collections.get("default").id
    (tmp_path / "mine.csv").write_text(ASKED)
    import_set(catalog, home, tmp_path / "mine.csv")
    found = measure(judged_experiment(library, catalog, "default", "mine"), KEYWORD)
    means = {one.kind: {m.name: m.value for m in one.metrics}["hit@1"] for one in found.kinds}
    assert means == {"exact term": 0.5, "number": 1.0, "": 1.0}
    assert [one.questions for one in found.kinds] == [2, 1, 1]
    record = keep(catalog, found, home)
    kinds = catalog.judgments.kinds(home, "mine")
    kept = figures_of_run(catalog, record.id, kinds, "hit@1")
    assert {one.kind: one.metrics[0].value for one in kept} == means
    assert figures_of_run(catalog, record.id, {}, "hit@1") == ()
    library.close()
