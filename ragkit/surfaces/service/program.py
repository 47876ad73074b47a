"""What a service runs, the interface of service managers, and running system programs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ragkit.background.parent import ENDS_WITH
from ragkit.errors import RagkitError
from ragkit.paths import LibraryPaths, write_private

DESCRIPTION = "ragkit, a private search engine for your own documents"
RESTART_SECONDS = 10
STOP_SECONDS = 60
_CONFIG = "RAGKIT_CONFIG"
_UNWRITABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
"""XML allows no control characters, and a surrogate stands for a byte that is not UTF-8."""
_PATIENCE_SECONDS = STOP_SECONDS + 30.0


@dataclass(frozen=True, slots=True)
class Program:
    """A command with its environment variables and the file for its output.

    The file is not used if the system itself keeps the output. ``background`` programs may run at
    a lower priority.
    """

    command: tuple[str, ...]
    log: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    background: bool = False


@dataclass(frozen=True, slots=True)
class ServiceState:
    """The state of the service; ``place`` is empty if it is not installed.

    ``enabled`` says that it starts at login. ``running`` is ``None`` if the system does not answer.
    ``note`` is a sentence for the person.
    """

    place: str = ""
    enabled: bool = False
    running: bool | None = False
    process: int | None = None
    command: tuple[str, ...] = ()
    note: str = ""

    @property
    def library(self) -> Path | None:
        """The library that it serves."""
        if "--library" not in self.command[:-1]:
            return None
        return Path(self.command[self.command.index("--library") + 1])


class Manager(Protocol):
    """Starts programs at login: systemd, launchd, or the Task Scheduler of Windows."""

    advice: str
    """A sentence for the person after an installation."""

    def place(self) -> str:
        """Return where the service's definition is kept."""

    def text(self, program: Program) -> str:
        """Return the service's definition."""

    def install(self, program: Program) -> None:
        """Start the program now and at every login, replacing an installed one.

        Raises:
            RagkitError: that is not possible here; an installed service stays.
        """

    def remove(self) -> bool:
        """Stop the service and remove it; return whether there was one.

        Raises:
            RagkitError: it cannot be stopped.
        """

    def state(self) -> ServiceState:
        """Return the service's state."""


def program(
    paths: LibraryPaths,
    port: int,
    *,
    collection: str | None = None,
    host: str | None = None,
    worker_only: bool = False,
) -> Program:
    """Return the program that keeps a library up to date and, unless ``worker_only``, serves it.

    ``host`` is the address to listen on, by default that of the settings.

    Raises:
        RagkitError: a path has characters that a service definition cannot contain.
    """
    # Without -P, a file in the working directory could shadow a module.
    command = [sys.executable, "-P", "-m", "ragkit"]
    if worker_only:
        command += ["worker", "--wait"]
    else:
        command += ["serve", "--no-browser", "--port", str(port)]
        command += ["--host", host] if host else []
    command += ["--library", str(paths.root.absolute())]
    command += ["--collection", collection] if collection else []
    # A task of Windows has no variables of its own.
    config = os.environ.get(_CONFIG) if sys.platform != "win32" else None
    environment = {_CONFIG: str(Path(config).absolute())} if config else {}
    for word in (*command, *environment.values()):
        if _UNWRITABLE.search(word):
            raise RagkitError(
                f"{word!a} has characters that a service definition cannot contain.",
                "Rename the folder.",
            )
    return Program(tuple(command), paths.logs / "service.log", environment, worker_only)


def not_passed_on(program: Program) -> list[str]:
    """Return the ``RAGKIT_*`` variables that are set here but not for the service."""
    own = {*program.environment, "RAGKIT_LIBRARY", ENDS_WITH}
    return sorted(name for name in os.environ if name.startswith("RAGKIT_") and name not in own)


def write_text(file: Path, text: str) -> None:
    """Write a file of the service, with the folders above it.

    Raises:
        RagkitError: it cannot be written.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_private(file, text)
    except OSError as error:
        raise RagkitError(
            f"{file} cannot be written: {error.strerror or error}.",
            "Check the folder's permissions.",
        ) from error


def ask(*command: str) -> str:
    """Run a program of the system and return its output.

    Raises:
        RagkitError: with the program's own words, when it fails or is not there.
    """
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_PATIENCE_SECONDS
        )
    except FileNotFoundError:
        raise RagkitError(f"There is no {command[0]} here.") from None
    except subprocess.TimeoutExpired:
        raise RagkitError(f"{command[0]} does not answer.", "Try again.") from None
    if done.returncode:
        output = done.stderr.strip() or done.stdout.strip() or str(done.returncode)
        raise RagkitError(f"{shlex.join(command)} failed: {output.splitlines()[0].rstrip('.')}.")
    return done.stdout
