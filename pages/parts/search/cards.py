"""Result cards as HTML. Pure functions: whatever a document says comes out as text.

A card is a title, a line about where it is, and the excerpt that answers. The rest waits under
*Details* (see ``details.py``) or appears when the card is pointed at or has the focus.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pages.parts.common.markup import (
    action,
    attributes,
    document_link,
    name,
    text,
)
from pages.parts.document.similar import similar_list
from pages.parts.rendering import snippet
from pages.parts.search import details
from pages.parts.search.details import chunk_link, graded, index_name
from pages.parts.search.passages import (
    COLLAPSED,
    ExpandedContent,
    excerpt_html,
    heading_path,
    kind,
)
from ragkit.answering.excerpts import Excerpt
from ragkit.answers import EXCERPT_WIDTH
from ragkit.formatting import page_range
from ragkit.results import Result
from ragkit.retrieval.highlight import best_window
from ragkit.types import Level

MOST_CELLS = 60
_MOST_HEADINGS = 2
_LONGEST_COPIED = 5000
_FITTING = {
    Level.BLOCK: "the best table, list or code",
    Level.SECTION: "the whole section",
    Level.DOCUMENT: "the whole document",
}


def card(
    result: Result, number_: int, question: str = "", expanded: ExpandedContent = COLLAPSED
) -> str:
    """Return one result as an article."""
    document = result.document
    label = f"rk-title-{number_}"
    parts = [
        f'<article class="rk-card{" rk-weak" if result.weak else ""}" id="rk-result-{number_}"',
        attributes(data_document=document.id, data_path=document.path, aria_labelledby=label),
        ">",
        '<header class="rk-card-head">',
        f'<h2 class="rk-title" id="{label}">{open_link(result, question, expanded.excerpt)}</h2>',
        _score(result),
        "</header>",
        _where(result, expanded),
        _missing(result, expanded),
        excerpt_html(result, question, expanded.excerpt),
        _more(result, number_, expanded),
        _similar(expanded),
        _quick(result, expanded),
        details.fold(result, number_, question, expanded),
        "</article>",
    ]
    return "".join(parts)


def with_less_related(drawn: Sequence[str], results: Sequence[Result], question: str) -> str:
    """Return the cards of results, those after the last that is not weak under a fold.

    Where all are weak, they are what there is, and none is folded.
    """
    close = max((at for at, result in enumerate(results, 1) if not result.weak), default=0)
    if not 0 < close < len(results):
        return "".join(drawn)
    # What was unfolded stays so for this question; see actions.js.
    unfolded = attributes(data_fold=f"less related: {question}")
    return (
        f'{"".join(drawn[:close])}<details class="rk-weaker"{unfolded}>'
        f"<summary>Less related ({len(results) - close})</summary>"
        f"{''.join(drawn[close:])}</details>"
    )


def open_link(result: Result, question: str, excerpt: Excerpt | None = None) -> str:
    """Return the title as a link to the chunk of the excerpt, or else to the best matched one."""
    title = name(result.document.title or result.document.path)
    document_id, chunk = result.document.id, chunk_of(result, excerpt)
    # In its own direction, a title that is too long is cut at its end.
    return document_link(document_id, chunk, question, title, class_="rk-link", dir="auto")


def chunk_of(result: Result, excerpt: Excerpt | None) -> int:
    """Return the index of the chunk that an excerpt begins in; the best matched without one.

    Where a chunk that is shown as context begins is not known: it is next to a matched one.
    """
    if excerpt is None:
        return result.best_index
    first, last = excerpt.passage.chunks
    at = excerpt.passage.start + excerpt.start
    best, nearest = first, math.inf
    for chunk in result.matched_chunks:
        if chunk.span is None or not first <= chunk.index <= last:
            continue
        before, after = chunk.span.start - at, at - chunk.span.end + 1
        if max(before, after, 0) >= nearest:
            continue
        nearest = max(before, after, 0)
        # A block is a part of its chunk.
        aside = 0 if chunk.level is Level.BLOCK else (after > 0) - (before > 0)
        best = min(max(chunk.index + aside, first), last)
    return best


def _score(result: Result) -> str:
    """Return the score with its explanation; empty if it only compares these results."""
    if is_relative(result):
        return ""
    best = result.lead
    parts = ", ".join(
        f"{index_name(part.index)} {part.normalised:.2f}"
        for part in (best.contributions if best else ())
    )
    inside = f" ({parts})" if parts else ""
    several = len(result.matched_chunks) > 1
    mean = f"; {result.avg_score:.2f} on average over those that matched" if several else ""
    grade = f"; {graded(best.grade)}" if best and best.grade is not None else ""
    what = _FITTING.get(best.level, "the best passage") if best else "the best passage"
    label = f"{result.score:.2f}: how well {what} fits{inside}{mean}{grade}"
    return (
        f'<span class="rk-score" role="note" title="{text(label)}" '
        f'aria-label="Score {text(label)}">{result.score:.2f}</span>'
    )


def is_relative(result: Result) -> bool:
    """Return whether a score is only relative: without a semantic part, or without any part."""
    parts = result.lead.contributions if result.lead else ()
    return all(part.index != "vector" for part in parts)


def pages_of(result: Result) -> str:
    """Return the pages of what matched, or else of what is shown: ``p. 14–15``, ``slide 2``."""
    pages = [page for chunk in result.matched_chunks for page in chunk.pages or ()]
    pages = pages or [passage.page for passage in result.passages if passage.page is not None]
    return page_range(min(pages), max(pages), result.document.format) if pages else ""


def headings_of(result: Result, excerpt: Excerpt | None = None) -> tuple[str, ...]:
    """Return the headings above the excerpt or the best chunk, except those that open the title."""
    if excerpt is not None:
        path = excerpt.passage.path_at(excerpt.passage.start + excerpt.start)
    elif result.matched_chunks and result.matched_chunks[0].span is not None:
        path = result.matched_chunks[0].heading_path
    else:
        path = next((p.heading_path for p in result.passages if p.heading_path), ())
    title = result.document.title.casefold()
    # A title may say more than the heading that it was taken from: a date, a name.
    own = [heading for heading in path if not title.startswith(heading.casefold())]
    return tuple(own[-_MOST_HEADINGS:])


def _where(result: Result, expanded: ExpandedContent) -> str:
    document = result.document
    headings = headings_of(result, expanded.excerpt)
    trail = f'<span class="rk-headings"> › {heading_path(headings)}</span>' if headings else ""
    place = (
        f'<span class="rk-place" title="{name(document.path)}">'
        f'<span class="rk-path"><bdi>{name(document.path)}</bdi></span>{trail}</span>'
    )
    facts = []
    if pages := pages_of(result):
        facts.append(f'<span class="rk-page">{pages}</span>')
    if document.date:
        facts.append(f"<span>{name(document.date[:10])}</span>")
    if result.also_at:
        listed = text(", ".join(result.also_at[:5]))
        facts.append(
            f'<span title="The same text is also at {listed}">+{len(result.also_at)} '
            f"{'copy' if len(result.also_at) == 1 else 'copies'}</span>"
        )
    if absent := [term for term in result.missing_terms if term not in expanded.known_missing]:
        words = ", ".join(f"<s>{name(term)}</s>" for term in absent[:4])
        facts.append(f'<span class="rk-absent">Missing: {words}</span>')
    about = f'<span class="rk-told">{" · ".join(facts)}</span>' if facts else ""
    return f'<div class="rk-where">{place}{about}{_covered(result)}</div>'


def _covered(result: Result) -> str:
    """Return which chunks are shown; empty if none matched, as in a list of documents."""
    if not any(chunk.contributions for chunk in result.matched_chunks):
        return ""
    return f'<span class="rk-cover">{coverage(result)}</span>'


def coverage(result: Result) -> str:
    """Return which chunks are shown, as a bar and in words: ``chunks 2–4, 7 of 12``.

    The bar has one cell for each chunk: matched (shaded by score), context, or not shown. A click
    on one opens the chunk, as the links under *Details* do. Beyond ``MOST_CELLS`` chunks a cell
    stands for several, and says so.
    """
    words = text(result.chunk_coverage.replace("-", "–").replace(",", ", "))
    total = max(1, result.document.chunks)
    scores = {chunk.index: chunk.score for chunk in result.matched_chunks}
    context = set(result.context_chunks)
    best = max(scores.values(), default=0.0) or 1.0
    step = -(-total // MOST_CELLS)
    cells = []
    for first in range(0, total, step):
        inside = range(first, min(first + step, total))
        matched = [scores[index] for index in inside if index in scores]
        names = f"chunk {first + 1}" if step == 1 else f"chunks {first + 1}–{inside[-1] + 1}"
        if matched:
            kind = f"rk-hit rk-shade-{max(1, min(4, round(4 * max(matched) / best)))}"
            title = f"{names}: matched, {max(matched):.2f}"
        elif context.intersection(inside):
            kind, title = "rk-near", f"{names}: shown as context"
        else:
            kind, title = "rk-none", f"{names}: not shown"
        cells.append(f'<i class="rk-cell {kind}" data-chunk="{first + 1}" title="{title}"></i>')
    return (
        f'<span class="rk-bar" role="img" aria-label="{words}" '
        f'style="--cells:{len(cells)}">{"".join(cells)}</span>'
        f'<span class="rk-coverage">{words}</span>'
    )


def _missing(result: Result, expanded: ExpandedContent) -> str:
    if not result.missing or expanded.folder_gone:
        return ""
    return (
        '<p class="rk-notice rk-warn">The file is no longer where it was. '
        "This is the text as it was last read.</p>"
    )


def _more(result: Result, number_: int, expanded: ExpandedContent) -> str:
    if not result.more or not expanded.more:
        return ""
    items = "".join(
        f"<li>{chunk_link(result, chunk, '')} "
        f'<span dir="auto">{_beginning(expanded.more[chunk.index], result)}</span></li>'
        for chunk in result.more
        if chunk.index in expanded.more
    )
    return f'<ul class="rk-more" id="rk-more-{number_}">{items}</ul>'


def _beginning(value: str, result: Result) -> str:
    start, end = best_window(value, (), EXCERPT_WIDTH)
    return snippet(value, (start, end), (), kind(result)) + (" …" if end < len(value) else "")


def _similar(expanded: ExpandedContent) -> str:
    if expanded.similar is None:
        return ""
    listed = similar_list(expanded.similar) or "<p>No similar documents.</p>"
    return (
        '<section class="rk-more" aria-label="Similar documents"><h3>Similar documents</h3>'
        f"{listed}</section>"
    )


def _quick(result: Result, expanded: ExpandedContent) -> str:
    """Return the actions that appear on hover and focus."""
    copied = _best_text(result)
    similar = action(
        "similar",
        "Similar documents",
        data_id=result.document.id,
        aria_expanded=str(expanded.similar is not None).lower(),
    )
    copy = action("copy-path", "Copy", data_text=copied, title="Copy the best passage")
    return f'<div class="rk-quick">{expanded.judge}{copy if copied else ""}{similar}</div>'


def _best_text(result: Result) -> str:
    """Return the text of the best matched chunk, or of the first passage."""
    best = result.matched_chunks[0].span if result.matched_chunks else None
    for passage in result.passages:
        if best is None:
            return passage.text[:_LONGEST_COPIED]
        if passage.start <= best.start < passage.end:
            start = best.start - passage.start
            return passage.text[start : min(best.end - passage.start, start + _LONGEST_COPIED)]
    return ""
