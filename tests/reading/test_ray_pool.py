"""Reading on a Ray cluster of this machine: what the pool returns, whatever happens to a file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import deeds
import network_watch
import pytest

from ragkit.errors import PassingError, RagkitError, ReadingError, SettingsError
from ragkit.indexing.progress import Reporter
from ragkit.indexing.sync import sync_source
from ragkit.library import Library
from ragkit.reading import PostProcessor, ReaderPool, ReadTask, open_readers, ray_pool
from ragkit.reading.process import Read
from ragkit.reading.ray_pool import RayReaderPool
from ragkit.settings import ReadingSettings, load_settings

pytestmark = pytest.mark.usefixtures("own_processes")

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "sample_data" / "library"
PROCESSOR = PostProcessor(deeds.build, {"sleep": 0.6})


QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_USAGE_STATS_REPORT_URL": "http://127.0.0.1:9",
    "HTTP_PROXY": "http://127.0.0.1:9",
}
"""How docs/scaling.md has clusters started: Ray reports even that reports are off."""


def settings(**values):
    return ReadingSettings(**{"ray": "auto", "processes": 2, "timeout_seconds": 20, **values})


def outcomes(pool, tasks):
    return {outcome.key: outcome for outcome in pool.read(tasks)}


def tasks_of(folder, *texts):
    found = []
    for number, text in enumerate(texts):
        path = folder / f"{number}.txt"
        path.write_text(text)
        found.append(ReadTask(number, path, path.name, len(text)))
    return found


def ends_worker(*_):
    """Stand for the handler of the worker, with which it ends in order."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A cluster whose Python processes note what they ask the network for; yields the notes."""
    from ray.cluster_utils import Cluster

    notes = tmp_path_factory.mktemp("ray") / "watch"
    before = dict(os.environ)
    paths = [str(ROOT), str(Path(__file__).parent), before.get("PYTHONPATH", "")]
    environment = {**before, **QUIET, "PYTHONPATH": os.pathsep.join(paths)}
    os.environ.update(network_watch.watching(environment, notes))
    machine = {"num_cpus": 2, "include_dashboard": False, "object_store_memory": 100_000_000}
    started = Cluster(initialize_head=True, head_node_args=machine)
    of_cluster = signal.signal(signal.SIGTERM, ends_worker)
    with RayReaderPool(settings(ray=started.address)):
        yield notes
    signal.signal(signal.SIGTERM, of_cluster)
    started.shutdown()
    os.environ.clear()
    os.environ.update(before)


def strangers(notes):
    """What was asked for that is not on this machine, whose processes use its own address."""
    import ray

    own = ray.util.get_node_ip_address()
    return [one for one in network_watch.strangers(notes) if one[1] != own]


def plain(outcome):
    """What has to be equal, wherever a file is read."""
    result = outcome.result
    if isinstance(result, ReadingError):
        return type(result), result.message, result.cure
    made = {name: value for name, value in result.made.items() if name != "pid"}
    return result.reading, made, result.data


def pids(found):
    """The processes that have read the files."""
    return {one.result.made["pid"] for one in found.values() if isinstance(one.result, Read)}


def test_it_reads_what_the_pool_reads(cluster, tmp_path):
    files = sorted(one for one in SAMPLE.rglob("*") if one.is_file())
    suffixes = dict.fromkeys(one.suffix for one in files)
    chosen = [next(one for one in files if one.suffix == suffix) for suffix in suffixes]
    tasks = [ReadTask(number, path, path.name) for number, path in enumerate(chosen)]
    bad = ["", "some words raise", "some words exit", "some words crash", "and then good"]
    for task in tasks_of(tmp_path, *bad):
        tasks.append(ReadTask(len(tasks), task.path, task.name))
    tasks.append(ReadTask(len(tasks), tmp_path / "gone.txt", "gone.txt"))
    with ReaderPool(settings(), PROCESSOR) as pool:
        expected = {key: plain(one) for key, one in outcomes(pool, tasks).items()}
    with open_readers(settings(), PROCESSOR, 20) as pool:
        assert isinstance(pool, RayReaderPool)
        found = outcomes(pool, tasks)
    assert {key: plain(one) for key, one in found.items()} == expected
    assert len(found) == len(tasks) > 10
    # Read once more, nothing is started anew.
    with RayReaderPool(settings(), PROCESSOR) as pool:
        again = outcomes(pool, tasks)
    assert pids(again) & pids(found)


