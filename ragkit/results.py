"""What a search returns, as plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from ragkit.options import SearchOptions, Sort
from ragkit.traces import Trace
from ragkit.types import BlockKind, Level, Metadata, Span, pickled_as_call

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_T = TypeVar("_T")


@dataclass(slots=True, eq=False, repr=False)
class Later(Sequence[_T], Generic[_T]):
    """A lazy tuple: it is computed when it is first used, and compares equal to that tuple.

    ``make`` must always return the same. It is pickled as the tuple or, if ``travels``, as
    ``make``, which must then be picklable.
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
            # Last, so that no other thread sees it as computed too early.
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
    """A part of a score: ``value == weight * normalised``.

    ``index`` is "vector" or "keyword", or one of the additions "title", "whole title", "phrase",
    "verbatim", "name", "document", "definition" and "figure" (``SearchOptions``). ``rank`` counts
    from 1 in the index's own list, and is 0 for an addition, or if the entry is not in that list.
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
    """A chunk that the query found. ``index`` counts from 0; its contributions sum to ``score``.

    ``terms`` are the query's words in the passage with the chunk. ``grade`` is a reranker's, from 0
    to 10, or ``None``. ``span``, ``pages`` (first and last) and ``heading_path`` locate a chunk
    that is shown; others have none.

    ``level`` is the level that was scored. At level BLOCK, ``block`` is the kind of the table, list
    or code block in the chunk, and ``span`` is its span. ``part_of`` is set if a whole section or
    document was found (``Result.wholes``) and this is one of its best chunks.
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

    ``text`` is empty without ``SearchOptions.show_content``. ``highlights`` are the spans of
    matched words in ``text``, computed when first used. ``page`` is the number of the page on which
    it starts; ``later_pages`` are (offset in the document, number) of pages that begin within it.
    ``chunks`` are the first and last index of its chunks. ``heading_path`` is that of its first
    matching chunk; ``headings`` are (offset, heading path) of its sections, if it has several.
    ``cut`` says that a limit ended it before its section did. ``shortens`` is the span of a weak
    part of which it is the best sentence (``SearchOptions.shorten_below``). ``header`` is the
    header line of the table in the middle of which it begins.
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
    header: str = ""

    def page_at(self, offset: int) -> int | None:
        """Return the number of the page at an offset in the document."""
        begun = [number for start, number in self.later_pages if start <= offset]
        return begun[-1] if begun else self.page

    def path_at(self, offset: int) -> tuple[str, ...]:
        """Return the headings above an offset in the document."""
        begun = [path for start, path in self.headings if start <= offset]
        return begun[-1] if begun else self.heading_path


@pickled_as_call
@dataclass(frozen=True, slots=True)
class DocumentRef:
    """The document of a result. ``file`` is its path on this machine, where it may be gone."""

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
    markup: str = ""


