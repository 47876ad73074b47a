"""The service on Linux: a unit of the user's own systemd."""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from pathlib import Path

from ragkit.errors import RagkitError
from ragkit.paths import write_private
from ragkit.surfaces.service.program import (
    DESCRIPTION,
    RESTART_SECONDS,
    STOP_SECONDS,
    Program,
    ServiceState,
    ask,
    write_text,
)

UNIT = "ragkit.service"
_LINGERING = Path("/var/lib/systemd/linger")


class Systemd:
    """Writes a unit and starts it with ``systemctl --user``."""

    advice = (
        "It runs while you are logged in. To have it run from the machine's start on: "
        "loginctl enable-linger"
    )

    def place(self) -> str:
        """Return the unit's file."""
        return str(_file())

    def text(self, program: Program) -> str:
        """Return the unit."""
        return unit(program)

    def install(self, program: Program) -> None:
        """Write the unit, enable it and restart it."""
        _reach()
        file, text = _file(), unit(program)
        before = file.read_text("utf-8") if file.is_file() else None
        write_text(file, text)
        try:
            for words in (["daemon-reload"], ["enable", UNIT], ["restart", UNIT]):
                _systemctl(*words)
        except RagkitError:
            _put_back(file, before)
            raise

    def remove(self) -> bool:
        """Stop the unit, disable it, and delete its file."""
        file = _file()
        if not file.is_file():
            return False
        _reach()
        _systemctl("disable", "--now", UNIT)
        file.unlink()
        _systemctl("daemon-reload")
        with suppress(RagkitError):
            _systemctl("reset-failed", UNIT)
        return True

    def state(self) -> ServiceState:
        """Return the service's state, from the unit and from systemd."""
        file = _file()
        if not file.is_file():
            return ServiceState()
        command = command_in(file.read_text("utf-8"))
        try:
            shown = _systemctl("show", UNIT, "--property=ActiveState,UnitFileState,MainPID,Result")
        except RagkitError as error:
            enabled = (file.parent / "default.target.wants" / UNIT).is_symlink()
            return ServiceState(str(file), enabled, None, None, command, error.message)
        properties = dict(line.partition("=")[::2] for line in shown.splitlines())
        running = properties.get("ActiveState") == "active"
        failed = properties.get("Result") not in ("success", "", None)
        note = "It ended with a failure. journalctl --user -u ragkit tells more." if failed else ""
        if running:
            note = "" if _LINGERING.joinpath(_user()).exists() else self.advice
        return ServiceState(
            place=str(file),
            enabled=properties.get("UnitFileState") == "enabled",
            running=running,
            process=int(properties.get("MainPID", 0)) or None,
            command=command,
            note=note,
        )


def unit(program: Program) -> str:
    """Return the text of the unit.

    It is not sandboxed (``ProtectHome``, ``PrivateTmp``), since documents may lie anywhere.

    Raises:
        RagkitError: systemd does not support the path of the program.
    """
    interpreter, *arguments = program.command
    if any(letter in interpreter for letter in "\"'\\"):
        raise RagkitError(
            f"systemd cannot start a program with a quote or backslash in its path: {interpreter}.",
            "Install ragkit in another folder.",
        )
    # systemd does not expand variables ($) in the path of the program itself.
    words = [_quoted(interpreter), *(_quoted(word).replace("$", "$$") for word in arguments)]
    lines = [
        "[Unit]",
        f"Description={DESCRIPTION}",
        "",
        "[Service]",
        "Type=exec",
        *(
            f"Environment={_quoted(f'{name}={value}')}"
            for name, value in program.environment.items()
        ),
        f"ExecStart={' '.join(words)}",
        "Restart=always",
        f"RestartSec={RESTART_SECONDS}",
        # ragkit itself stops the processes that it has started, in the right order.
        "KillMode=mixed",
        f"TimeoutStopSec={STOP_SECONDS}",
        *(["Nice=10"] if program.background else []),
        "",
        "[Install]",
        "WantedBy=default.target",
    ]
    return "\n".join(lines) + "\n"


def command_in(unit: str) -> tuple[str, ...]:
    """Return the command in a unit that :func:`unit` made."""
    for line in unit.splitlines():
        name, _, value = line.partition("=")
        if name == "ExecStart":
            interpreter, *arguments = (word.replace("%%", "%") for word in shlex.split(value))
            return (interpreter, *(word.replace("$$", "$") for word in arguments))
    return ()


def _quoted(word: str) -> str:
    """Quote a word for systemd, and escape specifiers (``%h``)."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def _file() -> Path:
    configuration = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(configuration, "systemd", "user", UNIT)


def _user() -> str:
    import getpass

    return getpass.getuser()


def _systemctl(*words: str) -> str:
    return ask("systemctl", "--user", *words)


def _reach() -> None:
    """Check that systemd answers, before anything is written.

    Raises:
        RagkitError: it does not answer.
    """
    try:
        _systemctl("show", "--property=Version")
    except RagkitError as error:
        raise RagkitError(
            f"The systemd of your user does not answer here: {error.message}",
            "Log in as yourself (sudo, su and most containers have none), or have another program "
            "start what ragkit service install --print shows after ExecStart.",
        ) from error


def _put_back(file: Path, before: str | None) -> None:
    """Undo a failed installation: restore the previous unit, or remove the new one."""
    with suppress(RagkitError):
        if before is None:
            _systemctl("disable", "--now", UNIT)
    if before is None:
        file.unlink(missing_ok=True)
    else:
        write_private(file, before)
    with suppress(RagkitError):
        _systemctl("daemon-reload")
        if before is not None:
            _systemctl("restart", UNIT)
