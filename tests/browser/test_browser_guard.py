"""The guard in a real browser: a locked library, and pages of other servers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from library_files import write_files
from network_watch import asked, strangers
from playwright.sync_api import expect
from pytest_httpserver import HTTPServer
from serving import Served, serving
from support import free_port, until


@pytest.fixture
def locked(tmp_path_factory: pytest.TempPathFactory, chromium: str) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("documents") / "papers"
    write_files(folder)
    nowhere = f"http://127.0.0.1:{free_port()}"
    with serving(
        tmp_path_factory, folder, RAGKIT_SERVER__LOCKED="true", RAGKIT_MODELS__OLLAMA_URL=nowhere
    ) as running:
        yield running


@pytest.fixture
def page(browser):
    context = browser.new_context()
    yield context.new_page()
    context.close()


def _link(text):
    return re.findall(r"http://127\.0\.0\.1:\d+/_ragkit/enter\?token=\S+", text)[0]


def _search(page):
    page.locator("[data-testid=stMain] input").first.fill("glacier")
    page.keyboard.press("Enter")
    expect(page.locator(".rk-summary, .rk-state").first).to_be_visible()


def test_a_locked_library_opens_by_its_link_alone(locked, page, browser, tmp_path):
    assert page.goto(locked.url).status == 401
    expect(page.locator("body")).to_contain_text("run ragkit open in a terminal")
    link = _link(locked.log.read_text())
    page.goto(link)
    page.locator("[data-testid=stMainBlockContainer]").wait_for()
    assert page.url.endswith(f":{link.split(':')[2].split('/')[0]}/")
    _search(page)

    # An upload passes, as this browser was let in.
    file = tmp_path / "heron.md"
    file.write_text("# Herons\n\nThe heron waits where the weir foams.\n")
    page.goto(page.url.split("?")[0] + "library")
    page.locator(".st-key-drop input[type=file]").last.set_input_files(file)
    expect(page.locator(".st-key-live")).to_contain_text(
        re.compile("1 indexed|1 unchanged"), timeout=20_000
    )
    other = browser.new_context()
    assert other.new_page().goto(link).status == 401
    other.close()
    assert {event for event, _ in asked(locked.watched)} >= {"socket.connect"}
    assert strangers(locked.watched) == []


def test_the_file_that_a_browser_is_given_leads_in(locked, page):
    """From a file, as from a link in another program, a browser keeps strict cookies back."""
    locked.ragkit("open")
    page.goto((locked.library / "open.html").as_uri())
    page.locator("[data-testid=stMainBlockContainer]").wait_for()
    assert "token" not in page.url
    assert (locked.library / "open.html").stat().st_mode & 0o777 == 0o600


def test_a_page_of_another_server_can_neither_show_nor_ask_anything(
    served: Served, page, httpserver: HTTPServer
):
    port = served.url.rsplit(":", 1)[1]
    httpserver.expect_request("/").respond_with_data(
        f"""<!doctype html><body><iframe src="{served.url}/"></iframe><script>
        window.heard = [];
        const hear = (what) => () => window.heard.push(what);
        const socket = new WebSocket("ws://localhost:{port}/_stcore/stream");
        socket.onopen = hear("socket opened"); socket.onerror = hear("socket refused");
        fetch("{served.url}/_stcore/health").then(hear("read"), hear("not read"));
        fetch("{served.url}/_stcore/upload_file/a/b", {{method: "PUT", body: "x"}})
          .then(hear("uploaded"), hear("not uploaded"));
        </script>""",
        content_type="text/html",
    )
    page.goto(httpserver.url_for("/"))
    until(lambda: page.evaluate("window.heard.length") == 3)
    heard = page.evaluate("window.heard")
    assert sorted(heard) == ["not read", "not uploaded", "socket refused"]
    frame = page.frames[1]
    assert frame.locator("#root").count() == 0
    assert strangers(served.watched) == []
