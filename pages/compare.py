"""Compare: one question, two to four settings, side by side on one's own documents."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from pages.parts.common import browser, frame, judging, markup, state
from pages.parts.common.markup import action, plural, text
from pages.parts.compare import column_editor
from pages.parts.compare import comparison_html as comparing
from ragkit.catalog.judgments import Origin
from ragkit.errors import RagkitError
from ragkit.evaluation.comparison import Comparison, compare
from ragkit.evaluation.search_config import (
    FEWEST,
    MOST,
    SearchConfig,
    as_text,
    from_text,
    names,
)
from ragkit.library import Library
from ragkit.options import SearchOptions
from ragkit.settings import dump_options

_COLUMNS, _ADDRESS, _ROUND, _FOUND = "cmp_columns", "cmp_address", "cmp_round", "cmp_found"
_BLIND, _ORDER, _VOTED, _BEFORE, _PRESET = (
    "cmp_blind", "cmp_order", "cmp_voted", "cmp_before", "cmp_preset",
)  # fmt: skip
_FIRST = comparing.PRESETS["Keyword vs. semantic"]


def draw() -> None:
    """The whole page."""
    library = frame.begin()
    columns, strange = current()
    browser.listen("compare-actions", lambda values: act(library, values))
    browser.judging_keys("compare-keys")
    with st.container(key="page-wide"):
        with st.container(key="compare-head"):
            question = box()
            base = where(library)
            columns = settings(library, columns)
        remember(columns)
        for one in strange:
            st.html(markup.notices([f'"{one}" in the address is no setting and is left out.']))
        if not library.documents.counts().documents:
            st.html(markup.state("Nothing to compare yet", "Add documents first."))
            st.page_link("pages/library.py", label="Library")
        elif not question.strip():
            st.html(
                markup.state(
                    "Which settings find more?",
                    "Ask something of your own documents. Each column searches in its own way; "
                    "judge what is right, and the clicks become a question set.",
                )
            )
        else:
            results(library, question, [replace_where(one, base) for one in columns])


def box() -> str:
    """The question, the same as on the Search page and kept in the address as ``?q=``."""
    asked = st.text_input(
        "Question to compare with",
        type="search",
        key=state.QUESTION,
        bind="query-params",
        persist_state="session",
        label_visibility="collapsed",
        placeholder="Ask with several settings at once …",
    )
    return asked or ""


# -- columns -------------------------------------------------------------------------------------


def current() -> tuple[list[SearchConfig], list[str]]:
    """The columns of the address, or else of this session; and what there is not understood."""
    said = st.query_params.get_all("c")
    if said and said != st.session_state.get(_ADDRESS):
        change(said)
    texts = st.session_state.get(_COLUMNS) or list(_FIRST)
    read = [from_text(one) for one in [*texts, *_FIRST][: max(FEWEST, min(len(texts), MOST))]]
    return [one for one, _ in read], [part for _, strange in read for part in strange]


def change(texts: list[str]) -> None:
    """Set all columns at once; their controls begin anew."""
    st.session_state[_COLUMNS] = texts[:MOST]
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1


def remember(columns: list[SearchConfig]) -> None:
    """Keep the columns, and say them in the address."""
    texts = [as_text(one) for one in columns]
    st.session_state[_COLUMNS] = texts
    if st.session_state.get(_ADDRESS) != texts or st.query_params.get_all("c") != texts:
        st.session_state[_ADDRESS] = texts
        st.query_params["c"] = texts


def where(library: Library) -> SearchOptions:
    """Presets, blind voting, and which collection is searched, beside one another."""
    collections = [one.name for one in library.collections.list()] or [library.settings.collection]
    with st.container(key="compare-controls", horizontal=True, vertical_alignment="center"):
        chosen = library.settings.collection
        if len(collections) > 1:
            wanted = st.session_state.get(state.COLLECTION, chosen)
            chosen = frame.collection_picker(
                collections, "cmp_collection", wanted, collections[0],
                label_visibility="collapsed", width=170,
            )  # fmt: skip
        st.selectbox(
            "Begin with",
            list(comparing.PRESETS),
            index=None,
            placeholder="Compare …",
            key=_PRESET,
            on_change=_preset,
            label_visibility="collapsed",
            width=270,
        )
        st.toggle(
            "Blind vote",
            key=_BLIND,
            help="Columns are shuffled and their settings hidden until you say which is better.",
        )
    if chosen not in collections:
        chosen = collections[0]
    return SearchOptions(collections=(chosen,))


def _preset() -> None:
    chosen = st.session_state.get(_PRESET)
    if chosen:
        change(list(comparing.PRESETS[chosen]))
        st.session_state[_PRESET] = None


def replace_where(column: SearchConfig, base: SearchOptions) -> SearchConfig:
    """The column's settings, in the chosen collection."""
    return replace(column, options=replace(column.options, collections=base.collections))


