"""An answer as a Markdown block, to be pasted somewhere or put into a model's prompt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ragkit.results import Answer, Passage, Result
from ragkit.retrieval.highlight import best_window
from ragkit.retrieval.rows import as_results

if TYPE_CHECKING:
    from ragkit.retrieval.multi_query import ChunkedAnswer

HEADING = "## Related documents"

_CHARACTERS_PER_TOKEN = 4
_LEAST_EXCERPT = 24
_MOST_TAGS, _LONGEST_TAG, _LONGEST_TITLE = 8, 40, 120
_SHARE_AT_LEAST = 60
_UNSEEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]+"
)
_UNSEEN_IN_TEXT = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    r"\U000e0000-\U000e007f]"
)
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~!])")
_BACKTICKS = re.compile(r"`+")


def format_as_context(results: Iterable[Any], budget_tokens: int = 6000) -> str:
    """Format what was found as a block "Related documents", in at most that many tokens.

    ``results`` are results, or rows of any program: mappings or objects with ``document_id``,
    ``similarity`` (or ``score``) and ``content``, and perhaps ``chunk_index`` and ``metadata``
    (``title``, ``path``, ``date``, ``tags``). The rows of a document are together, in the order
    of their chunks; documents are in the order in which they first come.

    Each document has title, date, path, tags, similarity and its passages, cut where there is no
    room. Passages are in fences that they cannot close, and titles are escaped: nothing in a
    document can pass for the block's own text. Passages for which there is no room are left out,
    the last ones first. Tokens are estimated: four Latin characters each, or one of any other
    script. Returns an empty string when there is nothing, or no room for it.

    >>> print(format_as_context([{
    ...     "document_id": 7, "similarity": 0.82, "chunk_index": 2, "content": "Bake the bread.",
    ...     "metadata": {"title": "Bread", "path": "food/bread.md", "tags": ["food"]},
    ... }]))
    ## Related documents
    <BLANKLINE>
    ### 1. Bread
    <BLANKLINE>
    food/bread.md · tags: food · similarity 0.82
    <BLANKLINE>
    ```text
    Bake the bread.
    ```
    <BLANKLINE>

    Raises:
        TypeError: a row has not what it needs.
    """
    parts: list[str] = []
    left = budget_tokens - estimated_tokens(HEADING + "\n\n")
    shown = [
        (_head(number, result) if at == 0 else "", passage)
        for number, result in enumerate(as_results(results), 1)
        for at, passage in enumerate(result.passages)
    ]
    for number, (head, passage) in enumerate(shown):
        share = max(_SHARE_AT_LEAST, left // (len(shown) - number))
        room = min(share, left) - estimated_tokens(head) - _fence_tokens(passage)
        if room < _LEAST_EXCERPT:
            break
        part = head + fenced(_excerpt(passage, room))
        parts.append(part)
        left -= estimated_tokens(part)
    return "\n".join([HEADING + "\n", *parts]) if parts else ""


def estimated_tokens(text: str) -> int:
    """Estimate how many tokens a model makes of a text."""
    plain = len(text) if text.isascii() else len(text.encode("ascii", "ignore"))
    return -(-plain // _CHARACTERS_PER_TOKEN) + len(text) - plain


def results_of(answer: Answer | ChunkedAnswer) -> Sequence[Result]:
    """Return the results of an answer, also to a long text."""
    return (
        answer.results
        if isinstance(answer, Answer)
        else [chunked.result for chunked in answer.results]
    )


def _head(number: int, result: Result) -> str:
    document = result.document
    title = one_line(document.title or document.path)[:_LONGEST_TITLE]
    facts = [document.date[:10]] if document.date else []
    facts += [one_line(document.path)[-_LONGEST_TITLE:]] if document.path else []
    tags = document.metadata.get("tags")
    if isinstance(tags, list | tuple) and tags:
        named = [one_line(str(tag))[:_LONGEST_TAG] for tag in tags[:_MOST_TAGS]]
        facts.append(f"tags: {', '.join(named)}")
    facts.append(f"similarity {result.score:.2f}")
    line = " · ".join(escaped(fact) for fact in facts)
    return f"### {number}. {escaped(title)}\n\n{line}\n\n"


def one_line(text: str) -> str:
    """Return a text on one line, without invisible characters."""
    return " ".join(_UNSEEN.sub(" ", text).split())


def seen(text: str) -> str:
    """Return a text of the same length with a space for each character that is not seen."""
    return _UNSEEN_IN_TEXT.sub(" ", text)


def escaped(text: str) -> str:
    """Return a text in which nothing is Markdown."""
    return _MARKUP.sub(r"\\\1", text)


def _fence(text: str) -> str:
    longest = max(map(len, _BACKTICKS.findall(text)), default=0)
    return "`" * max(3, longest + 1)


def _fence_tokens(passage: Passage) -> int:
    return estimated_tokens(2 * _fence(passage.text) + "text\n\n\n… \n …") + 2


def fenced(text: str) -> str:
    """Return a text in a fence that it cannot close."""
    fence = _fence(text)
    return f"{fence}text\n{text}\n{fence}\n"


def _excerpt(passage: Passage, tokens: int) -> str:
    """Return the slice of a passage with the most matched words that fits."""
    size = min(len(passage.text), tokens * _CHARACTERS_PER_TOKEN)
    while True:
        start, end = best_window(passage.text, list(passage.highlights), size)
        shown = seen(passage.text[start:end]).strip()
        over = estimated_tokens(shown) - tokens
        if over <= 0 or size <= 1:
            break
        size = max(1, min(size - 1, size * tokens // (tokens + over)))
    before = "… " if start > 0 else ""
    after = " …" if end < len(passage.text.rstrip()) else ""
    return f"{before}{shown}{after}"
