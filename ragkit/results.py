"""What a search returns: plain values for pages, the command line and other surfaces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from ragkit.traces import Trace
from ragkit.types import BlockKind, Level, Metadata, Span, pickled_as_call

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_T = TypeVar("_T")


@dataclass(slots=True, eq=False, repr=False)
class Later(Sequence[_T], Generic[_T]):
    """A lazy tuple: made when it is first looked at, and equal to that tuple.

    ``make`` must give the same whenever it is called. Pickled and copied as the tuple, or where
    ``travels`` as ``make``, which can then be pickled: whoever unpickles it may never look.
    """

    _make: Callable[[], tuple[_T, ...]] | None
    _made: tuple[_T, ...] = ()
    travels: bool = False

    @property
    def made(self) -> tuple[_T, ...]:
        """The tuple."""
        make = self._make
        if make is not None:
            self._made = make()
            # Last, so that no other thread takes it for made before it is.
            self._make = None
        return self._made

    @overload
    def __getitem__(self, index: int) -> _T: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[_T, ...]: ...

    def __getitem__(self, index: int | slice) -> _T | tuple[_T, ...]:
        return self.made[index]

    def __len__(self) -> int:
        return len(self.made)

    def __iter__(self) -> Iterator[_T]:
        return iter(self.made)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Later):
            return self.made == other.made
        return self.made == other if isinstance(other, tuple) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.made)

    def __repr__(self) -> str:
        return repr(self.made)

    def __reduce__(self) -> tuple[Any, ...]:
        make = self._make
        if self.travels and make is not None:
            return Later, (make, (), True)
        return tuple, (self.made,)


@pickled_as_call
@dataclass(frozen=True, slots=True)
class Contribution:
    """The part of a score that one index added: ``value == weight * normalised``.

    ``rank`` counts from 1 in that index's own list; 0 when the entry is not in it, or when the
    part is no index's: "title", "phrase", "verbatim", "name" and "document" (``SearchOptions``).
    """

    index: str
    rank: int
    raw: float
    normalised: float
    weight: float
    value: float


@pickled_as_call
@dataclass(frozen=True, slots=True)
class MatchedChunk:
    """A chunk that the query found. ``index`` counts from 0; parts add up to ``score``.

    ``terms`` are the words of the query that the passage with the chunk has. ``grade`` is what
    a reranker gave it, from 0 to 10; ``None`` when it gave none. ``span``, ``pages`` (the first and
    the last) and ``heading_path`` locate it in its document; a chunk that is not shown has none.

    ``level`` is what was scored. ``part_of`` is the level of the section or document that was found
    as a whole, where the chunk is what of it answers (``Result.wholes``). At level BLOCK it is a
    table, list or code block in the chunk: ``block`` says which, and ``span`` is its own.
    """

    index: int
    score: float
    level: Level = Level.CHUNK
    contributions: Sequence[Contribution] = ()
    terms: Sequence[str] = ()
    grade: float | None = None
    span: Span | None = None
    pages: tuple[int, int] | None = None
    heading_path: tuple[str, ...] = ()
    part_of: Level | None = None
    block: BlockKind | None = None


@pickled_as_call
@dataclass(frozen=True, slots=True)
class Passage:
    """A contiguous slice ``text[start:end]`` of a document's stored text.

    ``highlights`` are the spans of matched words, as offsets into ``text``; a search leaves
    them to be found when they are first looked at. ``page`` is the number of the page on which
    it starts, ``later_pages`` are those that begin inside of it, each as its offset in the
    document and its number. ``chunks`` are the first and last index of the chunks that it shows.
    ``text`` is empty in results without content, ``SearchOptions.show_content``.
    ``cut`` is True when a budget ended it before its section did. ``headings`` are the heading
    paths of its sections, where it has several, each with the offset from which it holds; its
    ``heading_path`` is that of the first chunk that matched, which may be of several as well.
    ``shortens`` is the part of the document that the passage stands for, where that is a weak one
    of which only the best sentence is shown (``SearchOptions.shorten_below``).
    """

    start: int
    end: int
    text: str
    heading_path: tuple[str, ...] = ()
    page: int | None = None
    highlights: Sequence[tuple[int, int]] = ()
    chunks: tuple[int, int] = (0, 0)
    cut: bool = False
    later_pages: tuple[tuple[int, int], ...] = ()
    headings: tuple[tuple[int, tuple[str, ...]], ...] = ()
    shortens: Span | None = None

    def page_at(self, offset: int) -> int | None:
        """Return the number of the page on which an offset in the document is."""
        begun = [number for start, number in self.later_pages if start <= offset]
        return begun[-1] if begun else self.page

    def path_at(self, offset: int) -> tuple[str, ...]:
        """Return the headings above an offset in the document."""
        begun = [path for start, path in self.headings if start <= offset]
        return begun[-1] if begun else self.heading_path


@pickled_as_call
@dataclass(frozen=True, slots=True)
class DocumentRef:
    """The document of a result. ``file`` is its path on this machine; it may be gone."""

    id: int
    path: str
    title: str
    collection: str
    format: str
    pages: int
    chunks: int
    file: str
    date: str = ""
    metadata: Metadata = field(default_factory=dict)


@pickled_as_call
@dataclass(frozen=True, slots=True)
class Result:
    """One document in the answer.

    ``score`` is that of its ``lead``, or with ``SearchOptions.aggregation`` of all its matched
    chunks together. ``passages`` are in reading order and never
    overlap; ``gaps`` are the (first, last) indexes of chunks left out between them.
    ``matched_chunks`` are best first, by grade where there are any, then by score. ``wholes`` are
    its sections, or itself, where they were found as a whole: each with the score that it has as
    such, ``index`` being its first chunk. The matched chunks are then what of them answers.
    ``context_chunks`` are shown without having matched.
    ``more`` are further chunks of the document that the question found. ``also_at`` are other
    places with the same text. ``missing`` is True when the file has vanished since.

    ``score`` is made for ordering: a part of it is relative to the best of its list, so that the
    best of any list has much of it. ``fit`` is absolute, from 0 to 1: how much of the question
    its best chunk holds, by rarity of words and by meaning; ``None`` where it was not judged.
    ``weak`` says that this is too little to be an answer (``retrieval/fit.py``).
    ``missing_terms`` are words of the question that are nowhere in the document.
    """

    document: DocumentRef
    score: float
    passages: tuple[Passage, ...]
    matched_chunks: tuple[MatchedChunk, ...]
    context_chunks: tuple[int, ...] = ()
    gaps: tuple[tuple[int, int], ...] = ()
    more: tuple[MatchedChunk, ...] = ()
    also_at: tuple[str, ...] = ()
    missing: bool = False
    fit: float | None = None
    weak: bool = False
    missing_terms: tuple[str, ...] = ()
    wholes: tuple[MatchedChunk, ...] = ()

    @property
    def lead(self) -> MatchedChunk | None:
        """Return the hit that ranked it: the best whole, or else the best matched chunk."""
        return next(iter((*self.wholes, *self.matched_chunks)), None)

    @property
    def max_score(self) -> float:
        """Return the best matched chunk's score."""
        return max((chunk.score for chunk in self.matched_chunks), default=self.score)

    @property
    def avg_score(self) -> float:
        """Return the mean score of the matched chunks."""
        scores = [chunk.score for chunk in self.matched_chunks]
        return sum(scores) / len(scores) if scores else self.score

    @property
    def best_index(self) -> int:
        """Return the index of the best matched chunk; 0 when there is none."""
        return self.matched_chunks[0].index if self.matched_chunks else 0

    @property
    def best_span(self) -> Span | None:
        """Return where the best matched chunk stands; ``None`` for the document as a whole."""
        best = self.matched_chunks[0] if self.matched_chunks else None
        return None if best is None or best.level is Level.DOCUMENT else best.span

    @property
    def shown_chunks(self) -> tuple[int, ...]:
        """Indexes of all chunks that the passages show, in order."""
        matched = {chunk.index for chunk in self.matched_chunks}
        return tuple(sorted(matched.union(self.context_chunks)))

    @property
    def chunk_coverage(self) -> str:
        """Describe what is shown, counted from 1: "chunks 2-5 of 12", "chunks 1-3,7-9 of 12"."""
        total = self.document.chunks
        parts: list[list[int]] = []
        for index in self.shown_chunks:
            if parts and index == parts[-1][1] + 1:
                parts[-1][1] = index
            else:
                parts.append([index, index])
        names = [f"{a + 1}-{b + 1}" if a != b else f"{a + 1}" for a, b in parts]
        word = "chunk" if len(self.shown_chunks) == 1 else "chunks"
        return f"{word} {','.join(names)} of {total}"


