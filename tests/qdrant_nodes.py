"""Real Qdrant servers for tests, alone or as a cluster.

No wheel carries one: ``RAGKIT_TEST_QDRANT_BINARY`` names its program, or it is found as ``qdrant``.
``RAGKIT_TEST_QDRANT`` (and ``…_KEY``) names a server that runs already. Without any, the tests that
need one are skipped. Those that are started listen on the loopback address, and end with the test.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import httpx
import pytest
from support import free_port, until

from ragkit.indexes.qdrant.server import Server

# Read now: no test sees the RAGKIT_* variables of whoever runs it.
_BINARY = os.environ.get("RAGKIT_TEST_QDRANT_BINARY") or shutil.which("qdrant") or ""
_RUNNING, _KEY = (os.environ.get(f"RAGKIT_TEST_QDRANT{of}", "") for of in ("", "_KEY"))
_SECONDS = 60.0


@contextmanager
def real_server(folder: Path) -> Iterator[Server]:
    """Reach the server that runs already, or else one of its own; skip the test without any."""
    if _RUNNING:
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            yield Server.at(_RUNNING, _KEY)
        return
    with nodes_in(folder, 1) as [node]:
        yield Server.at(node.url, "")


@dataclass
class Node:
    """One server; its data stay in ``folder`` when it is killed. ``joins`` is a peer's address."""

    folder: Path
    key: str = ""
    in_cluster: bool = False
    joins: str = ""
    http: int = field(default_factory=free_port)
    grpc: int = field(default_factory=free_port)
    peers: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http}"

    @property
    def uri(self) -> str:
        """Its address for its peers."""
        return f"http://127.0.0.1:{self.peers}"

    def start(self) -> Node:
        """Start it, anew or with what it had, and wait until it answers."""
        self.folder.mkdir(parents=True, exist_ok=True)
        command = [_BINARY, "--disable-telemetry"]
        if self.in_cluster:
            command += ["--uri", self.uri, *(["--bootstrap", self.joins] if self.joins else [])]
        settings = {
            "SERVICE__HOST": "127.0.0.1",
            "SERVICE__HTTP_PORT": self.http,
            "SERVICE__GRPC_PORT": self.grpc,
            "CLUSTER__ENABLED": str(self.in_cluster).lower(),
            "CLUSTER__P2P__PORT": self.peers,
            "STORAGE__STORAGE_PATH": self.folder / "storage",
            "STORAGE__SNAPSHOTS_PATH": self.folder / "snapshots",
            **({"SERVICE__API_KEY": self.key} if self.key else {}),
        }
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                command,
                cwd=self.folder,
                env={"PATH": os.defpath, **{f"QDRANT__{k}": str(v) for k, v in settings.items()}},
                stdout=log,
                stderr=log,
            )
        until(self.answers, seconds=_SECONDS)
        return self

    def answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/readyz", timeout=5).status_code == 200
        except httpx.HTTPError:
            return False

    def kill(self) -> None:
        """End it as a machine without power ends."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def get(self, path: str) -> dict:
        """Return what it says at an address."""
        answer = httpx.get(f"{self.url}/{path}", headers={"api-key": self.key}, timeout=30)
        return answer.raise_for_status().json()["result"]

    def replicas(self) -> list[str]:
        """Return the states of all copies of all shards, as it knows them."""
        names = [each["name"] for each in self.get("collections")["collections"]]
        known = [self.get(f"collections/{name}/cluster") for name in names]
        return [
            shard["state"] for of in known for shard in (*of["local_shards"], *of["remote_shards"])
        ] + ["moving" for of in known for _ in of["shard_transfers"]]


@contextmanager
def nodes_in(folder: Path, count: int, key: str = "") -> Iterator[list[Node]]:
    """Start a server, or a cluster whose nodes know each other; end those that still run.

    Skips the test, visibly, where none can be started.
    """
    if not _BINARY:
        pytest.skip("no Qdrant server: RAGKIT_TEST_QDRANT_BINARY names no program")
    nodes = [Node(folder / str(number), key, in_cluster=count > 1) for number in range(count)]
    for node in nodes[1:]:
        node.joins = nodes[0].uri
    try:
        for node in nodes:
            node.start()
        if count > 1:
            for node in nodes:
                until(
                    lambda node=node: len(node.get("cluster")["peers"]) == count, seconds=_SECONDS
                )
        # Programs that tests may be given are older than those that libraries may use.
        with patch("ragkit.indexes.qdrant.server.LEAST_VERSION", (1, 17)):
            yield nodes
    finally:
        for node in nodes:
            node.kill()
