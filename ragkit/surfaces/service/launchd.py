"""The service on macOS: a launch agent of the user."""

from __future__ import annotations

import os
import plistlib
import re
import time
from contextlib import suppress
from pathlib import Path

from ragkit.errors import RagkitError
from ragkit.paths import write_private
from ragkit.surfaces.service.program import (
    RESTART_SECONDS,
    STOP_SECONDS,
    Program,
    ServiceState,
    ask,
    write_text,
)

LABEL = "local.ragkit"
_TRIES = 5


class Launchd:
    """Writes a property list and loads it with ``launchctl``."""

    advice = (
        "It runs while you are logged in. For folders such as Documents, macOS asks once whether "
        "Python may read them."
    )

    def place(self) -> str:
        """Return the property list's file."""
        return str(_file())

    def text(self, program: Program) -> str:
        """Return the property list."""
        return property_list(program)

    def install(self, program: Program) -> None:
        """Write the property list and load it, replacing the one that is loaded."""
        _reach()
        file, text = _file(), property_list(program)
        before = file.read_text("utf-8") if file.is_file() else None
        _unload()
        write_text(file, text)
        with suppress(OSError):
            # launchd does not create the folder of the log.
            program.log.parent.mkdir(parents=True, exist_ok=True)
        try:
            ask("launchctl", "enable", _target())
            _load(file)
        except RagkitError:
            if before is None:
                file.unlink(missing_ok=True)
            else:
                write_private(file, before)
                with suppress(RagkitError):
                    _load(file)
            raise

    def remove(self) -> bool:
        """Unload the agent and delete its file."""
        file = _file()
        if not file.is_file():
            return False
        _reach()
        _unload()
        file.unlink()
        return True

    def state(self) -> ServiceState:
        """Return the service's state, from the property list and from launchd."""
        file = _file()
        if not file.is_file():
            return ServiceState()
        command = command_in(file.read_bytes())
        try:
            shown = ask("launchctl", "print", _target())
        except RagkitError:
            note = "launchd has not loaded it. ragkit service install does."
            return ServiceState(str(file), command=command, note=note)
        process = re.search(r"^\s*pid = (\d+)", shown, re.MULTILINE)
        return ServiceState(
            place=str(file),
            enabled=not _is_disabled(),
            running=process is not None,
            process=int(process[1]) if process else None,
            command=command,
            note=self.advice if process else "It does not run. Its log is in the library's logs.",
        )


def property_list(program: Program) -> str:
    """Return the text of the property list."""
    value = {
        "Label": LABEL,
        "ProgramArguments": list(program.command),
        **({"EnvironmentVariables": dict(program.environment)} if program.environment else {}),
        "RunAtLoad": True,
        "KeepAlive": True,
        "ThrottleInterval": RESTART_SECONDS,
        "ExitTimeOut": STOP_SECONDS,
        # macOS throttles background processes too much for the pages.
        "ProcessType": "Background" if program.background else "Standard",
        "StandardOutPath": str(program.log),
        "StandardErrorPath": str(program.log),
    }
    return plistlib.dumps(value, sort_keys=False).decode("utf-8")


def command_in(text: bytes) -> tuple[str, ...]:
    """Return the command that a property list runs."""
    try:
        return tuple(map(str, plistlib.loads(text)["ProgramArguments"]))
    except (plistlib.InvalidFileException, KeyError, ValueError):
        return ()


def _file() -> Path:
    return Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"


def _domain() -> str:
    return f"gui/{os.getuid()}"


def _target() -> str:
    return f"{_domain()}/{LABEL}"


def _reach() -> None:
    """Check that launchd has a session of the user, before anything is written.

    Raises:
        RagkitError: it has none.
    """
    try:
        ask("launchctl", "print", _domain())
    except RagkitError as error:
        raise RagkitError(
            f"There is no session for a launch agent: {error.message}",
            "Log in on this Mac's own screen, and try again there.",
        ) from error


def _unload() -> None:
    """Stop the agent, and wait until launchd has unloaded it and can load another."""
    with suppress(RagkitError):
        ask("launchctl", "bootout", _target())
    for _ in range(2 * STOP_SECONDS):
        try:
            ask("launchctl", "print", _target())
        except RagkitError:
            return
        time.sleep(0.5)
    raise RagkitError("The service does not stop.", "Try again in a minute.")


def _load(file: Path) -> None:
    """Load the agent, with retries: just after unloading another one, launchd may refuse."""
    for left in reversed(range(_TRIES)):
        try:
            ask("launchctl", "bootstrap", _domain(), str(file))
        except RagkitError:
            if not left:
                raise
            time.sleep(1)
        else:
            return


def _is_disabled() -> bool:
    with suppress(RagkitError):
        listed = ask("launchctl", "print-disabled", _domain())
        return bool(re.search(rf'"{re.escape(LABEL)}" => (disabled|true)', listed))
    return False