def test_few_files_are_read_here(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with open_readers(settings(), PROCESSOR, 19) as pool:
        assert isinstance(pool, ReaderPool)


def test_a_folder_that_a_cluster_reads_is_indexed_alike(cluster, tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    texts = ["", *(f"one of them is {number}" for number in range(20))]
    tasks_of(folder, *texts)
    found = []
    for name, ray in (("here", ""), ("there", "any:1")):
        wanted = load_settings(library=tmp_path / name, reading={"ray": ray})
        with Library.open(wanted, create=True) as library:
            source = library.sources.add_folder(folder)
            report = sync_source(library.writer(), source, Reporter())
            found.append([
                (one.path, one.status, one.reason, one.hash, one.chunks, one.title)
                for one in library.documents.list()
            ])  # fmt: skip
            assert (report.indexed, report.skipped) == (20, 1)
    assert found[0] == found[1]


def test_one_that_never_ends_and_one_that_takes_all_memory_fail_alone(cluster, tmp_path):
    for asked, limits, message in (
        ("please spin", {"timeout_seconds": 1}, "Reading took longer than 1 s."),
        ("please memory", {"memory_mb": 400}, "Reading needed more than 400 MB of memory."),
    ):
        tasks = tasks_of(tmp_path, asked, *["fine words"] * 3)
        with RayReaderPool(settings(**limits), PROCESSOR) as pool:
            found = outcomes(pool, tasks)
        assert found[0].result.message == message
        assert [found[key].result.made["words"] for key in range(1, 4)] == [2] * 3


def test_a_machine_that_does_not_answer_is_given_up(cluster, tmp_path):
    tasks = tasks_of(tmp_path, "please sleep", "fine words")
    slow = PostProcessor(deeds.build, {"sleep": 60})
    with RayReaderPool(settings(), slow) as pool:
        pool._longest = 3.0
        started = time.monotonic()
        found = outcomes(pool, tasks)
    assert time.monotonic() - started < 15
    assert isinstance(found[0].result, PassingError)
    assert found[0].result.message == "Reading was not finished after 200 s."
    assert found[1].result.made["words"] == 2


def test_few_files_are_on_their_way_and_those_not_wanted_are_cancelled(cluster, tmp_path):
    taken = []

    def coming():
        for task in tasks_of(tmp_path, *["please sleep"] * 60):
            taken.append(task.key)
            yield task

    with RayReaderPool(settings(), PROCESSOR) as pool:
        reading = pool.read(coming())
        next(reading)
        assert len(taken) <= pool._most < 60
        reading.close()
        # What was not begun does not stand in the way of what comes.
        assert outcomes(pool, tasks_of(tmp_path, "fine words"))[0].result.made["words"] == 2


def test_another_version_of_ragkit_is_not_read_with(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr(ray_pool, "_VERSIONS", ("0", "0", "0"))
    with (
        RayReaderPool(settings(), PROCESSOR) as pool,
        pytest.raises(RagkitError, match="another version of ragkit"),
    ):
        outcomes(pool, tasks_of(tmp_path, "fine words"))


def test_nothing_of_ray_leaves_the_machine(cluster):
    assert network_watch.asked(cluster)
    assert strangers(cluster) == []
    said = (ROOT / "docs" / "scaling.md").read_text("utf-8")
    assert [f"{name}={value}" in said for name, value in QUIET.items()] == [True] * 3


def test_joining_leaves_the_handler_of_sigterm(cluster):
    assert signal.getsignal(signal.SIGTERM) is ends_worker


@pytest.mark.parametrize("address", ["local", "auto", "ray://127.0.0.1:1", "127.0.0.1:1"])
def test_where_no_cluster_is_it_is_said_at_once(address):
    started = time.monotonic()
    with pytest.raises(SettingsError, match=f"There is no Ray cluster at {address}"):
        ray_pool._join(None, address)
    assert time.monotonic() - started < 6


def test_without_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "1")
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SettingsError, match="Ray is not installed") as raised:
        open_readers(settings(), PROCESSOR, 20)
    assert 'pip install "ragkit-search[ray]"' in raised.value.cure
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"


_LOSES_A_MACHINE = """
    import json, sys, threading, time
    from pathlib import Path
    import deeds
    from ray.cluster_utils import Cluster
    from ragkit.reading import PostProcessor, ReadTask
    from ragkit.reading.ray_pool import RayReaderPool
    from ragkit.settings import ReadingSettings

    small = {"object_store_memory": 100_000_000, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, **small})
    lost = cluster.add_node(num_cpus=1, object_store_memory=100_000_000)
    files = sorted(Path(sys.argv[1]).iterdir())
    tasks = [ReadTask(at, path, path.name, 100) for at, path in enumerate(files)]
    processor = PostProcessor(deeds.build, {"sleep": 0.3})
    found = []
    with RayReaderPool(ReadingSettings(ray=cluster.address), processor) as pool:
        for outcome in pool.read(tasks):
            words = outcome.result.made["words"]
            found.append((outcome.key, words))
            if len(found) == 5:
                cluster.remove_node(lost, allow_graceful=False)
    print(json.dumps(found))
    cluster.shutdown()
"""


@pytest.mark.slow
def test_what_a_killed_machine_was_reading_is_read_elsewhere(tmp_path):
    folder, notes = tmp_path / "files", tmp_path / "watch"
    folder.mkdir()
    tasks_of(folder, *[f"{'word ' * number} sleep" for number in range(30)])
    environment = {
        **os.environ,
        **QUIET,
        "PYTHONPATH": f"{ROOT}{os.pathsep}{Path(__file__).parent}",
    }
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(_LOSES_A_MACHINE), str(folder)],
        env=network_watch.watching(environment, notes),
        capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr[-2000:]
    found = json.loads(run.stdout.strip().splitlines()[-1])
    names = sorted(one.name for one in folder.iterdir())
    words = {at: int(name.removesuffix(".txt")) + 1 for at, name in enumerate(names)}
    assert dict(found) == words
    assert len(found) == 30
    # The process that joined is among those that are watched here.
    assert strangers(notes) == []


def test_a_machine_without_room_for_a_file_leaves_it_for_later(tmp_path, monkeypatch):
    monkeypatch.setattr(ray_pool.tempfile, "tempdir", str(tmp_path / "gone"))
    limits = ray_pool.Limits.of(settings())
    result, _ = ray_pool._read(b"text", "a.txt", b"", limits, None, ray_pool._VERSIONS)
    assert isinstance(result, PassingError)
    assert "could not store it: no such file or directory." in result.message
