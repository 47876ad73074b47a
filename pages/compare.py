"""Compare: one question, two to four settings, side by side on one's own documents."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from pages.parts.common import browser, collection_picker, frame, judging, markup, state
from pages.parts.common import question as question_box
from pages.parts.common.markup import action, text
from pages.parts.compare import comparison as comparing
from ragkit.answering.excerpts import Excerpt
from ragkit.catalog.judgments import Origin
from ragkit.errors import RagkitError
from ragkit.evaluation.comparison import Column, Comparison, compare
from ragkit.evaluation.search_config import (
    FEWEST,
    MOST,
    SearchConfig,
    as_text,
    from_text,
    names,
)
from ragkit.formatting import plural
from ragkit.library import Library
from ragkit.option_codec import dump_options

_COLUMNS, _DRAWN, _ROUND, _FOUND = "cmp_columns", "cmp_drawn", "cmp_round", "cmp_found"
_QUOTED = "cmp_quoted"
_BLIND, _ORDER, _VOTED, _BEFORE, _PRESET = (
    "cmp_blind", "cmp_order", "cmp_voted", "cmp_before", "cmp_preset",
)  # fmt: skip
_FIRST = comparing.PRESETS["Keyword vs. semantic"]


def draw() -> None:
    """Draw the page."""
    library = frame.begin()
    columns, unknown = current()
    browser.listen(lambda values: act(library, values))
    with st.container(key="page-wide"):
        with st.container(key="compare-head"):
            question = question_box.box(
                library, "Question to compare with", "Search with several settings at once …"
            )
            collection = choose_collection(library)
            columns = settings(library, columns)
        remember(columns)
        for name in unknown:
            st.html(markup.notices([f'"{name}" in the address is not a setting. It is ignored.']))
        if not library.documents.any():
            st.html(markup.state("Nothing to compare yet", "Add documents to the library first."))
            st.page_link("pages/library.py", label="Add documents")
        elif not question.strip():
            st.html(
                markup.state(
                    "Compare search settings",
                    "Search your documents with several settings side by side. The results that "
                    "you rate become a question set for the Evaluate page.",
                )
            )
        else:
            asked = [
                replace(column, options=replace(column.options, collections=(collection,)))
                for column in columns
            ]
            results(library, question, asked)


# -- columns -------------------------------------------------------------------------------------


def current() -> tuple[list[SearchConfig], list[str]]:
    """Return the columns of the address or session, and the unknown names in the address."""
    texts = list(st.session_state.get(_COLUMNS) or _FIRST)
    if texts != st.session_state.get(_DRAWN):
        change(texts)
    texts = [*texts, *_FIRST][: max(FEWEST, min(len(texts), MOST))]
    configs, unknown = zip(*map(from_text, texts), strict=True)
    return list(configs), [part for parts in unknown for part in parts]


def change(texts: list[str]) -> None:
    """Set all columns at once; their controls start afresh."""
    st.session_state[_COLUMNS] = tuple(texts[:MOST])
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1


def remember(columns: list[SearchConfig]) -> None:
    """Store the columns in the session, as they are drawn now."""
    st.session_state[_DRAWN] = [as_text(column) for column in columns]
    st.session_state[_COLUMNS] = tuple(st.session_state[_DRAWN])


def choose_collection(library: Library) -> str:
    """Draw the choice of a collection, the presets and blind voting; return the collection."""
    with st.container(key="compare-controls", horizontal=True, vertical_alignment="center"):
        chosen = collection_picker.choose(
            library, "cmp_collection", label_visibility="collapsed", width=170
        )
        st.selectbox(
            "Preset",
            list(comparing.PRESETS),
            index=None,
            placeholder="Presets",
            key=_PRESET,
            on_change=_preset,
            label_visibility="collapsed",
            width=270,
        )
        st.toggle(
            "Blind vote",
            key=_BLIND,
            help="Columns are shuffled and their settings hidden until you vote.",
        )
    return chosen


def _preset() -> None:
    chosen = st.session_state.get(_PRESET)
    if chosen:
        change(list(comparing.PRESETS[chosen]))
        st.session_state[_PRESET] = None


def settings(library: Library, columns: list[SearchConfig]) -> list[SearchConfig]:
    """Draw a popover with each column's settings; none while voting blindly."""
    if st.session_state.get(_BLIND):
        return columns
    chosen = []
    embedders = library.embedders.complete()
    with st.container(key="compare-columns", horizontal=True, vertical_alignment="center"):
        for index, (column, name) in enumerate(zip(columns, names(columns), strict=True)):
            head = f"{comparing.LETTERS[index]} · {column.options.mode.label}"
            with st.popover(head, help=name if name != column.options.mode.label else None):
                prefix = f"cmp-{st.session_state.get(_ROUND, 0)}-{index}"
                chosen.append(comparing.edit_column(column, prefix, embedders))
                if len(columns) > FEWEST:
                    st.button("Remove setting", key=f"{prefix}-remove",
                              on_click=_remove, args=(index,))  # fmt: skip
        if len(columns) < MOST:
            st.button("Add setting", key="cmp_add", type="tertiary", on_click=_add)
    if chosen != columns:
        # The heads were drawn from the earlier settings.
        remember(chosen)
        st.rerun()
    return chosen


def _add() -> None:
    texts = st.session_state[_COLUMNS]
    change([*texts, texts[-1] if len(set(texts)) < len(texts) else "mode:hybrid"])


def _remove(index: int) -> None:
    texts = list(st.session_state[_COLUMNS])
    del texts[index]
    change(texts)


# -- results -------------------------------------------------------------------------------------


