"""Runs beside the pages: one at a time, told as they go, stopped when asked, kept."""

from __future__ import annotations

import threading
from functools import partial

import pytest
from small_library import HANDBOOK, add, open_library, write_files

from ragkit.errors import EvaluationError
from ragkit.evaluation.background import BackgroundAblation, BackgroundRuns
from ragkit.evaluation.judging import Judging
from ragkit.evaluation.search_config import SearchConfig, from_text

COLUMNS = [from_text(one)[0] for one in ("mode:keyword", "mode:vector")]


@pytest.fixture
def library(tmp_path):
    opened = open_library(tmp_path / "library")
    add(opened, write_files(tmp_path / "files", HANDBOOK))
    home = opened.catalog.collections.get("default").id
    for document in opened.documents.list():
        Judging(opened.catalog).judge(home, f"about {document.path}", document.id, 2)
    yield opened
    opened.close()


def started(library, runs, experiment=None, columns=COLUMNS):
    open_experiment = experiment or (lambda: library.experiment("default"))
    return runs.start(open_experiment, columns, partial(library.runs.keep, collection="default"))


def test_each_setting_is_run_and_kept(library):
    runs = BackgroundRuns()
    assert not runs.status.running
    assert started(library, runs)
    assert runs.wait(60)
    now = runs.status
    assert (now.kept, now.stopped, now.problem, now.round, now.count) == ((1, 2), False, "", 1, 2)
    kept = [library.catalog.runs.get(one).run for one in now.kept]
    assert [one.name for one in kept] == ["Keyword", "Semantic"]
    assert all(one.asked == one.questions == 5 for one in kept)


def test_one_at_a_time_and_stopped_when_asked(library):
    runs = BackgroundRuns()
    go = threading.Event()

    def slow():
        assert go.wait(30)
        return library.experiment("default")

    assert started(library, runs, slow)
    assert not started(library, runs)
    runs.cancel()
    go.set()
    assert runs.wait(60)
    assert (runs.status.stopped, runs.status.kept) == (True, ())
    assert library.catalog.runs.all() == []
    assert started(library, runs)
    assert runs.wait(60)
    assert (runs.status.stopped, runs.status.kept, runs.status.round) == (False, (1, 2), 2)


def test_a_stop_between_two_settings_keeps_the_first(library, monkeypatch):
    runs = BackgroundRuns()
    keeping = library.catalog.runs.keep

    def keep_and_stop(*given):
        runs.cancel()
        return keeping(*given)

    monkeypatch.setattr(library.catalog.runs, "keep", keep_and_stop)
    assert started(library, runs)
    assert runs.wait(60)
    assert (runs.status.kept, runs.status.stopped) == ((1,), True)


def test_what_went_wrong_is_said(library):
    runs = BackgroundRuns()

    def missing():
        return library.experiment("default", "nowhere")

    assert started(library, runs, missing)
    assert runs.wait(60)
    assert runs.status.problem == 'There is no question set "nowhere" in default.'
    assert runs.status.cure == "Available: none yet."

    def broken():
        raise ZeroDivisionError

    assert started(library, runs, broken, [SearchConfig()])
    assert runs.wait(60)
    assert runs.status.problem == "Something unexpected went wrong."
    with pytest.raises(EvaluationError):
        missing()


def test_an_ablation_goes_on_beside_the_page_and_stops_when_asked(library):
    ablation = BackgroundAblation()
    run = partial(library.ablations.run, "default", tables=["contexts"])
    assert ablation.start("default", run)
    assert ablation.wait(60)
    now = ablation.status
    assert (now.collection, now.stopped, now.problem, now.round) == ("default", False, "", 1)
    assert len(library.ablations.kept("default").cells) == 12
    assert ablation.start("default", run)
    ablation.cancel()
    assert ablation.wait(60)
    assert (ablation.status.stopped, ablation.status.problem) == (True, "")
    assert not library.ablations.kept("default").partial
