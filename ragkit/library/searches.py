"""Past searches: the log, which can be switched off and cleared, and the pinned ones.

Both are private files of the library.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from ragkit.errors import LibraryBusyError, LibraryError, SettingsError
from ragkit.formatting import plural
from ragkit.library.search_log import DAYS, Door, LoggedSearch, SearchLog, Shown, question_key
from ragkit.paths import LibraryPaths, write_private

if TYPE_CHECKING:
    from ragkit.options import ChunkedOptions, SearchOptions
    from ragkit.results import Answer, Result
    from ragkit.retrieval.multi_query import ChunkedAnswer

MOST_RECENT, MOST_PINNED = 50, 50
"""How many recent and pinned searches are listed."""

LONGEST = 1000
"""The most characters of a question that are kept."""

MOST_SHOWN = 10
"""The most results of a search that are kept."""

_LOG = "The log of searches"
_DAY_SECONDS = 86_400.0
_LOCK_SECONDS = 5.0
_REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class PastSearch:
    """A search as it was typed on a page. ``at`` is in seconds since the epoch.

    ``last`` is its last entry in the log, if there is one.
    """

    question: str
    at: float
    pinned: bool = False
    last: LoggedSearch | None = None

    @property
    def summary(self) -> str:
        """How it went, as ``10 of 184 documents, best score 0.86, 14 ms``."""
        if self.last is None:
            return ""
        best = f", best score {self.last.best:.2f}" if self.last.best is not None else ""
        of = plural(self.last.documents, "document")
        return f"{self.last.results} of {of}{best}, {self.last.ms:.0f} ms"


class SearchHistory:
    """The log of a library's searches, and the recent and pinned ones of a person.

    Safe to use from several threads and processes. If the settings allow nothing to be kept, the
    next search deletes what there is. Methods that change something raise a LibraryError if they
    cannot write, except ``note``: no search fails because of its log.
    """

    trouble: str = ""
    """Why the last search could not be logged, in a sentence, or empty."""

    def __init__(
        self,
        paths: LibraryPaths,
        *,
        allowed: bool,
        stand_for_all: Callable[[Sequence[str]], bool] = lambda _names: False,
    ) -> None:
        """``stand_for_all`` tells whether names are those of all of very many collections."""
        self._stand_for_all = stand_for_all
        self.allowed = allowed
        """Whether the settings let searches be kept (``search_history``)."""
        self._pins = paths.searches
        self._off = paths.search_log / "off"
        self._log = SearchLog(paths.search_log)
        self._noted: dict[tuple[str, float], None] = {}
        self._noting = threading.Lock()

    # -- noting ----------------------------------------------------------------------------

    @property
    def kept(self) -> bool:
        """Whether searches are logged now: allowed by the settings, and not switched off."""
        return self.allowed and not self._off.exists()

    def switch(self, *, on: bool) -> None:
        """Switch the log on or off; what was logged stays until it is cleared.

        Raises:
            SettingsError: the settings do not allow it.
        """
        if on and not self.allowed:
            raise SettingsError(
                "The settings keep no searches.", "Set search_history = true first."
            )
        with _usable(_LOG):
            if on:
                self._off.unlink(missing_ok=True)
            else:
                self._off.parent.mkdir(mode=0o700, exist_ok=True)
                write_private(self._off, "")

    def note(
        self,
        question: str,
        answer: Answer | ChunkedAnswer,
        options: SearchOptions,
        *,
        door: Door | str,
        chunked: ChunkedOptions | None = None,
        typed: bool = True,
    ) -> None:
        """Log a search, unless the log is off; an error is kept in ``trouble``.

        ``chunked`` are the options of a search with a long text. ``typed`` is False if a click
        changed the previous search: it then does not count as a recent search.
        """
        try:
            if not self.allowed:
                self._log.clear()
                self._pins.unlink(missing_ok=True)
            elif self.kept and (
                words := question.strip() if chunked else " ".join(question.split())
            ):
                logged = self._logged(words, answer, options, Door(door), chunked)
                self._log.add(logged if typed else replace(logged, typed=False))
            self.trouble = ""
        except OSError as error:
            self.trouble = f"The last search could not be noted: {error.strerror or error}."

    def _logged(
        self,
        words: str,
        answer: Answer | ChunkedAnswer,
        options: SearchOptions,
        door: Door,
        chunked: ChunkedOptions | None,
    ) -> LoggedSearch:
        results, documents = _found(answer)
        changed, changed_chunked, filters = _changes(options, chunked)
        ms, everywhere = answer.trace.ms, self._stand_for_all(options.collections)
        return LoggedSearch(
            words[:LONGEST],
            round(time.time(), 6),
            door,
            changed,
            () if everywhere else options.collections,
            filters,
            round(ms, 3),
            len(results),
            documents,
            tuple(
                Shown(result.document.id, round(float(result.score), 4), result.best_span)
                for result in results[:MOST_SHOWN]
            ),
            answer.trace.stages,
            answer.nothing_close,
            changed_chunked,
            cut=len(words) > LONGEST,
            from_memory=self._is_noted(words, ms),
            everywhere=everywhere,
        )

    def _is_noted(self, words: str, ms: float) -> bool:
        """Return whether this very answer was logged before: no two take exactly the same time."""
        with self._noting:
            noted = (words, ms) in self._noted
            self._noted[words, ms] = None
            if len(self._noted) > _REMEMBERED:
                del self._noted[next(iter(self._noted))]
        return noted

    # -- the log ---------------------------------------------------------------------------

    def log(self, days: float = DAYS) -> tuple[LoggedSearch, ...]:
        """Return the searches of the last ``days``, newest first."""
        if not self.allowed:
            return ()
        since = time.time() - days * _DAY_SECONDS
        with _usable(_LOG, "read"):
            self._log.expire()
            searches = [search for search in self._log.newest(days=days) if search.at >= since]
        return tuple(sorted(searches, key=lambda search: -search.at))

    def remove(self, question: str) -> None:
        """Delete a question from the log and from the pinned searches."""
        key = question_key(question)
        with _usable(_LOG):
            self._log.remove(lambda search: question_key(search.question) == key)
        self._change(
            lambda past: (search for search in past if question_key(search.question) != key)
        )

    def clear(self) -> None:
        """Delete the whole log; pinned searches stay."""
        with _usable(_LOG):
            self._log.clear()
        self._change(lambda past: (search for search in past if search.pinned))

    # -- recent and pinned ones ------------------------------------------------------------

    def list(self) -> tuple[PastSearch, ...]:
        """Return the pinned searches, then those last typed on a page, each newest first.

        Searches that found nothing are left out of the recent ones.
        """
        if not self.allowed:
            return ()
        past = {question_key(pin.question): pin for pin in self._kept_apart()}
        recent: dict[str, LoggedSearch] = {}
        try:
            for search in self._log.newest(("people",)):
                is_whole = search.chunked is None and not search.cut
                if search.door is Door.PAGE and search.typed and search.results and is_whole:
                    recent.setdefault(question_key(search.question), search)
                if len(recent) >= MOST_RECENT + MOST_PINNED:
                    break
        except OSError:
            recent.clear()
        for key, search in recent.items():
            if key in past and past[key].pinned:
                past[key] = replace(past[key], last=search)
            else:
                past[key] = PastSearch(search.question, search.at, last=search)
        return tuple(_bounded(past.values()))

    def is_known(self, question: str) -> bool:
        """Return whether a question is recent or pinned, or was asked on a page in the last day.

        A reloaded page asks it again.
        """
        key = question_key(question)
        with suppress(OSError):
            for search in self._log.newest(("people",), days=1):
                if search.door is Door.PAGE and question_key(search.question) == key:
                    return True
        return self._find(question) is not None

    def pin(self, question: str, *, pinned: bool = True) -> None:
        """Pin a search, or unpin it."""
        search = self._find(question)
        if search is not None:
            key, changed = question_key(question), replace(search, pinned=pinned)
            self._change(
                lambda past: (
                    changed,
                    *(other for other in past if question_key(other.question) != key),
                )
            )

    def _find(self, question: str) -> PastSearch | None:
        """Return the recent or pinned search for a question."""
        key = question_key(question)
        return next((past for past in self.list() if question_key(past.question) == key), None)

    def _kept_apart(self) -> tuple[PastSearch, ...]:
        """Return the searches in the file of pins: pinned, unpinned, or from earlier versions."""
        oldest = time.time() - DAYS * _DAY_SECONDS
        try:
            searches = tuple(_parsed(self._pins.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return ()
        return tuple(search for search in searches if search.pinned or search.at >= oldest)

    def _change(self, change: Callable[[Sequence[PastSearch]], Iterable[PastSearch]]) -> None:
        lock = FileLock(self._pins.with_suffix(".lock"), timeout=_LOCK_SECONDS, mode=0o600)
        try:
            with _usable(self._pins), lock:
                kept = _bounded(change(self._kept_apart()))
                if kept:
                    values = [
                        {"question": search.question, "at": search.at, "pinned": search.pinned}
                        for search in kept
                    ]
                    write_private(self._pins, json.dumps(values, indent=1))
                else:
                    self._pins.unlink(missing_ok=True)
        except Timeout as error:
            raise LibraryBusyError(
                "Another program is changing the search history.", "Try again in a moment."
            ) from error


@contextmanager
def _usable(what: object, how: str = "written") -> Iterator[None]:
    """Turn an OSError into a LibraryError with a cure."""
    try:
        yield
    except Timeout:
        raise
    except OSError as error:
        raise LibraryError(
            f"{what} cannot be {how}: {error.strerror or error}.",
            "Check the library folder's permissions and the free disk space.",
        ) from error


def _found(answer: Answer | ChunkedAnswer) -> tuple[Sequence[Result], int]:
    """Return the results of an answer, and how many documents were found."""
    from ragkit.results import Answer

    if isinstance(answer, Answer):
        return answer.results, answer.total_documents
    return [chunked.result for chunked in answer.results], answer.documents


@lru_cache(maxsize=64)
def _changes(
    options: SearchOptions, chunked: ChunkedOptions | None
) -> tuple[Mapping[str, Any], Mapping[str, Any] | None, str]:
    """Return the options that differ from the defaults, also of a long text, and the filters.

    The filters are in the query language.
    """
    from ragkit.option_codec import dump_options
    from ragkit.options import CHUNKED_OPTIONS, ChunkedOptions, SearchOptions
    from ragkit.retrieval.query.filter_syntax import format_filters

    changed, defaults = None, ChunkedOptions()
    if chunked is not None:
        values = {name: getattr(chunked, name) for name in CHUNKED_OPTIONS}
        changed = {key: value for key, value in values.items() if value != getattr(defaults, key)}
    return dump_options(options, SearchOptions()), changed, format_filters(options.filters)


def _bounded(past: Iterable[PastSearch]) -> list[PastSearch]:
    newest = sorted(past, key=lambda search: -search.at)
    pinned = [search for search in newest if search.pinned][:MOST_PINNED]
    return pinned + [search for search in newest if not search.pinned][:MOST_RECENT]


def _parsed(content: str) -> Iterator[PastSearch]:
    """Yield the searches in a file; invalid entries are left out."""
    items = json.loads(content)
    for item in items if isinstance(items, list) else ():
        match item:
            case {"question": str(question), "at": float(at) | int(at), "pinned": bool(pinned)}:
                yield PastSearch(question, float(at), pinned)
