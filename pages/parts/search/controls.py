"""The controls around the search box: collection, mode, filters, options, export."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from functools import partial
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts.common import labels as wording
from pages.parts.common import state
from pages.parts.common.markup import name, number, text
from pages.parts.search import export
from pages.parts.search import query_text as query
from ragkit.errors import QueryError
from ragkit.evaluation.search_config import MODES
from ragkit.library import Library
from ragkit.options import Contexts, Filters, Fusion, SearchOptions
from ragkit.results import Answer

_MODES = wording.by_words(MODES)
_EXPANSIONS = wording.by_words(wording.EXPANSIONS)
_GRANULARITIES = wording.by_words(wording.GRANULARITIES)
_FUSIONS = wording.by_words(wording.FUSIONS)
_RERANKINGS = wording.by_words(wording.RERANKINGS)
Number = TypeVar("Number", int, float)
_MOST_FACETS, _MOST_FIELDS = 12, 6
_DATE = re.compile(r"\d{4}-\d\d")


def mode_label(mode: str) -> str:
    """The words for a mode."""
    return next(label for label, one in _MODES.items() if one.value == mode)


def known_fields(library: Library, collections: Sequence[str] = ()) -> list[str]:
    """The front-matter fields that can be filtered by."""
    wanted = set(collections)
    return sorted(
        {
            field
            for one in library.collections()
            if not wanted or one.name in wanted
            for field in library.catalog.filters.field_names(one.id)
        }
    )


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
    names = [one.name for one in library.collections()] or [library.settings.collection]
    with st.container(key="controls", horizontal=True, vertical_alignment="center"):
        chosen = _collection(library, names)
        first = library.options(collections=tuple(chosen))
        mode = _MODES[_mode(first)]
        state.start(**{state.ONE_EACH: first.per_document == 1})
        one_each = st.toggle(
            "One result per document",
            key=state.ONE_EACH,
            persist_state="session",
            help="Off: each matching chunk is a result of its own.",
        )
        with st.popover("Filters"):
            problem = _filters(library, chosen, question)
        with st.popover("Options"):
            options = _options(first)
            place = st.container()
    changes = {"collections": tuple(chosen), "mode": mode, "per_document": 1 if one_each else 0}
    # What is switched off here is off, whatever the collection sets for itself.
    switches = ("semantic_threshold", "mmr_lambda")
    off: dict[str, Any] = dict.fromkeys(one for one in switches if one not in options)
    asked = replace(library.options(**changes, **options), **off)
    return Controls(asked, problem, place)


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


def _mode(first: SearchOptions) -> str:
    state.start(**{state.MODE: mode_label(first.mode.value)})
    return st.selectbox(
        "How to search",
        list(_MODES),
        key=state.MODE,
        label_visibility="collapsed",
        persist_state="session",
        width=190,
    )


# -- filters ---------------------------------------------------------------------------------


def _filters(library: Library, collections: Sequence[str], question: str) -> QueryError | None:
    """Filters as buttons with counts; each writes itself into the question."""
    fields = known_fields(library, collections)
    try:
        active = {chip.token for chip in query.chips(question, fields)}
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
    there = {one.name for one in library.collections()}
    for collection in there.intersection(collections):
        facets = library.catalog.filters.facets(
            library.catalog.collections.get(collection).id, Filters()
        )
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
        token = query.token_for(key, value)
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
    for chip in query.chips(question, fields):
        if chip.part == word:
            question = query.without(question, chip.token, fields)
    if chosen is not None:
        question = f"{question} {word}:{chosen.isoformat()}".strip()
    st.session_state[state.QUESTION] = question


# -- options ---------------------------------------------------------------------------------


def _options(first: SearchOptions) -> dict[str, object]:
    """What decides how results are found and shown; it begins as the collection is searched."""
    chosen: dict[str, object] = {}
    chosen["chunk_aware"] = _toggle(
        "Put passages together", "chunk_aware", first.chunk_aware,
        "Joins what matched in a document with what lies between. Off: bare snippets.",
    )  # fmt: skip
    chosen["expansion"] = _EXPANSIONS[
        _select(
            "Show around a match", "expansion", list(_EXPANSIONS), _at(_EXPANSIONS, first.expansion)
        )
    ]
    chosen["granularity"] = _GRANULARITIES[
        _select(
            "Search in", "granularity", list(_GRANULARITIES), _at(_GRANULARITIES, first.granularity)
        )
    ]
    written = _toggle(
        "Search what models wrote", "contexts", first.contexts is Contexts.MODEL,
        "Contexts, keywords and questions that a local model wrote of each chunk. "
        "Off: only the documents' own words and headings.",
    )  # fmt: skip
    chosen["contexts"] = Contexts.MODEL if written else Contexts.STRUCTURAL
    chosen["limit"] = _slider("Results", "limit", 1, 50, first.limit, 1, "How many at most.")
    fused = _select("Put lists together by", "fusion", list(_FUSIONS), first.fusion is Fusion.RRF)
    chosen["fusion"] = _FUSIONS[fused]
    meaning = _slider(
        "Meaning against words", "vector_weight", 0.0, 1.0, first.vector_weight, 0.05,
        "1: meaning alone counts. 0: words alone.",
    )  # fmt: skip
    if meaning != first.vector_weight:
        chosen["vector_weight"], chosen["keyword_weight"] = meaning, round(1 - meaning, 2)
    reranked = _select(
        "Reranking", "rerank", list(_RERANKINGS), _at(_RERANKINGS, first.rerank),
        "A model of Ollama's reads the best chunks with the question and orders them anew. "
        "That takes seconds.",
    )  # fmt: skip
    chosen["rerank"] = _RERANKINGS[reranked]
    chosen["min_score"] = _slider(
        "Weakest score shown",
        "min_score",
        0.0,
        1.0,
        first.min_score,
        0.05,
        "Weaker matches are left out.",
    )
    chosen["near_duplicates"] = _toggle(
        "Fold near-identical texts",
        "near_duplicates",
        first.near_duplicates,
        "Texts that are 95 % alike.",
    )
    if _toggle(
        "Fold texts of the same meaning",
        "semantic",
        first.semantic_threshold is not None,
        "By the cosine of vectors.",
    ):
        chosen["semantic_threshold"] = _slider(
            "From a likeness of", "semantic_threshold", 0.8, 1.0, 0.95, 0.01, ""
        )
    if _toggle(
        "Prefer variety (MMR)",
        "mmr",
        first.mmr_lambda is not None,
        "Trades some relevance for difference.",
    ):
        chosen["mmr_lambda"] = _slider(
            "Relevance against variety", "mmr_lambda", 0.0, 1.0, 0.7, 0.05, ""
        )
    return chosen


def _at(choices: Mapping[str, StrEnum], value: StrEnum) -> int:
    """The place of a value among choices."""
    return list(choices.values()).index(value)


def _toggle(label: str, key: str, first: bool, help_: str) -> bool:
    state.start(**{f"option_{key}": first})
    return st.toggle(label, key=f"option_{key}", help=help_ or None, persist_state="session")


def _select(label: str, key: str, choices: list[str], index: int = 0, help_: str = "") -> str:
    state.start(**{f"option_{key}": choices[index]})
    return st.selectbox(
        label, choices, key=f"option_{key}", help=help_ or None, persist_state="session"
    )


def _slider(
    label: str, key: str, low: Number, high: Number, first: Number, step: Number, help_: str
) -> Number:
    state.start(**{f"option_{key}": first})
    return st.slider(
        label,
        low,
        high,
        step=step,
        key=f"option_{key}",
        help=help_ or None,
        persist_state="session",
    )


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

    source = library.add_folder(sample_folder())
    library.sync(source)
    library.recall_contexts(source.id, sample_contexts())
