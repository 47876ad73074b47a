"""Following, pausing and resuming long work of the worker."""

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
    """Follow the worker with a progress bar; return why it does not continue, or an empty string.

    ``look`` returns the progress, or ``None`` when it is done, and why it does not continue.
    """
    console.say(f"The worker {does}; stopping this command does not stop it.")
    # It may have been resumed just now, so ignore why it did not continue before.
    progress, _ = look()
    with console.progress_bar() as watch:
        while progress is not None:
            watch(progress)
            time.sleep(_POLL_SECONDS)
            progress, trouble = look()
            if trouble:
                return trouble
    return ""
