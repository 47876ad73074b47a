"""The *Details* of a card: chunks and scores, why, full passages. Pure functions."""

from __future__ import annotations

from pages.parts.common.markup import action, document_link, name, text
from pages.parts.document.reader import card_context
from pages.parts.search.passages import ExpandedContent, block_name, passages
from ragkit.formatting import plural
from ragkit.results import Contribution, MatchedChunk, Result
from ragkit.types import Level

_INDEX_NAMES = {
    "vector": "semantic",
    "title": "title and headings",
    "phrase": "exact phrase",
    "document": "whole document",
    "name": "named document",
}
_LEVELS = {
    Level.SECTION: "Section",
    Level.DOCUMENT: "Whole document",
}


def fold(result: Result, number_: int, question: str, expanded: ExpandedContent) -> str:
    """Return the fold of a card."""
    opened = " open" if expanded.passages else ""
    return (
        f'<details class="rk-about"{opened}><summary>Details</summary><div class="rk-about-body">'
        f"{_chunks(result, question)}{card_context(expanded.context)}{_why(result)}{_also(result)}"
        f"{passages(result, number_, expanded, question)}{_foot(result, expanded)}</div></details>"
    )


def chunk_link(result: Result, chunk: MatchedChunk, question: str, **values: object) -> str:
    """Return a matched chunk's number and score as a link to it."""
    inner = f"#{chunk.index + 1} <b>{chunk.score:.2f}</b>"
    return document_link(
        result.document.id, chunk.index, question, inner, class_="rk-number", **values
    )


def index_name(index: str) -> str:
    """Return the name of an index, or of another part of a score."""
    return _INDEX_NAMES.get(index, index)


def graded(grade: float) -> str:
    """Return the grade of a reranker in words."""
    return f"graded {round(grade, 1):g} of 10 by the model"


def _chunks(result: Result, question: str) -> str:
    """Return the matched chunks with their scores, and the neighbours shown with them."""
    if not any(chunk.contributions for chunk in result.matched_chunks):
        return ""
    links = "".join(
        chunk_link(
            result,
            chunk,
            question,
            title=f"{_scored(chunk)} scored {chunk.score:.2f}. Opens it in the document.",
        )
        for chunk in result.matched_chunks
    )
    context = ""
    if result.context_chunks:
        count = len(result.context_chunks)
        listed = ", ".join(str(index + 1) for index in result.context_chunks[:12])
        tail = " …" if count > 12 else ""
        context = f"<span>+ {plural(count, 'neighbouring chunk')} ({listed}{tail})</span>"
    return f'<p class="rk-numbers"><span>Matching chunks</span>{links}{context}</p>'


def _scored(chunk: MatchedChunk) -> str:
    number = chunk.index + 1
    if chunk.level is Level.BLOCK:
        return f"The {block_name(chunk)} in chunk {number}"
    return f"Chunk {number}"


def _why(result: Result) -> str:
    if not any(chunk.contributions for chunk in result.matched_chunks):
        return ""
    scored = (*result.wholes, *result.matched_chunks)
    lines = "".join(f"<li>{why_line(chunk)}</li>" for chunk in scored)
    has_grades = any(chunk.grade is not None for chunk in result.matched_chunks)
    grades = " Grades decide before scores." if has_grades else ""
    return (
        f'<div class="rk-why"><h3>Why this result</h3><ul>{lines}</ul>'
        '<p class="rk-soft">Each index gives its best hits a rank and a score between 0 and 1. '
        "Semantic compares vectors; keyword compares words (BM25). Score × weight, added up, "
        f"is the total.{grades}{_by_whole(result)}</p></div>"
    )


def _by_whole(result: Result) -> str:
    """Return which score ranks a result that was found as a whole."""
    if not result.wholes:
        return ""
    what = "document" if result.wholes[0].level is Level.DOCUMENT else "section"
    return (
        f" The score of the whole {what} orders the results; the chunks are its best by their own."
    )


def why_line(chunk: MatchedChunk) -> str:
    """Return how the parts of a chunk's score add up."""
    level = " · found as a question it answers" if chunk.level is Level.QUESTION else ""
    if chunk.grade is not None:
        level += f" · {graded(chunk.grade)}"
    terms = f"({', '.join(name(term) for term in chunk.terms[:12])})" if chunk.terms else ""
    if not chunk.contributions:
        body = " ".join(filter(None, (f"score {chunk.score:.2f}", terms)))
        return f"{_what(chunk)} {body}{level}"
    soft = f' <span class="rk-soft">{terms}</span>' if terms else ""
    parts = " + ".join(_part(part) for part in chunk.contributions)
    return f"{_what(chunk)} {parts}{soft} = <b>{chunk.score:.2f}</b>{level}"


def _what(chunk: MatchedChunk) -> str:
    """Return the scored entry as HTML: ``#3``, ``Table in #3``, ``Section #3``, ``Document``."""
    level = f"{_LEVELS[chunk.level]} " if chunk.level in _LEVELS else ""
    if chunk.level is Level.BLOCK:
        level = f"{block_name(chunk).capitalize()} in "
    number = "" if chunk.level is Level.DOCUMENT else f"#{chunk.index + 1}"
    return f"<b>{level}{number}</b>".replace(" </b>", "</b>")


def _part(part: Contribution) -> str:
    title = f"raw score {part.raw:.4g}, brought to {part.normalised:.4f}; adds {part.value:.4f}"
    rank = f" rank {part.rank}" if part.rank else ""
    return (
        f'<span title="{text(title)}">{text(index_name(part.index))}{rank}, '
        f"{part.normalised:.2f} × {part.weight:.2f}</span>"
    )


def _also(result: Result) -> str:
    if not result.also_at:
        return ""
    places = ", ".join(f"<bdi>{name(place)}</bdi>" for place in result.also_at[:5])
    rest = len(result.also_at) - 5
    more = f" and {rest} more" if rest > 0 else ""
    return f'<p class="rk-also">The same text is also at {places}{more}</p>'


def _foot(result: Result, expanded: ExpandedContent) -> str:
    document = result.document
    parts = []
    if expanded.opens and not result.missing:
        parts.append(
            action(
                "launch",
                expanded.opens,
                data_id=document.id,
                title="Opens the file itself, on this machine, in the program it belongs to.",
            )
        )
    parts.append(action("copy-path", "Copy path", data_text=document.file or document.path))
    if result.more:
        count = len(result.more)
        shown = bool(expanded.more)
        parts.append(
            action(
                "more",
                f"Hide {count} more" if shown else f"+{count} more in this document",
                style="rk-act rk-end",
                data_id=document.id,
                aria_expanded=str(shown).lower(),
            )
        )
    return f'<footer class="rk-foot">{"".join(parts)}</footer>'
