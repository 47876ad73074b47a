"""The filters of questions in sets, written in the query language."""

from __future__ import annotations

from collections.abc import Sequence

from ragkit.errors import EvaluationError, QueryError
from ragkit.options import Filters
from ragkit.retrieval.query.parser import parse_query

_CURE = 'Write filters alone, such as "path:reports/2021 type:pdf" (docs/query_language.md).'


def read_filter(text: str, known_fields: Sequence[str] = ()) -> Filters:
    """Parse a question's filter; ``known_fields`` are the fields of front matter.

    Raises:
        EvaluationError: it has anything but filters, or an invalid value.
    """
    try:
        parsed = parse_query(text, known_fields)
    except QueryError as error:
        raise EvaluationError(f"Invalid filter: {error.message}", error.cure) from error
    if parsed.notices:
        raise EvaluationError(f"Invalid filter: {' '.join(parsed.notices)}", _CURE)
    if parsed.text or parsed.required or parsed.excluded or parsed.collections:
        raise EvaluationError(
            f'Invalid filter: "{text}" holds words, phrases, exclusions or a collection.', _CURE
        )
    return parsed.filters
