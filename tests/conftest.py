"""No test sees the home of whoever runs it: not its files, not its settings."""

from __future__ import annotations

import gc
import itertools
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from kept_readers import KeptReaders
from ollama_stand_in import OllamaStandIn
from postgres_server import PostgresServer, need_postgres
from small_library import HANDBOOK, add, open_library, write_files
from support import Shelf
from xdist.scheduler import LoadScopeScheduling

from ragkit.catalog import Catalog
from ragkit.library import Library
from ragkit.models import ollama_wire
from ragkit.paths import LibraryPaths
from ragkit.reading import pool, process
from ragkit.surfaces.cli import app as cli

# How long a test takes says how busy the machine is.
settings.register_profile("any", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any")

_XDG = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_CACHE_HOME": ".cache",
    "XDG_STATE_HOME": ".local/state",
}
# About half of the time that tests with a browser take.
_GROWING = {
    "test_browser_guard.py",
    "test_browser_library.py",
    "test_browser_whatsapp.py",
    "test_contexts_pages.py",
    "test_embedder_choice.py",
    "test_written_sets_page.py",
}
_FEW_BUT_SLOW = (
    "tests/chaos/",
    "tests/indexing/test_killed_sync.py",
    "tests/library/test_several_workers.py",
    "tests/test_wheel.py",
)
_numbers = itertools.count()
_REAL_BROWSERS = Path.home() / ".cache" / "ms-playwright"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show why tests were tried again: one that fails now and then must be seen."""
    for report in terminalreporter.stats.get("rerun", ()):
        terminalreporter.section(f"tried again: {report.nodeid}", sep="_")
        terminalreporter.write_line(report.longreprtext)
        for title, said in report.sections:
            terminalreporter.section(title, sep="-")
            terminalreporter.write_line(said)


class _FilesWhole(LoadScopeScheduling):
    """Keeps a file in one worker, so that what its tests share is made once.

    Tests with a browser are in two, each with one server: more would starve.
    """

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.partition("::")[0]
        folder, _, file = path.rpartition("/")
        if folder != "tests/browser":
            return path
        return "browser, a library as it grows" if file in _GROWING else "browser, the rest"

    def schedule(self) -> None:
        """Begin early with files of few tests that take long: xdist begins with the most tests."""
        super().schedule()
        for scope in [scope for scope in self.workqueue if scope.startswith(_FEW_BUT_SLOW)]:
            self.workqueue.move_to_end(scope, last=False)

    def remove_node(self, node: Any) -> str | None:
        """Return the test that ended a worker. It is not tried again, nor is what had passed.

        xdist gives both out again, and waits for ever for a unit of tests that have all passed.
        """
        waiting = (
            (scope, [test for test, done in unit.items() if not done])
            for scope, unit in self.assigned_work[node].items()
        )
        left = {scope: dict.fromkeys(tests, False) for scope, tests in waiting if tests}
        ended_by = None
        if left:
            scope = next(iter(left))
            ended_by = next(iter(left[scope]))
            del left[scope][ended_by]
        self.assigned_work[node] = {scope: tests for scope, tests in left.items() if tests}
        super().remove_node(node)
        return ended_by


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Imported modules and collected tests stay: the collector would walk them repeatedly."""
    gc.disable()
    result = yield
    gc.freeze()
    gc.enable()
    return result


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    return _FilesWhole(config, log)


def _isolate(patch: pytest.MonkeyPatch, home: Path) -> None:
    home.mkdir(parents=True, exist_ok=True)
    for name in list(os.environ):
        if name.startswith(("RAGKIT_", "OLLAMA_")) and name != "RAGKIT_CHROMIUM":
            patch.delenv(name)
    for name in ("HOME", "USERPROFILE"):
        patch.setenv(name, str(home))
    for name, folder in _XDG.items():
        patch.setenv(name, str(home / folder))
    patch.delenv("XDG_RUNTIME_DIR", raising=False)
    if _REAL_BROWSERS.is_dir() and "PLAYWRIGHT_BROWSERS_PATH" not in os.environ:
        patch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(_REAL_BROWSERS))


