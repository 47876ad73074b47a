"""Ways to a question set on the Evaluate page: the sample, past searches, a file, a model."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Literal

import streamlit as st

from pages.parts.common import browser, frame
from pages.parts.evaluate import evaluation_html as evaluating
from pages.parts.evaluate import from_searches
from pages.parts.evaluate.from_searches import NEW_SET
from pages.parts.evaluate.running import in_progress, moved_on, task_of
from ragkit.errors import RagkitError
from ragkit.evaluation.background import BackgroundWriting
from ragkit.evaluation.generated_sets import MOST_WANTED, WRITTEN
from ragkit.library import Library
from ragkit.models.ollama_monitor import OllamaLook
from ragkit.surfaces.serve import app_folder

_SAMPLE = "sample questions"
_SEEN, _BEGUN, _COUNT = "writing_seen", "writing_begun", "writing_count"
_TOLD, _ROUND = "eval_import", "eval_import_round"
_USUAL = 20
_LOOKING_SECONDS, _IDLE_SECONDS = 1, 5


def draw(library: Library, collection: str, *, first: bool = False) -> None:
    """Draw every way to a new set; ``first`` where there is none yet."""
    with st.container():
        _sample_offer(library, collection, first=first)
    from_searches.draw(library, collection)
    with st.expander("Import a question set", key="evaluate-import"):
        _import(library, collection)
    with st.expander("Generate questions with a model", key="evaluate-write"):
        _form(library, collection)
    notice = st.session_state.pop(_TOLD, None)
    if notice:
        st.html(notice)


# -- the sample's, and files -------------------------------------------------------------------


def _sample_offer(library: Library, collection: str, *, first: bool) -> None:
    """Offer the sample's questions where the sample is a source of the collection."""
    questions = app_folder() / "sample_data" / "questions.jsonl"
    folder = str(questions.with_name("library"))
    if _SAMPLE in library.judgments.sets(collection) or not questions.is_file():
        return
    if not any(source.root == folder for source in library.sources.list(collection)):
        return
    style: Literal["primary", "secondary"] = "primary" if first else "secondary"
    st.button(
        "Add the sample questions", key="evaluate-sample", type=style, on_click=take,
        args=(library, collection, questions, _SAMPLE),
    )  # fmt: skip


def _import(library: Library, collection: str) -> None:
    st.caption(
        "A CSV file with the columns question, path and grade (2 relevant, 1 partly, 0 not), or "
        "JSONL with text and relevant. A set of the same name is replaced."
    )
    file = st.file_uploader(
        "Question set", type=["csv", "jsonl", "ndjson"], label_visibility="collapsed",
        key=f"evaluate-file-{st.session_state.get(_ROUND, 0)}",
    )  # fmt: skip
    if file is not None:
        st.button(
            "Import", key="evaluate-import-begin", on_click=_take_upload,
            args=(library, collection, file.name, file.getvalue()),
        )  # fmt: skip


def _take_upload(library: Library, collection: str, name: str, data: bytes) -> None:
    with tempfile.TemporaryDirectory(dir=library.paths.temporary) as folder:
        place = Path(folder) / Path(name).name
        place.write_bytes(data)
        take(library, collection, place, place.stem)
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1


def take(library: Library, collection: str, file: Path, name: str) -> None:
    """Import a file as a set and select it; the next run of the page shows the outcome."""
    try:
        imported = library.judgments.import_file(collection, file, name)
    except RagkitError as error:
        st.session_state[_TOLD] = evaluating.refused(error)
        return
    st.session_state[NEW_SET] = imported.name
    st.session_state[_TOLD] = evaluating.imported_notice(imported)


# -- written by a model ------------------------------------------------------------------------


@st.fragment
def _form(library: Library, collection: str) -> None:
    """Draw the form, or why it cannot be used; polled, since Ollama may start or stop."""
    look = library.ollama.look()
    refused = evaluating.nobody_writes(look)
    if look is None or refused:
        st.html(refused)
    else:
        _fields(library, collection, look)
    browser.pulse("evaluate-write-pulse", _LOOKING_SECONDS if look is None else _IDLE_SECONDS)


def _fields(library: Library, collection: str, look: OllamaLook) -> None:
    writing = task_of(library, BackgroundWriting)
    names = [model.name for model in look.writers]
    preferred = library.contexts.chosen_model() or look.best
    tagged = (preferred, f"{preferred}:latest")
    index = next((names.index(name) for name in tagged if name in names), 0)
    st.html(
        '<p class="rk-soft">The model reads passages of this collection, one at a time, and writes '
        f'questions that they answer. The set is called "{WRITTEN}"; an unfinished one is '
        "continued.</p>"
    )
    st.session_state.setdefault(_COUNT, _USUAL)
    # A select box of the same key would keep its old value when its choices change.
    key = f"writing-model-{index}-{'|'.join(names)}"
    with st.container(horizontal=True, key="evaluate-write-fields"):
        st.number_input(
            "Questions in the set", min_value=1, max_value=MOST_WANTED, step=5, key=_COUNT,
            width=150,
        )  # fmt: skip
        st.selectbox("Model", names, index=index, key=key, width=230)
    now = writing.status
    st.button(
        "Generate", key="evaluate-write-begin", disabled=now.running,
        on_click=frame.click(_generate), args=(library, collection, key),
    )  # fmt: skip
    if moved_on(_BEGUN, (now.round,)):
        # The progress is drawn elsewhere on the page.
        st.rerun()


def _generate(library: Library, collection: str, model: str) -> None:
    """Begin to write as many questions as are wanted; ``model`` is the key of the model's box."""
    chosen = st.session_state
    task_of(library, BackgroundWriting).start(
        collection,
        partial(
            library.judgments.generate, collection,
            count=int(chosen[_COUNT]), model=str(chosen[model]),
        ),
    )  # fmt: skip


@st.fragment
def writing_live(library: Library, collection: str) -> None:
    """Draw the progress or the report of the writing; redraw the page when it is done."""
    writing = task_of(library, BackgroundWriting)
    now = writing.status
    if now.running:
        in_progress("evaluate-writing", evaluating.writing_line(now), writing, now.cancelled)
    elif now.collection == collection and evaluating.writing_ended(now):
        with st.container(key="evaluate-written"):
            st.html(evaluating.writing_ended(now))
    if moved_on(_SEEN, (now.round, now.running)):
        if now.report is not None and now.report.questions and now.collection == collection:
            st.session_state[NEW_SET] = now.report.name
        st.rerun(scope="app")
