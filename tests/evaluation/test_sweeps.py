"""The sweep of defaults asks with other values, and says how each differs from the default."""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
from pathlib import Path

from published_set import write_published

from ragkit.indexes.bm25 import BM25F_PARAMETERS
from ragkit.indexes.local.scorer import BM25F

_BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def test_each_value_is_compared_with_the_default(monkeypatch, tmp_path, capsys):
    folder = write_published(tmp_path / "set")
    monkeypatch.syspath_prepend(str(_BENCHMARKS))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("RAGKIT_MODELS__EMBEDDER", "hash")
    sweep = importlib.import_module("bench_sweep")
    given = ["--contexts", str(folder / "contexts.jsonl"), "--mode", "keyword", "--json"]
    values = ["--keywords", "2", "0", "--fields-k1", "0.5", "--k1", "1.2", "--min-words", "0"]
    monkeypatch.setattr(sys, "argv", ["bench_sweep", str(folder), *given, *values])
    sweep.main()
    found = json.loads(capsys.readouterr().out)
    assert found.pop("metric") == "ndcg@10"
    assert list(found) == [
        "default", "k1 1.2", "fields k1 0.5", "weight of keywords 2", "weight of keywords 0",
        "min_words 0",
    ]  # fmt: skip
    # Where a value is the default, nothing changes; without its keywords, q2 finds nothing.
    same = "1.0000  +0.0000 (+0.0000 to +0.0000), p 1.000"
    assert {found[name] for name in ("default", "weight of keywords 2", "min_words 0")} == {same}
    assert found["weight of keywords 0"].split()[:2] == ["0.7500", "-0.2500"]
    assert BM25F.__init__.__defaults__ == (BM25F_PARAMETERS,)


def test_texts_alone_are_counted_with_other_parameters(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(_BENCHMARKS))
    monkeypatch.setenv("RAGKIT_MODELS__EMBEDDER", "hash")
    sweep = importlib.import_module("bench_sweep")
    given = type("Given", (), {"contexts": None})
    questions = sweep.load_question_set(write_published(tmp_path / "set"))
    with (
        sweep.indexed(given, questions) as experiment,
        sweep.with_texts(experiment, sweep.Bm25Parameters(k1=0.5, b=0.0)) as other,
    ):
        options = sweep.SearchOptions(mode=sweep.Mode.KEYWORD, collections=("evaluation",))
        found = []
        for where in (experiment, other):
            (result,) = where.engine.search("cinnamon", options).results
            (part,) = result.matched_chunks[0].contributions[:1]
            found.append((result.document.path, part.raw))
    (path, usual), (same, changed) = found
    assert path == same
    assert changed != usual
