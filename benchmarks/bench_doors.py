"""The doors of a library: what each adds to a search, and how many searches it answers at once.

Questions are put to ``library.search`` and to one door in turn, so that both have the same minute;
``…_more_ms`` is what the door's median has more than that of ``library.search``. Of the API that is
until the answer is there, not read; of MCP its client is part. ``…_8_to_1`` is how many searches
eight clients get together, as a multiple of what one gets; ``readers_2`` and the like are with so
many processes that answer (``ragkit serve --readers``), and ``bare`` the two indexes by
themselves. No question comes twice within reach of a cache. ``highlighted`` is a search and a
look at all that it leaves to be looked at. Wall times want a machine that does nothing else:
``other_cores`` is what other programs used of it.

python benchmarks/bench_doors.py [--chunks 100000] [--questions 400] [--seconds 4] [--json]

The sample library is made anew, the large one as in ``bench_search.py``, and kept.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import random
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import httpx2
import psutil
from bench_search import bare, highlighted
from common import arguments, median, percentile, python, report
from large_library import library_of, questions
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from ragkit.library import Library
from ragkit.paths import LibraryPaths
from ragkit.settings import load_settings
from ragkit.surfaces.http.api_token import ApiToken
from ragkit.surfaces.serve import add_sample, app_folder

CLIENTS = 8
READERS = 1, 2
WARM_UP, WARM_UP_SECONDS = 20, 3.0
APART = 97
KEPT_SECONDS = 3.0

Figures = dict[str, float]

Ask = Callable[[str], Awaitable[int]]
"""Puts a question to a door; returns how many results came back."""


@dataclass(frozen=True, order=True)
class Rate:
    """Searches a second, failures, and CPU of all processes for a search, the clients' included."""

    per_second: float
    errors: int
    cpu_ms: float


def make_sample(place: Path) -> None:
    with Library.open(load_settings(library=place), create=True) as library:
        for job in add_sample(library):
            library.jobs.wait(job)


