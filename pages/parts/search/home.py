"""The Search page with an empty box: what was searched, what is new, what could be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from pages.parts.common import browser, frame, markup, state
from pages.parts.common import question as question_box
from pages.parts.common.markup import action, attributes, name, number, text
from pages.parts.search import thread_list
from ragkit.catalog.records import Counts
from ragkit.formatting import plural
from ragkit.library import Library
from ragkit.library.names import NamedDocument
from ragkit.library.search_log import Door
from ragkit.library.searches import PastSearch
from ragkit.options import SearchOptions
from ragkit.results import Answer
from ragkit.surfaces.addresses import document_url
from ragkit.surfaces.serve import add_sample, has_sample, sample_questions

_SEARCHES, _DOCUMENTS, _COLLECTIONS = 8, 6, 5
_BUSY_SECONDS = 1.0
_FILTERS = ("type:pdf", "path:notes/", "tag:travel", "after:2025-01")


def draw(library: Library, collections: Sequence[str], counts: Counts) -> None:
    """Draw the page of an empty box, or what to do next when nothing is indexed yet.

    No ``collections`` stand for all; ``counts`` are of what they hold.
    """
    st.session_state[state.TYPED] = False
    if counts.documents or collections:
        _home(library, tuple(collections), [counts])
    else:
        _empty_library(library)


@st.fragment
def _home(library: Library, collections: tuple[str, ...], counted: list[Counts]) -> None:
    """Draw all of it as one element, again while something is being indexed or looked for.

    ``counted`` are the page's counts, which only the first drawing uses.
    """
    working = library.jobs.progress()
    examples = library.examples.of(collections, sample_questions(library))
    counts = counted.pop() if counted else library.documents.counts(*collections)
    st.html(
        '<div class="rk-home">'
        + _head(
            counts.indexed,
            counts.chunks,
            frame.brief(*working) if working else "",
            has_folder=_has_folder(library),
        )
        + _examples(examples)
        + '<div class="rk-home-lists">'
        + searches_list(library.searches.list(), kept=library.searches.allowed)
        + documents_list(library.names.latest(collections, _DOCUMENTS))
        + thread_list.drawn(library)
        + "</div>"
        + _hint()
        + "</div>"
    )
    thread_list.draw_dialog(library)
    if working or examples is None:
        browser.pulse("home-pulse", _BUSY_SECONDS)


def _has_folder(library: Library) -> bool:
    """Return whether one of the first collections has a folder besides the sample."""
    names = library.collections.names(limit=_COLLECTIONS)
    folders = [
        source for each in names for source in library.sources.list(each) if source.kind == "folder"
    ]
    return len(folders) > has_sample(library)


def note(
    library: Library, question: str, answer: Answer, options: SearchOptions, *, is_new: bool
) -> None:
    """Log a search that was just typed, chosen, or changed by a click.

    Going back and reloading do not count.
    """
    first = state.TYPED not in st.session_state
    typed = bool(st.session_state.get(state.TYPED))
    st.session_state[state.TYPED] = False
    typed = typed or (first and not library.searches.is_known(question))
    if typed or (is_new and not first and not browser.went_back()):
        library.searches.note(question, answer, options, door=Door.PAGE, typed=typed)


def act(library: Library, values: Mapping[str, str]) -> bool:
    """Handle a click on the home or on a suggestion; returns whether it was one."""
    verb, question = values.get("rk", ""), values.get("question", "")
    searches = library.searches
    if verb == "ask":
        question_box.put(question)
        st.session_state[state.TYPED] = True
    elif verb == "suggested":
        state.go("pages/document.py", id=values["id"])
    elif verb == "add-folder":
        state.go("pages/library.py")
    elif verb in ("pin", "unpin", "forget", "clear"):
        with frame.toasted():
            if verb == "clear":
                searches.clear()
            elif verb == "forget":
                searches.remove(question)
            else:
                searches.pin(question, pinned=verb == "pin")
    else:
        return thread_list.act(library, values)
    return True


def _head(documents: int, chunks: int, working: str, *, has_folder: bool) -> str:
    """Return what there is to search, what is being indexed, and the way to add a folder.

    That is what to do next only while there is none.
    """
    now = f'<span class="rk-home-now">{working}</span>' if working else ""
    if has_folder:
        add = action("add-folder", "Add a folder")
    else:
        add = action("add-folder", "Add your folder", style="rk-home-add")
    return (
        '<div class="rk-home-head"><p class="rk-soft" role="status">'
        f"{plural(documents, 'document')} · {number(chunks)} passages{now}</p>"
        f"{add}</div>"
    )


def _examples(questions: Sequence[str] | None) -> str:
    """Return questions that this library answers; their place is kept while they are found."""
    if questions is not None and not questions:
        return ""
    if questions is None:
        looking = "<li>Looking for questions that your documents answer …</li>"
        return _section("Try asking", f'<ul class="rk-home-examples rk-soft">{looking}</ul>')
    rows = "".join(f"<li>{_ask(question)}</li>" for question in questions)
    return _section("Try asking", f'<ul class="rk-home-examples">{rows}</ul>')


def searches_list(searches: Sequence[PastSearch], *, kept: bool = True) -> str:
    """Return the pinned and the recent searches, each with a pin and a cross."""
    if not kept:
        return ""
    if not searches:
        promise = "Your searches appear here. They stay on this machine."
        return _section("Recent searches", f'<p class="rk-soft">{promise}</p>')
    rows = "".join(
        f'<li>{_ask(search.question, search.summary)}<span class="rk-home-tools">{_pin(search)}'
        + _tool("forget", "×", "Remove", search.question)
        + "</span></li>"
        for search in searches[:_SEARCHES]
    )
    recent = any(not search.pinned for search in searches)
    about = "Delete all searches but those that are pinned"
    clear = action("clear", "Clear", style="rk-act", title=about) * recent
    return _section("Recent searches", f"<ul>{rows}</ul>", clear)


def documents_list(documents: Sequence[NamedDocument]) -> str:
    """Return the documents whose files changed last, with when."""
    if not documents:
        return ""
    rows = "".join(
        f'<li><a class="rk-home-name"{_opens(document)}>{name(document.title)}</a>'
        f'<span class="rk-soft">{text(markup.ago(document.changed_at))}</span></li>'
        for document in documents
    )
    return _section("Recently changed", f"<ul>{rows}</ul>")


def _section(title: str, body: str, tool: str = "") -> str:
    return (
        f'<section aria-label="{text(title)}"><div class="rk-home-title"><h2>{text(title)}</h2>'
        f"{tool}</div>{body}</section>"
    )


def _ask(question: str, about: str = "") -> str:
    """Return a button that searches for a question; ``about`` is said where it is pointed at."""
    title = " · ".join(filter(None, (question, about)))
    data = attributes(
        data_rk="ask", data_question=question, class_="rk-home-name", title=title, dir="auto"
    )
    return f'<button type="button"{data}>{name(question)}</button>'


def _opens(document: NamedDocument) -> str:
    return attributes(
        href=document_url(document.id), target="_self", data_rk="suggested",
        data_id=document.id, title=f"{document.title} · {document.path}", dir="auto",
    )  # fmt: skip


def _pin(search: PastSearch) -> str:
    if search.pinned:
        return _tool("unpin", "★", "Unpin", search.question)
    return _tool("pin", "☆", "Pin", search.question)


def _tool(verb: str, sign: str, what: str, question: str) -> str:
    """Return a small button that does something to one search."""
    data = attributes(
        data_rk=verb, data_question=question, title=what, aria_label=f"{what}: {question}"
    )
    return f'<button type="button" class="rk-home-tool rk-{verb}"{data}>{sign}</button>'


def _hint() -> str:
    filters = " ".join(f"<code>{text(example)}</code>" for example in _FILTERS)
    return f'<p class="rk-soft rk-home-hint">Filters go in the box too: {filters}</p>'


def _empty_library(library: Library) -> None:
    """Draw what to do next when nothing is indexed yet."""
    working = library.jobs.progress() is not None
    st.html(
        markup.state(
            "Nothing to search yet",
            "ragkit reads the folders that you name and keeps up with them. "
            "Nothing leaves this machine."
            + (" It is reading now; the first documents can be found in a moment." * working),
        )
    )
    with st.container(horizontal=True):
        st.button("Add documents", type="primary", key="to-library",
                  on_click=state.go, args=("pages/library.py",))  # fmt: skip
        st.button("Try the sample library", key="add-sample", disabled=working,
                  on_click=frame.click(add_sample), args=(library,))  # fmt: skip
