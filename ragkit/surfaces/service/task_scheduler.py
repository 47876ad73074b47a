"""The service on Windows: a task that Task Scheduler starts at logon."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from ragkit.errors import RagkitError
from ragkit.surfaces.service.program import DESCRIPTION, Program, ServiceState, ask

TASK = "ragkit"
_NAMESPACE = "http://schemas.microsoft.com/windows/2004/02/mit/task"
_HIDING = "--headless"
_STATE = f"(Get-ScheduledTask -TaskName {TASK}).State"


class TaskScheduler:
    """Creates a task with ``schtasks``, which keeps its XML."""

    advice = "It runs while you are logged in."

    def place(self) -> str:
        """Return the task's name."""
        return f"Task Scheduler, task {TASK}"

    def text(self, program: Program) -> str:
        """Return the task's XML."""
        return task(program)

    def install(self, program: Program) -> None:
        """Create the task, replacing an existing one, and run it."""
        text = task(program)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "task.xml")
            file.write_text(text, "utf-16")
            with suppress(RagkitError):
                ask("schtasks", "/End", "/TN", TASK)
            ask("schtasks", "/Create", "/TN", TASK, "/XML", str(file), "/F")
        ask("schtasks", "/Run", "/TN", TASK)

    def remove(self) -> bool:
        """End the task and delete it."""
        if not self.state().place:
            return False
        with suppress(RagkitError):
            ask("schtasks", "/End", "/TN", TASK)
        ask("schtasks", "/Delete", "/TN", TASK, "/F")
        return True

    def state(self) -> ServiceState:
        """Return the service's state: what the task says, and whether it runs."""
        try:
            text = ask("schtasks", "/Query", "/TN", TASK, "/XML")
        except RagkitError:
            return ServiceState()
        # The output of schtasks depends on the language; this does not.
        state = ask("powershell", "-NoProfile", "-NonInteractive", "-Command", _STATE).strip()
        return ServiceState(
            place=self.place(),
            enabled=state != "Disabled",
            running=state == "Running",
            command=command_in(text),
            note=self.advice,
        )


def task(program: Program) -> str:
    """Return the XML of the task.

    Task Scheduler does not restart a program that fails. Instead, the task is triggered every five
    minutes, which has no effect while it is running.

    Raises:
        RagkitError: a path contains what Task Scheduler would take for a variable.
    """
    command = subprocess.list2cmdline(program.command)
    if re.search(r"%[^%]+%|\$\(Arg", command):
        raise RagkitError(
            "Task Scheduler takes text between two % in a path for a variable.",
            "Rename the folder.",
        )
    user = escape("\\".join(filter(None, map(os.environ.get, ("USERDOMAIN", "USERNAME")))))
    return f"""<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="{_NAMESPACE}">
  <RegistrationInfo>
    <Description>{DESCRIPTION}</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Repetition>
        <Interval>PT5M</Interval>
      </Repetition>
      <UserId>{user}</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>{user}</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>conhost.exe</Command>
      <Arguments>{escape(f"{_HIDING} {command}")}</Arguments>
    </Exec>
  </Actions>
</Task>
"""


def command_in(text: str) -> tuple[str, ...]:
    """Return the command in a task's XML, as far as it can be parsed."""
    try:
        # The declared encoding is that of the file, not of the output.
        root = ElementTree.fromstring(re.sub(r"^\s*<\?xml[^>]*\?>", "", text))  # noqa: S314 - own
    except ElementTree.ParseError:
        return ()
    arguments = root.findtext(f".//{{{_NAMESPACE}}}Arguments", "").removeprefix(_HIDING)
    return tuple(quoted or bare for quoted, bare in re.findall(r'"([^"]*)"|(\S+)', arguments))
