"""How much vectors and keywords count for a query."""

from __future__ import annotations

from ragkit.options import SearchOptions
from ragkit.retrieval.query.encoding import Query
from ragkit.retrieval.query.identifiers import holds_identifier

IDENTIFIER_SHARE = 0.4
"""What is left of the vectors' weight when a query holds an identifier."""

FOREIGN_SHARE = 0.1
"""The same in a language that they hardly know: they count where words find nothing."""


def index_weights(query: Query, options: SearchOptions) -> tuple[float, float]:
    """Return the weights of vectors and keywords for a query.

    Static vectors know little of identifiers (``holds_identifier``) and of languages in which they
    know less than half of a text's letters: ``IDENTIFIER_SHARE`` or ``FOREIGN_SHARE`` of their
    weight stays and keywords get the rest, unless one index is switched off.
    """
    vector, keyword = options.vector_weight, options.keyword_weight
    if not options.adaptive or vector <= 0 or keyword <= 0:
        return vector, keyword
    if query.vector_share < 0.5:
        left = vector * FOREIGN_SHARE
    elif holds_identifier(query.text):
        left = vector * IDENTIFIER_SHARE
    else:
        return vector, keyword
    return left, keyword + vector - left
