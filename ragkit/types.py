"""The values that pass between ragkit's packages.

Every offset counts Python characters (code points) of a document's stored text, and every
span is half open: ``[start, end)``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias, TypeVar

Metadata: TypeAlias = dict[str, Any]
"""Front matter, author, dates, tags: JSON values only."""

_T = TypeVar("_T")


def pickled_as_call(of_dataclass: type[_T]) -> type[_T]:
    """Decorate a dataclass of two or more fields so that its values pickle as constructor calls.

    By default a dataclass with slots looks up its fields for each value, which takes 50 % longer.
    """
    values = attrgetter(*(declared.name for declared in fields(of_dataclass)))  # type: ignore[arg-type]

    def reduce(value: _T) -> tuple[type[_T], tuple[Any, ...]]:
        return of_dataclass, values(value)

    of_dataclass.__reduce__ = reduce  # type: ignore[method-assign, assignment]
    return of_dataclass


class Version(NamedTuple):
    """The version of a collection: the number of its last change, and a random token.

    Numbers grow within one catalog. The token tells apart changes of the same number in different
    histories, as after a restore. 0 stands for a collection that was never filled.
    """

    number: int
    token: str = ""


ALL_COLLECTIONS = 0
"""Stands for all collections where the id of one is expected; ids begin at 1."""


class Status(StrEnum):
    """The status of a document; every file ends with one of the last three."""

    PENDING = "pending"
    INDEXED = "indexed"
    SKIPPED = "skipped"
    FAILED = "failed"


class Markup(StrEnum):
    """How a document's stored text is divided."""

    MARKDOWN = "markdown"
    PLAIN = "plain"
    CODE = "code"


class BlockKind(StrEnum):
    """The kind of a block."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"
    FRONT_MATTER = "front_matter"
    MESSAGE = "message"


class Level(StrEnum):
    """The granularity of an index entry.

    A CHUNK entry holds the tokens of a chunk. It is followed by its CONTEXT entry (the chunk with
    the context that a model wrote) and its QUESTION entries (questions that it answers), which have
    vectors only. BLOCK is a table, list or code block within a chunk (``InnerBlock``).
    """

    DOCUMENT = "document"
    SECTION = "section"
    CHUNK = "chunk"
    QUESTION = "question"
    CONTEXT = "context"
    BLOCK = "block"


class Field(StrEnum):
    """The separately weighted parts of an entry in the keyword index.

    TITLE also holds the words of headings and of the file name, FOLDERS those of its folders. TOPIC
    holds a chunk's topic, decisions and actions, as a model noted them.
    """

    TEXT = "text"
    TITLE = "title"
    CONTEXT = "context"
    KEYWORDS = "keywords"
    QUESTIONS = "questions"
    FOLDERS = "folders"
    TOPIC = "topic"


LEVEL_CODES = {
    Level.DOCUMENT: 0,
    Level.SECTION: 1,
    Level.CHUNK: 2,
    Level.QUESTION: 3,
    Level.CONTEXT: 4,
    Level.BLOCK: 5,
}
"""The code of each level in the catalog and in index files; defined only here."""

INDEXED_LEVELS = {
    Level.CHUNK: (Level.CHUNK, Level.QUESTION, Level.CONTEXT),
    Level.SECTION: (Level.SECTION,),
    Level.DOCUMENT: (Level.DOCUMENT,),
    Level.BLOCK: (Level.BLOCK,),
}
"""The indexes of a collection, each with the levels of its entries and its own token statistics."""

FIELD_CODES = {
    Field.TEXT: 0,
    Field.CONTEXT: 1,
    Field.KEYWORDS: 2,
    Field.QUESTIONS: 3,
    Field.TITLE: 4,
    Field.FOLDERS: 5,
    Field.TOPIC: 6,
}
"""The code of each field in the catalog and in index files; defined only here."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page, sheet or slide of a file, as a span of the stored text.

    ``number`` counts from 1; ``label`` is its name in the file ("iv", "Budget").
    """

    number: int
    label: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A division of the file's own: a bookmark, slide, sheet, cell or symbol.

    ``level`` counts from 1, like that of a heading.
    """

    offset: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class MessageSpan:
    """One message of a conversation, including the line that names its author.

    ``at`` is its time in ISO format, with the UTC offset if that is known, or empty. ``author`` is
    empty for messages of the chat program itself.
    """

    start: int
    end: int
    author: str
    at: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """The output of a reader: a file's normalised text and its metadata.

    ``text`` is in NFC, with line feeds only and without NUL. ``pages`` tile the text or are empty.
    ``outline`` is sorted by offset. ``warnings`` are sentences for the person. ``messages`` are in
    order and do not overlap.
    """

    text: str
    title: str
    format: str
    markup: Markup = Markup.PLAIN
    language: str = ""
    pages: tuple[Page, ...] = ()
    outline: tuple[OutlineEntry, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    messages: tuple[MessageSpan, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """The span under one heading, up to the next heading of any level. Sections tile the text.

    ``path`` holds the titles from the outermost heading to this one. For the text before the first
    heading it is empty, and ``level`` is 0.
    """

    index: int
    start: int
    end: int
    level: int
    path: tuple[str, ...]

    @property
    def title(self) -> str:
        """The section's own heading, or an empty string."""
        return self.path[-1] if self.path else ""


@dataclass(frozen=True, slots=True)
class Block:
    """The smallest span that a reader sees as a unit. Blocks tile the text."""

    start: int
    end: int
    kind: BlockKind


@dataclass(frozen=True, slots=True)
class Chunk:
    """The unit that is indexed: a span of one section, or of several merged small ones.

    ``index`` counts from 0 within the document. ``section`` is the index of its first section.
    ``pages`` are the first and last page numbers, or ``None``. ``parent`` is the index of its
    parent in the document; the chunks of a parent follow each other.
    """

    index: int
    start: int
    end: int
    section: int
    heading_path: tuple[str, ...]
    pages: tuple[int, int] | None = None
    parent: int = 0


@dataclass(frozen=True, slots=True)
class InnerBlock:
    """A table, list or code block with an index entry of its own.

    ``chunk`` and ``section`` are the indexes of the chunk and of the section that contain it.
    """

    start: int
    end: int
    kind: BlockKind
    chunk: int
    section: int


@dataclass(frozen=True, slots=True)
class Divided:
    """The result of chunking a document."""

    sections: tuple[Section, ...]
    blocks: tuple[Block, ...]
    chunks: tuple[Chunk, ...]
    inner: tuple[InnerBlock, ...] = ()


@pickled_as_call
@dataclass(frozen=True, slots=True)
class Span:
    """A slice ``[start, end)`` of a document's stored text."""

    start: int
    end: int

    def __len__(self) -> int:
        """Return its number of characters."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as a scan finds it; ``path`` is relative to its source's root, with forward slashes.

    ``size`` is in bytes, ``mtime_ns`` in nanoseconds since the epoch. ``stamp`` is
    ``device:inode:ctime_ns`` in decimals, with the device of the folder; it is empty on systems
    without these.
    """

    path: str
    size: int
    mtime_ns: int
    stamp: str = ""