def results(library: Library, question: str, columns: list[SearchConfig]) -> None:
    """Draw the columns side by side, or why there are none."""
    try:
        comparison = compared(library, question, columns)
    except RagkitError as error:
        st.html(markup.problem(error.message, error.cure))
        return
    collection = columns[0].options.collections[0]
    grades = library.judgments.grades(collection, question)
    voted = st.session_state.get(_VOTED)
    # What identifies the subject of a vote.
    key = (collection, question, *map(as_text, columns))
    answered = voted is not None and voted[0] == key
    shuffled = bool(st.session_state.get(_BLIND))
    blind = shuffled and not answered
    # After the vote columns stay where they were: what was chosen as A is still called A.
    places = order(key, len(columns)) if shuffled else list(range(len(columns)))
    parts = [judging.counted(library, collection, grades)]
    if answered and voted:
        parts.append(vote_notice(library, comparison, collection, voted[1], places))
    before = st.session_state.get(_BEFORE)
    if before and before[0] == collection:
        undo = action("unuse", "Undo")
        parts.append(
            f'<p class="rk-notice" role="status">{text(collection)} is now searched with: '
            f"{text(before[2])}. {undo}</p>"
        )
    if blind:
        none = action("vote", "No difference", style="rk-offer", data_place=-1)
        parts.append(f'<div class="rk-offers">{none}</div>')
    shown = comparing.Shown(grades, blind, places, excerpts(library, comparison))
    table = comparing.table(comparison, shown)
    st.html(f'<div class="rk-compare-page">{"".join(parts)}{table}</div>')


def compared(library: Library, question: str, columns: list[SearchConfig]) -> Comparison:
    """Return the comparison, computed once for each version of the collection."""
    record = library.collections.get(columns[0].options.collections[0])
    key = (question, tuple(columns), record.id, record.version)
    cached = st.session_state.get(_FOUND)
    if cached is None or cached[0] != key:
        with st.spinner(f"Searching with {plural(len(columns), 'setting')} …"):
            comparison = compare(library, question, columns)
        # A failure of a model is not kept: it may be fixed by then.
        failed = any(
            outcome and outcome.failure
            for column in comparison.columns
            for outcome in (column.rerank, column.phrasings)
        )
        cached = (None if failed else key, comparison)
        st.session_state[_FOUND] = cached
    return cached[1]


def excerpts(library: Library, comparison: Comparison) -> list[list[Excerpt | None]]:
    """Return the excerpts of each column's results, chosen once for each comparison."""
    cached = st.session_state.get(_QUOTED)
    if cached is None or cached[0] is not comparison:
        quoted = [
            library.answers.excerpts(
                comparison.question, [ranked.result for ranked in column.results]
            )
            for column in comparison.columns
        ]
        cached = st.session_state[_QUOTED] = (comparison, quoted)
    return list(cached[1])


# -- votes and settings ----------------------------------------------------------------------------


def order(key: tuple[str, ...], count: int) -> list[int]:
    """Return the columns in a shuffled order, which stays the same for a key."""
    orders: dict[tuple[str, ...], list[int]] = st.session_state.setdefault(_ORDER, {})
    return orders.setdefault(key, random.sample(range(count), count))


def vote_notice(
    library: Library,
    comparison: Comparison,
    collection: str,
    vote_id: int,
    places: Sequence[int],
) -> str:
    """Return the vote, and the tally of all votes on these settings, as HTML.

    ``places`` are the columns in the order in which they are shown.
    """
    votes = library.judgments.votes(collection)
    vote = next((vote for vote in votes if vote.id == vote_id), None)
    if vote is None:
        return ""
    texts = [as_text(column.settings) for column in comparison.columns]
    choice = "You saw no difference"
    if vote.winner is not None:
        winner = texts.index(vote.settings[vote.winner])
        letter = comparing.LETTERS[places.index(winner)]
        choice = f"You chose {letter}: {comparison.columns[winner].name}"
    tally = comparing.tally(votes, comparison)
    undo = action("unvote", "Undo", data_vote=vote_id)
    notice = f"{text(choice)}. Votes so far: {text(tally)}."
    return f'<p class="rk-notice" role="status">{notice} {undo}</p>'


def act(library: Library, values: Mapping[str, str]) -> None:
    """Handle a click on a button or link of the page."""
    verb = values.get("rk", "")
    question = st.session_state.get(state.QUESTION) or ""
    if judging.act(library, values, question, Origin.COMPARE):
        return
    cached = st.session_state.get(_FOUND)
    if cached is None:
        return
    comparison: Comparison = cached[1]
    columns = [column.settings for column in comparison.columns]
    collection = columns[0].options.collections[0]
    with frame.toasted():
        if verb == "vote":
            place = int(values["place"])
            texts = tuple(map(as_text, columns))
            key = (collection, question, *texts)
            winner = None if place < 0 else order(key, len(columns))[place]
            vote = library.judgments.vote(collection, question, texts, winner)
            st.session_state[_VOTED] = (key, vote)
        elif verb == "unvote":
            library.judgments.remove_vote(int(values["vote"]))
            st.session_state.pop(_VOTED, None)
            st.session_state.pop(_ORDER, None)
        elif verb == "use":
            use(library, comparison.columns[int(values["column"])])
        elif verb == "unuse":
            before = st.session_state.pop(_BEFORE, None)
            if before:
                library.collections.set_search(collection, before[1])
                state.forget_options()


def use(library: Library, column: Column) -> None:
    """Search the collection with a column's settings from now on."""
    # Options of no collection are those of the settings file.
    search = dump_options(column.settings.options, library.options(collections=()))
    before = library.collections.set_search(column.settings.options.collections[0], search)
    st.session_state[_BEFORE] = (before.name, before.settings.get("search", {}), column.name)
    state.forget_options()
    if column.settings.chunked:
        st.toast("Searching each topic separately is not saved: choose it for each search.")


draw()
