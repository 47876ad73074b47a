"""A real server over a small library, and a real Chromium to look at it with."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Read now: no test sees the RAGKIT_* variables of whoever runs it.
_SKIP = os.environ.get("RAGKIT_SKIP_BROWSER") == "1"
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark these tests, and keep them in one worker: they share one server."""
    for item in items:
        if Path(__file__).parent in Path(item.path).parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.xdist_group("browser"))


@dataclass(frozen=True)
class Served:
    """A running server. ``folder`` is a watched folder of its library."""

    url: str
    library: Path
    folder: Path
    environment: dict[str, str]

    def ragkit(self, *arguments: str) -> str:
        """Run the command line on the same library."""
        return run(self.environment, *arguments)


def run(environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ragkit", *arguments],
        env=environment, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def chromium() -> str:
    named = os.environ.get("RAGKIT_CHROMIUM")
    found = named or next(filter(None, map(shutil.which, _NAMES)), None)
    if found:
        return found
    if _SKIP:
        pytest.skip("no Chromium here, and RAGKIT_SKIP_BROWSER=1")
    pytest.fail(
        "These tests need Chromium. Install it (Debian: apt-get install chromium), name one with "
        "RAGKIT_CHROMIUM=/path/to/chrome, or leave them out with RAGKIT_SKIP_BROWSER=1."
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, chromium: str) -> Iterator[Served]:
    from library_files import write_files

    home = tmp_path_factory.mktemp("home")
    folder = tmp_path_factory.mktemp("documents") / "papers"
    library = tmp_path_factory.mktemp("library") / "here"
    write_files(folder)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("RAGKIT_", "STREAMLIT_"))}
    environment = {
        **kept,
        "HOME": str(home),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "RAGKIT_LIBRARY": str(library),
    }
    run(environment, "add", str(folder))
    port = _free_port()
    log = (home / "server.log").open("wb")
    server = subprocess.Popen(
        [sys.executable, "-m", "ragkit", "serve", "--no-browser", "--port", str(port)],
        env=environment, cwd=ROOT, stdout=log, stderr=log, start_new_session=True,
    )  # fmt: skip
    try:
        url = f"http://localhost:{port}"
        _wait_for(url, server, home / "server.log")
        yield Served(url, library, folder, environment)
    finally:
        server.send_signal(signal.SIGINT)
        try:
            server.wait(timeout=15)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait(timeout=5)
        log.close()


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(240):
        assert server.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.25)
    pytest.fail(f"the server did not start: {log.read_text()}")


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Any]:
    from playwright.sync_api import expect, sync_playwright

    # Busy machines are slow, not wrong.
    expect.set_options(timeout=15_000)

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium)
        yield started
        started.close()


@pytest.fixture
def open_page(browser: Any, served: Served) -> Iterator[Callable[..., Any]]:
    """Open a page of the app; afterwards, nothing may have been asked of any other machine."""
    contexts: list[Any] = []
    strangers: list[str] = []
    faults: list[str] = []

    def note(request: Any) -> None:
        if not request.url.startswith((served.url, "data:", "blob:", "about:")):
            strangers.append(request.url)

    def open_(
        path: str = "", *, width: int = 1280, height: int = 720, scheme: str = "light"
    ) -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(45_000)
        page.on("request", note)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto(f"{served.url}/{path}")
        page.locator("[data-testid=stMainBlockContainer]").wait_for()
        page.locator("[data-test-script-state=notRunning]").wait_for(state="attached")
        if not path.startswith(("library", "health")):
            page.locator("html[data-ragkit-listens]").wait_for(state="attached")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert strangers == []
    assert faults == []
