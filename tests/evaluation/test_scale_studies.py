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

import numpy as np
import pytest

_BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def study(monkeypatch, tmp_path):
    """Load a benchmark, which keeps nothing outside of this test and takes its texts from here."""
    monkeypatch.syspath_prepend(str(_BENCHMARKS))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = set(sys.modules)
    monkeypatch.setattr(importlib.import_module("common"), "SHARED", tmp_path / "nothing beside it")
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
    given += ("--rounds", "1", "--cells", "8", "100", "--kinds", "texts", "--sizes")
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
    assert 0.95 < ways["cells 8"]["recall@10"] <= ways["cells 40"]["recall@10"]
    assert ways["cells 40"]["recall@10"] > 0.99
    assert ways["cells 40"]["build_cpu_s"] > 0
    filtered = found["texts 100"]["a folder with 0.5 of the rows, 20 cells"]
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


# -- the simulation, by hand ---------------------------------------------------------------


def test_the_plan_is_arithmetic_of_what_was_measured(study):
    bench = study("simulate_scale")
    assert bench.search_ms(20) == 3.2
    assert bench.search_ms(55_000) == pytest.approx(4.3)
    assert bench.search_ms(2_000_000) == pytest.approx(23.9 + 13.7 / 0.7)
    found = bench.plan(100_000_000, bench.Machine(memory_gb=64, usable=0.7), bench.Load())
    # 174.5 GB, twice, in 44.8 GB each; 8,469 bytes of disk a chunk, twice.
    assert found["memory_gb"] == pytest.approx(349.0)
    assert found["machines"] == 8
    assert found["disk_gb"] == pytest.approx(1693.8)
    assert found["euros_a_month"] == 480
    assert bench.plan(1_000, bench.Machine(), bench.Load(replicas=2))["machines"] == 3


def test_sizes_fall_as_zipf_says_and_large_tenants_have_shards_of_their_own(study):
    bench = study("simulate_scale")
    assert bench.zipf_sizes(3, 11, 1.0).tolist() == [6, 3, 2]
    assert bench.zipf_sizes(4, 8, 0.0).tolist() == [2, 2, 2, 2]
    sizes, share = bench.zipf_sizes(3, 22, 1.0), bench.zipf_sizes(3, 22, 1.0) / 22
    assert sizes.tolist() == [12, 6, 4]
    shards = bench.shards_of(sizes, share, shared=2, rows_a_part=4)
    # Two of them are too large for one part; the third has one that others of its number share.
    assert shards.parts.tolist() == [3, 2, 1]
    assert shards.first.tolist() == [2, 5, 0]
    assert shards.rows.tolist() == [4, 0, 4, 4, 4, 3, 3]
    assert shards.load[5] == pytest.approx(3.2e-3 * 6 / 22)


def test_copies_are_shared_with_many_machines_and_made_again_where_there_is_least(study):
    bench = study("simulate_scale")
    assert bench.placed([4, 3, 3, 2], 2, 1) == [(0,), (1,), (1,), (0,)]
    places = bench.placed([1, 1, 1, 1], 4, 2)
    assert places == [(0, 1), (2, 3), (0, 2), (1, 3)]
    assert bench.hottest(places, [1, 1, 1, 3], [0, 1, 2, 3]) == pytest.approx(2 / 1.5)
    then, moves = bench.repaired(places, [1, 1, 1, 1], lost=0, machines=4)
    assert then == [(1, 3), (2, 3), (2, 1), (1, 3)]
    assert moves == [bench.Move(0, 1, 3), bench.Move(2, 2, 1)]
    machine = bench.Machine(copies_gb_a_second=0.2)
    assert bench.copying_seconds(moves, [2, 0, 4, 0], machine) == pytest.approx(20.0)


def test_questions_wait_fail_and_are_asked_again(study):
    bench = study("simulate_scale")
    quiet = {"lost": -1, "lost_at": 99.0, "noticed_at": 99.0, "whole_at": 99.0,
             "gives_up_after": 1.0, "slowed": frozenset(), "copying_takes": 0.5}  # fmt: skip

    def seconds(asked, cores, places, **changed):
        values = quiet | {"places": places, "then": places} | changed
        return bench.Cluster(cores=cores, machines=2, **values).latencies(asked)

    two = [(0.0, 0, 1, 2.0), (1.0, 0, 1, 2.0)]
    assert seconds(two, 1, [(0,)]) == [2.0, 3.0]
    assert seconds(two, 2, [(0,)]) == [2.0, 2.0]
    assert seconds(two, 1, [(0, 1)]) == [2.0, 2.0]
    # A question of two shards has its answer when both have theirs.
    assert seconds([(0.0, 0, 2, 1.0)], 1, [(0,), (1,)]) == [1.0]
    assert seconds([(0.0, 0, 2, 1.0)], 1, [(0,), (0,)]) == [2.0]
    # Lost at 1 while it computes; asked in vain again at 2; answered by the other from 3 to 5.
    # At 6 the other copies beside and takes twice as long; at 8 it does not any more.
    asked = [(0.0, 0, 1, 2.0), (6.0, 0, 1, 1.0), (8.0, 0, 1, 1.0)]
    lost = {"lost": 0, "lost_at": 1.0, "noticed_at": 5.0, "whole_at": 7.0,
            "slowed": frozenset([1]), "then": [(1,)]}  # fmt: skip
    assert seconds(asked, 1, [(0, 1)], **lost) == [5.0, 2.0, 1.0]


def test_the_same_seed_simulates_the_same(study):
    bench = study("simulate_scale")
    values = np.arange(1, 101) / 1000
    found = bench.percentiles(values)
    assert found == pytest.approx({"p50_ms": 51.0, "p95_ms": 96.0, "p99_ms": 100.0})
    machine, load = bench.Machine(memory_gb=4), bench.Load(before=3.0, after=3.0)
    first = bench.simulated(5_000_000, machine, load)
    assert first == bench.simulated(5_000_000, machine, load)
    assert first["before_p50_ms"] >= 3.2
    assert first["moved_gb"] > 1
    assert first["unnoticed_p99_ms"] > first["before_p99_ms"]
