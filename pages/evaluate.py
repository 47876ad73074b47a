"""Evaluate: how well the questions with known answers are answered, and what changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from pages.parts.common import browser, frame, markup, state
from pages.parts.evaluate import evaluation_html as evaluating
from pages.parts.evaluate import run_tables as measures
from pages.parts.evaluate import set_writing
from ragkit.catalog.runs import RunRecord
from ragkit.errors import RagkitError
from ragkit.evaluation.background import BackgroundRuns
from ragkit.evaluation.metrics import HEADLINES, main_metric
from ragkit.evaluation.question_sets import optimism_notice
from ragkit.evaluation.runs import in_words
from ragkit.evaluation.search_config import SearchConfig, as_text, from_text
from ragkit.library import Library
from ragkit.options import SearchOptions

_SET, _WAYS, _SEEN, _COLLECTION = "eval_set", "eval_ways", "eval_seen", "eval_collection"
_COMPARED = "cmp_columns"
_BESIDE = "mode:keyword"


def draw() -> None:
    """The whole page."""
    library = frame.begin()
    browser.listen("evaluate-actions", act)
    with st.container(key="page-wide"):
        st.html("<h1>Evaluate</h1>")
        collection = where(library)
        sets = library.judgments.sets(collection)
        if not library.documents.counts().documents:
            st.html(markup.state("Nothing to measure yet", "Add documents first."))
            st.page_link("pages/library.py", label="Library")
        elif not sets:
            nothing_judged()
            set_writing.form(library, collection, expanded=True)
            set_writing.live(library, collection)
        else:
            chosen = controls(library, collection, sets)
            set_writing.live(library, collection)
            live(library)
            results(library, collection, chosen)


def act(values: Mapping[str, str]) -> None:
    """Follow a question to its results."""
    if values.get("rk") == "ask":
        collection = values.get("collection", "")
        if collection:
            st.session_state[state.ACTIVE] = collection
        st.session_state[state.QUESTION] = values["question"]
        state.go("pages/search.py", q=values["question"])


def nothing_judged() -> None:
    """What to do before there is anything to measure."""
    st.html(
        markup.state(
            "How good are the answers?",
            "Judge some results first: keys 1, 2 and 3 on the Search and Compare pages say right, "
            "partly and no. Each judged question joins a set that can be asked again in any way. "
            "Sets of questions from elsewhere are imported with: ragkit judgments import FILE. "
            "A model on this machine can write one as well.",
        )
    )
    with st.container(horizontal=True):
        st.page_link("pages/compare.py", label="Compare and judge")
        st.page_link("pages/search.py", label="Search and judge")


@st.cache_resource(max_entries=8)
def background(_root: str) -> BackgroundRuns:
    """What runs beside the pages, for each library."""
    return BackgroundRuns()


def runs_of(library: Library) -> BackgroundRuns:
    """The runs of this library."""
    return background(str(library.paths.root))


# -- choosing ------------------------------------------------------------------------------------


def where(library: Library) -> str:
    """The collection that is measured; asked only where there are several."""
    names = [one.name for one in library.collections.list()] or [library.settings.collection]
    if len(names) == 1:
        return names[0]
    wanted = st.session_state.get(state.COLLECTION, library.settings.collection)
    return frame.collection_picker(names, _COLLECTION, wanted, names[0], width=240)


def controls(library: Library, collection: str, sets: Mapping[str, tuple[int, int]]) -> str:
    """The question sets as a list, the settings to run, and the button."""
    origins = library.judgments.origins(collection)
    writers = library.judgments.writers(collection)
    names = list(sets)
    wanted = set_writing.taken()
    if wanted in names:
        st.session_state[_SET] = wanted
    if st.session_state.get(_SET) not in names:
        st.session_state[_SET] = names[0]
    ways = choices(library, collection)
    if _WAYS not in st.session_state:
        st.session_state[_WAYS] = list(dict.fromkeys([next(iter(ways)), _BESIDE]))
    st.session_state[_WAYS] = [one for one in st.session_state[_WAYS] if one in ways]
    left, right = st.columns([2, 3], gap="large")
    with left:
        chosen = st.radio(
            "Question set",
            names,
            key=_SET,
            format_func=evaluating.set_title,
            captions=[
                evaluating.set_caption(
                    sets[one], origins.get(one, frozenset()), writers.get(one, ())
                )
                for one in names
            ],
        )
        set_writing.form(library, collection)
    with right, st.container(key="evaluate-controls"):
        picked = st.multiselect(
            "Settings to ask it with", list(ways), key=_WAYS, format_func=ways.__getitem__
        )
        busy = runs_of(library).status.running
        if st.button("Run", key="evaluate-run", type="primary", disabled=busy or not picked):
            start(library, collection, str(chosen), picked)
    return str(chosen)


def choices(library: Library, collection: str) -> dict[str, str]:
    """What may be run: the collection's own settings, the usual ones, and Compare's columns."""
    own = SearchConfig(library.options(collections=(collection,)))
    found = {as_text(own): f"As searches of {collection} are made ({in_words(own)})"}
    for address, label in evaluating.SETTINGS.items():
        found.setdefault(address, label)
    for address in st.session_state.get(_COMPARED) or ():
        found.setdefault(address, f"Compared: {in_words(from_text(address)[0])}")
    return found


def start(library: Library, collection: str, question_set: str, addresses: Sequence[str]) -> None:
    """Begin to ask, beside this page."""
    base = SearchOptions(collections=(collection,))
    columns = [from_text(one, base)[0] for one in addresses]

    runs_of(library).start(
        partial(library.experiment, collection, question_set),
        columns,
        partial(library.runs.keep, collection=collection),
    )
    st.rerun()


# -- what came of it -----------------------------------------------------------------------------


@st.fragment
def live(library: Library) -> None:
    """How far the run is, asked for only while in sight; the page follows when it moves on."""
    runs = runs_of(library)
    now = runs.status
    seen = (now.round, now.running, len(now.kept))
    before = st.session_state.get(_SEEN, seen)
    st.session_state[_SEEN] = seen
    if now.running:
        with st.container(horizontal=True, vertical_alignment="center", key="evaluate-live"):
            st.html(evaluating.progress_line(now))
            st.button("Cancel", key="evaluate-cancel", type="tertiary", on_click=runs.cancel)
        browser.pulse("evaluate-pulse", 1)
    elif evaluating.ended(now):
        st.html(evaluating.ended(now))
    if before != seen:
        st.rerun(scope="app")


def results(library: Library, collection: str, question_set: str) -> None:
    """The table and the chart of the set's runs, and what differs between two of them."""
    wanted = question_set or "judged"
    kept = [one for one in library.runs.list(collection) if one.run.question_set == wanted]
    if not kept and runs_of(library).status.running:
        return
    if not kept:
        st.html(
            markup.state(
                "This set has not been asked yet",
                "Choose one or more settings and press Run. Each run is kept, so that later ones "
                "can be compared with it.",
            )
        )
        return
    shown = evaluating.latest(kept)
    writers = library.judgments.writers(collection).get(question_set)
    st.html(measures.table(shown) + markup.notices([optimism_notice(writers)] if writers else []))
    metric = main_metric([name for name in HEADLINES if name in shown[0].run.means])
    kinds = library.judgments.question_types(collection, question_set)
    figures = {
        one.id: library.runs.by_type(one.id, kinds, metric)
        for one in (shown if any(kinds.values()) else ())
    }
    by_kind = measures.kinds_table(shown, figures, metric)
    if by_kind:
        st.html(by_kind)
    drawn = evaluating.points(shown, metric)
    left, right = st.columns([1, 1], gap="large")
    with left, st.container(key="evaluate-chart"):
        if drawn:
            st.html(f"<h2>Quality against time ({metric})</h2>")
            st.altair_chart(evaluating.chart(drawn, metric))
    with right, st.container(key="evaluate-change"):
        changes(library, collection, kept)


def changes(library: Library, collection: str, kept: Sequence[RunRecord]) -> None:
    """Two kept runs, chosen from lists, and the questions that got better and worse."""
    st.html("<h2>What changed</h2>")
    if len(kept) < 2:
        st.html('<p class="rk-soft">A second run can be compared with this one.</p>')
        return
    labels = {one.id: evaluating.run_label(one) for one in kept}
    ids = list(labels)
    newest = ids[0]
    after = st.selectbox(
        "Run", ids, index=0, format_func=labels.__getitem__, key=f"eval-after-{newest}"
    )
    others = [one for one in ids if one != after]
    before = st.selectbox(
        "Compared with", others, index=0, format_func=labels.__getitem__,
        key=f"eval-before-{newest}-{after}",
    )  # fmt: skip
    try:
        told = library.runs.compare(int(before), int(after))
    except RagkitError as error:
        st.html(markup.notices([str(error)]))
        return
    st.html(evaluating.difference(told, collection) + markup.notices(told.notices))


draw()