@pickled_as_call
@dataclass(frozen=True, slots=True)
class Result:
    """One document in the answer.

    ``passages`` are in reading order and never overlap; ``gaps`` are (first, last) indexes of
    chunks left out between them. ``matched_chunks`` are sorted by grade, if there are any, and
    score. ``context_chunks`` are shown besides them, and ``more`` matched without being shown.
    ``wholes`` are the sections, or the document, that were found as a whole: each with its own
    score, and the ``index`` of its first chunk; the matched chunks are then their best ones.
    ``also_at`` are other paths with the same text. ``missing`` says that the file has vanished.

    ``score`` orders results: that of the ``lead``, or of all matched chunks together
    (``SearchOptions.aggregation``). It is partly relative to the best of its list, so the first
    result of any list scores high. ``fit`` is absolute, from 0 to 1: how much of the question the
    best chunk covers, by rarity of words and by meaning; ``None`` if it was not computed. ``weak``
    says that it is too low for an answer (``retrieval/fit.py``). ``missing_terms`` are words of the
    question that the document does not contain. ``forms`` are tokens that were searched for as
    other forms of its words, each with the token of the word.
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
    forms: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def lead(self) -> MatchedChunk | None:
        """The hit that ranked it: the best whole, or else the best matched chunk."""
        return next(iter((*self.wholes, *self.matched_chunks)), None)

    @property
    def max_score(self) -> float:
        """The score of the best matched chunk."""
        return max((chunk.score for chunk in self.matched_chunks), default=self.score)

    @property
    def avg_score(self) -> float:
        """The mean score of the matched chunks."""
        scores = [chunk.score for chunk in self.matched_chunks]
        return sum(scores) / len(scores) if scores else self.score

    @property
    def best_index(self) -> int:
        """The index of the best matched chunk; 0 if there is none."""
        return self.matched_chunks[0].index if self.matched_chunks else 0

    @property
    def best_span(self) -> Span | None:
        """The span of the best matched chunk; ``None`` for the document as a whole."""
        best = self.matched_chunks[0] if self.matched_chunks else None
        return None if best is None or best.level is Level.DOCUMENT else best.span

    @property
    def shown_chunks(self) -> tuple[int, ...]:
        """The indexes of all chunks in the passages, in order."""
        matched = {chunk.index for chunk in self.matched_chunks}
        return tuple(sorted(matched.union(self.context_chunks)))

    @property
    def chunk_coverage(self) -> str:
        """The chunks shown, numbered from 1: "chunks 2-5 of 12", "chunks 1-3,7-9 of 12"."""
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
    """The outcome of reranking: how many chunks the model graded.

    ``failure`` says why results were not reranked, or is empty. ``note`` is for the trace,
    ``notice`` for the person.
    """

    graded: int = 0
    failure: str = ""
    note: str = ""
    notice: str = ""


@dataclass(frozen=True, slots=True)
class Phrasing:
    """Another text that was searched for besides the question.

    ``found`` counts the results that are among its own best; ``only`` are the ids of documents
    that nothing else found.
    """

    text: str
    found: int = 0
    only: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PhrasingOutcome:
    """How a question was rephrased; ``how`` is the value of ``SearchOptions.phrasings``.

    ``failure`` says why only the question itself was searched for, or is empty; ``notice`` is for
    the person.
    """

    how: str
    model: str = ""
    phrasings: tuple[Phrasing, ...] = ()
    failure: str = ""
    notice: str = ""


@dataclass(frozen=True, slots=True)
class FilterReading:
    """A phrase of a question, ``query[start:end]``, that can be read as filters.

    ``restricts`` says that they were applied; otherwise they are only offered.
    """

    words: str
    filters: str
    restricts: bool
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Spelling:
    """A word of a question that no document has, and the nearest one, searched for instead."""

    word: str
    meant: str


@pickled_as_call
@dataclass(frozen=True, slots=True)
class Answer:
    """Everything that a search returns. ``notices`` are sentences for the person.

    ``document_ids`` (ascending; ``total_documents`` counts them) are the documents that pass the
    filters and either contain a word of the question or were found by meaning; if the library knows
    no word of the question, all that pass. ``missing_terms`` are words of the question that no
    searched document contains. ``nothing_close`` says that every result is weak, or there is none.

    ``suggestion`` is a corrected question to be offered. ``corrected`` is the question that was
    searched for, if that is not ``query``, and ``spelled`` are its corrected words. ``readings``
    are the phrases that can be read as filters, in order. ``listed`` says that the question has
    filters only: results then have no scores. ``asked_sort`` is the order that the question asks
    for, if any. ``questions`` is the number of questions in it, ``options`` are those of the
    search. ``rerank`` and ``phrasings`` are set if these asked for them. ``foreign``
    says that the question is not in English, so that the built-in vectors know little of it.
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
    readings: tuple[FilterReading, ...] = ()
    spelled: tuple[Spelling, ...] = ()
    phrasings: PhrasingOutcome | None = None
    document_ids: NDArray[np.int64] | None = field(default=None, compare=False, repr=False)
    questions: int = 1
    options: SearchOptions | None = field(default=None, compare=False, repr=False)
    asked_sort: Sort | None = None
    foreign: bool = False

    @property
    def forms(self) -> Mapping[str, str]:
        """Those of its results, which have the same."""
        return self.results[0].forms if self.results else {}

    def sorted_by(self, sort: Sort) -> Sort:
        """Return the order of the results, if their search had this ``sort``."""
        if sort is Sort.AUTO or (self.listed and not sort.by_date):
            usual = Sort.NEWEST if self.listed else Sort.RELEVANCE
            return (sort is Sort.AUTO and self.asked_sort) or usual
        return sort

    @property
    def understood(self) -> tuple[str, ...]:
        """Sentences on how the question was understood, if not literally."""
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
