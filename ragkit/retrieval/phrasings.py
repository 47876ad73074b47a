"""Phrasings: the same question asked in other words that a model wrote, the hits merged.

What a model writes is text to be searched for; no filter is read from it. The question itself
counts three times as much as a phrasing, so that one beside the point does little harm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from ragkit.errors import RagkitError
from ragkit.options import Mode, Phrasings
from ragkit.results import Phrasing, PhrasingOutcome
from ragkit.retrieval.grouping import Group
from ragkit.retrieval.hits import Hit
from ragkit.retrieval.merge import blend
from ragkit.retrieval.query.encoding import Query
from ragkit.retrieval.turns import TURNS

_QUESTION_COUNTS: Mapping[Phrasings, float] = {
    Phrasings.SEVERAL: 3.0,
    Phrasings.STEP_BACK: 3.0,
    # It has the question's own words, and only the vector of another text.
    Phrasings.HYDE: 1.0,
}
_NOT_PHRASED = "Only the question itself was asked:"


class QueryWriter(Protocol):
    """Words questions anew. May be shared between threads."""

    @property
    def name(self) -> str:
        """The model that is asked, as far as it is known."""
        ...

    def write(self, question: str, how: Phrasings) -> Sequence[str]:
        """Return further queries, in a model's words.

        Raises:
            RagkitError: nothing usable was written, or not in time.
        """
        ...


OpenQueryWriter: TypeAlias = Callable[[], QueryWriter]
"""Returns the query writer of a library, or raises a RagkitError that says what is missing."""

Encode: TypeAlias = Callable[[Sequence[str]], Sequence[Query]]
"""Encodes plain texts as queries of the same collections."""


@dataclass(frozen=True, slots=True)
class Phrased:
    """The queries that are asked beside a question, and how they came about."""

    queries: tuple[Query, ...] = ()
    outcome: PhrasingOutcome | None = None

    def merge(self, lists: Sequence[list[Hit]], how: Phrasings) -> list[Hit]:
        """Return the hits of the question and of these queries as one list, best first."""
        first, *others = lists
        if not others:
            return first
        together = others[0]
        for count, hits in enumerate(others[1:], start=2):
            together = blend(together, hits, 1 / count, outer=True)
        share = len(others) / (len(others) + _QUESTION_COUNTS[how])
        return blend(first, together, share, outer=True)

    def brought(
        self, lists: Sequence[Sequence[Hit]], groups: Sequence[Group], limit: int
    ) -> PhrasingOutcome | None:
        """Add what each brought: how many of the results are among its own first ``limit``.

        ``only`` are those that neither the question nor another phrasing has among its own.
        """
        if self.outcome is None:
            return None
        shown = [group.document_id for group in groups]
        firsts = [_first_documents(hits, limit) for hits in lists]
        phrasings = []
        for at, phrasing in enumerate(self.outcome.phrasings, start=1):
            elsewhere = set().union(*firsts[:at], *firsts[at + 1 :])
            documents = [document for document in dict.fromkeys(shown) if document in firsts[at]]
            only = tuple(document for document in documents if document not in elsewhere)
            phrasings.append(replace(phrasing, found=len(documents), only=only))
        return replace(self.outcome, phrasings=tuple(phrasings))


def phrased(
    query: Query, how: Phrasings, open_writer: OpenQueryWriter | None, encode: Encode
) -> Phrased:
    """Have a question worded anew; where that fails there is no other query, and a notice.

    A hypothetical answer is searched for by its vector, beside the question's own words.
    """
    if how is Phrasings.NONE or not query.text:
        return Phrased()
    by_meaning = how is Phrasings.HYDE
    if by_meaning and query.mode is Mode.KEYWORD:
        return _failed(how, "a hypothetical answer is searched for by its meaning.")
    if open_writer is None:
        return _failed(how, "there is no model that words it anew.")
    try:
        with TURNS.aside():
            writer = open_writer()
            texts = writer.write(query.text, how)
    except RagkitError as error:
        return _failed(how, str(error))
    queries = tuple(encode(texts))
    if trouble := next((query.trouble for query in queries if query.trouble), ""):
        return _failed(how, trouble)
    if by_meaning:
        queries = tuple(replace(query, vector=other.vector) for other in queries)
    outcome = PhrasingOutcome(how.value, writer.name, tuple(map(Phrasing, texts)))
    return Phrased(queries, outcome)


def _failed(how: Phrasings, failure: str) -> Phrased:
    notice = f"{_NOT_PHRASED} {failure}"
    return Phrased((), PhrasingOutcome(how.value, failure=failure, notice=notice))


def _first_documents(hits: Sequence[Hit], limit: int) -> set[int]:
    return set(list(dict.fromkeys(hit.document_id for hit in hits))[:limit])
