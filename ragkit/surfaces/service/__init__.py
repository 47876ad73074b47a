"""The service: the operating system starts ragkit at login and keeps it running."""

from __future__ import annotations

import sys

from ragkit.surfaces.service.program import Manager


def manager() -> Manager:
    """Return the service manager of this system."""
    if sys.platform == "darwin":
        from ragkit.surfaces.service.launchd import Launchd

        return Launchd()
    if sys.platform == "win32":
        from ragkit.surfaces.service.task_scheduler import TaskScheduler

        return TaskScheduler()
    from ragkit.surfaces.service.systemd import Systemd

    return Systemd()
