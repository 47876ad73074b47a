"""``ragkit mcp`` as a client starts it: a process, with JSON-RPC on its standard streams."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from small_library import HANDBOOK, add, open_library, write_files
from support import run_async

from ragkit.models.hashing import HashEmbedder

ROOT = Path(__file__).resolve().parents[2]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("mcp_stdio")
    with open_library(place / "library") as library:
        library.embedders.pin(HashEmbedder())
        add(library, write_files(place / "files", HANDBOOK))
    return place


def environment(**more):
    """A person's: standard output is a pipe that is written to when it is full, or at the end."""
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return {**usual, "PYTHONPATH": str(ROOT), "RAGKIT_MODELS__EMBEDDER": "hash", **more}


def command(library, *more):
    return [sys.executable, *(more or ("-m", "ragkit")), "mcp", "--library", str(library)]


class Child:
    """The command, spoken to line by line."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment(), text=True,
        )  # fmt: skip
        self.number = 1

    def send(self, line):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def ask(self, method, **parameters):
        self.number += 1
        said = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters}
        return self.answer(json.dumps(said))

    def answer(self, line):
        self.send(line)
        return json.loads(self.process.stdout.readline())

    def begin(self):
        answer = self.answer(json.dumps(INITIALIZE))
        self.send('{"jsonrpc": "2.0", "method": "notifications/initialized"}')
        return answer["result"]

    def call(self, name, **arguments):
        return self.ask("tools/call", name=name, arguments=arguments)["result"]

    def end(self):
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, out, err


@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
def test_a_client_searches_and_reads_eight_at_once(folder, mode, version):
    start = command(folder / "library")
    child = StdioServerParameters(command=start[0], args=start[1:], env=environment())

    async def run():
        async with Client(stdio_client(child), mode=mode) as client:
            assert client.protocol_version == version
            assert client.server_info.name == "ragkit"
            assert "never follow" in client.instructions
            assert len((await client.list_tools()).tools) == 8
            questions = [
                f"{word} expires"
                for word in ["a", "token", "OAuth", "hour", "it", "after", "an", "login"]
            ]
            found = await asyncio.gather(
                *(client.call_tool("rag_search", {"query": one}) for one in questions)
            )
            assert [one.is_error for one in found] == [False] * 8
            assert "The OAuth token expires after an hour" in found[2].content[0].text
            wrong = await client.call_tool("rag_search", {"query": "x", "lmit": 1})
            assert (wrong.is_error, "no parameter 'lmit'" in wrong.content[0].text) == (True, True)
            [first, *_] = (await client.list_resources()).resources
            assert (await client.read_resource(first.uri)).contents[0].text

    run_async(run())


def test_a_library_that_comes_later_is_found_and_strays_do_no_harm(folder, tmp_path):
    program = (
        "import os, sys\n"
        "from ragkit.surfaces.mcp import stdio\n"
        "def loud(settings, library, listed):\n"
        "    def get():\n"
        "        print('a stray line'); os.system('echo another')\n"
        "        return library()\n"
        "    return made(settings, get, listed)\n"
        "made, stdio.mcp_server = stdio.mcp_server, loud\n"
        "from ragkit.surfaces.cli.app import main\n"
        "sys.argv[0] = 'ragkit'; main()\n"
    )
    later = tmp_path / "later"
    child = Child(*command(later, "-c", program))
    assert child.begin()["serverInfo"]["name"] == "ragkit"
    missing = child.call("rag_search", query="token")
    assert missing["isError"] is True
    assert str(later) in missing["content"][0]["text"]
    (folder / "library").rename(later)
    try:
        found = child.call("rag_search", query="When does the OAuth token expire?", limit=1)
        assert found["structuredContent"]["results"][0]["document"]["path"] == "handbook/login.md"
        # Half a character is no JSON to the protocol: it is passed over.
        child.send(
            '{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"rag_search",'
            '"arguments":{"query":"\\ud800"}}}'
        )
        assert child.call("status")["isError"] is False
        code, out, err = child.end()
    finally:
        later.rename(folder / "library")
    assert (code, out) == (0, "")
    assert err.count("a stray line") >= 3
    assert "another" in err
    assert "Traceback" not in err


def test_the_command_ends_with_the_client_that_started_it(folder):
    first = f"{json.dumps(INITIALIZE)}\n".encode()
    program = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen({command(folder / 'library')!r}, stdin=subprocess.PIPE, "
        "stdout=subprocess.PIPE)\n"
        f"child.stdin.write({first!r}); child.stdin.flush()\n"
        "child.stdout.readline()\n"
        "print(child.pid, flush=True); time.sleep(60)\n"
    )
    client = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, env=environment(), text=True
    )
    child = psutil.Process(int(client.stdout.readline()))
    client.send_signal(signal.SIGKILL)
    client.wait()
    client.stdout.close()
    gone, alive = psutil.wait_procs([child], timeout=10)
    assert (len(gone), alive) == (1, [])


def test_a_client_that_leaves_during_a_call_is_no_error(folder):
    child = Child(*command(folder / "library"))
    child.begin()
    call = {"name": "rag_search", "arguments": {"query": "token"}}
    child.send(json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}))
    child.process.stdin.close()
    child.process.stdout.close()
    assert child.process.wait(timeout=30) == 0
    assert child.process.stderr.read() == ""
    child.process.stderr.close()
    log = folder / "library" / "logs" / "mcp.log"
    assert "ERROR" not in (log.read_text("utf-8") if log.exists() else "")
