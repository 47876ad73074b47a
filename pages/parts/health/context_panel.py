"""The Health page's part about contexts: their status, and which model writes them."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.parts.common import browser, collection_picker, frame, state
from pages.parts.health import health_view
from ragkit.catalog.background_state import BackfillState, BackgroundPhase
from ragkit.errors import NotFoundError
from ragkit.formatting import byte_size
from ragkit.library import Library
from ragkit.models.ollama_monitor import SUGGESTED_BYTES, SUGGESTED_MODEL, Download, OllamaLook

_SCOPE = "contexts_scope"
_BEST = "Let ragkit choose"
_WORKING_SECONDS, _IDLE_SECONDS = 1, 4


def draw(library: Library, *, retry: bool) -> None:
    """Draw the whole part. ``retry``: offer to retry all failed contexts."""
    st.html(
        '<h2>Contexts</h2><p class="rk-soft">A model on this machine describes in a sentence or '
        "two where each chunk comes from, so searches find more.</p>"
    )
    with st.container(key="contexts"):
        live(library, retry)


@st.fragment
def live(library: Library, retry: bool) -> None:
    """Draw the status of writing and its model, both of one moment, while the tab is visible."""
    look, download = library.ollama.look(), library.ollama.download
    scope = _scope(library)
    try:
        now = library.contexts.status(scope)
    except NotFoundError:
        # Removed since the page was drawn.
        scope, now = None, library.contexts.status()
    busy = _writing(library, scope, now, look, retry)
    busy |= _model(library, now.chosen, look, download)
    browser.pulse("contexts-pulse", _WORKING_SECONDS if busy else _IDLE_SECONDS)


def _writing(
    library: Library, scope: str | None, now: BackfillState, look: OllamaLook | None, retry: bool
) -> bool:
    """Draw the status of writing; return whether contexts are being written or about to be."""
    switched_on = library.settings.models.contexts
    reachable = None if look is None else look.health.reachable
    st.html(health_view.contexts_status(now, switched_on, reachable))
    counts = now.counts
    with st.container(horizontal=True, vertical_alignment="center", key="contexts-acts"):
        if now.paused:
            st.button("Resume", key="contexts-resume", on_click=_ask,
                      args=(library, library.contexts.resume))  # fmt: skip
        elif counts.pending and switched_on:
            st.button("Pause", key="contexts-pause", on_click=frame.click(library.contexts.pause))
        if now.cost.summaries_failed or (counts.failed and (retry or scope is not None)):
            st.button(
                "Retry failed", key="contexts-retry", type="tertiary",
                on_click=_ask, args=(library, library.contexts.retry, scope),
            )  # fmt: skip
        if scope is not None and counts.pending:
            st.button(
                "Write these first", key="contexts-first", type="tertiary",
                on_click=_ask, args=(library, library.contexts.prioritize, scope),
            )  # fmt: skip
    failed = health_view.failures(library.contexts.failures(scope), counts.failed)
    if failed:
        st.html(failed)
    return now.phase is BackgroundPhase.WORKING or bool(counts.pending and not now.running)


def _scope(library: Library) -> str | None:
    """Return the chosen collection, or ``None`` for all; drawn only when there are several."""
    if library.collections.count() < 2:
        return None
    chosen = collection_picker.draw(
        library, _SCOPE, state.ALL, state.ALL, label_visibility="collapsed", width=240
    )
    return None if chosen == state.ALL else chosen


def _ask(library: Library, work: Callable[..., object], *about: str | None) -> None:
    """Ask the worker for some work, and see that it runs."""
    work(*about)
    library.worker.ensure_running()


# -- which model writes ----------------------------------------------------------------------------


def _model(
    library: Library, chosen: str, look: OllamaLook | None, download: Download | None
) -> bool:
    """Draw whether Ollama answers, which of its models writes, and a way to get one.

    Returns whether this will change soon.
    """
    desk = library.ollama
    st.html(health_view.ollama_line(look, chosen))
    if look is not None and look.health.reachable:
        _choice(library, look, chosen)
    running = download is not None and not download.ended
    if download is not None:
        with st.container(horizontal=True, vertical_alignment="center", key="download"):
            st.html(health_view.download_line(download))
            st.button(
                "Cancel" if running else "Close", key="download-end", type="tertiary",
                on_click=desk.cancel if running else desk.forget_download,
            )  # fmt: skip
    if look is not None and look.health.reachable and not running:
        _offer(library, look)
    return running or look is None


def _choice(library: Library, look: OllamaLook, chosen: str) -> None:
    """Draw the models that can write; the worker uses a new choice from the next chunk on."""
    choices = ["", *(model.name for model in look.writers)]
    if chosen not in choices:
        choices.append(chosen)
    # With other choices, a select box would take the label of the old choice for a value.
    key = f"context-model-{chosen}-{'|'.join(choices)}"

    def choose() -> None:
        library.contexts.choose_model(st.session_state[key])

    st.selectbox(
        "Model that writes contexts",
        choices,
        index=choices.index(chosen),
        format_func=lambda name: name or _BEST,
        key=key,
        on_change=choose,
        help="Takes effect with the next chunk. Contexts that are already written stay.",
    )


def _offer(library: Library, look: OllamaLook) -> None:
    """Draw the offer of a small model, when it is missing."""
    if any(model.name == SUGGESTED_MODEL for model in look.writers):
        return
    st.button(
        f"Download {SUGGESTED_MODEL} ({byte_size(SUGGESTED_BYTES)})",
        key="download-begin",
        type="tertiary" if look.writers else "primary",
        on_click=frame.click(library.ollama.pull),
        args=(SUGGESTED_MODEL, library.contexts.choose_model),
        help="A small model that writes well enough. Ollama downloads it, then it is used here.",
    )
