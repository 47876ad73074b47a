"""What a search takes: its options, its filters, and the choices that they offer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ragkit.types import Field, Level


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


@dataclass(frozen=True, slots=True)
class Filters:
    """What a document must be to be considered; empty parts do not restrict.

    Values within one part are alternatives; the parts must all hold. ``after`` and ``before``
    are ISO dates ("2025", "2025-01", "2025-01-31") on the document's own date, or its file's; of
    a conversation, on the days of its messages. ``speakers`` are names, or words of names, of
    people who speak in a conversation. ``fields`` are (name, value) pairs of front matter.
    """

    types: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    documents: tuple[int, ...] = ()
    after: str = ""
    before: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    speakers: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """True when nothing is restricted."""
        return self == Filters()


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Everything that decides what a search returns, besides the question and the library.

    ``candidates`` is how many hits each index gives; ``limit`` counts results. ``adaptive`` lets
    keywords count more when the question holds an identifier. ``title_weight`` is what the
    question's words add that stand in title and headings, ``phrase_weight`` what its neighbouring
    words add when a chunk has them together, ``document_weight`` what the best chunk of the same
    document adds; all act when two indexes are joined by weights.
    ``contexts`` says whether what a model wrote of the chunks is searched as well, and
    ``question_merge`` how the hits of its several vectors make a chunk's rank. For measuring,
    ``vector_levels`` names which of a chunk's vectors beside its own are looked at, and
    ``field_weights`` how much a word counts in which field; ``None``: as usual. ``per_document``
    is how many results one document may have: 1 gathers its best ``chunks_per_doc`` chunks into
    one result, more (or 0, no limit) gives each chunk a result of its own. ``min_score`` drops
    matched chunks below it. ``near_duplicates`` folds texts that are 95 % alike,
    ``semantic_threshold`` those whose cosine reaches it, and ``mmr_lambda`` (1: relevance only)
    trades relevance for variety; each is off by default. ``index`` says how vectors are searched:
    ``auto`` takes the approximate index of a large collection where that is quicker. ``nprobe``
    is how widely it is searched and ``overfetch`` how many candidates it brings for each that is
    kept; scores are exact in any case. ``rerank`` says what puts the first ``rerank_depth`` chunks
    in a new order before duplicates are folded; scores stay what they were.
    """

    mode: Mode = Mode.HYBRID
    fusion: Fusion = Fusion.WEIGHTED
    vector_weight: float = 0.5
    keyword_weight: float = 0.5
    rrf_k: int = 60
    adaptive: bool = True
    title_weight: float = 0.1
    phrase_weight: float = 0.1
    document_weight: float = 0.3
    candidates: int = 100
    limit: int = 10
    collections: tuple[str, ...] = ("default",)
    filters: Filters = Filters()
    granularity: Granularity = Granularity.CHUNK
    contexts: Contexts = Contexts.MODEL
    question_merge: QuestionMerge = QuestionMerge.CONTEXT
    chunk_aware: bool = True
    expansion: Expansion = Expansion.NEIGHBOURS
    neighbours: int = 1
    adjacent_top_docs: int = 3
    chunks_per_doc: int = 3
    section_characters: int = 6000
    parent_chunks: int = 3
    per_document: int = 1
    min_score: float = 0.0
    near_duplicates: bool = False
    semantic_threshold: float | None = None
    mmr_lambda: float | None = None
    vector_levels: tuple[Level, ...] | None = None
    field_weights: tuple[tuple[Field, float], ...] | None = None
    index: IndexMode = IndexMode.AUTO
    nprobe: int = 16
    overfetch: int = 4
    rerank: Rerank = Rerank.NONE
    rerank_depth: int = 20
