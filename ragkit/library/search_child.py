"""The process that answers searches for ``search_pool.py``: it runs ``main``.

It reads pickles from its own pipe only, which nobody but the process that started it can write to.
It ends when the pipe is closed or that process has ended.
"""

from __future__ import annotations

import gc
import logging
import os
import pickle
import queue
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from logging.handlers import QueueHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ragkit.background.parent import follow_parent
from ragkit.errors import RagkitError, unforeseen
from ragkit.library.search_pool import Opening, Reply, Request

if TYPE_CHECKING:
    from ragkit.library import Library
    from ragkit.options import ChunkedOptions, SearchOptions
    from ragkit.results import Answer
    from ragkit.retrieval.multi_query import ChunkedAnswer
    from ragkit.settings import Settings

_OBJECTS_BETWEEN_COLLECTIONS = 20_000

logger = logging.getLogger(__name__)


def main(_arguments: Sequence[str]) -> int:
    """Open a library and answer searches until there are no more."""
    # Ctrl+C is for the process that started this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    follow_parent(lambda: os._exit(0))
    requests, replies = _own_streams()
    opening: Opening = pickle.load(requests)  # noqa: S301 - of the process that started this one
    records: queue.SimpleQueue[logging.LogRecord] = queue.SimpleQueue()
    logging.getLogger().addHandler(QueueHandler(records))
    logging.getLogger("ragkit").setLevel(opening.log_level)

    def reply(value: Any = None, error: RagkitError | None = None) -> None:
        new_records = [records.get_nowait() for _ in range(records.qsize())]
        pickle.dump(Reply(value, error, new_records), replies, pickle.HIGHEST_PROTOCOL)
        replies.flush()

    try:
        library = _opened(opening.settings)
    except RagkitError as error:
        reply(error=error)
        return 1
    reply()
    with library:
        while (request := _next(requests)) is not None:
            try:
                value = _answered(library, request)
            except RagkitError as error:
                reply(error=error)
            except Exception as error:
                logger.exception("a search failed")
                reply(error=unforeseen(error))
            else:
                reply(value)
    return 0


def _next(requests: BinaryIO) -> Request | None:
    """Wait for a request; return ``None`` at the end."""
    try:
        request: Request = pickle.load(requests)  # noqa: S301
    except EOFError:
        return None
    return request


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """Return both pipes, and replace standard input and output so that nothing else uses them."""
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return requests, replies


def _opened(settings: Settings) -> Library:
    from ragkit.library import Library

    library = Library.open(settings)
    with suppress(RagkitError):
        # A search will tell what is wrong.
        library.warm_up()
    # What is loaded by now stays, so later garbage collections may skip it.
    gc.collect()
    gc.freeze()
    # A search makes many values but hardly any cycles: collect less often.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    return library


def _answered(library: Library, request: Request) -> Any:
    if library.embedder.fingerprint != request.fingerprint:
        return None
    return SEARCHES[request.what](library, *request.arguments)


def _search(library: Library, question: str, options: SearchOptions) -> tuple[Answer, float]:
    return library.engine.answer(question, options)


def _search_chunked(
    library: Library, text: str, options: SearchOptions, chunked: ChunkedOptions
) -> ChunkedAnswer:
    from ragkit.retrieval.multi_query import query_per_chunk

    return query_per_chunk(library, text, options, chunked)


SEARCHES: Mapping[str, Callable[..., Any]] = {
    "search": _search,
    "search_chunked": _search_chunked,
}
