"""The options of a search."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ragkit.option_table import Option, option, table
from ragkit.options.choices import (
    Aggregation,
    Contexts,
    Expansion,
    Fusion,
    Granularity,
    IndexMode,
    Mode,
    Phrasings,
    QuestionMerge,
    Rerank,
    Sort,
)
from ragkit.options.filters import NO_FILTERS, Filters
from ragkit.types import Field, Level

QUESTION, RANKING, SHOWN, INDEX = "Question", "Ranking", "Results", "Vector index"
"""The headings of the options that a page keeps apart."""


def _either(off: str, on: str) -> Callable[[Any], str]:
    """Return a function that describes a boolean."""
    return lambda value: on if value else off


def _results_per_document(limit: int) -> str:
    if limit == 1:
        return "one result per document"
    return f"up to {limit} results per document" if limit else "every chunk a result"


def _at_most(limit: int) -> str:
    return f"at most {limit} {'result' if limit == 1 else 'results'}"


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """Everything besides the question and the library that determines what a search returns.

    The fields declared by ``option`` say how to search, ``collections`` and ``filters`` where.

    ``title_weight``, ``phrase_weight``, ``verbatim_weight``, ``definition_weight``,
    ``figure_weight``, ``document_weight`` and ``name_weight`` only apply when both indexes are
    fused by weights. Scores are exact whatever ``nprobe`` and ``overfetch`` are, and reranking does
    not change them. ``min_score`` applies to the whole score, ``min_similarity`` to the cosine of
    the question's and the entry's vector.

    Three fields are for measurements, and ``None`` stands for the default: ``vector_levels`` are
    the levels of vectors that are searched besides the chunk's own, ``field_weights`` the weights
    of keyword fields, and ``judged_depth`` lists that many results, the ones beyond ``limit`` from
    the same candidates.
    """

    mode: Mode = option(Mode.HYBRID, "Which indexes are searched.", label="Search mode")
    fusion: Fusion = option(
        Fusion.WEIGHTED, "How the results of the indexes are combined.", label="Fusion"
    )
    vector_weight: float = option(
        0.5, "How much semantic scores count.", bounds=(0, 100), phrase="semantic × {:g}".format
    )
    keyword_weight: float = option(
        0.5,
        "How much keyword scores count.",
        bounds=(0, 100),
        label="Semantic ↔ keyword balance",
        slider=(0.0, 1.0, 0.05),
        phrase="keyword × {:g}".format,
    )
    rrf_k: int = option(
        60,
        "The constant k of reciprocal ranks: less makes the first ranks count more.",
        bounds=(1, 10_000),
        label="RRF constant (k)",
        group=RANKING,
        phrase="RRF k = {}".format,
    )
    adaptive: bool = option(
        True,
        "Keywords count more when the question holds an identifier.",
        label="Adapt weights to the question",
        group=RANKING,
        phrase=_either("fixed weights", "adaptive weights"),
    )
    title_weight: float = option(
        0.1,
        "How much a match in the title or headings adds, and three times as much where the whole "
        "question is a title.",
        bounds=(0, 1),
        label="Title weight",
        slider=(0.0, 1.0, 0.05),
        group=RANKING,
    )
    phrase_weight: float = option(
        0.1,
        "How much it adds that a chunk has neighbouring words of the question together.",
        bounds=(0, 1),
        label="Phrase weight",
        slider=(0.0, 1.0, 0.05),
        group=RANKING,
    )
    verbatim_weight: float = option(
        0.5,
        "How much it adds that a chunk has the whole question word for word.",
        bounds=(0, 10),
        label="Verbatim weight",
        slider=(0.0, 10.0, 0.5),
        group=RANKING,
    )
    definition_weight: float = option(
        1.0,
        "How much it adds that a chunk says what a term means, if the question asks for that.",
        bounds=(0, 10),
        label="Definition weight",
        slider=(0.0, 10.0, 0.5),
        group=RANKING,
    )
    figure_weight: float = option(
        1.0,
        "How much it adds that a chunk has an exact figure of the question.",
        bounds=(0, 10),
        label="Figure weight",
        slider=(0.0, 10.0, 0.5),
        group=RANKING,
    )
    document_weight: float = option(
        0.3,
        "How much the best chunk of the same document adds.",
        bounds=(0, 1),
        label="Document weight",
        slider=(0.0, 1.0, 0.05),
        group=RANKING,
    )
    name_weight: float = option(
        2.0,
        "How much a chunk of a document that the question names counts by the rest of it.",
        bounds=(0, 10),
        label="Named document weight",
        slider=(0.0, 10.0, 0.5),
        group=RANKING,
    )
    candidates: int = option(
        100,
        "How many hits each index returns.",
        bounds=(1, 1000),
        label="Candidates per index",
        group=RANKING,
        phrase="{} candidates per index".format,
    )
    limit: int = option(
        10,
        "How many results there are at most.",
        bounds=(1, 200),
        label="Results",
        slider=(1, 50, 1),
        phrase=_at_most,
    )
    sort: Sort = option(
        Sort.AUTO,
        "Automatic: best first, or by date if the question asks for the newest or oldest. By date: "
        "the best matches, ordered by the date of their documents.",
        label="Sort by",
    )
    correct_spelling: bool = option(
        True,
        "Searches for the nearest word of the documents where none has a word of the question.",
        label="Correct spelling",
        group=QUESTION,
        phrase=_either("spelling as typed", "spelling corrected"),
    )
    read_filters: bool = option(
        True,
        'Reads "PDFs about …", "mails from Anna" or "last week" as filters, and says so.',
        label="Read filters from the question",
        phrase=_either("nothing read as filters", "filters read from the question"),
    )
    collections: tuple[str, ...] = ("default",)
    filters: Filters = NO_FILTERS
    granularity: Granularity = option(
        Granularity.CHUNK,
        "What is searched: chunks; tables, lists and code by themselves; whole sections or "
        "documents.",
        label="Search in",
    )
    contexts: Contexts = option(
        Contexts.MODEL,
        "Contexts, keywords and questions that a local model wrote for each chunk are "
        "searched too. Off: only the documents' own words and headings.",
        label="Include AI-written context",
        switch=(Contexts.STRUCTURAL, Contexts.MODEL),
    )
    question_merge: QuestionMerge = option(
        QuestionMerge.CONTEXT,
        "How the hits of a chunk's several vectors become one.",
        label="Vectors of a chunk",
        group=RANKING,
    )
    chunk_aware: bool = option(
        True,
        "Joins the matches in a document with the text between them. Off: separate snippets.",
        label="Merge adjacent passages",
        phrase=_either("separate snippets", "adjacent passages merged"),
    )
    expansion: Expansion = option(
        Expansion.NEIGHBOURS,
        "How much of the document is shown around a match.",
        label="Context around matches",
    )
    neighbours: int = option(
        1,
        "How many chunks on each side are neighbours.",
        bounds=(0, 50),
        label="Neighbouring chunks on each side",
        slider=(0, 10, 1),
        group=SHOWN,
        phrase="neighbouring chunks: {} on each side".format,
    )
    adjacent_top_docs: int = option(
        3,
        "How many results are shown with neighbouring chunks.",
        bounds=(0, 200),
        label="Results with neighbouring chunks",
        slider=(0, 50, 1),
        group=SHOWN,
        phrase="context for {} results".format,
    )
    chunks_per_doc: int = option(
        3,
        "How many chunks one result gathers.",
        bounds=(1, 100),
        label="Chunks per result",
        slider=(1, 20, 1),
        group=SHOWN,
        phrase="up to {} chunks per result".format,
    )
    aggregation: Aggregation = option(
        Aggregation.MAX,
        "What of a document's matching chunks orders the results.",
        label="Score of a result",
        group=RANKING,
    )
    shorten_below: float | None = option(
        None,
        "Chunks between strong ones that have less than this share of the best score are shown by "
        "their best sentence.",
        bounds=(0, 1),
        label="Shorten weak parts",
        slider_label="Below a share of the best score of",
        slider=(0.1, 1.0, 0.05),
        start=0.5,
        group=SHOWN,
        phrase=lambda at: "weak parts whole" if at is None else f"weak parts shortened ({at:g})",
    )
    section_characters: int = option(
        6000,
        "How many characters of a section are shown at most; of a whole document, five times that.",
        bounds=(100, 1_000_000),
        label="Characters of a section",
        group=SHOWN,
        phrase="up to {} characters shown".format,
    )
    show_content: bool = option(
        True,
        "Off: only titles, places, coverage and scores, for lists and programs.",
        label="Show text",
        group=SHOWN,
        phrase=_either("without text", "with text"),
    )
    per_document: int = option(
        1,
        "A document's best chunks make one result. Off: every matching chunk is a result of "
        "its own.",
        bounds=(0, 1000),
        label="Deduplicate per document",
        switch=(0, 1),
        phrase=_results_per_document,
    )
    min_score: float = option(
        0.0,
        "Matches with a lower score, as results show it, are left out: keywords, meaning and the "
        "rest together.",
        bounds=(0, 1),
        label="Minimum score",
        slider=(0.0, 1.0, 0.05),
        phrase="minimum score {:g}".format,
    )
    min_similarity: float = option(
        0.0,
        "Matches less alike in meaning are left out, whatever words they share: by the cosine of "
        "their vectors. It has no effect on keyword search.",
        bounds=(0, 1),
        label="Minimum similarity",
        group=RANKING,
        slider=(0.0, 1.0, 0.05),
        phrase="minimum similarity {:g}".format,
    )
    near_duplicates: bool = option(
        False,
        "Of texts that are 95 % alike, only the best match is shown.",
        label="Hide near-duplicates",
        phrase=_either("near-duplicates shown", "near-duplicates hidden"),
    )
    semantic_threshold: float | None = option(
        None,
        "Of texts that mean much the same, by the cosine of their vectors, only the best "
        "match is shown.",
        bounds=(0, 1),
        label="Hide paraphrases",
        slider_label="From a similarity of",
        slider=(0.8, 1.0, 0.01),
        start=0.95,
        phrase=lambda at: "paraphrases shown" if at is None else f"paraphrases hidden from {at:g}",
    )
    mmr_lambda: float | None = option(
        None,
        "Trades some relevance for difference between the results.",
        bounds=(0, 1),
        label="Diversify results (MMR)",
        slider_label="Diversity ↔ relevance balance",
        slider=(0.0, 1.0, 0.05),
        start=0.7,
        phrase=lambda at: "not diversified" if at is None else f"diversified (MMR {at:g})",
    )
    vector_levels: tuple[Level, ...] | None = None
    field_weights: tuple[tuple[Field, float], ...] | None = None
    judged_depth: int | None = None
    index: IndexMode = option(
        IndexMode.AUTO,
        "How vectors are searched. Automatic: by the approximate index of a large collection "
        "where that is faster.",
        label="Vector search",
        group=INDEX,
    )
    nprobe: int = option(
        24,
        "How many times 32 cells of the approximate index are looked through: more finds more, and "
        "takes longer.",
        bounds=(1, 1000),
        label="Probed cells (nprobe)",
        slider=(1, 256, 1),
        group=INDEX,
    )
    overfetch: int = option(
        4,
        "How many candidates of the approximate index are scored exactly for each that is kept.",
        bounds=(1, 100),
        label="Candidates per result (overfetch)",
        slider=(1, 20, 1),
        group=INDEX,
    )
    rerank: Rerank = option(
        Rerank.NONE,
        "A local model reads the best chunks with the question and reorders them. This takes "
        "seconds.",
        label="Rerank",
    )
    phrasings: Phrasings = option(
        Phrasings.NONE,
        "A local model puts the question in other words, which are searched for too. This takes "
        "seconds.",
        label="Ask in other words",
    )
    rerank_depth: int = option(
        20,
        "How many chunks are reranked.",
        bounds=(1, 100),
        label="Chunks to rerank",
        slider=(1, 100, 1),
        group=RANKING,
        phrase="{} chunks reranked".format,
    )


SEARCH_OPTIONS: Mapping[str, Option] = table(SearchOptions)
"""The options of a search, by name."""
