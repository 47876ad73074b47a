"""Threads of a library: saved questions with their answers, each a follow-up to the last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from ragkit.answers import AnswerState, Source, Thread, ThreadSummary, Turn, WrittenAnswer

if TYPE_CHECKING:
    from ragkit.catalog import Catalog

_Quoted: TypeAlias = tuple[tuple[int, int, int], str]
_FEW = 3


class ThreadService:
    """Saved threads. Each turn is stored with the text of its sources, and never changes.

    ``Source.changed`` tells that the document is gone, or no longer says that there; a file that
    was added again is the same document. Methods raise a NotFoundError if a thread or turn is gone,
    and a ThreadError if one cannot be kept.
    """

    def __init__(self, catalog: Catalog, *, kept: bool) -> None:
        self._catalog = catalog
        self.kept = kept
        """Whether pages save questions by themselves (``search_history``)."""

    def list(self) -> Sequence[ThreadSummary]:
        """Return all threads, most recently changed first."""
        return self._catalog.threads.all()

    def get(self, thread_id: int) -> Thread:
        """Return a thread with its turns, oldest first; unfinished answers count as cancelled."""
        thread = self._catalog.threads.get(thread_id)
        sources = [
            source
            for turn in thread.turns
            for source in (*turn.quick, *(turn.written.sources if turn.written else ()))
        ]
        again = self._added_again(sources)
        changed = self._changed(_now(source, again) for source in sources)
        turns = tuple(
            replace(
                turn,
                quick=_marked(turn.quick, changed, again),
                written=_ended(turn.written, changed, again) if turn.written else None,
            )
            for turn in thread.turns
        )
        return replace(thread, turns=turns)

    def begin(self, question: str, collections: str | Iterable[str]) -> Thread:
        """Create a thread named after its first question; ``add`` saves its turns.

        Raises:
            NotFoundError: there is no collection of one of these names.
            ThreadError: there are too many threads.
        """
        names = [collections] if isinstance(collections, str) else list(collections)
        known = {record.name for record in self._catalog.collections.named(names)}
        names = [
            name if name in known else self._catalog.collections.get(name).name for name in names
        ]
        return self._catalog.threads.get(self._catalog.threads.begin(question, names))

    def add(self, thread_id: int, turn: Turn) -> Turn:
        """Save a turn at the end of a thread, and return it with its id."""
        return replace(turn, id=self._catalog.threads.add(thread_id, turn))

    def replace(self, turn: Turn) -> None:
        """Replace the turn with the same id, after it was answered or judged."""
        self._catalog.threads.replace(turn)

    def keep_written(self, turn: Turn) -> None:
        """Store a turn's written answer, unless the turn is gone or asks something else by now."""
        self._catalog.threads.keep_written(turn)

    def rename(self, thread_id: int, title: str) -> None:
        """Rename a thread; the title is one line of up to 80 characters."""
        self._catalog.threads.rename(thread_id, title)

    def delete(self, thread_id: int) -> Thread:
        """Delete a thread, and return it for ``restore``."""
        thread = self._catalog.threads.get(thread_id)
        self._catalog.threads.delete(thread_id)
        return thread

    def restore(self, thread: Thread) -> None:
        """Restore a deleted thread with its id."""
        self._catalog.threads.restore(thread)

    def as_markdown(self, thread_id: int) -> str:
        """Return a thread as Markdown, with the sources of each answer by number."""
        from ragkit.answering.thread_markdown import thread_as_markdown

        return thread_as_markdown(self.get(thread_id))

    def _added_again(self, sources: Iterable[Source]) -> dict[int, int]:
        """Return the new ids of documents that were deleted and added again, by the old ones."""
        files = {each.document.id: each.document.file for each in sources if each.document}
        for document_id in self._catalog.documents.by_path(files):
            del files[document_id]
        found = self._catalog.documents.of_files(files.values()) if files else {}
        return {old: found[file] for old, file in files.items() if file in found}

    def _changed(self, sources: Iterable[Source]) -> frozenset[_Quoted]:
        """Return the quotations that documents no longer contain at the same place."""
        quoted = list(dict.fromkeys(filter(None, map(_quoted, sources))))
        places = [place for place, _ in quoted]
        counts = Counter(document for document, _, _ in places)
        # Reading a slice goes through the whole text; for several slices, read it once.
        often = {document for document, count in counts.items() if count > _FEW}
        texts = self._catalog.documents.slices(places, often)
        pairs = zip(quoted, texts, strict=True)
        return frozenset(quotation for quotation, text in pairs if quotation[1] != text)


def _quoted(source: Source) -> _Quoted | None:
    """Return a source's place (document, start, end) and text, or ``None`` if it is on the web."""
    if source.document is None:
        return None
    return (source.document.id, source.start, source.end), source.text


def _now(source: Source, again: Mapping[int, int]) -> Source:
    document = source.document
    if document is None or document.id not in again:
        return source
    return replace(source, document=replace(document, id=again[document.id]))


def _marked(
    sources: Sequence[Source], changed: frozenset[_Quoted], again: Mapping[int, int]
) -> tuple[Source, ...]:
    current = [_now(source, again) for source in sources]
    return tuple(replace(source, changed=_quoted(source) in changed) for source in current)


def _ended(
    written: WrittenAnswer, changed: frozenset[_Quoted], again: Mapping[int, int]
) -> WrittenAnswer:
    state = written.state if written.state.is_over else AnswerState.CANCELLED
    return replace(written, state=state, sources=_marked(written.sources, changed, again))