@pytest.fixture(scope="session", autouse=True)
def _isolated_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Hide the real home from fixtures that live longer than one test."""
    # Tests that run in the background ignore Ctrl+C, and so would the commands that they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.MonkeyPatch.context() as patch:
        _isolate(patch, tmp_path_factory.mktemp("session") / "home")
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """Processes are killed here, machines are not: the system keeps what a process wrote."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fstat)
        yield


@pytest.fixture(autouse=True)
def home(_isolated_session: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty home of this test's own. Commands that run in this process change its umask."""
    umask = os.umask(0o022)
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp(f"home_of_{next(_numbers)}", numbered=False)
        _isolate(patch, folder)
        yield folder
    os.umask(umask)


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this test's own; pytest would look at thousands of folders for a free number."""
    name = re.sub(r"\W", "_", request.node.name)[:26]
    return tmp_path_factory.mktemp(f"{name}_{next(_numbers)}", numbered=False)


@pytest.fixture
def nothing_collected() -> Iterator[None]:
    """For input that is nested without end.

    The collector could run at the limit of recursion, where finalizers of what other tests have
    left fail for want of frames.
    """
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def kept_readers() -> Iterator[KeptReaders]:
    """Have pools take over processes of earlier ones, but where tests take ``own_processes``."""
    with KeptReaders() as readers, pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "_start", readers.start)
        patch.setattr(pool, "ReadingProcess", readers.reading_process)
        yield readers


@pytest.fixture
def library_paths(tmp_path: Path) -> LibraryPaths:
    """The paths of a library whose directories are there and empty."""
    paths = LibraryPaths(tmp_path / "library")
    paths.create()
    return paths


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """A library of its own, with nothing in it."""
    opened = open_library(tmp_path / "library")
    yield opened
    opened.close()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The folder of a library of five files that nobody has open."""
    with open_library(tmp_path / "library") as opened:
        add(opened, write_files(tmp_path / "files", HANDBOOK))
    return tmp_path / "library"


@pytest.fixture
def catalog(library_paths: LibraryPaths) -> Iterator[Catalog]:
    """A fresh catalog."""
    opened = Catalog.open(library_paths.catalog, create=True)
    yield opened
    opened.close()


@pytest.fixture
def shelf(catalog: Catalog) -> Shelf:
    """A fresh catalog with one collection, one source and one embedder."""
    return Shelf(catalog)


@pytest.fixture(scope="session")
def postgres(_isolated_session: None) -> Iterator[PostgresServer]:
    """A real server of this process, started by the first test that needs one."""
    need_postgres()
    with PostgresServer() as started:
        yield started


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[str]:
    """The address of an empty database on a real server."""
    url = postgres.new_database()
    yield url
    postgres.drop_database(url)


@pytest.fixture
def counted(catalog: Catalog) -> Iterator[None]:
    """Whatever a test does to the catalog, the numbers of entries that it keeps stay right."""
    yield
    assert catalog.integrity.miscounted() == []


@pytest.fixture(scope="module")
def running() -> Iterator[OllamaStandIn]:
    """A server that speaks as Ollama does; tests take ``server``, which forgets between them."""
    with pytest.MonkeyPatch.context() as patch, OllamaStandIn() as server:
        # It is in this process, which a busy machine may stop for some seconds.
        patch.setattr(ollama_wire, "QUICK_SECONDS", 30.0)
        yield server


@pytest.fixture
def server(running: OllamaStandIn) -> Iterator[OllamaStandIn]:
    """A server that speaks as Ollama does, as new."""
    running.reset()
    yield running
    running.reset()


@pytest.fixture
def in_process(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run ``ragkit`` with arguments in this process; return its exit code and output."""
    monkeypatch.setenv("RAGKIT_MODELS__EMBEDDER", "hash")

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        given = ["ragkit", *map(str, arguments)]
        monkeypatch.setattr(sys, "argv", given)
        code = 0
        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code or 0
        output = capsys.readouterr()
        return subprocess.CompletedProcess(given, code, output.out, output.err)

    return run
