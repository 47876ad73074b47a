"""The part of the Evaluate page where a model is asked to write a question set."""

from __future__ import annotations

from functools import partial
from typing import Literal

import streamlit as st

from pages.parts.common import browser
from pages.parts.evaluate import evaluation_html as evaluating
from ragkit.evaluation.background import BackgroundWriting
from ragkit.evaluation.generated_sets import MOST_WANTED, WRITTEN
from ragkit.library import Library
from ragkit.models.ollama_monitor import OllamaLook

_SEEN, _DONE, _COUNT = "writing_seen", "writing_done", "writing_count"
_USUAL = 20
_ALONE = 680
_LOOKING_SECONDS, _IDLE_SECONDS = 1, 5


@st.cache_resource(max_entries=8)
def background(_root: str) -> BackgroundWriting:
    """Return the background writing of a library."""
    return BackgroundWriting()


def writing_of(library: Library) -> BackgroundWriting:
    """Return the background writing of this library."""
    return background(str(library.paths.root))


def pop_finished() -> str | None:
    """Return, once, the set that was written since the page was last drawn."""
    name: str | None = st.session_state.pop(_DONE, None)
    return name


def form(library: Library, collection: str, *, expanded: bool = False) -> None:
    """Draw the form in an expander, closed where there are other sets."""
    width: int | Literal["stretch"] = _ALONE if expanded else "stretch"
    with st.expander(
        "Have a model write a set", expanded=expanded, key="evaluate-write", width=width
    ):
        _form(library, collection)


@st.fragment
def _form(library: Library, collection: str) -> None:
    """Draw what is possible now; it is polled, so that Ollama may come and go."""
    look = library.ollama.look()
    refused = evaluating.nobody_writes(look)
    if look is None or refused:
        st.html(refused)
    else:
        _fields(library, collection, look)
    browser.pulse("evaluate-write-pulse", _LOOKING_SECONDS if look is None else _IDLE_SECONDS)


def _fields(library: Library, collection: str, look: OllamaLook) -> None:
    writing = writing_of(library)
    names = [model.name for model in look.writers]
    preferred = library.contexts.chosen_model() or look.best
    tagged = (preferred, f"{preferred}:latest")
    index = next((names.index(name) for name in tagged if name in names), 0)
    st.html(
        '<p class="rk-soft">It is shown passages of this collection, one after the other, and asks '
        f'what they answer. The set is called "{WRITTEN}"; one that was begun is gone on with.</p>'
    )
    st.session_state.setdefault(_COUNT, _USUAL)
    # A select box of the same key would keep its old value when its choices change.
    key = f"writing-model-{index}-{'|'.join(names)}"
    with st.container(horizontal=True, key="evaluate-write-fields"):
        count = st.number_input(
            "Questions in the set", min_value=1, max_value=MOST_WANTED, step=5, key=_COUNT,
            width=150,
        )  # fmt: skip
        model = st.selectbox("Model", names, index=index, key=key, width=230)
    running = writing.status.running
    if st.button("Write", key="evaluate-write-begin", disabled=running):
        generate = partial(
            library.judgments.generate, collection, count=int(count), model=str(model)
        )
        writing.start(collection, generate)
        st.rerun()


@st.fragment
def live(library: Library, collection: str) -> None:
    """Draw how far the writing is, or its report; the page is redrawn when it is done."""
    writing = writing_of(library)
    now = writing.status
    seen = (now.round, now.running)
    before = st.session_state.get(_SEEN, seen)
    st.session_state[_SEEN] = seen
    if now.running:
        with st.container(horizontal=True, vertical_alignment="center", key="evaluate-writing"):
            st.html(evaluating.writing_line(now))
            st.button(
                "Cancel", key="evaluate-write-cancel", type="tertiary", on_click=writing.cancel,
                disabled=now.cancelled,
            )  # fmt: skip
        browser.pulse("evaluate-writing-pulse", 1)
    elif now.collection == collection and evaluating.writing_ended(now):
        with st.container(key="evaluate-written"):
            st.html(evaluating.writing_ended(now))
    if before != seen:
        if now.report is not None and now.report.questions and now.collection == collection:
            st.session_state[_DONE] = now.report.name
        st.rerun(scope="app")
