"""The scale studies run at a tiny size, and what they measure is what they say."""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
from itertools import islice
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

_BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def study(monkeypatch, tmp_path):
    """Load a benchmark, which keeps nothing outside of this test."""
    monkeypatch.syspath_prepend(str(_BENCHMARKS))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(_BENCHMARKS)):
            del sys.modules[name]


def _run(study: ModuleType, monkeypatch, folder: Path, *arguments: str) -> dict[str, dict]:
    files = ["--json", str(folder / "figures.json"), "--svg", str(folder / "plots.svg")]
    monkeypatch.setattr(sys, "argv", [study.__name__, *arguments, *files])
    study.main()
    assert ElementTree.fromstring((folder / "plots.svg").read_text("utf-8")).tag.endswith("svg")
    return json.loads((folder / "figures.json").read_text("utf-8"))


def test_hnsw_study_finds_what_exact_search_finds(study, monkeypatch, tmp_path):
    given = ("--links", "18", "--widths", "128", "--probes", "1", "--questions", "8")
    given += ("--rounds", "1", "--kinds", "texts", "--sizes")
    bench = study("bench_hnsw")
    _run(bench, monkeypatch, tmp_path, *given, "100", "--filters")
    found = _run(bench, monkeypatch, tmp_path, *given, "400")
    # The first run's figures are kept beside those of the second.
    assert set(found) == {"texts 100", "texts 400"}
    ways = found["texts 400"]
    assert ways["exact"]["recall@10"] == ways["exact"]["p50_to_exact"] == 1.0
    assert ways["hnsw M 18 ef 128"]["recall@10"] > 0.95
    assert ways["hnsw M 18 ef 128"]["build_cpu_s"] > 0
    assert 150 < ways["hnsw M 18 ef 128"]["bytes_a_row"] < 180
    assert 0 < ways["ivf nprobe 1"]["recall@10"] < 1
    filtered = found["texts 100"]["a folder with 0.5 of the rows, 1024 wide"]
    assert filtered["recall@10"] == 1.0


def test_collections_study_counts_what_it_made_and_nothing_crosses(study, monkeypatch, tmp_path):
    made, bench = study("many_collections"), study("bench_collections")
    monkeypatch.setattr(made, "TEMPLATES", 20)
    monkeypatch.setitem(bench.CASES, "I0", (12, 0.25))
    monkeypatch.setitem(bench.CASES, "I1", (12, 0.5))
    given = "--cases I1 I0 --large 30 40 --small 2 4 --sample 1 --searches 3 --rounds 1"
    found = _run(bench, monkeypatch, tmp_path, *given.split())
    assert [found[name]["large_collections"] for name in ("I0", "I1")] == [3, 6]
    assert found["I1"]["chunks"] > found["I0"]["chunks"] + 60
    for figures in found.values():
        assert figures["collections"] == 12
        assert 20 < figures["chunks_of_a_searched_large_one"] < 60
        assert 1 < figures["chunks_of_a_searched_small_one"] < 6
        assert figures["results"] > 5
        assert figures["results_of_others"] == 0
        assert figures["own_word_found_in"] == 1.0
        assert figures["small_warm_p50_ms"] > 0
        assert figures["rss_after_all_searches_mb"] > 50
    assert not list(tmp_path.glob("ragkit-bench-collections-*"))


def test_collections_are_made_smaller_where_they_would_be_too_many(study):
    bench = study("bench_collections")
    options = type("Options", (), {"most_chunks": 60_000, "sample": 2,
                                   "small": [20, 40], "large": [1_000, 2_000]})  # fmt: skip
    few = bench.Sizes.of(1_000, 0.05, 0.1, options)
    sizes = bench.Sizes.of(1_000, 0.1, 0.1, options)
    wanted = [sizes.wanted(number) for number in range(1_000)]
    assert 50_000 < sum(wanted) < 65_000
    assert all(1_000 <= wanted[number] <= 2_000 for number in sizes.searched["large"])
    assert all(20 <= wanted[number] <= 40 for number in sizes.searched["small"])
    assert len(sizes.large) == 100
    # The library of fewer large collections grows into that of more.
    assert few.large < sizes.large
    assert few.searched == sizes.searched
    assert all(few.wanted(number) <= wanted[number] for number in range(1_000))


def test_scale_rows_are_measured_on_copies_of_one_library(study, monkeypatch, capsys):
    large, bench = study("large_library"), study("bench_scale")
    some = list(islice(large.texts(), 30))
    monkeypatch.setattr(large, "texts", lambda: iter(some))
    monkeypatch.setattr(bench, "LEAST_DELTA", 1_500)
    monkeypatch.setattr(bench, "ASKED", 4)
    monkeypatch.setenv("RAGKIT_INDEX__ANN_ROWS", "1000")
    given = "bench_scale --rows 1500 --only 2 3 5 8 9 --json"
    monkeypatch.setattr(sys, "argv", given.split())
    bench.main()
    found = json.loads(capsys.readouterr().out)
    assert found["rows"] == found["3_chunks"] == 1500
    assert found["2_moved_ms"] > 0.5
    assert found["5_rebuild_peak_mb"] > 50
    assert 0.5 < found["5_index_mb"] < 10
    assert found["8_graphs_built"] == 1
    assert found["8_graph_cpu_s"] > 0
    assert found["8_recall@10"] > 0.9
    assert found["9_search_to_bare"] > 1
    # What is kept for the next run has not been changed, and copies are gone.
    kept = large.library_of(1500)
    assert kept[1] == 0.0
    with bench.opened(kept[0]) as library:
        assert library.documents.counts().chunks == 1500
    assert not list(Path(tempfile.gettempdir()).glob("ragkit-bench-scale-*"))
