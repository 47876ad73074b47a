"""What choices of a search are called on the pages, in the order in which they are offered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from ragkit.options import Contexts, Expansion, Fusion, Granularity, IndexMode, Rerank

_Choice = TypeVar("_Choice")

CONTEXTS = {Contexts.MODEL: "Structure and model", Contexts.STRUCTURAL: "Structure only"}
FUSIONS = {Fusion.WEIGHTED: "Weighted sum", Fusion.RRF: "Reciprocal ranks (RRF)"}
RERANKINGS = {Rerank.NONE: "None", Rerank.MODEL: "By a model"}
GRANULARITIES = {
    Granularity.CHUNK: "Chunks",
    Granularity.SECTION: "Sections",
    Granularity.DOCUMENT: "Documents",
    Granularity.AUTO: "All levels",
}
EXPANSIONS = {
    Expansion.NEIGHBOURS: "Neighbouring chunks",
    Expansion.CHUNK: "Only what matched",
    Expansion.PARENT: "The larger chunk around",
    Expansion.SECTION: "The whole section",
    Expansion.DOCUMENT: "The whole document",
    Expansion.AUTO: "Let ragkit choose",
}
INDEXES = {
    IndexMode.AUTO: "Let ragkit choose",
    IndexMode.EXACT: "Exact",
    IndexMode.ANN: "Approximate (ANN)",
}


def by_words(words: Mapping[_Choice, str]) -> dict[str, _Choice]:
    """The choices by what they are called."""
    return {called: choice for choice, called in words.items()}
