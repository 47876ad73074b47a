"""What was searched for: a log that its person reads, switches off and empties, and pinned ones.

Both are private files of the library, and nowhere else.
"""

from __future__ import annotations

import json
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
from ragkit.traces import Stage

if TYPE_CHECKING:
    from ragkit.options import ChunkedOptions, SearchOptions
    from ragkit.results import Answer, Result
    from ragkit.retrieval.multi_query import ChunkedAnswer

MOST_RECENT, MOST_PINNED = 50, 50
"""How many searches are listed of each."""

LONGEST = 1000
"""Characters of a question that are kept; of a longer text, its beginning."""

MOST_SHOWN = 10
"""How many of the documents that a search showed are kept."""

_LOG = "The log of searches"
_DAY_SECONDS = 86_400.0
_LOCK_SECONDS = 5.0
_REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class PastSearch:
    """A search as it was typed on a page. ``at`` is in seconds since the epoch.

    ``last`` is how it went the last time, unless that is too long ago.
    """

    question: str
    at: float
    pinned: bool = False
    last: LoggedSearch | None = None

    @property
    def summary(self) -> str:
        """Return how it went, as ``10 of 184 documents, best score 0.86, 14 ms``."""
        if self.last is None:
            return ""
        best = f", best score {self.last.best:.2f}" if self.last.best is not None else ""
        of = plural(self.last.documents, "document")
        return f"{self.last.results} of {of}{best}, {self.last.ms:.0f} ms"


