"""Approximate indexes of large collections are built beside everything else."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from small_library import add, do, make_older, open_library, write_files
from support import until as until_

from ragkit.background import graphs
from ragkit.background.graphs import GraphBuilder
from ragkit.background.worker import Worker
from ragkit.health.findings import Depth
from ragkit.indexes.local import vector
from ragkit.indexes.local.files import generations
from ragkit.indexes.local.generation import newest_graph
from ragkit.indexes.local.hnsw import GraphState
from ragkit.library import Library
from ragkit.options import IndexMode
from ragkit.types import Level

until = partial(until_, seconds=240.0)

FILES = {
    f"note-{n}.md": f"# Note {n}\n\nSomething number {n} about topic {n % 7}.\n" for n in range(60)
}
PAGES = {
    f"page-{page}.md": f"# Page {page}\n\n"
    + "\n\n".join(
        f"Paragraph {n} of page {page} tells of topic {n % 7}" + ", and more" * 4 for n in range(10)
    )
    for page in range(6)
}
"""Sixty chunks of six sections and documents: one of the three indexes is large."""
OTHERS = {name.replace("page", "other"): text for name, text in list(PAGES.items())[:2]}

_NUMBERS = itertools.count()


def library_in(folder: Path, least: int = 50, files: dict[str, str] = PAGES) -> Library:
    make_older(write_files(folder / "files", files))
    chunking = {"words": 20, "overlap": 0, "min_words": 0}
    library = open_library(folder / "library", index={"ann_rows": least}, chunking=chunking)
    add(library, folder / "files")
    return library


def chunks_folder(library: Library) -> Path:
    [collection] = library.collections.list()
    fingerprint = library.embedder.fingerprint
    return library.paths.index(collection.id, Level.CHUNK.value, fingerprint)


def note_of(library: Library, **options) -> str:
    # Another question each time: answers are remembered for a while.
    answer = library.search(f"topic {next(_NUMBERS)}", library.options(**options))
    return next(one.note for one in answer.trace.stages if one.name == "vector")


@pytest.fixture(autouse=True)
def looked_for_at_once(monkeypatch):
    monkeypatch.setattr(vector, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(graphs, "_WATCH_SECONDS", 0.05)


@pytest.fixture
def at_usual_priority(monkeypatch):
    """Children that do not wait until all other tests are done; the first test has real ones."""
    program = (
        "import sys; from ragkit.background import graphs; graphs._NICE = 0;"
        "sys.exit(graphs.main(sys.argv[1:]))"
    )
    monkeypatch.setattr(
        graphs, "child_command", lambda _module, path: [sys.executable, "-c", program, path]
    )


def test_a_large_index_gets_a_graph_and_searches_say_so(tmp_path: Path):
    library = library_in(tmp_path, files=FILES)
    asked = library.options(index=IndexMode.ANN, overfetch=1, nprobe=1, candidates=10)
    before = library.search("topic 3", asked)
    assert before.notices == ("There is no approximate index: collections are searched exactly.",)
    assert note_of(library) == "exact: 60 vectors"
    assert note_of(library, index=IndexMode.ANN) == "exact: there is no approximate index"
    builder = GraphBuilder(library.writer())
    # Chunks, sections and documents: each note has one of each.
    assert builder.build_missing() == 3
    assert newest_graph(chunks_folder(library)).state is GraphState.WHOLE
    after = library.search("topic 4", replace(asked, limit=5))
    assert after.notices == ()
    assert note_of(library, index=IndexMode.ANN, nprobe=1, overfetch=1, candidates=10) == (
        "ann: 60 vectors, 15 of 15 cells"
    )
    assert note_of(library, index=IndexMode.EXACT) == "exact: asked for"
    assert note_of(library) == "exact: 60 vectors, quicker than 15 of 15 cells"
    exact = library.search("topic 4", replace(asked, limit=5, index=IndexMode.EXACT))
    assert [one.score for one in after.results] == [one.score for one in exact.results]
    chunked = library.chunked_options(mode=IndexMode.ANN, nprobe=1, overfetch=1)
    long = library.search_chunked("topic 4", replace(asked, index=IndexMode.AUTO), chunked)
    assert "ann: 60 vectors, 15 of 15 cells" in [one.note for one in long.trace.stages]
    assert long.notices == ()
    assert builder.build_missing() == 0


def test_a_small_index_and_a_library_without_the_wish_get_none(tmp_path: Path):
    library = library_in(tmp_path, least=61)
    assert GraphBuilder(library.writer()).build_missing() == 0
    none = open_library(tmp_path / "library", index={"ann_rows": 0})
    builder = GraphBuilder(none.writer())
    builder.run()
    assert newest_graph(chunks_folder(none)).state is GraphState.NONE


@pytest.mark.usefixtures("at_usual_priority")
def test_a_new_generation_and_a_damaged_graph_are_built_for_again(tmp_path: Path):
    library = library_in(tmp_path)
    builder = GraphBuilder(library.writer())
    assert builder.build_missing() == 1
    make_older(write_files(tmp_path / "files", OTHERS))
    do(library, "sync")
    assert newest_graph(chunks_folder(library)).state is GraphState.NONE
    assert builder.build_missing() == 1
    assert newest_graph(chunks_folder(library)).vectors == 80
    graph = newest_graph(chunks_folder(library)).path / "graph.faiss"
    whole = graph.read_bytes()
    graph.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    # The next worker looks everywhere once.
    assert GraphBuilder(library.writer()).build_missing() == 1
    assert graph.read_bytes() == whole
    do(library, "rebuild_indexes")
    assert newest_graph(chunks_folder(library)).state is GraphState.NONE
    builder.look_again(everywhere=True)
    assert builder.build_missing() == 1


@pytest.mark.usefixtures("at_usual_priority")
def test_the_worker_builds_beside_its_jobs(tmp_path: Path):
    library = library_in(tmp_path)
    stopping = threading.Event()
    worker = Worker(library.writer(), stopping=stopping)
    thread = threading.Thread(target=worker.run, kwargs={"watch": False})
    thread.start()
    try:
        until(lambda: newest_graph(chunks_folder(library)).state is GraphState.WHOLE)
        make_older(write_files(tmp_path / "files", OTHERS))
        library.jobs.wait(library.jobs.add("sync"))
        until(lambda: newest_graph(chunks_folder(library)).state is GraphState.WHOLE)
        assert newest_graph(chunks_folder(library)).vectors == 80
    finally:
        stopping.set()
        thread.join(timeout=20)
    assert not thread.is_alive()


@pytest.mark.usefixtures("at_usual_priority")
def test_doctor_says_how_the_graphs_stand(tmp_path: Path):
    library = library_in(tmp_path)
    assert index_finding(library).sentence.endswith(
        "Approximate indexes: 1, 1 of them not built yet."
    )
    assert index_finding(library).ok
    GraphBuilder(library.writer()).build_missing()
    assert index_finding(library).sentence.endswith("Approximate indexes: 1.")
    graph = newest_graph(chunks_folder(library)).path / "graph.faiss"
    whole = graph.read_bytes()
    graph.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    finding = index_finding(library)
    assert (finding.ok, finding.fix) == (False, "rebuild_indexes")
    assert finding.sentence == (
        "default, chunk: the approximate index is damaged; search is exact meanwhile."
    )


def index_finding(library: Library):
    return next(one for one in library.health.check(Depth.CHECK) if one.name == "indexes")


_SLOW = "import sys; sys.stdin.buffer.read()"
"""A child that never ends by itself, in place of the one that builds."""


def running(program: str):
    """In place of the command that builds a graph, one that runs a program."""
    return lambda *_arguments: [sys.executable, "-c", program]


@pytest.mark.parametrize("ended_by", ["stopping", "newer"])
def test_building_ends_when_told_to_or_when_it_is_of_no_use(tmp_path, monkeypatch, ended_by):
    library = library_in(tmp_path)
    monkeypatch.setattr(graphs, "child_command", running(_SLOW))
    children = []
    start = subprocess.Popen

    def noted(*arguments, **named):
        children.append(start(*arguments, **named))
        return children[-1]

    monkeypatch.setattr(graphs.subprocess, "Popen", noted)
    stopping = threading.Event()
    builder = GraphBuilder(library.writer(), stopping)
    built = []
    thread = threading.Thread(target=lambda: built.append(builder.build_missing()))
    thread.start()
    until(lambda: len(children) == 1)
    first = generations(chunks_folder(library))[-1]
    if ended_by == "newer":
        do(library, "rebuild_indexes")
        assert generations(chunks_folder(library))[-1] != first
        until(lambda: children[0].poll() is not None)
    stopping.set()
    thread.join(timeout=20)
    assert not thread.is_alive()
    assert built == [0]
    assert all(child.poll() is not None for child in children)
    assert newest_graph(chunks_folder(library)).state is GraphState.NONE


def test_a_child_that_fails_is_not_started_again_at_once(tmp_path, monkeypatch, caplog):
    library = library_in(tmp_path)
    failing = "import sys; sys.exit('no room left')"
    monkeypatch.setattr(graphs, "child_command", running(failing))
    builder = GraphBuilder(library.writer())
    assert builder.build_missing() == 0
    assert caplog.text.count("no room left") == 1
    builder.look_again(everywhere=True)
    assert builder.build_missing() == 0
    assert caplog.text.count("no room left") == 1


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_child_whose_parent_is_killed_ends(tmp_path: Path):
    program = (
        "import subprocess, sys, time\n"
        "from ragkit.background import graphs\n"
        "inner = 'import sys, time; from ragkit.background import graphs;'\n"
        "inner += 'graphs.build_graph_of = lambda path: time.sleep(60);'\n"
        "inner += 'sys.exit(graphs.main([\"x\"]))'\n"
        "child = subprocess.Popen([sys.executable, '-c', inner], stdin=subprocess.PIPE)\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    child = int(parent.stdout.readline())
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait(10)
    parent.stdout.close()
    until(lambda: not _runs(child))


def _runs(pid: int) -> bool:
    import psutil

    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
