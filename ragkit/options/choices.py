"""The choices of options, each with its name on a page."""

from typing import Self

from ragkit.option_table import Choice


class Mode(Choice):
    """Which indexes are searched."""

    HYBRID = "hybrid", "Hybrid"
    KEYWORD = "keyword", "Keyword"
    VECTOR = "vector", "Semantic"


class Fusion(Choice):
    """How the results of the two indexes are combined."""

    WEIGHTED = "weighted", "Weighted sum", "weighted sum of scores"
    RRF = "rrf", "Reciprocal rank (RRF)", "reciprocal ranks (RRF)"


class Contexts(Choice):
    """Which contexts of chunks are searched; structural context always is."""

    MODEL = "model", "Included", "with AI-written context"
    STRUCTURAL = "structural", "Left out", "without AI-written context"


class QuestionMerge(Choice):
    """Which of a chunk's several vectors are searched, and how their hits are combined.

    ``context`` searches one vector a chunk: that of the context that a model wrote, mixed with the
    chunk's text (``with_texts``), or without a context that of the text.
    """

    CONTEXT = "context", "Context vector", "context vector of a chunk"
    BEST = "best", "Best vector", "best vector of a chunk"
    SUM = "sum", "Sum of vectors", "sum of a chunk's vectors"


class IndexMode(Choice):
    """How vectors are searched: exactly, or with an approximate index if there is one."""

    AUTO = "auto", "Automatic", "automatic vector search"
    EXACT = "exact", "Exact", "exact vector search"
    ANN = "ann", "Approximate (ANN)", "approximate vector search"


class Rerank(Choice):
    """Whether a model reads the best chunks and reorders them."""

    NONE = "none", "None", "not reranked"
    MODEL = "model", "By a model", "reranked by a model"


class Phrasings(Choice):
    """How a model rephrases the question, to be searched for as well."""

    NONE = "none", "None", "asked as it is"
    SEVERAL = "several", "Several phrasings", "several phrasings merged"
    STEP_BACK = "step_back", "A more general question", "a more general question too"
    HYDE = "hyde", "A hypothetical answer (HyDE)", "a hypothetical answer too"


class Sort(Choice):
    """The order of results; ``auto`` is by relevance unless the question asks for another."""

    AUTO = "auto", "Automatic", "in the order that the question asks for"
    RELEVANCE = "relevance", "Relevance", "best first"
    NEWEST = "newest", "Newest first", "newest first"
    OLDEST = "oldest", "Oldest first", "oldest first"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        # Kept settings and addresses may have the earlier name of ``newest``.
        return cls("newest") if value == "date" else None

    @property
    def by_date(self) -> bool:
        """Whether the dates of documents make the order."""
        return self in (Sort.NEWEST, Sort.OLDEST)


class Expansion(Choice):
    """How much of a document is shown around its matching chunks.

    A parent is a run of chunks of about 1,000 tokens: enough for a person or a model to read.
    """

    NEIGHBOURS = "neighbours", "Neighbouring chunks", "neighbouring chunks shown"
    CHUNK = "chunk", "Matching chunks only", "only matches shown"
    PARENT = "parent", "Parent chunk", "parent chunk shown"
    SECTION = "section", "Whole section", "whole section shown"
    DOCUMENT = "document", "Whole document", "whole document shown"
    AUTO = "auto", "Automatic", "automatic context shown"


class Granularity(Choice):
    """Which level of entries is searched; ``auto`` searches all and prefers the finest."""

    BLOCK = "block", "Tables, lists, code", "tables, lists and code"
    CHUNK = "chunk", "Chunks", "chunks"
    SECTION = "section", "Sections", "sections"
    DOCUMENT = "document", "Documents", "whole documents"
    AUTO = "auto", "All levels", "all levels"


class Aggregation(Choice):
    """How the score of a document is computed from its matching chunks.

    The mean weights each score by itself.
    """

    MAX = "max", "Best chunk", "ordered by the best chunk"
    MEAN = "mean", "Relevance-weighted mean", "ordered by a weighted mean"


class CutMethod(Choice):
    """How a long text is cut."""

    ADAPTIVE = "adaptive", "Where the topic changes"
    FIXED = "fixed", "By size"
    WHOLE = "whole", "Not at all"


class Merge(Choice):
    """How the results of several topics are merged."""

    FAIR = "fair", "Topics in turn"
    SCORE = "score", "Best scores first"


class Dedup(Choice):
    """Whether only the best hits of each document or section are kept."""

    DOCUMENT = "document", "Per document"
    SECTION = "section", "Per section"
    NONE = "none", "Off"
