"""Figures by kind of question."""

from __future__ import annotations

import pytest
from small_library import HANDBOOK, add, open_library, write_files

from ragkit.evaluation.experiments import judged_trial
from ragkit.evaluation.question_sets import import_set
from ragkit.evaluation.question_types import by_kind, kinds_of_run
from ragkit.evaluation.run import measure
from ragkit.evaluation.runs import keep
from ragkit.evaluation.search_config import ColumnSettings
from ragkit.options import Mode, SearchOptions

KEYWORD = ColumnSettings(SearchOptions(mode=Mode.KEYWORD))
ASKED = (
    "question,path,kind\n"
    "refund within thirty days,handbook/refunds.md,exact term\n"
    "how much is an apple,data/prices.csv,number\n"
    "OAuth token,notes/garten.txt,exact term\n"
    "Tomaten Wasser,notes/garten.txt,\n"
)


def test_each_kind_has_the_mean_of_its_questions():
    values = {"mrr": {"a": 1.0, "b": 0.5, "c": 0.0}, "hit@1": {"a": 1.0, "b": 0.0, "c": 0.0}}
    exact, unnamed = by_kind(values, {"a": "exact", "b": "exact", "elsewhere": "number"})
    assert (exact.kind, exact.questions) == ("exact", 2)
    assert [(one.name, one.value) for one in exact.metrics] == [("mrr", 0.75), ("hit@1", 0.5)]
    assert (exact.metrics[0].low, exact.metrics[0].high) == (0.5, 1.0)
    assert (unnamed.kind, unnamed.questions) == ("", 1)
    assert [one.value for one in unnamed.metrics] == [0.0, 0.0]


@pytest.mark.parametrize("kinds", [{}, {"a": "number", "b": "number"}])
def test_one_kind_alone_tells_nothing_more(kinds):
    assert by_kind({"mrr": {"a": 1.0, "b": 0.5}}, kinds) == ()
    assert by_kind({}, kinds) == ()


def test_a_set_is_asked_and_kept_by_kind(tmp_path):
    library = open_library(tmp_path / "library")
    add(library, write_files(tmp_path / "files", HANDBOOK))
    catalog = library.catalog
    home = catalog.collections.get("default").id
    (tmp_path / "mine.csv").write_text(ASKED)
    import_set(catalog, home, tmp_path / "mine.csv")
    found = measure(judged_trial(library, catalog, "default", "mine"), KEYWORD)
    means = {one.kind: {m.name: m.value for m in one.metrics}["hit@1"] for one in found.kinds}
    assert means == {"exact term": 0.5, "number": 1.0, "": 1.0}
    assert [one.questions for one in found.kinds] == [2, 1, 1]
    record = keep(catalog, found, home)
    kinds = catalog.judgments.kinds(home, "mine")
    kept = kinds_of_run(catalog, record.id, kinds, "hit@1")
    assert {one.kind: one.metrics[0].value for one in kept} == means
    assert kinds_of_run(catalog, record.id, {}, "hit@1") == ()
    library.close()