@dataclass(frozen=True, slots=True)
class RerankOutcome:
    """The outcome of reranking: how many chunks a model was to read, and how many it graded.

    ``failure`` says why the results are in the usual order; it is empty when they are reranked.
    ``note`` is for the trace, ``notice`` for the person.
    """

    considered: int = 0
    graded: int = 0
    failure: str = ""
    note: str = ""
    notice: str = ""


@dataclass(frozen=True, slots=True)
class Phrasing:
    """Another text that was searched for besides the question, and what it brought.

    ``found`` counts the results that are among its own best; ``only`` are the documents of those
    that came through it alone.
    """

    text: str
    found: int = 0
    only: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PhrasingOutcome:
    """How a question was asked in other words, ``how`` as in ``SearchOptions.phrasings``.

    ``failure`` says why only the question itself was asked; ``notice`` says so to the person.
    """

    how: str
    model: str = ""
    phrasings: tuple[Phrasing, ...] = ()
    failure: str = ""
    notice: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A phrase of a question, ``query[start:end]``, that can be read as filters, as typed.

    ``restricts``: the results are only of those documents; else the filters are only offered.
    """

    words: str
    filters: str
    restricts: bool
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Spelling:
    """A word of a question that no document has, and the nearest one that was searched for."""

    word: str
    meant: str


@pickled_as_call
@dataclass(frozen=True, slots=True)
class Answer:
    """Everything that a search returns. ``notices`` are sentences for the person.

    ``rerank`` is the outcome of reranking, and ``phrasings`` of asking in other words, where they
    were asked for.

    ``document_ids`` are the documents, ascending, that pass the filters and either hold a word of
    the question or were found by meaning; of a question without words that the library knows, all
    that pass. ``total_documents`` counts them. ``missing_terms`` are words of the question that are
    nowhere in what is searched.
    ``nothing_close`` is True when every result is weak, or there is none.

    ``suggestion`` is the question as it was probably meant, to be offered; ``corrected`` is the one
    that these results are for when it is not ``query``. Both are empty when there is none.
    ``spelled`` are the words in which they differ, where no document has them as they are typed.
    ``listed`` says that the question has no words, only filters: the results are the documents that
    those name, newest first, and have no scores. ``readings`` are the phrases of the question that
    can be read as filters, in its order. ``questions`` counts those that were asked as one.
    """

    query: str
    results: tuple[Result, ...]
    trace: Trace
    notices: tuple[str, ...] = ()
    rerank: RerankOutcome | None = None
    total_documents: int = 0
    missing_terms: tuple[str, ...] = ()
    nothing_close: bool = False
    suggestion: str = ""
    corrected: str = ""
    listed: bool = False
    readings: tuple[Reading, ...] = ()
    spelled: tuple[Spelling, ...] = ()
    phrasings: PhrasingOutcome | None = None
    document_ids: NDArray[np.int64] | None = field(default=None, compare=False, repr=False)
    questions: int = 1

    @property
    def understood(self) -> tuple[str, ...]:
        """Sentences on how the question was read where that is not as it is typed."""
        sentences = [
            f'"{reading.words}" {"read" if reading.restricts else "could be read"} '
            f"as {reading.filters}"
            for reading in self.readings
        ]
        if self.spelled:
            also = ", ".join(
                f"{correction.meant} for {correction.word}" for correction in self.spelled
            )
            sentences.append(f"Also searched: {also}")
        elif self.corrected:
            sentences.append(f"Showing results for: {self.corrected}")
        return tuple(sentences)
