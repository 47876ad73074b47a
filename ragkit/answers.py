"""What an answer is: its sentences, what each rests on, and what checking them found.

Plain values for pages, the command line and other surfaces, as ``results.py`` holds those of a
search.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ragkit.formatting import plural, shortened
from ragkit.results import DocumentRef

NOT_FOUND = "The documents do not say."
"""The literal sentence that a model is told to write where the sources do not answer."""

EXCERPT_WIDTH = 230
"""Characters of what is quoted of a result: about two lines."""


@dataclass(frozen=True, slots=True)
class Source:
    """A sentence that an answer rests on.

    It is the slice ``text == stored_text[start:end]`` of a ``document``. A sentence of the web has
    no document, but a ``url`` and the ``title`` of its page. ``page`` is the number of the page on
    which it starts. ``header`` is the header line of the table that it is a row of.
    ``changed`` says that the document no longer says this there.
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

    @property
    def own_headings(self) -> tuple[str, ...]:
        """The headings above it, without what the title of the document says already."""
        title = self.document.title if self.document else self.title
        if not title:
            return self.heading_path
        return tuple(
            one for one in self.heading_path if not (title.startswith(one) or one.startswith(title))
        )

    @property
    def place(self) -> str:
        """Where it stands, as it is written: title, headings, page and path, or an address."""
        document = self.document
        if document is None:
            return " · ".join(filter(None, (self.title, self.url, "web")))
        title = document.title or document.path
        headings = " › ".join([title, *self.own_headings])
        page = "" if self.page is None else f"p. {self.page}"
        path = "" if document.path == title else document.path
        return " · ".join(filter(None, (headings, page, path)))


class CheckKind(StrEnum):
    """What a check of a sentence found; none of them rests on likeness alone.

    ``NOT_IN_SOURCE`` is a figure, date, name, identifier or quotation that the cited sentences and
    their neighbours do not hold. The last three are what a model says that was asked to judge.
    """

    NO_SOURCE = "no_source"
    NOT_IN_SOURCE = "not_in_source"
    SUPPORTED = "supported"
    PARTLY = "partly_supported"
    UNSUPPORTED = "not_supported"


@dataclass(frozen=True, slots=True)
class Check:
    """A finding about one sentence; ``detail`` names what it is about, as the sentence has it."""

    kind: CheckKind
    detail: str = ""

    @property
    def holds(self) -> bool:
        """Whether the sentence stands in spite of, or because of, this finding."""
        return self.kind is CheckKind.SUPPORTED

    @property
    def is_verdict(self) -> bool:
        """Whether a model says so that was asked to judge."""
        return self.kind in (CheckKind.SUPPORTED, CheckKind.PARTLY, CheckKind.UNSUPPORTED)

    @property
    def words(self) -> str:
        """What it says, such as "45 is not in the source"."""
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
    """One sentence of a written answer, without marks of citation.

    ``sources`` are numbers from 1 in the answer's ``sources``. Sentences of the same ``block``
    stand in one paragraph, or one item of a list where ``item`` is True.
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


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """What a model wrote in answer to ``question``, or as far as it is now.

    ``sources`` are numbered from 1 by their first use. ``unfinished`` is text that has no end of a
    sentence yet. ``passages_read`` of ``passages_found`` fitted in the window. ``dropped`` counts
    citations of numbers that were never given. ``not_found`` says that the model found no answer
    in the sources (``NOT_FOUND``). ``cut`` says that the answer ended at its longest length;
    ``failure`` and ``cure`` why there is none, or no more. ``notices`` are sentences for the
    person. Tokens are of all that the model read and wrote: ``tokens_estimated`` where it did
    not count them.
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
        """How many sentences change no more while it is written: the last may still get numbers."""
        goes_on = any(map(str.isalnum, self.unfinished))
        return len(self.sentences) if goes_on else max(0, len(self.sentences) - 1)

    @property
    def holding(self) -> int:
        """How many sentences hold."""
        return sum(sentence.holds for sentence in self.sentences)

    @property
    def claims(self) -> int:
        """How many sentences say something that needs a source: lead-ins and headings do not."""
        return sum(bool(sentence.sources or sentence.checks) for sentence in self.sentences)

    @property
    def figure(self) -> str:
        """How many sentences hold, in words; empty where none says anything."""
        if not self.claims or self.not_found:
            return ""
        verb = "holds" if 1 in (self.holding, self.claims) else "hold"
        return f"{self.holding} of {plural(self.claims, 'sentence')} {verb}"

    @property
    def is_grounded(self) -> bool:
        """Whether at least one sentence cites a source."""
        return any(sentence.sources for sentence in self.sentences)


@dataclass(frozen=True, slots=True)
class Turn:
    """One question of a thread with its answers, as they were given.

    ``asked`` is the question as it was searched for: rewritten to stand alone, where ``question``
    follows an earlier one. ``id`` is 0 before it is kept.
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
    """Questions that follow one another, oldest first; ``changed_at`` is in seconds since 1970."""

    id: int
    title: str
    collections: tuple[str, ...]
    turns: tuple[Turn, ...] = ()
    created_at: float = 0.0
    changed_at: float = 0.0
