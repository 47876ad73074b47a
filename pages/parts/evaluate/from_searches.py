"""Questions that were searched for, rated on the Evaluate page: they become a question set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from pages.parts.common import judging, state
from pages.parts.common.markup import action, name, number, text
from ragkit.catalog.judgments import Origin
from ragkit.formatting import plural
from ragkit.library import Library
from ragkit.library.logged_questions import LOGGED, LoggedQuestion, OfferedPlace
from ragkit.surfaces.addresses import document_url, mark_of

NEW_SET = "eval_new_set"
"""The session's key of a set that has just been made, to be chosen by the page."""

_SET, _CHOSEN, _PAGE = "logged_set", "logged_chosen", "logged_page"
_LISTED = 10
_LETTERS = 600


def draw(library: Library, collection: str) -> None:
    """Draw the part; its searches are read only while it is open."""
    part = st.expander(
        "Rate questions from your searches", key="evaluate-searches", on_change="rerun"
    )
    if part.open:
        with part:
            _questions(library, collection)


def act(library: Library, collection: str, values: Mapping[str, str]) -> None:
    """Handle a click on a question or on a rating."""
    chosen: LoggedQuestion | None = st.session_state.get(_CHOSEN)
    if values.get("rk") == "logged":
        asked = _asked(library, collection)
        search = next((logged for logged in asked if _key(logged) == values["key"]), None)
        is_open = search is not None and chosen is not None and _key(chosen) == _key(search)
        st.session_state[_CHOSEN] = None if is_open else search
    elif chosen is not None:
        question_set = _name()
        is_new = question_set not in library.judgments.sets(collection)
        acted = judging.act(
            library, values, chosen.question, Origin.SEARCH,
            question_set=question_set, filter_=chosen.filter,
        )  # fmt: skip
        if acted and is_new:
            st.session_state[NEW_SET] = question_set


def _questions(library: Library, collection: str) -> None:
    st.caption(
        "What you and your programs searched for, most often first. Open a question and rate what "
        "it showed; rated questions join the set."
    )
    st.text_input("Name of the set", value=LOGGED, key=_SET, max_chars=80)
    asked = _asked(library, collection)
    if not asked:
        st.html(
            '<p class="rk-soft">No search of this collection is in the log yet. '
            '<a href="searches" target="_self">Searches</a></p>'
        )
        return
    rated = sum(logged.rated for logged in asked)
    part = state.page_of(len(asked), _LISTED, _PAGE)
    chosen: LoggedQuestion | None = st.session_state.get(_CHOSEN)
    places: Sequence[OfferedPlace] = ()
    if chosen is not None:
        places = library.judgments.offered(collection, chosen, _name())
    st.html(
        f'<p class="rk-soft" role="status">{number(rated)} of {plural(len(asked), "question")} '
        "rated</p>" + listed(asked[part], chosen, places, collection)
    )


def listed(
    asked: Sequence[LoggedQuestion],
    chosen: LoggedQuestion | None,
    places: Sequence[OfferedPlace],
    collection: str,
) -> str:
    """Return a list of questions, with the results to rate below the chosen one."""
    items = []
    for logged in asked:
        is_open = chosen is not None and _key(chosen) == _key(logged)
        words = f"{logged.question}  {logged.filter}".rstrip()
        button = action(
            "logged", words[:200], style="rk-act rk-logged", data_key=_key(logged),
            aria_expanded=str(is_open).lower(),
        )  # fmt: skip
        times = f"{number(logged.times)} ×" if logged.times > 1 else ""
        note = " · ".join(filter(None, (times, "rated" if logged.rated else "")))
        below = ""
        if is_open:
            below = "".join(_place(place, collection, words) for place in places)
            below = below or '<p class="rk-soft">Nothing that it showed is left.</p>'
        items.append(f'<li>{button} <span class="rk-soft">{note}</span>{below}</li>')
    return f'<ul class="rk-logged-list">{"".join(items)}</ul>'


def _place(place: OfferedPlace, collection: str, words: str) -> str:
    quoted = " ".join(place.text.split())
    more = " …" if len(quoted) > _LETTERS else ""
    at = {"at": place.span.start} if place.span else {}
    url = text(document_url(place.document_id, None, words, **at))
    title = name(place.title or place.path)
    rate = judging.place_buttons(place.document_id, collection, place.span, place.grade)
    return (
        f'<article id="logged-{place.document_id}-{at.get("at", 0)}">'
        f'<a href="{url}" target="_self"><bdi>{title}</bdi></a>'
        f"<p>{text(quoted[:_LETTERS])}{more}</p>{rate}</article>"
    )


def _asked(library: Library, collection: str) -> tuple[LoggedQuestion, ...]:
    if library.collections.find(collection) is None:
        return ()
    return library.judgments.logged(collection, library.searches.log(), _name())


def _name() -> str:
    return " ".join(str(st.session_state.get(_SET) or "").split()) or LOGGED


def _key(logged: LoggedQuestion) -> str:
    return mark_of(f"{logged.question}\n{logged.filter}")
