"""What a person can choose between when searching."""

from __future__ import annotations

from enum import StrEnum


class Mode(StrEnum):
    """Which indexes are asked."""

    HYBRID = "hybrid"
    KEYWORD = "keyword"
    VECTOR = "vector"


class Fusion(StrEnum):
    """How the lists of several indexes become one."""

    WEIGHTED = "weighted"
    RRF = "rrf"


class Contexts(StrEnum):
    """Which contexts of chunks are searched; the structural one always is."""

    MODEL = "model"
    STRUCTURAL = "structural"


class QuestionMerge(StrEnum):
    """Which of a chunk's several vectors are searched, and how their hits become one.

    Where a model wrote of a chunk, ``context`` takes the vector of that alone, in which the chunk's
    text has a share (``with_texts``).
    """

    CONTEXT = "context"
    BEST = "best"
    SUM = "sum"


class IndexMode(StrEnum):
    """How vectors are searched: exactly, or by an approximate index where there is one."""

    AUTO = "auto"
    EXACT = "exact"
    ANN = "ann"


class Rerank(StrEnum):
    """What looks at the best chunks again and puts them in a new order."""

    NONE = "none"
    MODEL = "model"


class Expansion(StrEnum):
    """How much of a document is shown around its matched chunks.

    A parent is a larger chunk, long enough to be read or handed to a model: up to
    ``parent_chunks`` chunks of one section that follow each other.
    """

    CHUNK = "chunk"
    NEIGHBOURS = "neighbours"
    PARENT = "parent"
    SECTION = "section"
    DOCUMENT = "document"
    AUTO = "auto"


class Granularity(StrEnum):
    """Which levels of the library are searched; auto asks all and prefers the finest."""

    AUTO = "auto"
    CHUNK = "chunk"
    SECTION = "section"
    DOCUMENT = "document"
