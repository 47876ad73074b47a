"""The controls of a search and of a long question: collection, filters, options, export."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts.common import collection_picker, option_controls, state
from pages.parts.common import question as question_box
from pages.parts.common.option_controls import control, search_controls
from pages.parts.search import answering, facets, summary
from ragkit.errors import QueryError
from ragkit.library import Library
from ragkit.options import (
    SEARCH_OPTIONS,
    ChunkedOptions,
    CutMethod,
    Dedup,
    IndexMode,
    SearchOptions,
)
from ragkit.results import Answer
from ragkit.surfaces import render_exports

OFFERED_LONG = (
    "limit", "hits_per_segment", "method", "segment_tokens", "overlap_tokens", "merge", "dedup",
    "per_document", "min_similarity", "whole_weight", "mode", "nprobe", "overfetch",
)  # fmt: skip
"""What is offered behind *Options* on the Conversation page."""

_IN_SIGHT = ("mode", "sort")
"""The options beside the box or above the results."""

FILTERS_OPEN, OPTIONS_OPEN = "filters_open", "options_open"


@dataclass(frozen=True, slots=True)
class Controls:
    """The state of the row under the box.

    No collections in ``options`` stand for all: ``collection_picker.everywhere`` names them.
    ``problem`` is what is wrong with the question's filters; ``export`` is the place where the
    answer is offered as files, while the options are open.
    """

    options: SearchOptions
    problem: QueryError | None
    export: DeltaGenerator | None


def controls(library: Library, question: str) -> Controls:
    """Draw the row under the box. What a popover holds is made only while it is open."""
    with st.container(key="controls", horizontal=True, vertical_alignment="center"):
        collections = _collections(library)
        first = library.options(collections=tuple(collections))
        control(
            SEARCH_OPTIONS["mode"], first.mode, state.MODE,
            label_visibility="collapsed", persist_state="session", width=130,
        )  # fmt: skip
        filters = st.popover("Filters", key=FILTERS_OPEN, on_change="rerun")
        options = st.popover("Options", key=OPTIONS_OPEN, on_change="rerun")
    problem = _problem(library, collections, question)
    if filters.open:
        with filters:
            _filters(library, question, _options(first, question), problem)
    export = None
    if options.open:
        with options:
            search_controls(first, drawn=_IN_SIGHT)
            answering.draw_choice(library)
            changed = option_controls.changed(first) != first
            st.button("Reset options", on_click=state.forget_options, disabled=not changed)
            export = st.container()
    return Controls(_options(first, question), problem, export)


def _options(first: SearchOptions, question: str) -> SearchOptions:
    """Return the options as changed by the person; a question may be exempt from corrections."""
    options = option_controls.changed(first)
    if question and st.session_state.get(state.AS_TYPED) == question:
        return replace(options, correct_spelling=False, read_filters=False)
    st.session_state[state.AS_TYPED] = ""
    return options


def long_controls(
    library: Library, left_out: Iterable[int]
) -> tuple[SearchOptions, ChunkedOptions]:
    """Draw the collection and the options of a long question, and return them."""
    first = library.chunked_options()
    collections = _choose(
        library, "long_option_collection", state.ALL, label_visibility="collapsed", width=170
    )
    options = library.options(collections=tuple(collections))
    options = collection_picker.everywhere(library, options)
    offered = option_controls.of_conversation(first, options)
    changes: dict[str, Any] = {"exclude": frozenset(left_out)}
    with st.popover("Options"):
        for name_ in OFFERED_LONG:
            if _matters(name_, changes):
                changes[name_] = offered[name_].draw(persist_state="session")
        of_search = {
            name: offered[name].draw(persist_state="session")
            for name in option_controls.FOR_ALL_TOPICS
        }
    return replace(options, **of_search), replace(first, **changes)


def _matters(option: str, chosen: Mapping[str, Any]) -> bool:
    """Return whether an option has an effect, given those chosen already."""
    if option in ("segment_tokens", "overlap_tokens"):
        return chosen["method"] is CutMethod.FIXED
    if option in ("nprobe", "overfetch"):
        return chosen["mode"] is IndexMode.ANN
    return option != "per_document" or chosen["dedup"] is not Dedup.NONE


def _collections(library: Library) -> list[str]:
    """Return the chosen collection, or an empty list for all; drawn only if there are several."""
    return _choose(
        library, state.COLLECTION, _active(library), label_visibility="collapsed", width=170
    )


def chosen_collection(library: Library) -> str | None:
    """Return the collection that is chosen, before the choice is drawn; ``None`` for all."""
    chosen = str(st.session_state.get(state.COLLECTION, _active(library)))
    return chosen if library.collections.has(chosen) else None


def _active(library: Library) -> str:
    return str(st.session_state.get(state.ACTIVE, library.settings.collection))


def _choose(library: Library, key: str, first: str, **widget: Any) -> list[str]:
    """Draw the choice of a collection; return it, or an empty list for all.

    ``first`` is chosen to begin with.
    """
    if library.collections.count() < 2:
        return [next(iter(library.collections.names()), library.settings.collection)]
    chosen = collection_picker.draw(
        library, key, first, state.ALL, persist_state="session", **widget
    )
    return [] if chosen == state.ALL else [chosen]


# -- filters ---------------------------------------------------------------------------------


def _problem(library: Library, collections: Sequence[str], question: str) -> QueryError | None:
    """Return the error in the question's filters."""
    try:
        summary.chips(question, library.documents.field_names(collections))
    except QueryError as error:
        return error
    return None


def _filters(
    library: Library, question: str, options: SearchOptions, problem: QueryError | None
) -> None:
    """Draw the filters as buttons with counts; each writes itself into the question."""
    if problem:
        st.caption("Correct the filter in the question first.")
        return
    fields = library.documents.field_names(options.collections)
    active = {chip.token for chip in summary.chips(question, fields)}
    html = facets.html(facets.groups(library, question, options), active)
    if html:
        st.html(html)
    left, right = st.columns(2)
    for column, label, word in ((left, "From", "after"), (right, "Until", "before")):
        key = f"date_{word}"
        column.date_input(
            label,
            value=None,
            key=key,
            format="YYYY-MM-DD",
            min_value=date(1900, 1, 1),
            on_change=partial(_dated, key, word, fields),
        )
    counted = "Counts are of the documents that this question finds. " if question.strip() else ""
    st.caption(f"{counted}You can also type filters: type:pdf path:notes/ after:2025-01")


def _dated(key: str, word: str, fields: Sequence[str]) -> None:
    """Write the chosen date into the question, in place of the one before."""
    chosen = st.session_state.get(key)
    question = st.session_state.get(state.QUESTION) or ""
    for chip in summary.chips(question, fields):
        if chip.name == word:
            question = summary.without_filter(question, chip.token, fields)
    if chosen is not None:
        question = f"{question} {word}:{chosen.isoformat()}".strip()
    question_box.put(question)


def offer_export(place: DeltaGenerator | None, answer: Answer) -> None:
    """Offer an answer as files, at the end of the options."""
    if place is None or not answer.results:
        return
    with place:
        st.caption("Export these results")
        with st.container(horizontal=True):
            for label, kind, mime, write in (
                ("JSON", "json", "application/json", render_exports.export_json),
                ("Markdown", "md", "text/markdown", render_exports.export_markdown),
                ("CSV", "csv", "text/csv", render_exports.export_csv),
            ):
                st.download_button(
                    label,
                    data=partial(write, answer),
                    file_name=f"results.{kind}",
                    mime=mime,
                    key=f"export_{kind}",
                    on_click="ignore",
                )
