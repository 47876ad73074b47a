"""A real server over a small library, and a real Chromium to look at it with."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from serving import Served, Shared, serving
from support import free_port
from tabs import Tabs

# Read now: no test sees the RAGKIT_* variables of whoever runs it.
_SKIP = os.environ.get("RAGKIT_SKIP_BROWSER") == "1"
_OF_ITSELF = ("data:", "blob:", "about:")
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark these tests. One that fails is tried once more, and counted as such at the end."""
    for item in items:
        if Path(__file__).parent in Path(item.path).parents:
            item.add_marker(pytest.mark.browser)
            # What is looked at can be late on a starved machine.
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say of a test that fails what its pages had sent: whether a click was lost on its way."""
    report = yield
    tabs = getattr(item, "funcargs", {}).get("tabs")
    if report.failed and tabs is not None:
        lines = [f"{time.monotonic():.2f} now", *tabs.sent]
        report.sections.append(("What the pages sent", "\n".join(lines)))
    return report


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


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory, chromium: str) -> Iterator[Shared]:
    from library_files import write_files

    def start() -> AbstractContextManager[Served]:
        folder = tmp_path_factory.mktemp("documents") / "papers"
        write_files(folder)
        nowhere = f"http://127.0.0.1:{free_port()}"
        return serving(
            tmp_path_factory,
            folder,
            RAGKIT_MODELS__OLLAMA_URL=nowhere,
            RAGKIT_MODELS__EMBED_TEXTS="8",
        )

    with Shared(start) as one:
        yield one


@pytest.fixture
def served(request: pytest.FixtureRequest, shared: Shared) -> Served:
    """The server that most tests share. A second try has a new one, where nothing was clicked."""
    return shared.get(new=getattr(request.node, "execution_count", 1) > 1)


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Any]:
    from playwright.sync_api import expect, sync_playwright

    # Busy machines are slow, not wrong.
    expect.set_options(timeout=15_000)

    with sync_playwright() as playwright:
        # Without them a machine with no graphics card spends a tenth more on each page.
        plain = ["--disable-gpu", "--disable-gpu-rasterization"]
        started = playwright.chromium.launch(executable_path=chromium, args=plain)
        yield started
        started.close()


@pytest.fixture(scope="session")
def tabs(browser: Any) -> Iterator[Tabs]:
    opened = Tabs(browser)
    yield opened
    opened.close()


@pytest.fixture
def open_page(tabs: Tabs, served: Served) -> Iterator[Callable[..., Any]]:
    """Open a page of the app; afterwards, nothing may have been asked of any other machine."""

    def open_(
        path: str = "", *, width: int = 1280, height: int = 720, scheme: str = "light"
    ) -> Any:
        page = tabs.take()
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        page.goto(f"{served.url}/{path}")
        page.locator("[data-testid=stMainBlockContainer]").wait_for()
        page.locator("[data-test-script-state=notRunning]").wait_for(state="attached")
        page.locator("html[data-ragkit-listens]").wait_for(state="attached")
        return page

    yield open_
    asked, faults = tabs.give_back(served.url)
    assert [url for url in asked if not url.startswith((served.url, *_OF_ITSELF))] == []
    assert faults == []
