"""The page server of a library, as ``ragkit serve`` starts it."""

from __future__ import annotations

import base64
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from network_watch import watching

from ragkit.paths import LibraryPaths

ROOT = Path(__file__).resolve().parents[2]


class Server:
    """A page server; its library is ``folder/library``, an empty one where there is none."""

    def __init__(self, folder, **settings):
        self.library = LibraryPaths(folder / "library")
        self.watched = folder / "watched"
        environment = {
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "RAGKIT_LIBRARY": str(self.library.root),
            **settings,
        }
        self.environment = watching(environment, self.watched)
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.library.create()
        self.log = folder / "log"
        log = self.log.open("wb")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ragkit.surfaces.http.server", str(self.port)],
            cwd=ROOT, env=self.environment, stdout=log, stderr=log,
        )  # fmt: skip
        log.close()
        self._wait()

    def _wait(self):
        for _ in range(240):
            assert self.process.poll() is None, self.log.read_text()
            try:
                return self.ask()
            except ConnectionRefusedError:
                time.sleep(0.25)
        raise AssertionError("the server did not start")

    def ask(self, path="/", method="GET", host=None, **headers):
        """The status of one request, and its head and what came with it."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host or f'localhost:{self.port}'}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        if "Upgrade" not in headers:
            lines.append("Connection: close")
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as stream:
            stream.sendall("\r\n".join([*lines, "", ""]).encode())
            answer = b""
            while piece := stream.recv(65536):
                answer += piece
                if answer.startswith(b"HTTP/1.1 101"):
                    break
        return int(answer.split()[1]), answer.decode("utf-8", "replace")

    def open_socket(self, **headers):
        """The status of opening the socket that pages work with."""
        key = base64.b64encode(os.urandom(16)).decode()
        return self.ask(
            "/_stcore/stream", Connection="Upgrade", Upgrade="websocket",
            Sec_WebSocket_Key=key, Sec_WebSocket_Version=13, **headers,
        )[0]  # fmt: skip

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=15)
