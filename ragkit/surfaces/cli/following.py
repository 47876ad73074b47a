"""What the worker does for long, followed or paused by a command."""

from __future__ import annotations

import time
from collections.abc import Callable

from ragkit.indexing.progress import Progress
from ragkit.library.contexts import ContextService
from ragkit.library.embedders import EmbedderService
from ragkit.surfaces.cli import console

_POLL_SECONDS = 0.5


def let_rest(work: ContextService | EmbedderService, pause: bool) -> None:
    """Pause or resume the worker's part in it."""
    if pause:
        work.pause()
    else:
        work.resume()
    console.say("Paused." if pause else "Resumed.")


def follow(does: str, look: Callable[[], tuple[Progress | None, str]]) -> str:
    """Follow the worker with a bar until it is done; return what stops it, or nothing.

    ``look`` returns how far it is, ``None`` when nothing is left, and what keeps it from going on.
    """
    console.say(f"The worker {does}; stopping this command does not stop it.")
    # It may have been let go on just now: what kept it before is no trouble.
    progress, _ = look()
    with console.progress_bar() as watch:
        while progress is not None:
            watch(progress)
            time.sleep(_POLL_SECONDS)
            progress, trouble = look()
            if trouble:
                return trouble
    return ""
