"""The pages as a person feels them: a served library in a real Chromium.

python benchmarks/bench_pages.py [--documents 40|2800] [--tries 30] [--json]

``--tree`` measures another checkout of ragkit, ``--library`` keeps the library for the next run.
Times are in milliseconds, from the key to the frame in which every card is one of this question.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from common import ROOT, SAMPLE, SHARED, arguments, median, percentile, python, report

PAGES = ("Library", "Compare", "Conversation", "Evaluate", "Health", "Search")
TOPICS = (
    "cache", "session state", "secrets", "deployment", "database connection", "charts", "forms",
    "buttons", "refund", "sensor drift", "theme", "layout columns", "file upload", "chat messages",
    "fragments", "authentication", "release notes", "testing", "docker", "dataframes",
    "custom components", "navigation", "widgets", "images", "performance", "memory", "install",
    "troubleshooting", "community", "configuration",
)  # fmt: skip
_QUIET_MS = 900
_CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

_PRELUDE = """
import json, os, runpy, sys, time
from streamlit.runtime.scriptrunner import script_runner
from ragkit.library import Library
notes = open(os.environ["BENCH_NOTES"], "a", buffering=1)
def noted(what, work):
    def timed(*arguments, **named):
        wall, cpu = time.perf_counter(), time.thread_time()
        try:
            return work(*arguments, **named)
        finally:
            kind = what(arguments) if callable(what) else what
            notes.write(json.dumps([kind, 1000 * (time.perf_counter() - wall),
                                    1000 * (time.thread_time() - cpu)]) + "\\n")
    return timed
