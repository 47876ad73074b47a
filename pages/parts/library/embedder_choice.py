"""The embedding model: which one is in use, a migration to another, and the choice."""

from __future__ import annotations

import time

import streamlit as st

from pages.parts.common import browser, dialog, frame, markup
from pages.parts.common.markup import as_label, meter, number, text
from pages.parts.common.markup import name as shown_name
from ragkit.errors import RagkitError
from ragkit.formatting import byte_size, plural
from ragkit.library import Library
from ragkit.library.embedders import BackgroundPhase, EmbedderOffer, EmbedderState, Offers
from ragkit.library.models import short_name

_KIND, _OFFERS, _COSTS = "embedder", "embedder_offers", "embedder_costs"
_CHOSEN, _OUTCOME = "embedder_chosen", "embedder_said"
_OUTCOME_SECONDS = 20.0
_ADD_ONE = "A model that you have in a folder is added with <code>ragkit models add PATH</code>."
_GET_ONE = "Download one, for example: ollama pull embeddinggemma"


def label(embedder: str) -> str:
    """Return an embedder's name as people know it."""
    if embedder == "wordllama":
        return "WordLlama"
    if embedder.startswith("ollama:"):
        return f"{embedder.removeprefix('ollama:').removesuffix(':latest')} (Ollama)"
    if embedder.startswith("folder:"):
        return f"{short_name(embedder)} (folder)"
    return embedder


def line(state: EmbedderState) -> str:
    """Return the embedder in use, and the progress of a migration or of missing vectors."""
    parts = [f"<h2>Embedding model: {shown_name(label(state.active))}</h2>"]
    if state.target:
        parts.append(_progress(state))
    elif state.waiting:
        wait = "waits" if state.waiting == 1 else "wait"
        sentence = (
            f"{plural(state.waiting, 'document')} {wait} for embeddings; keyword search finds "
            f"{'it' if state.waiting == 1 else 'them'} already."
        )
        parts.append(f'<p class="rk-soft" role="status">{text(sentence)}</p>')
    if state.paused:
        parts.append('<p class="rk-notice">Paused.</p>')
    elif state.message and (state.target or state.waiting):
        parts.append(f'<p class="rk-notice rk-warn">{text(state.message)}</p>')
    return "".join(parts)


def _progress(state: EmbedderState) -> str:
    counted = f"{number(state.done)} of {number(state.total)} texts" if state.total else "starting"
    pace = markup.left(state.seconds_left) if state.phase is BackgroundPhase.WORKING else ""
    progress = " · ".join(filter(None, (counted, pace)))
    target = shown_name(label(state.target))
    return (
        f'<div class="rk-progress" role="status"><b>Switching to {target}</b> · {text(progress)}'
        f"{meter('Texts embedded', state.done, state.total)}</div>"
        f'<p class="rk-soft">{text(label(state.active))} is used until all are done.</p>'
    )


def cost(offer: EmbedderOffer, seconds: float | None) -> str:
    """Return the cost of choosing an embedder, in a sentence."""
    if offer.active:
        return "In use."
    if not offer.lacking:
        return "All texts are embedded already: switching is immediate."
    texts = plural(offer.lacking, "text")
    if seconds is None:
        return f"{texts} to embed first."
    time_left = "less than a minute" if seconds < 60 else f"about {_long(seconds)}"
    return (
        f"{texts} to embed first: {time_left}, measured on a few of them. The present model is "
        "used until then."
    )


def _long(seconds: float) -> str:
    minutes = round(seconds / 60)
    return plural(minutes, "minute") if minutes < 120 else plural(round(minutes / 60), "hour")


def draw(library: Library) -> None:
    """Draw the Library page's part about embedders."""
    with st.container(key="embedder"):
        live(library)


