"""An answer as a Markdown block, to be pasted somewhere or put into a model's prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragkit.results import Answer, Passage, Result
from ragkit.retrieval.highlight import best_window
from ragkit.retrieval.multi_query import ChunkedAnswer

HEADING = "## Related documents"

_CHARACTERS_PER_TOKEN = 4
_LEAST_EXCERPT = 24
_MOST_TAGS, _LONGEST_TAG, _LONGEST_TITLE = 8, 40, 120
_SHARE_AT_LEAST = 60
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]+")
_UNSEEN_IN_TEXT = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]+"
)
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~!])")
_BACKTICKS = re.compile(r"`+")


def format_as_context(answer: Answer | ChunkedAnswer, budget_tokens: int = 2000) -> str:
    """Format the best results as a block "Related documents", in at most that many tokens.

    Each has title, date, path, tags, similarity and an excerpt. Excerpts stand in fences that
    they cannot close, and titles are escaped: nothing in a document can pass for the block's own
    text. Results for which there is no room are left out, weakest first. Tokens are estimated:
    four Latin characters each, or one of any other script. Returns an empty string when there are
    no results, or no room for one.
    """
    results = _results(answer)
    parts: list[str] = []
    left = budget_tokens - estimated_tokens(HEADING + "\n\n")
    for number, result in enumerate(results, 1):
        head = _head(number, result)
        share = max(_SHARE_AT_LEAST, left // (len(results) - number + 1))
        room = min(share, left) - estimated_tokens(head) - _fence_tokens(result)
        if room < _LEAST_EXCERPT:
            break
        part = head + _fenced(_excerpt(result, room))
        parts.append(part)
        left -= estimated_tokens(part)
    return "\n".join([HEADING + "\n", *parts]) if parts else ""


def estimated_tokens(text: str) -> int:
    """Estimate how many tokens a model makes of a text."""
    plain = sum(character.isascii() for character in text)
    return -(-plain // _CHARACTERS_PER_TOKEN) + len(text) - plain


def _results(answer: Answer | ChunkedAnswer) -> Sequence[Result]:
    if isinstance(answer, ChunkedAnswer):
        return [found.result for found in answer.results]
    return answer.results


def _head(number: int, result: Result) -> str:
    document = result.document
    title = _line(document.title or document.path)[:_LONGEST_TITLE]
    facts = [document.date[:10]] if document.date else []
    facts.append(_line(document.path)[-_LONGEST_TITLE:])
    tags = document.metadata.get("tags")
    if isinstance(tags, list | tuple) and tags:
        named = [_line(str(tag))[:_LONGEST_TAG] for tag in tags[:_MOST_TAGS]]
        facts.append(f"tags: {', '.join(named)}")
    facts.append(f"similarity {result.score:.2f}")
    line = " · ".join(_escaped(fact) for fact in facts)
    return f"### {number}. {_escaped(title)}\n\n{line}\n\n"


def _line(text: str) -> str:
    return " ".join(_UNSEEN.sub(" ", text).split())


def _escaped(text: str) -> str:
    return _MARKUP.sub(r"\\\1", text)


def _passage(result: Result) -> Passage | None:
    """Return the passage with the best matched chunk."""
    best = result.matched_chunks[0].index if result.matched_chunks else -1
    inside = (shown for shown in result.passages if shown.chunks[0] <= best <= shown.chunks[1])
    return next(inside, result.passages[0] if result.passages else None)


def _text(result: Result) -> str:
    passage = _passage(result)
    return passage.text if passage else ""


def _fence(text: str) -> str:
    longest = max(map(len, _BACKTICKS.findall(text)), default=0)
    return "`" * max(3, longest + 1)


def _fence_tokens(result: Result) -> int:
    return estimated_tokens(2 * _fence(_text(result)) + "text\n\n\n… \n …") + 2


def _fenced(text: str) -> str:
    fence = _fence(text)
    return f"{fence}text\n{text}\n{fence}\n"


def _excerpt(result: Result, tokens: int) -> str:
    """Return the slice of the best passage with the most matched words that fits."""
    passage = _passage(result)
    if passage is None:
        return ""
    size = min(len(passage.text), tokens * _CHARACTERS_PER_TOKEN)
    while True:
        start, end = best_window(passage.text, list(passage.highlights), size)
        shown = _UNSEEN_IN_TEXT.sub(" ", passage.text[start:end]).strip()
        over = estimated_tokens(shown) - tokens
        if over <= 0 or size <= 1:
            break
        size = max(1, min(size - 1, size * tokens // (tokens + over)))
    before = "… " if start > 0 else ""
    after = " …" if end < len(passage.text.rstrip()) else ""
    return f"{before}{shown}{after}"
