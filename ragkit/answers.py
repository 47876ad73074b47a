"""Written answers and threads as plain values: sentences, their sources, and what checks found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter

from ragkit.formatting import page_range, plural, shortened
from ragkit.results import DocumentRef

NOT_FOUND = "The documents do not say."
"""The literal sentence that a model is told to write if the sources do not answer."""

EXCERPT_WIDTH = 230
"""Characters of a result's excerpt: about two lines."""


@dataclass(frozen=True, slots=True)
class Source:
    """A sentence that an answer is based on.

    It is the slice ``text == stored_text[start:end]`` of a ``document``. A sentence from the web
    has a ``url`` and ``title`` instead. ``page`` is the number of the page on which it starts.
    ``header`` is the header line of the table that it is a row of. ``question`` is the one that it
    answers, if there are several. ``changed`` says that the document no longer contains it there.
    """

    text: str
    start: int
    end: int
    document: DocumentRef | None = None
    heading_path: tuple[str, ...] = ()
    page: int | None = None
    url: str = ""
    title: str = ""
    changed: bool = False
    header: str = ""
    question: str = ""

    @property
    def own_headings(self) -> tuple[str, ...]:
        """The headings above it, without those that repeat the document's title."""
        title = self.document.title if self.document else self.title
        if not title:
            return self.heading_path
        return tuple(
            heading
            for heading in self.heading_path
            if not (title.startswith(heading) or heading.startswith(title))
        )

    @property
    def place(self) -> str:
        """Where it is, in one line: title, headings, page and path, or a web address."""
        document = self.document
        if document is None:
            return " · ".join(filter(None, (self.title, self.url, "web")))
        title = document.title or document.path
        headings = " › ".join([title, *self.own_headings])
        number = self.page
        page = "" if number is None else page_range(number, number, document.format)
        path = "" if document.path == title else document.path
        return " · ".join(filter(None, (headings, page, path)))


def headed(sources: Iterable[Source]) -> Iterator[tuple[str, Source]]:
    """Yield sources, each with the question that stands above it: of several, before its first."""
    question = ""
    for source in sources:
        yield source.question if source.question != question else "", source
        question = source.question


def told_apart(sources: Iterable[Source]) -> dict[int, str]:
    """Return what tells documents of the same title apart, by id: date, path or collection.

    It is the first of them that differs for all. Documents whose title no other one of the sources
    has are left out.
    """
    by_title: dict[str, dict[int, DocumentRef]] = {}
    for document in (source.document for source in sources):
        if document is not None and document.title:
            by_title.setdefault(document.title.casefold(), {})[document.id] = document
    apart: dict[int, str] = {}
    for documents in by_title.values():
        if len(documents) == 1:
            continue
        for of_document in (_day, attrgetter("path"), attrgetter("collection")):
            values = {number: of_document(each) for number, each in documents.items()}
            if all(values.values()) and len(set(values.values())) == len(values):
                apart |= values
                break
    return apart


def _day(document: DocumentRef) -> str:
    return document.date[:10]


class CheckKind(StrEnum):
    """What a check of a sentence found; none is based on similarity alone.

    ``NOT_IN_SOURCE``: a figure, date, name, identifier or quotation is not in the cited sentences
    and their neighbours. The last three are verdicts of a model that was asked to judge.
    """

    NO_SOURCE = "no_source"
    NOT_IN_SOURCE = "not_in_source"
    SUPPORTED = "supported"
    PARTLY = "partly_supported"
    UNSUPPORTED = "not_supported"


@dataclass(frozen=True, slots=True)
class Check:
    """A finding about one sentence; ``detail`` is the part of the sentence that it is about."""

    kind: CheckKind
    detail: str = ""

    @property
    def holds(self) -> bool:
        """Whether the finding speaks for the sentence."""
        return self.kind is CheckKind.SUPPORTED

    @property
    def is_verdict(self) -> bool:
        """Whether it is the verdict of a model that was asked to judge."""
        return self.kind in (CheckKind.SUPPORTED, CheckKind.PARTLY, CheckKind.UNSUPPORTED)

    @property
    def words(self) -> str:
        """The finding in words, such as "45 is not in the source"."""
        if self.kind is not CheckKind.NOT_IN_SOURCE:
            return _WORDS[self.kind]
        detail = shortened(self.detail)
        about = f'"{detail}"' if " " in detail else detail
        return f"{about or 'something'} is not in the source"