def settings(library: Library, columns: list[SearchConfig]) -> list[SearchConfig]:
    """A button for each column, behind which its settings are; hidden while voting blindly."""
    if st.session_state.get(_BLIND):
        return columns
    chosen = []
    embedders = library.embedders.complete()
    with st.container(key="compare-columns", horizontal=True, vertical_alignment="center"):
        for index, (column, name) in enumerate(zip(columns, names(columns), strict=True)):
            head = f"{comparing.LETTERS[index]} · {column.options.mode.label}"
            with st.popover(head, help=name if name != column.options.mode.label else None):
                prefix = f"cmp-{st.session_state.get(_ROUND, 0)}-{index}"
                chosen.append(column_editor.edit(column, prefix, embedders))
                if len(columns) > FEWEST:
                    st.button("Remove this column", key=f"{prefix}-remove",
                              on_click=_remove, args=(index,))  # fmt: skip
        if len(columns) < MOST:
            st.button("Add a column", key="cmp_add", type="tertiary", on_click=_add)
    if chosen != columns:
        # The heads were drawn from the settings of before.
        st.session_state[_COLUMNS] = [as_text(one) for one in chosen]
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
    """The columns side by side, or why there are none."""
    try:
        found = asked(library, question, columns)
    except RagkitError as error:
        st.html(markup.problem(error.message, error.cure))
        return
    collection = columns[0].options.collections[0]
    grades = library.judgments.grades(collection, question)
    voted = st.session_state.get(_VOTED)
    key = vote_key(question, columns)
    answered = voted is not None and voted[0] == key
    blind = bool(st.session_state.get(_BLIND)) and not answered
    parts = [judging.counted(library, collection, grades)]
    parts += [told_vote(library, found, collection, voted[1])] if answered and voted else []
    before = st.session_state.get(_BEFORE)
    if before and before[0] == collection:
        undo = action("unuse", "Undo")
        parts.append(
            f'<p class="rk-notice" role="status">Searches of {text(collection)} are now made like '
            f"this: {text(before[2])}. {undo}</p>"
        )
    if blind:
        none = action("vote", "No difference", style="rk-offer", data_place=-1)
        parts.append(f'<div class="rk-offers">{none}</div>')
    shown = comparing.Shown(
        grades={collection: grades},
        blind=blind,
        order=order(key, len(columns)) if blind else (),
    )
    st.html(f'<div class="rk-compare-page">{"".join(parts)}{comparing.table(found, shown)}</div>')


def asked(library: Library, question: str, columns: list[SearchConfig]) -> Comparison:
    """What the columns find; asked once for a state of the collection."""
    record = library.collections.get(columns[0].options.collections[0])
    key = (question, tuple(columns), record.id, record.version)
    known = st.session_state.get(_FOUND)
    if known is None or known[0] != key:
        with st.spinner(f"Searching in {plural(len(columns), 'way')} …"):
            asked_now = compare(library, question, columns)
        # What a model could not rerank is asked again, so that it may be mended.
        failed = any(one.rerank and one.rerank.failure for one in asked_now.columns)
        known = (None if failed else key, asked_now)
        st.session_state[_FOUND] = known
    found: Comparison = known[1]
    return found


# -- votes and settings ----------------------------------------------------------------------------


def vote_key(question: str, columns: list[SearchConfig]) -> tuple[str, ...]:
    """What a vote is about."""
    return (question, *(as_text(one) for one in columns))


def order(key: tuple[str, ...], count: int) -> list[int]:
    """How the columns are shuffled: anew for each question, the same while it is looked at."""
    known = st.session_state.get(_ORDER)
    if known is None or known[0] != key:
        known = (key, random.sample(range(count), count))
        st.session_state[_ORDER] = known
    return list(known[1])


def told_vote(library: Library, found: Comparison, collection: str, vote: int) -> str:
    """What was voted, and how all votes on these settings stand."""
    votes = library.judgments.votes(collection)
    mine = next((one for one in votes if one.id == vote), None)
    if mine is None:
        return ""
    texts = [as_text(one.settings) for one in found.columns]
    said = "You saw no difference"
    if mine.winner is not None:
        winner = texts.index(mine.settings[mine.winner])
        said = f"You chose {found.columns[winner].name}, column {comparing.LETTERS[winner]}"
    tally = comparing.tally([(one.settings, one.winner) for one in votes], found)
    undo = action("unvote", "Undo", data_vote=vote)
    return f'<p class="rk-notice" role="status">{text(said)}. So far {text(tally)}. {undo}</p>'


def act(library: Library, values: Mapping[str, str]) -> None:
    """Do what a button or link of the page asks for."""
    verb = values.get("rk", "")
    question = st.session_state.get(state.QUESTION) or ""
    if judging.act(library, values, question, Origin.COMPARE):
        return
    if verb == "open":
        state.go("pages/document.py", id=values["id"], chunk=values.get("chunk", ""), find=question)
        return
    known = st.session_state.get(_FOUND)
    if known is None:
        return
    found: Comparison = known[1]
    columns = [one.settings for one in found.columns]
    collection = columns[0].options.collections[0]
    try:
        if verb == "vote":
            texts = [as_text(one) for one in columns]
            place = int(values["place"])
            key = vote_key(question, columns)
            winner = None if place < 0 else order(key, len(columns))[place]
            vote = library.judgments.vote(collection, question, texts, winner)
            st.session_state[_VOTED] = (key, vote)
            st.session_state.pop(_ORDER, None)
        elif verb == "unvote":
            library.judgments.remove_vote(int(values["vote"]))
            st.session_state.pop(_VOTED, None)
        elif verb == "use":
            use(library, found, int(values["column"]))
        elif verb == "unuse":
            before = st.session_state.pop(_BEFORE, None)
            if before:
                library.collections.set_search(collection, before[1])
                state.forget_options()
    except RagkitError as error:
        st.toast(str(error))


def use(library: Library, found: Comparison, index: int) -> None:
    """Search the collection with a column's settings from now on."""
    column = found.columns[index]
    # Options of no collection are those of the settings file.
    search = dump_options(column.settings.options, library.options(collections=()))
    before = library.collections.set_search(column.settings.options.collections[0], search)
    st.session_state[_BEFORE] = (before.name, before.settings.get("search", {}), column.name)
    state.forget_options()
    if column.settings.chunked:
        st.toast("Asking topic by topic is not kept: it is chosen for each question.")


draw()
