"""Who may open the pages of a locked library: one-time links, and the sessions they begin.

Both are random secrets. Only their hashes are stored, in a file of the library that only its owner
can write, so whoever can write it can make a link without asking the server.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import psutil
from filelock import FileLock, Timeout

from ragkit.errors import LibraryBusyError, LibraryError, SettingsError
from ragkit.paths import write_private
from ragkit.surfaces.http.own_file import OwnFile
from ragkit.surfaces.http.place import LOOPBACK, Place, place_of

LINK_SECONDS = 10 * 60
"""For how long a link can be used, once."""

SESSION_SECONDS = 30 * 86_400
"""How long a session lasts."""

CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""The characters of codes: none is easily mistaken for another."""

_MOST = 50
_LOCK_SECONDS = 5.0
_CODE_LENGTH = 8


@dataclass(frozen=True, slots=True)
class RunningServer:
    """The page server of a library."""

    place: Place
    locked: bool


@dataclass(frozen=True, slots=True)
class _State:
    """The content of the file: when links and sessions expire, by hash, and the server."""

    links: Mapping[str, float] = field(default_factory=dict)
    sessions: Mapping[str, float] = field(default_factory=dict)
    server: Mapping[str, Any] = field(default_factory=dict)


class Access:
    """The file of links and sessions; safe to use from several processes and threads.

    Methods that change it raise a LibraryError if it cannot be written.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._held = OwnFile(file, _parsed, _State())

    def mint(self) -> str:
        """Return the secret of a new link, which works once within ten minutes.

        It invalidates earlier links: they may have led a browser to another program that took the
        port while no server was running.
        """
        secret = secrets.token_urlsafe(32)
        with self._changing() as state:
            self._write(replace(state, links=_with({}, secret, LINK_SECONDS)))
        return secret

    def mint_code(self) -> str:
        """Return a new code of eight characters, to be typed on another machine.

        It works like a link. Earlier links and codes stay valid.
        """
        code = "".join(secrets.choice(CODE_LETTERS) for _ in range(_CODE_LENGTH))
        with self._changing() as state:
            self._write(replace(state, links=_with(state.links, code, LINK_SECONDS)))
        return code

    def enter(self, secret: str) -> str | None:
        """Redeem a link; return the secret of a new session, or ``None`` if it is not valid."""
        with self._changing() as state:
            link = _found(state.links, secret)
            if link is None:
                return None
            links = {name: end for name, end in state.links.items() if name != link}
            return self._begin(replace(state, links=links))

    def begin(self) -> str:
        """Return the secret of a new session, for a browser that sent the library's token."""
        with self._changing() as state:
            return self._begin(state)

    def forget(self) -> None:
        """Invalidate all links, codes and sessions."""
        with self._changing() as state:
            self._write(_State(server=state.server))

    def _begin(self, state: _State) -> str:
        session = secrets.token_urlsafe(32)
        sessions = _with(state.sessions, session, SESSION_SECONDS)
        self._write(replace(state, sessions=sessions))
        return session

    def admits(self, session: str) -> bool:
        """Return whether this is the secret of a session that has not expired."""
        return _found(_lasting(self._held.value().sessions), session) is not None

    def note_server(self, place: Place, *, locked: bool) -> None:
        """Record that this process serves the pages."""
        started = psutil.Process().create_time()
        server = {"port": place.port, "host": place.host, "locked": locked}
        server |= {"pid": os.getpid(), "started": started}
        with self._changing() as state:
            self._write(replace(state, server=server))

    def server(self) -> RunningServer | None:
        """Return the server that was recorded last, if it is still running."""
        noted = self._held.value().server
        try:
            alive = psutil.Process(noted["pid"]).create_time() == noted["started"]
            place = place_of(int(noted["port"]), str(noted.get("host", LOOPBACK)))
            return RunningServer(place, bool(noted["locked"])) if alive else None
        except (psutil.Error, KeyError, TypeError, ValueError, OverflowError, SettingsError):
            return None

    def _write(self, state: _State) -> None:
        value = {"links": state.links, "sessions": state.sessions, "server": state.server}
        write_private(self._file, json.dumps(value))

    @contextmanager
    def _changing(self) -> Iterator[_State]:
        """Lock the file, and yield its content without what has expired."""
        lock = FileLock(self._file.with_suffix(".lock"), timeout=_LOCK_SECONDS, mode=0o600)
        try:
            with lock:
                state = self._held.value()
                links, sessions = _lasting(state.links), _lasting(state.sessions)
                yield replace(state, links=links, sessions=sessions)
        except Timeout as error:
            raise LibraryBusyError(
                "Another program is signing a browser in.", "Try again in a moment."
            ) from error
        except OSError as error:
            raise unwritable(self._file, error) from error


def unwritable(file: Path, error: OSError) -> LibraryError:
    """Return the error for a file of secrets that cannot be written."""
    return LibraryError(
        f"{file} cannot be written: {error.strerror or error}.",
        "Check the library folder's permissions; nobody can sign in without that file.",
    )


def _parsed(content: bytes) -> _State:
    try:
        value = json.loads(content)
        links, sessions = (
            {str(name): float(end) for name, end in value[part].items()}
            for part in ("links", "sessions")
        )
        return _State(links, sessions, dict(value["server"]))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return _State()


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _found(hashes: Mapping[str, float], secret: str) -> str | None:
    """Return the hash of a secret if it is among these; compares all of them in constant time."""
    mine = _hash(secret)
    same = [name for name in hashes if hmac.compare_digest(name.encode(), mine.encode())]
    return same[0] if same else None


def _lasting(hashes: Mapping[str, float]) -> dict[str, float]:
    now = time.time()
    return {name: end for name, end in hashes.items() if end > now}


def _with(hashes: Mapping[str, float], secret: str, seconds: float) -> dict[str, float]:
    """Return the hashes and a new one; the oldest are dropped if there are too many."""
    kept = sorted(hashes.items(), key=itemgetter(1))[1 - _MOST :]
    return {**dict(kept), _hash(secret): time.time() + seconds}
