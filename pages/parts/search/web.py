"""Web search: the words that would leave this machine, and the results for them.

Only the button under the words sends anything. Results are kept with the session: drawing
it again, Back and the same words later send nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.parts.common import markup, state
from pages.parts.common.markup import attributes, document_link, name, text
from pages.parts.rendering.allowed import safe_link
from ragkit.answering.follow_up import in_own_words
from ragkit.answers import Source, Turn
from ragkit.errors import RagkitError
from ragkit.formatting import plural
from ragkit.library import Library
from ragkit.library.web import LONGEST
from ragkit.results import Answer, Contribution
from ragkit.retrieval.highlight import highlight_question
from ragkit.surfaces.render_web import WHY_FOLDED
from ragkit.web.results import WebAnswer, WebPreview, WebResult, web_sources

_OPEN, _CLICKED, _FOUND = "web_open", "web_clicked", "web_found"
_MOST_KEPT = 20
_PART_NAMES = {"engine": "search engine", "web": "web"}


def draw(library: Library, answer: Answer, turn: Turn | None, before: Sequence[Turn]) -> None:
    """Draw the offer to search the web too, closed at first; nothing where it is off.

    ``turn`` is the one that the question is, ``before`` those that it follows.
    """
    if not library.web.is_on:
        return
    state.start(**{_FOUND: {}})
    offer = st.expander("Search the web too", key=_OPEN, on_change="rerun")
    if not offer.open:
        return
    question = answer.query
    with offer:
        try:
            preview = _preview(library, answer, turn, before)
        except RagkitError as error:
            st.html(_failure(error))
            return
        _send(library, question, preview)
        outcome: WebAnswer | RagkitError | None = st.session_state[_FOUND].get(question)
        if outcome is not None:
            st.html(results_html(outcome) if isinstance(outcome, WebAnswer) else _failure(outcome))


def sources_for(question: str) -> tuple[Source, ...]:
    """Return the sentences of the web results for a question, if the person searched for them."""
    reply = st.session_state.get(_FOUND, {}).get(question)
    return web_sources(reply.results) if isinstance(reply, WebAnswer) else ()


def _preview(
    library: Library, answer: Answer, turn: Turn | None, before: Sequence[Turn]
) -> WebPreview:
    """Return what would be sent: for a rewritten question, the words that the person typed."""
    if turn is not None and turn.question != answer.query:
        return library.web.preview(in_own_words(turn.question, before))
    return library.web.preview(answer.query, answer.readings)


def _send(library: Library, question: str, preview: WebPreview) -> None:
    """Draw the words with the button that sends them, and send them when it was clicked."""
    # Enter in a box is not yet a decision to send what it holds.
    with st.form("web-form", enter_to_submit=False, border=False):
        words = st.text_input(
            "Words that will leave this machine", preview.words,
            max_chars=LONGEST, key=f"web_words_{hash((preview.host, question))}",
        )  # fmt: skip
        st.html(goes_to(preview))
        st.form_submit_button(
            f"Send to {markup.as_label(preview.host)}",
            on_click=st.session_state.update, args=({_CLICKED: question},),
        )  # fmt: skip
    # Taken before anything is sent: one click sends once, whatever comes in between.
    if st.session_state.pop(_CLICKED, None) != question:
        return
    replies: dict[str, WebAnswer | RagkitError] = st.session_state[_FOUND]
    previews = [reply for reply in replies.values() if _is_for(reply, words, preview.host)]
    if previews:
        replies[question] = previews[0]
        return
    try:
        with st.spinner(f"Asking {markup.as_label(preview.host)} …"):
            replies[question] = library.web.search(words)
    except RagkitError as error:
        replies[question] = error
    for oldest in list(replies)[:-_MOST_KEPT]:
        del replies[oldest]


def _is_for(reply: WebAnswer | RagkitError, words: str, host: str) -> bool:
    return isinstance(reply, WebAnswer) and (reply.words, reply.host) == (words, host)


def goes_to(preview: WebPreview) -> str:
    """Return where the words would go, and what would not."""
    notices = "".join(f"{text(notice)} " for notice in preview.notices)
    passed_on = ", which asks search engines with them" if preview.service == "SearXNG" else ""
    return (
        f'<p class="rk-soft">{notices}They go to <b>{name(preview.host)}</b> '
        f"({text(preview.service)}){passed_on}. "
        "Nothing else goes: no document, no filter, no earlier search.</p>"
    )


def results_html(answer: WebAnswer) -> str:
    """Return the results of the web, marked as such, and those that say nothing new folded."""
    count = plural(len(answer.results), "result") if answer.results else "No results"
    cards = "".join(card(result, answer.words) for result in answer.results)
    return (
        '<section class="rk-web" aria-label="Results from the web">'
        f'<p class="rk-soft" role="status">{count} from the web for '
        f"<b><bdi>{name(answer.words)}</bdi></b>, by {name(answer.host)}</p>"
        f"{markup.notices(answer.notices)}{cards}{_folded(answer.folded)}</section>"
    )


def card(result: WebResult, words: str) -> str:
    """Return one result: title, site and date, the snippet with the words marked, the score."""
    facts = [name(result.site), *filter(None, (text(result.published), name(result.engine)))]
    snippet = markup.marked(result.text, highlight_question(result.text, words))
    return (
        f'<article class="rk-web-card"><h3 class="rk-title">{_mark()} {_link(result)}</h3>'
        f'<p class="rk-soft">{" · ".join(facts)}</p>'
        + (f'<p class="rk-web-text" dir="auto">{snippet}</p>' if snippet else "")
        + f'<details class="rk-soft"><summary>Details</summary>{_score(result)}</details></article>'
    )


def _score(result: WebResult) -> str:
    parts = " + ".join(map(_part, result.contributions))
    return (
        f'<p class="rk-soft">Score {result.score:.2f} = {parts}. It orders results of the web; '
        "those of documents have another.</p>"
    )


def _part(part: Contribution) -> str:
    ranked = f" (rank {part.rank})" if part.rank else ""
    label = _PART_NAMES.get(part.index, part.index)
    return f"{text(label)}{ranked} {part.normalised:.2f} × {part.weight:.2f}"


def _folded(results: Sequence[WebResult]) -> str:
    if not results:
        return ""
    rows = "".join(f"<li>{_mark()} {_link(result)} {_reason(result)}</li>" for result in results)
    return (
        f'<details class="rk-web-folded"><summary class="rk-soft">'
        f"{plural(len(results), 'more page')} of sites above or in your library</summary>"
        f"<ul>{rows}</ul></details>"
    )


def _reason(result: WebResult) -> str:
    why = text(WHY_FOLDED[result.folded])
    if result.document is not None:
        why = document_link(result.document, None, "", why, class_="rk-link")
    return f'<span class="rk-soft">{name(result.site)} · {why}</span>'


def _mark() -> str:
    return '<span class="rk-web-mark">Web</span>'


def _link(result: WebResult) -> str:
    """Return the title as a link that tells the page nothing of where it was followed from."""
    data = attributes(
        class_="rk-link", href=safe_link(result.url), target="_blank",
        rel="noopener noreferrer nofollow", title=result.url,
    )  # fmt: skip
    return f"<a{data}><bdi>{name(result.title)}</bdi></a>"


def _failure(error: RagkitError) -> str:
    return f'<p class="rk-notice rk-warn" role="alert">{text(error.message)} {text(error.cure)}</p>'
