"""The controls around the search box: collection, mode, filters, options, export."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts.common import state
from pages.parts.common.markup import name, number, text
from pages.parts.common.option_controls import control, search_controls
from pages.parts.search import export, summary
from ragkit.errors import QueryError
from ragkit.library import Library
from ragkit.options import SEARCH_OPTIONS, SearchOptions
from ragkit.results import Answer

OFFERED = (
    "chunk_aware", "expansion", "granularity", "contexts", "limit", "fusion", "rerank",
    "min_score", "near_duplicates", "semantic_threshold", "mmr_lambda",
)  # fmt: skip
_MOST_FACETS, _MOST_FIELDS = 12, 6
_DATE = re.compile(r"\d{4}-\d\d")


@dataclass(frozen=True, slots=True)
class Controls:
    """What the row under the box says.

    ``problem`` is what is wrong with the question's filters; ``export`` is where the answer is
    offered as files once it is there.
    """

    options: SearchOptions
    problem: QueryError | None
    export: DeltaGenerator


def controls(library: Library, question: str) -> Controls:
    """Draw the row under the box."""
    names = [one.name for one in library.collections.list()] or [library.settings.collection]
    with st.container(key="controls", horizontal=True, vertical_alignment="center"):
        chosen = _collection(library, names)
        first = library.options(collections=tuple(chosen))
        mode = control(
            SEARCH_OPTIONS["mode"],
            first.mode,
            state.MODE,
            label_visibility="collapsed",
            persist_state="session",
            width=130,
        )
        per_document = control(
            SEARCH_OPTIONS["per_document"],
            first.per_document,
            state.ONE_EACH,
            persist_state="session",
        )
        with st.popover("Filters"):
            problem = _filters(library, chosen, question)
        with st.popover("Options"):
            changes = search_controls(first, OFFERED, "option_", persist_state="session")
            place = st.container()
    options = replace(first, mode=mode, per_document=per_document, **changes)
    return Controls(options, problem, place)


def _collection(library: Library, names: list[str]) -> list[str]:
    """Which collections are searched; asked only when there are several."""
    if len(names) < 2:
        return names
    choices = [*names, state.ALL]
    wanted = st.session_state.get(state.ACTIVE, library.settings.collection)
    state.start(**{state.COLLECTION: wanted if wanted in choices else state.ALL})
    if st.session_state[state.COLLECTION] not in choices:
        st.session_state[state.COLLECTION] = state.ALL
    found = st.selectbox(
        "Collection",
        choices,
        key=state.COLLECTION,
        label_visibility="collapsed",
        persist_state="session",
        width=170,
    )
    return names if found == state.ALL else [found]


# -- filters ---------------------------------------------------------------------------------


def _filters(library: Library, collections: Sequence[str], question: str) -> QueryError | None:
    """Filters as buttons with counts; each writes itself into the question."""
    fields = library.documents.field_names(collections)
    try:
        active = {chip.token for chip in summary.chips(question, fields)}
    except QueryError as error:
        st.caption("A filter in the question is not understood; mend it first.")
        return error
    groups = facet_groups(library, collections)
    html = "".join(_facet_group(title, key, values, active) for title, key, values in groups)
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
    st.caption("The same can be typed in the box: type:pdf path:notes/ after:2025-01")
    return None


def facet_groups(
    library: Library, collections: Sequence[str]
) -> list[tuple[str, str, list[tuple[str, int]]]]:
    """(title, filter, values with counts) for whatever the library can count."""
    totals: dict[tuple[str, str], dict[str, int]] = {}
    for collection in dict.fromkeys(collections):
        facets = library.documents.facets(collection)
        named = [
            ("Type", "type", facets.types),
            ("Folder", "path", facets.folders),
            ("Language", "lang", facets.languages),
            ("Tag", "tag", facets.tags),
        ]
        named += [
            (key.replace("_", " ").capitalize(), key, values)
            for key, values in facets.fields[:_MOST_FIELDS]
            if not any(_DATE.match(value) for value, _ in values)
        ]
        for title, key, values in named:
            into = totals.setdefault((title, key), {})
            for value, count in values:
                into[value] = into.get(value, 0) + count
    return [
        (title, key, sorted(found.items(), key=lambda one: (-one[1], one[0]))[:_MOST_FACETS])
        for (title, key), found in totals.items()
        if found
    ]


def _facet_group(title: str, key: str, values: list[tuple[str, int]], active: set[str]) -> str:
    buttons = []
    for value, count in values:
        token = summary.filter_token(key, value)
        pressed = str(token in active).lower()
        buttons.append(
            f'<button type="button" class="rk-facet" data-rk="filter" aria-pressed="{pressed}" '
            f'data-token="{text(token)}"><bdi>{name(value)}</bdi> '
            f"<span>{number(count)}</span></button>"
        )
    return (
        f'<div class="rk-facet-group"><h3>{name(title)}</h3>'
        f'<div class="rk-facets">{"".join(buttons)}</div></div>'
    )


def _dated(key: str, word: str, fields: Sequence[str]) -> None:
    """Write the chosen date into the question, in place of the one before."""
    chosen = st.session_state.get(key)
    question = st.session_state.get(state.QUESTION) or ""
    for chip in summary.chips(question, fields):
        if chip.part == word:
            question = summary.without_filter(question, chip.token, fields)
    if chosen is not None:
        question = f"{question} {word}:{chosen.isoformat()}".strip()
    st.session_state[state.QUESTION] = question


def offer_export(place: DeltaGenerator, answer: Answer) -> None:
    """Offer an answer as files, at the end of the options."""
    if not answer.results:
        return
    with place:
        st.caption("Export these results")
        with st.container(horizontal=True):
            for label, kind, mime, write in (
                ("JSON", "json", "application/json", export.as_json),
                ("Markdown", "md", "text/markdown", export.as_markdown),
                ("CSV", "csv", "text/csv", export.as_csv),
            ):
                st.download_button(
                    label,
                    data=partial(write, answer),
                    file_name=f"results.{kind}",
                    mime=mime,
                    key=f"export_{kind}",
                    on_click="ignore",
                )


def add_sample(library: Library) -> None:
    """Make the sample documents a source, and read them."""
    from ragkit.surfaces.serve import sample_contexts, sample_folder

    source = library.sources.add_folder(sample_folder())
    library.sources.sync(source)
    library.contexts.import_file(source.id, sample_contexts())