@contextmanager
def page_server(place: Path, readers: int) -> Iterator[int]:
    """The page server of a library; yields its port, once it and its readers are there."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = {"RAGKIT_LIBRARY": str(place), "RAGKIT_SERVER__READERS": str(readers)}
    server = subprocess.Popen(
        [python(), "-m", "ragkit.surfaces.http.server", str(port)],
        cwd=app_folder(), env={**os.environ, **settings}, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while not (answers(port) and len(reading(psutil.Process(server.pid))) == readers):
            if server.poll() is not None:
                raise SystemExit("the page server could not be started")
            time.sleep(0.1)
        yield port
    finally:
        server.terminate()
        server.wait()


def answers(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


def reading(process: psutil.Process) -> list[psutil.Process]:
    """The processes that answer searches for another."""
    below = process.children(recursive=True)
    return [one for one in below if "ragkit.library.search_child" in one.cmdline()]


def api_door(port: int, bearer: dict[str, str], threads: ThreadPoolExecutor | None) -> Ask:
    """``POST /api/search``, with a connection for each thread."""
    own = threading.local()
    headers = {**bearer, "Content-Type": "application/json"}

    def post(question: str) -> int:
        if not hasattr(own, "connection"):
            own.connection = http.client.HTTPConnection("127.0.0.1", port)
        elif time.perf_counter() > own.used + KEPT_SECONDS:
            # The server has closed it by now.
            own.connection.close()
        own.connection.request("POST", "/api/search", json.dumps({"query": question}), headers)
        response = own.connection.getresponse()
        body, own.used = response.read(), time.perf_counter()
        if response.status != 200:
            raise RuntimeError(body[:500])
        return body.count(b'"chunk_coverage":')

    return in_threads(post, threads)


def mcp_door(client: Client) -> Ask:
    async def ask(question: str) -> int:
        answer = await client.call_tool("rag_search", {"query": question})
        if answer.is_error:
            raise RuntimeError(answer.content)
        return len(answer.structured_content["results"])

    return ask


def library_door(library: Library, threads: ThreadPoolExecutor | None) -> Ask:
    return in_threads(lambda question: len(library.search(question).results), threads)


def in_threads(ask: Callable[[str], int], threads: ThreadPoolExecutor | None) -> Ask:
    """A door that is asked in one of these threads, or right where it stands."""

    async def asked(question: str) -> int:
        if threads is None:
            return ask(question)
        return await asyncio.get_running_loop().run_in_executor(threads, ask, question)

    return asked


def highlighted_door(library: Library) -> Ask:
    """A search and a look at everything that it leaves to be looked at, as every door must."""

    async def ask(question: str) -> int:
        return highlighted(library.search(question))

    return ask


def bare_door(library: Library, asked: list[str], threads: ThreadPoolExecutor) -> Ask:
    """The indexes alone, with words and vectors that are made beforehand."""
    prepare, search = bare(library)
    prepared = {question: prepare(question) for question in asked}

    async def ask(question: str) -> int:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(threads, search, *prepared[question])
        return 1

    return ask


@asynccontextmanager
async def served_doors(
    place: Path, readers: int, threads: ThreadPoolExecutor
) -> AsyncIterator[dict[str, Ask]]:
    """The doors of the page server; that of the API for one client alone as well."""
    token = ApiToken(LibraryPaths(place).token).ensure()
    bearer = {"Authorization": f"Bearer {token}"}
    with page_server(place, readers) as port:
        transport = streamable_http_client(
            f"http://127.0.0.1:{port}/mcp",
            http_client=httpx2.AsyncClient(headers=bearer, timeout=60),
        )
        async with Client(transport) as client:
            yield {
                "api": api_door(port, bearer, threads),
                "api_alone": api_door(port, bearer, None),
                "mcp_http": mcp_door(client),
            }


@asynccontextmanager
async def stdio_door(place: Path) -> AsyncIterator[Ask]:
    command = ["-m", "ragkit", "mcp", "--library", str(place)]
    child = StdioServerParameters(command=python(), args=command, env=dict(os.environ))
    async with Client(stdio_client(child)) as client:
        yield mcp_door(client)


async def latencies(opened: dict[str, Ask], asked: list[str]) -> Figures:
    """The median of each door, and what it has more than the library itself, asked in turn with it.

    One door at a time: the processes of the others would have each other's memory out of the
    processor's caches. Question and door's question differ, since answers are remembered.
    """
    figures: Figures = {}
    for name in [name for name in opened if name != "library"]:
        pair = {"library": opened["library"], name: opened[name]}
        times: dict[str, list[float]] = {one: [] for one in pair}
        for number in range(len(asked) + WARM_UP):
            for place, (one, ask) in enumerate(pair.items()):
                question = asked[(number + place * APART) % len(asked)]
                started = time.perf_counter()
                await ask(question)
                if number >= WARM_UP:
                    times[one].append((time.perf_counter() - started) * 1000)
        figures |= {
            f"{name}_p50_ms": median(times[name]),
            f"{name}_library_p50_ms": median(times["library"]),
            f"{name}_more_ms": median(times[name]) - median(times["library"]),
            # What other programs hold up least, where there are some.
            f"{name}_p10_more_ms": percentile(times[name], 0.1) - percentile(times["library"], 0.1),
        }
    return figures


async def rate(ask: Ask, asked: Iterator[str], clients: int, seconds: float) -> Rate:
    """What so many clients get together."""
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    end = time.perf_counter() + seconds
    done = errors = 0

    async def client() -> None:
        nonlocal done, errors
        while time.perf_counter() < end:
            try:
                await ask(next(asked))
                done += 1
            except Exception:  # noqa: BLE001 - it is counted
                errors += 1

    spent, started = processor_seconds(processes), time.perf_counter()
    await asyncio.gather(*(client() for _ in range(clients)))
    taken = time.perf_counter() - started
    spent = processor_seconds(processes) - spent
    return Rate(done / taken, errors, 1000 * spent / max(1, done))


def processor_seconds(processes: list[psutil.Process]) -> float:
    """What these processes have spent of the processor so far."""
    return sum(sum(one.cpu_times()[:2]) for one in processes)


async def rates(opened: dict[str, Ask], asked: list[str], seconds: float) -> Figures:
    """What one client and eight get from each door: the better of two runs, taken by turns."""
    figures: Figures = {}
    for name, ask in opened.items():
        waiting = cycle(asked)
        await rate(ask, waiting, CLIENTS, WARM_UP_SECONDS)
        runs = [
            (await rate(ask, waiting, 1, seconds), await rate(ask, waiting, CLIENTS, seconds))
            for _ in range(2)
        ]
        alone, together = (max(of_clients) for of_clients in zip(*runs, strict=True))
        figures |= {
            f"{name}_1_per_second": alone.per_second,
            f"{name}_8_per_second": together.per_second,
            f"{name}_8_to_1": together.per_second / alone.per_second,
            f"{name}_1_cpu_ms": alone.cpu_ms,
            f"{name}_8_cpu_ms": together.cpu_ms,
            f"{name}_errors": sum(one.errors for run in runs for one in run),
        }
    return figures


async def of_library(place: Path, asked: list[str], seconds: float) -> Figures:
    """What each door adds, and what one client and eight get from it."""
    with ThreadPoolExecutor(CLIENTS) as threads, Library.open(load_settings(library=place)) as own:
        async with served_doors(place, 0, threads) as served, stdio_door(place) as by_stdio:
            alone = {
                "library": library_door(own, None),
                "api": served.pop("api_alone"),
                "mcp_http": served["mcp_http"],
                "mcp_stdio": by_stdio,
                "highlighted": highlighted_door(own),
            }
            figures = await latencies(alone, asked)
            opened = {"library": library_door(own, threads), **served, "mcp_stdio": by_stdio}
            return figures | await rates(opened, asked, seconds)


async def with_readers(place: Path, asked: list[str], seconds: float, count: int) -> Figures:
    """The same of the doors whose searches other processes answer, and their memory."""
    with ThreadPoolExecutor(CLIENTS) as threads, Library.open(load_settings(library=place)) as own:
        own.start_readers(count)
        while len(own._services.readers.processes) < count:
            await asyncio.sleep(0.1)
        figures = await rates({"library": library_door(own, threads)}, asked, seconds)
        memory = [one.memory_full_info() for one in reading(psutil.Process())]
        figures["pss_mb_each"] = median([one.pss / 1e6 for one in memory])
        figures["private_mb_each"] = median([one.uss / 1e6 for one in memory])
        figures["server_private_mb"] = psutil.Process().memory_full_info().uss / 1e6
    with ThreadPoolExecutor(CLIENTS) as threads:
        async with served_doors(place, count, threads) as served:
            del served["api_alone"]
            figures |= await rates(served, asked, seconds)
    return figures


async def bare_rates(place: Path, asked: list[str], seconds: float) -> Figures:
    with ThreadPoolExecutor(CLIENTS) as threads, Library.open(load_settings(library=place)) as own:
        return await rates({"bare": bare_door(own, asked, threads)}, asked, seconds)


def busy_seconds() -> float:
    """What all processes of the machine have spent of its processors."""
    times = psutil.cpu_times()
    return sum(times) - times.idle - getattr(times, "iowait", 0.0)


def own_seconds() -> float:
    """What this process and those that it has waited for have spent."""
    return sum(os.times()[:4])


def measure(chunks: int, count: int, seconds: float) -> Figures:
    busy, own, started = busy_seconds(), own_seconds(), time.perf_counter()
    asked = questions(count, random.Random(11))
    figures: Figures = {"chunks": chunks, "questions": count}

    def add(name: str, found: Figures) -> None:
        figures.update({f"{name}_{key}": value for key, value in found.items()})

    with tempfile.TemporaryDirectory() as folder:
        make_sample(Path(folder, "library"))
        add("sample", asyncio.run(of_library(Path(folder, "library"), asked, seconds)))
    place, _made = library_of(chunks)
    add("large", asyncio.run(bare_rates(place, asked, seconds)))
    add("large", asyncio.run(of_library(place, asked, seconds)))
    for readers in READERS:
        found = asyncio.run(with_readers(place, asked, seconds, readers))
        add(f"large_readers_{readers}", found)
    others = busy_seconds() - busy - (own_seconds() - own)
    figures["other_cores"] = others / (time.perf_counter() - started)
    alone = figures["large_library_1_per_second"]
    for readers in READERS:
        together = figures[f"large_readers_{readers}_library_8_per_second"]
        figures[f"large_readers_{readers}_8_to_library_1"] = together / alone
    return figures


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=4.0)
    options = parser.parse_args()
    report(measure(options.chunks, options.questions, options.seconds), options.json)


if __name__ == "__main__":
    main()