class SearchHistory:
    """The searches of a library: the log of all, and those that a person typed lately or pinned.

    Safe to use from several threads and processes. Where the settings allow nothing to be kept,
    the next search deletes what was. Methods that change something raise a LibraryError when it
    cannot be written, but for ``note``: no search fails for its log.
    """

    trouble: str = ""
    """Why the last search could not be noted, in a sentence; empty where it was."""

    def __init__(
        self,
        paths: LibraryPaths,
        *,
        allowed: bool,
        stand_for_all: Callable[[Sequence[str]], bool] = lambda _names: False,
    ) -> None:
        """``stand_for_all`` says whether names are those of all of very many collections."""
        self._stand_for_all = stand_for_all
        self.allowed = allowed
        """Whether the settings let searches be kept (``search_history``)."""
        self._pins = paths.searches
        self._off = paths.search_log / "off"
        self._log = SearchLog(paths.search_log)
        self._noted: dict[tuple[str, float], None] = {}

    # -- noting ----------------------------------------------------------------------------

    @property
    def kept(self) -> bool:
        """Whether searches are noted now: allowed by the settings, and not switched off."""
        return self.allowed and not self._off.exists()

    def switch(self, *, on: bool) -> None:
        """Have searches noted from now on, or no longer; what was noted stays until cleared.

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
        """Note a search that somebody made; ``chunked`` are the options of one by topics.

        ``typed`` is False for what a click made of the search before, with another option or
        filter: that is none of the recent searches. Nothing is noted where none are kept, and
        nothing is raised where that is not possible.
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
        changed, of_long, filters = _changes(options, chunked)
        took, everywhere = answer.trace.ms, self._stand_for_all(options.collections)
        return LoggedSearch(
            words[:LONGEST],
            round(time.time(), 6),
            door,
            changed,
            () if everywhere else options.collections,
            filters,
            round(took, 3),
            len(results),
            documents,
            tuple(
                Shown(result.document.id, round(float(result.score), 4), result.best_span)
                for result in results[:MOST_SHOWN]
            ),
            tuple(
                Stage(stage.name, round(stage.ms, 3), stage.count_in, stage.count_out, stage.note)
                for stage in answer.trace.stages
            ),
            answer.nothing_close,
            of_long,
            cut=len(words) > LONGEST,
            from_memory=self._is_noted(words, took),
            everywhere=everywhere,
        )

    def _is_noted(self, words: str, ms: float) -> bool:
        """Return whether this very answer was noted before: no two take the same time exactly."""
        noted = (words, ms) in self._noted
        self._noted[words, ms] = None
        while len(self._noted) > _REMEMBERED:
            self._noted.pop(next(iter(self._noted)), None)
        return noted

    # -- the log ---------------------------------------------------------------------------

    def log(self, days: float = DAYS) -> tuple[LoggedSearch, ...]:
        """Return the searches that were noted in the last ``days``, newest first."""
        if not self.allowed:
            return ()
        since = time.time() - days * _DAY_SECONDS
        with _usable(_LOG, "read"):
            self._log.expire()
            searches = [search for search in self._log.newest(days=days) if search.at >= since]
        return tuple(sorted(searches, key=lambda search: -search.at))

    def remove(self, question: str) -> None:
        """Delete a question: from the log, whoever asked it, and from the pinned ones."""
        key = question_key(question)
        with _usable(_LOG):
            self._log.remove(lambda search: question_key(search.question) == key)
        self._change(
            lambda past: (search for search in past if question_key(search.question) != key)
        )

    def clear(self) -> None:
        """Delete the whole log; the questions that are pinned stay."""
        with _usable(_LOG):
            self._log.clear()
        self._change(lambda past: (search for search in past if search.pinned))

    # -- recent and pinned ones ------------------------------------------------------------

    def list(self) -> tuple[PastSearch, ...]:
        """Return the pinned searches, then those last typed on a page, each the newest first.

        A search that found nothing is not among the recent ones.
        """
        if not self.allowed:
            return ()
        past = {question_key(search.question): search for search in self._kept_apart()}
        recent: dict[str, LoggedSearch] = {}
        try:
            for one in self._log.newest(("people",)):
                if (
                    one.door is Door.PAGE
                    and one.typed
                    and one.results
                    and one.chunked is None
                    and not one.cut
                ):
                    recent.setdefault(question_key(one.question), one)
                if len(recent) >= MOST_RECENT + MOST_PINNED:
                    break
        except OSError:
            recent.clear()
        for key, one in recent.items():
            if key in past and past[key].pinned:
                past[key] = replace(past[key], last=one)
            else:
                past[key] = PastSearch(one.question, one.at, last=one)
        return tuple(_bounded(past.values()))

    def is_known(self, question: str) -> bool:
        """Return whether a question is a recent or pinned one, or a page asked it in the last day.

        A page that is loaded again asks it again.
        """
        key = question_key(question)
        with suppress(OSError):
            today = self._log.newest(("people",), days=1)
            if any(
                question_key(search.question) == key for search in today if search.door is Door.PAGE
            ):
                return True
        return any(question_key(search.question) == key for search in self.list())

    def pin(self, question: str, *, pinned: bool = True) -> None:
        """Keep a search among the pinned ones, or no longer."""
        search = next(
            (
                search
                for search in self.list()
                if question_key(search.question) == question_key(question)
            ),
            None,
        )
        if search is not None:
            changed = replace(search, pinned=pinned)
            self._change(
                lambda past: (
                    changed,
                    *(
                        other
                        for other in past
                        if question_key(other.question) != question_key(question)
                    ),
                )
            )

    def _kept_apart(self) -> tuple[PastSearch, ...]:
        """Return pinned and once pinned searches, and recent ones that earlier versions kept."""
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
    """Turn an OSError into a LibraryError with its cure."""
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
    """Return the results of an answer, and of how many documents they are."""
    from ragkit.results import Answer

    if isinstance(answer, Answer):
        return answer.results, answer.total_documents
    return [chunked.result for chunked in answer.results], answer.documents


@lru_cache(maxsize=64)
def _changes(
    options: SearchOptions, chunked: ChunkedOptions | None
) -> tuple[Mapping[str, Any], Mapping[str, Any] | None, str]:
    """Return the options that differ from the defaults, those of a long text, and the filters.

    The filters are in the query language.
    """
    from ragkit.option_codec import dump_options
    from ragkit.options import CHUNKED_OPTIONS, ChunkedOptions, SearchOptions
    from ragkit.retrieval.filter_syntax import format_filters

    of_long, usual = None, ChunkedOptions()
    if chunked is not None:
        values = {name: getattr(chunked, name) for name in CHUNKED_OPTIONS}
        of_long = {name: value for name, value in values.items() if value != getattr(usual, name)}
    return dump_options(options, SearchOptions()), of_long, format_filters(options.filters)


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