part = lambda given: "fragment" if given[1].fragment_id_queue else "run"
runner = script_runner.ScriptRunner
runner._run_script = noted(part, runner._run_script)
Library.search = noted("search", Library.search)
runpy.run_module("ragkit.surfaces.http.server", run_name="__main__")
"""

_WATCH = """
(() => {
  const bench = (window.bench = { shifts: [], drawn: 0 });
  new PerformanceObserver((list) => {
    for (const shift of list.getEntries())
      if (!shift.hadRecentInput) bench.shifts.push([shift.startTime, shift.value]);
  }).observe({ type: "layout-shift", buffered: true });
  // Layout shift as the Web Vitals have it: the worst window of at most 5 s with gaps under 1 s.
  bench.cls = () => {
    let worst = 0, sum = 0, first = 0, last = -Infinity;
    for (const [at, value] of bench.shifts) {
      if (at - last > 1000 || at - first > 5000) { sum = 0; first = at; }
      sum += value; last = at; worst = Math.max(worst, sum);
    }
    return worst;
  };
  const asks = (card, question) => [...card.querySelectorAll("a[href*='find=']")].some(
    (link) => new URL(link.href).searchParams.get("find") === question);
  bench.ask = (question) => {
    bench.drawn = bench.first = bench.start = 0;
    addEventListener("keydown", (event) => {
      if (event.key === "Enter") bench.start = performance.now();
    }, { once: true, capture: true });
    const look = () => {
      if (!bench.start) return;
      const cards = [...document.querySelectorAll(".rk-card")];
      const mine = cards.filter((card) => asks(card, question)).length;
      if (mine && !bench.first) requestAnimationFrame(() => { bench.first ||= performance.now(); });
      if (!mine || mine < cards.length) { bench.drawn = 0; return; }
      requestAnimationFrame((now) => { if (mine !== bench.seen || !bench.drawn)
        { bench.drawn = performance.now(); bench.seen = mine; } });
    };
    bench.seen = 0;
    bench.observer?.disconnect();
    bench.observer = new MutationObserver(look);
    bench.observer.observe(document, { childList: true, subtree: true });
  };
})();
"""


@dataclass
class Frames:
    """What the web socket carried since it was last counted."""

    sent: int = 0
    received: int = 0
    size: int = 0

    def watch(self, page: Any) -> None:
        page.on("websocket", self._socket)

    def _socket(self, socket_: Any) -> None:
        socket_.on("framesent", lambda _: self._count(None))
        socket_.on("framereceived", self._count)

    def _count(self, payload: str | bytes | None) -> None:
        if payload is None:
            self.sent += 1
            return
        self.received += 1
        self.size += len(payload)

    def taken(self) -> tuple[int, int, int]:
        """Return sent, received and bytes received, and begin anew."""
        counted = self.sent, self.received, self.size
        self.sent = self.received = self.size = 0
        return counted


@dataclass(slots=True)
class Server:
    """A running server, with what its script threads noted: kind, wall and CPU milliseconds."""

    url: str
    notes: Path
    read: int = field(default=0)

    def noted(self, kind: str) -> list[tuple[float, float]]:
        """Return the times of one kind since the last call of ``skip``."""
        lines = self.notes.read_text().splitlines()[self.read :]
        return [(wall, cpu) for what, wall, cpu in map(json.loads, lines) if what == kind]

    def skip(self) -> None:
        self.read = len(self.notes.read_text().splitlines())


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--documents", type=int, default=40)
    parser.add_argument("--tries", type=int, default=30)
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout that is measured")
    parser.add_argument("--library", type=Path, help="where the library is kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        library = options.library or Path(scratch) / "library"
        if not library.exists():
            fill(options.tree, library, documents(options.documents, Path(scratch) / "documents"))
        figures = measured(options, library, Path(scratch))
    report(figures, options.json)


def documents(count: int, folder: Path) -> Path:
    """Return a folder of that many documents: the sample, or a tree of Markdown several times."""
    tree = SHARED / "docs_tree"
    if count <= 40 or not tree.is_dir():
        return SAMPLE
    files = sorted(file for file in tree.rglob("*") if file.is_file())
    for place in range(count):
        copy, which = divmod(place, len(files))
        target = folder / f"copy-{copy}" / files[which].relative_to(tree)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(files[which], target)
        if copy and target.suffix == ".md":
            with target.open("a", encoding="utf-8") as end:
                end.write(f"\n\nThis is edition {copy} of the page.\n")
    return folder


def environment(tree: Path, library: Path, **more: str) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("RAGKIT_", "STREAMLIT_"))}
    given = {"PYTHONPATH": str(tree), "RAGKIT_LIBRARY": str(library)}
    return {**kept, **given, "RAGKIT_ENDS_WITH": str(os.getpid()), **more}


def fill(tree: Path, library: Path, folder: Path) -> None:
    """Index a folder; the library keeps a copy of it beside itself."""
    own = library.with_name(f"{library.name}-documents")
    shutil.copytree(folder, own, dirs_exist_ok=True)
    command = [python(), "-m", "ragkit", "add", str(own)]
    subprocess.run(command, check=True, cwd=tree, env=environment(tree, library),
                   stdout=subprocess.DEVNULL)  # fmt: skip


@contextmanager
def served(tree: Path, library: Path, scratch: Path) -> Iterator[Server]:
    """Serve a library with another process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    notes = Path(tempfile.mkstemp(dir=scratch)[1])
    command = [python(), "-c", _PRELUDE, str(port)]
    server = subprocess.Popen(
        command, cwd=tree, env=environment(tree, library, BENCH_NOTES=str(notes)),
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    url = f"http://localhost:{port}"
    try:
        while server.poll() is None:
            with suppress(OSError), urllib.request.urlopen(f"{url}/_stcore/health", timeout=2):
                break
            time.sleep(0.1)
        yield Server(url, notes)
    finally:
        server.terminate()
        server.wait(timeout=20)


def measured(options: argparse.Namespace, library: Path, scratch: Path) -> dict[str, Any]:
    """Take every figure."""
    from playwright.sync_api import sync_playwright

    tree = options.tree.resolve()
    figures: dict[str, Any] = {"documents": options.documents}
    with sync_playwright() as playwright:
        chromium = next(filter(None, map(shutil.which, _CHROMIUM)), None)
        browser = playwright.chromium.launch(executable_path=chromium)
        with served(tree, library, scratch) as server:
            page, _ = opened(browser, server.url)
            settle(page)
            ask(page, "what is the refund for a yearly plan")
            wall, cpu = server.noted("search")[-1]  # the server warms up with one of its own
            figures |= {"first search of a server, wall": wall, "the same, CPU of its thread": cpu}
            page.context.close()
            figures |= answers(browser, server, options.tries)
            figures |= shifts(browser, server.url)
            figures |= switches(browser, server.url)
        browser.close()
    return figures


def opened(browser: Any, url: str, width: int = 1280) -> tuple[Any, Frames]:
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.set_default_timeout(60_000)
    frames = Frames()
    frames.watch(page)
    page.add_init_script(_WATCH)
    page.goto(url)
    settle(page)
    return page, frames


def settle(page: Any) -> None:
    """Wait until the page is drawn and quiet."""
    page.locator("[data-testid=stMainBlockContainer]").wait_for()
    page.locator("[data-test-script-state=notRunning]").wait_for(state="attached")
    page.wait_for_timeout(_QUIET_MS)


def wait_for(page: Any, expression: str) -> None:
    """Wait for the page; its policy forbids what ``wait_for_function`` does."""
    until = time.monotonic() + 60
    while not page.evaluate(expression):
        if time.monotonic() > until:
            raise TimeoutError(expression)
        page.wait_for_timeout(50)


def ask(page: Any, question: str) -> tuple[float, float]:
    """Ask a question; return the milliseconds to the first card and to the last."""
    box = page.get_by_label("Search your documents")
    box.fill(question)
    page.evaluate("question => bench.ask(question)", question)
    box.press("Enter")
    wait_for(page, "bench.drawn && performance.now() - bench.drawn > 400")
    first, drawn = page.evaluate("[bench.first - bench.start, bench.drawn - bench.start]")
    return first, drawn


def answers(browser: Any, server: Server, tries: int) -> dict[str, Any]:
    """Ask many questions, one after another."""
    page, frames = opened(browser, server.url)
    ask(page, "how do I deal with errors")
    times, runs, counted = [], [], []
    for place in range(tries):
        again = f" {place // len(TOPICS) + 1}" if place >= len(TOPICS) else ""
        page.wait_for_timeout(_QUIET_MS - 400)
        server.skip()
        frames.taken()
        times.append(ask(page, f"how do I deal with {TOPICS[place % len(TOPICS)]}{again}"))
        page.wait_for_timeout(200)
        counted.append(frames.taken())
        # The second is one that asks what runs: every few seconds, whatever a person does.
        runs.append((server.noted("run") + server.noted("fragment"))[:1])
    cards = page.evaluate(
        "[...document.querySelectorAll('.rk-card')].map(c => c.getBoundingClientRect())"
        ".map(r => [r.top + scrollY, r.bottom + scrollY, r.height])"
    )
    page.context.close()
    drawn = [last for _, last in times]
    return {
        "Enter to first card, median": median([first for first, _ in times]),
        "Enter to all drawn, median": median(drawn),
        "Enter to all drawn, p90": percentile(drawn, 0.9),
        "script thread an answer, wall, median": median([sum(w for w, _ in run) for run in runs]),
        "script thread an answer, CPU, median": median([sum(c for _, c in run) for run in runs]),
        "web-socket frames received an answer": median([received for _, received, _ in counted]),
        "web-socket kB received an answer": median([size / 1000 for *_, size in counted]),
        "card height, median px": median([height for *_, height in cards]),
        "cards wholly on 1280x900": sum(bottom <= 900 for _, bottom, _ in cards),
        "cards begun on 1280x900": sum(top < 900 for top, *_ in cards),
    }


def shifts(browser: Any, url: str) -> dict[str, float]:
    """Return the layout shift of each page that is opened by its address, wide and narrow."""
    found = {}
    question = "q=how+do+I+cache+data"
    paths = {
        "shared search": f"?{question}", "shared Compare": f"compare?{question}",
        "Document": "document?id=1", "Home": "", "Library": "library",
        "Conversation": "conversation", "Evaluate": "evaluate", "Health": "health",
    }  # fmt: skip
    for width in (1280, 400):
        for name, path in paths.items():
            values = []
            for _ in range(3):
                page, _ = opened(browser, f"{url}/{path}", width)
                page.wait_for_timeout(600)
                values.append(page.evaluate("bench.cls()"))
                page.context.close()
            found[f"layout shift, {name}, {width} px, worst of 3"] = max(values)
    return found


def switches(browser: Any, url: str) -> dict[str, float]:
    """Return the time from a click on a page's name to the end of its script."""
    page, _ = opened(browser, url)
    times: dict[str, list[float]] = {name: [] for name in PAGES}
    for _ in range(4):
        for name in PAGES:
            times[name].append(switched(page, name))
            page.wait_for_timeout(300)
    page.context.close()
    # The first round imports what a page needs.
    later = {name: values[1:] for name, values in times.items()}
    return {
        "page switch, first, worst": max(values[0] for values in times.values()),
        **{f"page switch, {name}, median": median(values) for name, values in later.items()},
    }


def switched(page: Any, name: str) -> float:
    link = page.get_by_test_id("stTopNavLinkContainer").get_by_text(name, exact=True)
    page.evaluate(
        """() => {
          const app = document.querySelector("[data-test-script-state]");
          let began = 0, start = 0; bench.switched = 0;
          addEventListener("click", () => { start = performance.now(); },
                           { once: true, capture: true });
          const observer = new MutationObserver(() => {
            const state = app.dataset.testScriptState;
            if (start && state === "running") began = 1;
            if (began && state === "notRunning") {
              observer.disconnect();
              requestAnimationFrame(() => { bench.switched = performance.now() - start; });
            }
          });
          observer.observe(app, { attributes: true });
        }"""
    )
    link.click()
    wait_for(page, "bench.switched > 0")
    return float(page.evaluate("bench.switched"))


if __name__ == "__main__":
    main()