@st.fragment
def live(library: Library) -> None:
    """Draw the status, updated only while visible."""
    state = library.embedders.status()
    st.html(line(state))
    outcome, until = st.session_state.get(_OUTCOME, ("", 0.0))
    if outcome and time.monotonic() < until:
        st.html(markup.notices([outcome]))
    with st.container(horizontal=True, gap="small"):
        busy = bool(state.target or state.waiting)
        if busy and state.paused:
            st.button("Resume", key="embedder-resume", type="tertiary",
                      on_click=frame.click(library.embedders.resume))  # fmt: skip
        elif busy:
            st.button("Pause", key="embedder-pause", type="tertiary",
                      on_click=frame.click(library.embedders.pause))  # fmt: skip
        if state.target:
            st.button("Stop", key="embedder-stop", type="tertiary",
                      on_click=frame.click(library.embedders.cancel))  # fmt: skip
        elif state.previous:
            st.button(f"Go back to {as_label(label(state.previous)[:60])}", key="embedder-back",
                      type="tertiary", on_click=_back, args=(library, state.previous))  # fmt: skip
        if not state.target and st.button(
            "Change …", key="embedder-change", type="tertiary", on_click=_open
        ):
            st.rerun(scope="app")
    browser.pulse("embedder-pulse", 1 if busy else 4)


def _back(library: Library, previous: str) -> None:
    try:
        outcome = library.embedders.revert().replace(previous, label(previous), 1)
    except RagkitError as error:
        outcome = str(error)
    # For a while, not for one run: the next may come before anybody has seen it.
    st.session_state[_OUTCOME] = (outcome, time.monotonic() + _OUTCOME_SECONDS)


# -- choosing ------------------------------------------------------------------------------------


def _open() -> None:
    for key in (_OFFERS, _COSTS, _CHOSEN):
        st.session_state.pop(key, None)
    dialog.ask(_KIND)


def draw_dialog(library: Library) -> None:
    """Draw the dialog if it is open."""
    if dialog.current()[0] == _KIND:
        choose(library)


@dialog.titled(_KIND, "Choose an embedding model")
def choose(library: Library) -> None:
    """Choose among the built-in embedder, folders that were added, and what Ollama has."""
    if _OFFERS not in st.session_state:
        with st.spinner("Asking Ollama for its models …"):
            st.session_state[_OFFERS] = library.embedders.offers()
    offers: Offers = st.session_state[_OFFERS]
    by_name = {offer.name: offer for offer in offers.offers}
    names = list(by_name)
    active = next((place for place, offer in enumerate(offers.offers) if offer.active), 0)
    chosen = st.radio(
        "Embedder",
        names,
        index=active,
        key=_CHOSEN,
        format_func=lambda embedder: as_label(label(embedder)[:60]),
        captions=[_about(offer) for offer in offers.offers],
        label_visibility="collapsed",
    )
    if offers.trouble:
        st.html(markup.notices([offers.trouble]))
    elif not any(embedder.startswith("ollama:") for embedder in names):
        st.html(markup.notices([f"Ollama has no embedding model. {_GET_ONE}."]))
    st.html(f'<p class="rk-soft">{_ADD_ONE}</p>')
    offer = by_name.get(chosen or names[active], offers.offers[active])
    seconds, trouble = _measured(library, offer)
    if trouble:
        st.html(markup.notices([trouble]))
    st.html(f'<p class="rk-soft" role="status">{text(cost(offer, seconds))}</p>')
    with st.container(horizontal=True):
        word = "Use this model" if not offer.lacking else "Embed all and switch"
        if not offer.active:
            st.button(word, type="primary", key="embedder-choose",
                      on_click=dialog.ends(lambda: _take(library, offer)))  # fmt: skip
        st.button("Cancel", key="embedder-keep", on_click=dialog.close)


def _about(offer: EmbedderOffer) -> str:
    """Return an embedder's size and dimensions. Trusted text: no part of it needs escaping."""
    parts = ["in use"] if offer.active else []
    if offer.size:
        parts.append(byte_size(offer.size))
    if offer.dimensions:
        parts.append(f"{offer.dimensions} dimensions")
    if offer.name == "wordllama":
        parts.append("fast, built in")
    return " · ".join(parts)


def _measured(library: Library, offer: EmbedderOffer) -> tuple[float | None, str]:
    """Return the estimated seconds, or ``None`` and why; measured once while the dialog is open."""
    if offer.active or not offer.lacking:
        return None, ""
    costs: dict[str, tuple[float | None, str]] = st.session_state.setdefault(_COSTS, {})
    if offer.name not in costs:
        try:
            with st.spinner("Measuring on a few texts …"):
                costs[offer.name] = library.embedders.estimate(offer.name), ""
        except RagkitError as error:
            costs[offer.name] = None, str(error)
    return costs[offer.name]


def _take(library: Library, offer: EmbedderOffer) -> None:
    try:
        library.embedders.choose(offer.name)
        library.worker.ensure_running()
    except OSError as error:
        raise RagkitError(str(error)) from error
