"""Every name that a Python process looks up, and every address that it connects to.

A child started with :func:`watching` writes them to a file; :func:`strangers` reads which of them
are not on this machine.
"""

from __future__ import annotations

import ipaddress
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

_FILE = "NETWORK_WATCH_FILE"
_SCRIPT = "import network_watch; network_watch.start()\n"


def watching(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return an environment whose Python processes note what they ask the network for.

    ``folder`` is a new one, on their path and with the notes in it.
    """
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(_SCRIPT)
    paths = [str(folder), str(Path(__file__).parent), environment.get("PYTHONPATH", "")]
    return {
        **environment,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        _FILE: str(folder / "asked"),
    }


def start() -> None:
    """Note from now on what this process asks for."""
    notes = os.open(os.environ[_FILE], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
            named = arguments[-1]
        elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
            named = arguments[0]
        else:
            return
        host = named[0] if isinstance(named, tuple) else named
        if isinstance(host, bytes):
            host = os.fsdecode(host)
        os.write(notes, (json.dumps([event, host, sys.argv]) + "\n").encode())

    sys.addaudithook(hook)


def asked(folder: Path) -> list[tuple[str, str]]:
    """Return what was asked for: the event, and the name or address."""
    lines = (folder / "asked").read_text().splitlines()
    return [(event, host) for event, host, _ in map(json.loads, lines)]


def strangers(folder: Path) -> list[tuple[str, str]]:
    """Return what was asked for that is not on this machine."""
    return [(event, host) for event, host in asked(folder) if not _is_here(host)]


def _is_here(host: str | None) -> bool:
    # Nothing named is this machine; a path is a socket between its processes.
    if host in (None, "", "localhost") or host.startswith(("/", "\0")):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
