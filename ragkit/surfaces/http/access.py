"""Who may open the pages of a locked library: one-time links, and the browsers that used one.

Both are random, and only their hashes stand in a file of the library that its owner alone can
write. So whoever may write there, and nobody else, can make a link; no server has to be asked.
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
from dataclasses import dataclass, field
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
"""How long a link can be used, once."""

SESSION_SECONDS = 30 * 86_400
"""How long a browser that used one stays let in."""

CODE_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""What codes are made of: no two of these are mistaken for one another."""

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
    """What the file holds: when each link and session ends, by its hash, and the server."""

    links: Mapping[str, float] = field(default_factory=dict)
    sessions: Mapping[str, float] = field(default_factory=dict)
    server: Mapping[str, Any] = field(default_factory=dict)


class Access:
    """The file that says who is let in; safe to use from several processes and threads."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._held = OwnFile(file, _parsed, _State())

    def mint(self) -> str:
        """Return a new secret for a link that works once, for ten minutes.

        No earlier link works any more: while no server ran, it may have led a browser to another
        program that took its port.

        Raises:
            LibraryError: the file cannot be written.
        """
        secret = secrets.token_urlsafe(32)
        with self._changing() as state:
            links = _with({}, secret, LINK_SECONDS)
            self._write(_State(links, _lasting(state.sessions), state.server))
        return secret

    def mint_code(self) -> str:
        """Return a new code of eight letters, to be typed where no link can be opened.

        It works as a link does; links stay, and an earlier code does too.

        Raises:
            LibraryError: the file cannot be written.
        """
        code = "".join(secrets.choice(CODE_LETTERS) for _ in range(_CODE_LENGTH))
        with self._changing() as state:
            links = _with(state.links, code, LINK_SECONDS)
            self._write(_State(links, _lasting(state.sessions), state.server))
        return code

    def enter(self, secret: str) -> str | None:
        """Use a link up; return the secret of a new session, or ``None`` if the link is no good.

        Raises:
            LibraryError: the file cannot be written.
        """
        with self._changing() as state:
            links = _lasting(state.links)
            known = _found(links, secret)
            if known is None:
                return None
            links = {name: end for name, end in links.items() if name != known}
            return self._begin(_State(links, state.sessions, state.server))

    def begin(self) -> str:
        """Return the secret of a new session, of a browser that showed the library's token.

        Raises:
            LibraryError: the file cannot be written.
        """
        with self._changing() as state:
            return self._begin(_State(_lasting(state.links), state.sessions, state.server))

    def forget(self) -> None:
        """Let nobody in any more: neither by a link or code, nor any browser that used one.

        Raises:
            LibraryError: the file cannot be written.
        """
        with self._changing() as state:
            self._write(_State(server=state.server))

    def _begin(self, state: _State) -> str:
        session = secrets.token_urlsafe(32)
        sessions = _with(state.sessions, session, SESSION_SECONDS)
        self._write(_State(state.links, sessions, state.server))
        return session

    def admits(self, session: str) -> bool:
        """True when this is the secret of a session that lasts."""
        return _found(_lasting(self._state().sessions), session) is not None

    def note_server(self, place: Place, *, locked: bool) -> None:
        """Note that this process serves the pages.

        Raises:
            LibraryError: the file cannot be written.
        """
        started = psutil.Process().create_time()
        server = {"port": place.port, "host": place.host, "locked": locked}
        server |= {"pid": os.getpid(), "started": started}
        with self._changing() as state:
            self._write(_State(_lasting(state.links), _lasting(state.sessions), server))

    def server(self) -> RunningServer | None:
        """Return the server that was noted last, if it still runs."""
        noted = self._state().server
        try:
            alive = psutil.Process(noted["pid"]).create_time() == noted["started"]
            place = place_of(int(noted["port"]), str(noted.get("host", LOOPBACK)))
            return RunningServer(place, bool(noted["locked"])) if alive else None
        except (psutil.Error, KeyError, TypeError, ValueError, OverflowError, SettingsError):
            return None

    def _state(self) -> _State:
        """Return the file's content; one that others could have written counts as empty."""
        return self._held.value()

    def _write(self, state: _State) -> None:
        value = {"links": state.links, "sessions": state.sessions, "server": state.server}
        write_private(self._file, json.dumps(value))

    @contextmanager
    def _changing(self) -> Iterator[_State]:
        lock = FileLock(self._file.with_suffix(".lock"), timeout=_LOCK_SECONDS, mode=0o600)
        try:
            with lock:
                yield self._state()
        except Timeout as error:
            raise LibraryBusyError(
                "Another program is signing a browser in.", "Try again in a moment."
            ) from error
        except OSError as error:
            raise unwritable(self._file, error) from error


def unwritable(file: Path, error: OSError) -> LibraryError:
    """Return the error for a file without which nobody can be let in."""
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
    """Return the hash of this secret, if it is among them; all of them are compared."""
    mine = _hash(secret)
    same = [name for name in hashes if hmac.compare_digest(name.encode(), mine.encode())]
    return same[0] if same else None


def _lasting(hashes: Mapping[str, float]) -> dict[str, float]:
    now = time.time()
    return {name: end for name, end in hashes.items() if end > now}


def _with(hashes: Mapping[str, float], secret: str, seconds: float) -> dict[str, float]:
    """Return those that last and a new one; the oldest go when there are very many."""
    kept = sorted(_lasting(hashes).items(), key=itemgetter(1))[1 - _MOST :]
    return {**dict(kept), _hash(secret): time.time() + seconds}