_WORDS = {
    CheckKind.NO_SOURCE: "no source",
    CheckKind.SUPPORTED: "supported",
    CheckKind.PARTLY: "partly supported",
    CheckKind.UNSUPPORTED: "not supported",
}


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """One sentence of a written answer, without its citation marks.

    ``sources`` are numbers from 1 in the answer's ``sources``. Sentences of the same ``block`` form
    a paragraph or, if ``item`` is set, an item of a list.
    """

    text: str
    sources: tuple[int, ...] = ()
    checks: tuple[Check, ...] = ()
    block: int = 0
    item: bool = False

    @property
    def holds(self) -> bool:
        """Whether it has a source and no check speaks against it."""
        return bool(self.sources) and all(check.holds for check in self.checks)


class AnswerState(StrEnum):
    """How far a written answer is."""

    READING = "reading"
    THINKING = "thinking"
    WRITING = "writing"
    CHECKING = "checking"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come."""
        return self in (AnswerState.DONE, AnswerState.CANCELLED, AnswerState.FAILED)


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """A model's answer to ``question``, or what is written of it so far.

    ``sources`` are numbered from 1 in the order of their first use. ``unfinished`` is text whose
    sentence has not ended yet. ``passages_read`` of ``passages_found`` fitted into the model's
    window. ``dropped`` counts citations of numbers that no source has. ``not_found`` says that the
    model found no answer in the sources, ``cut`` that the answer reached its maximum length, and
    ``failure`` with ``cure`` why there is none, or no more. ``notices`` are sentences for the
    person. Tokens are all that the model read and wrote; ``tokens_estimated`` if it did not say.
    """

    question: str
    model: str = ""
    state: AnswerState = AnswerState.READING
    sentences: tuple[AnswerSentence, ...] = ()
    sources: tuple[Source, ...] = ()
    unfinished: str = ""
    passages_read: int = 0
    passages_found: int = 0
    dropped: int = 0
    not_found: bool = False
    cut: bool = False
    judged: bool = False
    failure: str = ""
    cure: str = ""
    notices: tuple[str, ...] = ()
    seconds: float = 0.0
    prompt_tokens: int = 0
    output_tokens: int = 0
    tokens_estimated: bool = False

    @property
    def settled(self) -> int:
        """How many sentences are final; while writing, the last may still get citations."""
        has_begun_another = any(map(str.isalnum, self.unfinished))
        return len(self.sentences) if has_begun_another else max(0, len(self.sentences) - 1)

    @property
    def holding(self) -> int:
        """How many sentences passed the checks."""
        return sum(sentence.holds for sentence in self.sentences)

    @property
    def claims(self) -> int:
        """How many sentences need a source; lead-ins and headings do not."""
        return sum(bool(sentence.sources or sentence.checks) for sentence in self.sentences)

    @property
    def figure(self) -> str:
        """How many sentences passed the checks, in words; empty if there are none to check."""
        if not self.claims or self.not_found:
            return ""
        return f"{self.holding} of {plural(self.claims, 'sentence')} passed the checks"

    @property
    def is_grounded(self) -> bool:
        """Whether at least one sentence cites a source."""
        return any(sentence.sources for sentence in self.sentences)


@dataclass(frozen=True, slots=True)
class Turn:
    """One question of a thread with its answers.

    ``asked`` is the question that was searched for: ``question``, rewritten to stand alone if it is
    a follow-up. ``id`` is 0 before it is saved.
    """

    question: str
    asked: str
    quick: tuple[Source, ...] = ()
    written: WrittenAnswer | None = None
    id: int = 0
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class ThreadSummary:
    """A thread in a list: its name, and how many questions it has."""

    id: int
    title: str
    turns: int
    created_at: float
    changed_at: float


@dataclass(frozen=True, slots=True)
class Thread:
    """Questions and follow-ups, oldest first; times are in seconds since 1970."""

    id: int
    title: str
    collections: tuple[str, ...]
    turns: tuple[Turn, ...] = ()
    created_at: float = 0.0
    changed_at: float = 0.0
