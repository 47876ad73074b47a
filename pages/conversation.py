"""Conversation: a long text, its topics, and the documents that belong to each."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from pages.parts.common import browser, frame, markup, state
from pages.parts.common.markup import action, as_label
from pages.parts.evaluate.running import in_progress, moved_on, task_of
from pages.parts.search import long_question as conversation
from pages.parts.search.controls import long_controls
from ragkit.answers import Source
from ragkit.errors import RagkitError
from ragkit.evaluation.background import BackgroundNaming
from ragkit.library import Library
from ragkit.library.search_log import Door
from ragkit.library.searches import LONGEST
from ragkit.options import ChunkedOptions, SearchOptions
from ragkit.reading.question_text import as_conversation, read_dropped
from ragkit.retrieval.multi_query import ChunkedAnswer
from ragkit.retrieval.query_segmentation.topics import Topic
from ragkit.surfaces.serve import has_sample

TEXT, TOPIC, ROUND, DRAFT, LEFT_OUT, FAULT, NOTED, NEW, WANTED = (
    f"long_{name}"
    for name in ("text", "topic", "round", "draft", "left_out", "fault", "noted", "new", "wanted")
)
_NO_TEXT = "There is no text yet.", "Paste some text or add a file."
_SAMPLE = "conversations/2026-03-14-ines-and-rui.md"


def draw() -> None:
    """Draw the whole page."""
    library = frame.begin()
    state.start(**{TEXT: "", TOPIC: None, ROUND: 0, LEFT_OUT: (), FAULT: None})
    browser.listen(act)
    with st.container(key="page-wide"):
        if not library.documents.any():
            st.html(markup.state("Nothing to search yet", "Add documents to the library first."))
            st.page_link("pages/library.py", label="Add documents")
        elif st.session_state[TEXT]:
            answered(library)
        else:
            asking(library)


def act(values: Mapping[str, str]) -> None:
    """Handle a click on a button or link."""
    if values.get("rk") == "topic":
        number = values.get("number", "")
        chosen = int(number) if number.isdecimal() else None
        is_again = chosen == st.session_state.get(TOPIC) and "choose" not in values
        st.session_state[TOPIC] = None if is_again else chosen


def asking(library: Library) -> None:
    """Draw the form that takes a text."""
    st.html(
        '<section class="rk-state rk-welcome"><h2>Search with a conversation</h2>'
        "<p>Paste a long text or drop a chat export. Each topic is searched separately. "
        "The text is not added to the library.</p></section>"
    )
    fault = st.session_state[FAULT]
    if fault:
        st.html(markup.problem(*fault))
    pasted = st.text_area(
        "Conversation or long text", key=DRAFT, height=220, placeholder="Paste text here"
    )
    dropped = st.file_uploader(
        "Chat export or document", key=f"long_file_{st.session_state[ROUND]}"
    )
    with st.container(horizontal=True):
        st.button(
            "Find related documents", type="primary", key="long_ask",
            on_click=lambda: st.session_state.update({WANTED: True}),
        )  # fmt: skip
        sample = sample_conversation(library)
        if sample is not None:
            st.button("Try the sample conversation", key="long_sample",
                      on_click=frame.click(ask_sample), args=(library, sample))  # fmt: skip
    # A file that arrives in this moment interrupts the run: the next one goes on from here. One
    # that was on its way when the button was pressed is what was meant.
    if st.session_state.get(WANTED) or (dropped is not None and fault == _NO_TEXT):
        if dropped is not None:
            take_file(library, dropped.name, dropped.getvalue())
        elif pasted.strip():
            take_text(library, pasted)
        else:
            st.session_state[FAULT] = _NO_TEXT
        st.session_state[WANTED] = False
        st.rerun()


def take_file(library: Library, name: str, data: bytes) -> None:
    """Read a dropped file in a separate process, and search with it."""
    try:
        with st.spinner(f"Reading {name} …"):
            text = read_dropped(library.settings.reading, library.paths.temporary, name, data)
    except RagkitError as error:
        st.session_state[FAULT] = (error.message, error.cure)
        return
    ask_with(text, same_documents(library, data))


def take_text(library: Library, pasted: str) -> None:
    """Search with a pasted text, which may be an export."""
    text = as_conversation(pasted)
    ask_with(text, same_documents(library, pasted.encode("utf-8", "replace")))


def ask_with(text: str, left_out: tuple[int, ...]) -> None:
    """Search with this text from now on."""
    st.session_state.update({TEXT: text, LEFT_OUT: left_out, TOPIC: None, FAULT: None, NEW: True})
    st.session_state[ROUND] += 1


def ask_sample(library: Library, sample: int) -> None:
    """Search with the sample library's long conversation, which is left out of the results."""
    ask_with(library.documents.get(sample).text, (sample,))


def same_documents(library: Library, data: bytes) -> tuple[int, ...]:
    """Return documents of the library with exactly this content."""
    digest = hashlib.blake2b(data, digest_size=16).hexdigest()
    return tuple(record.id for record in library.documents.list() if record.hash == digest)


def sample_conversation(library: Library) -> int | None:
    """Return the id of the sample library's long conversation, if it is indexed."""
    # Looking through the names of all documents takes long where there are very many.
    records = library.documents.list(containing=_SAMPLE, limit=1) if has_sample(library) else []
    return records[0].id if records and records[0].chunks else None


def answered(library: Library) -> None:
    """Draw the text and its topics at the left, their results at the right."""
    text = st.session_state[TEXT]
    with st.container(key="long-controls", horizontal=True, vertical_alignment="center"):
        st.button("New text", key="long_again",
                  on_click=lambda: st.session_state.update({TEXT: ""}))  # fmt: skip
        options, chunked = long_controls(library, st.session_state[LEFT_OUT])
        place = st.container()
    try:
        with st.spinner("Searching each topic …"):
            answer = library.search_chunked(text, options, chunked)
            # A text that is a document itself would answer its own questions.
            answers = () if chunked.exclude else library.answers.quick(answer)
    except RagkitError as error:
        st.html(markup.problem(error.message, error.cure))
        return
    note(library, text, answer, options, chunked)
    with place:
        context = library.answers.context(answer)
        if context:
            title = "A Markdown block of these documents, for a prompt or a note"
            st.html(action("copy-path", "Copy as context", data_text=context, title=title))
    show(library, text, answer, answers)


def note(
    library: Library,
    text: str,
    answer: ChunkedAnswer,
    options: SearchOptions,
    chunked: ChunkedOptions,
) -> None:
    """Log a search with a new text or other options; going back and reloading do not count."""
    is_new, before = st.session_state.pop(NEW, False), st.session_state.get(NOTED)
    st.session_state[NOTED] = (text, options, chunked)
    if before is None and not is_new:
        is_new = not library.searches.is_known(text.strip()[:LONGEST])
    elif not browser.went_back():
        is_new = is_new or before != (text, options, chunked)
    if is_new:
        library.searches.note(text, answer, options, door=Door.PAGE, chunked=chunked)


def with_names(library: Library, text: str, answer: ChunkedAnswer) -> ChunkedAnswer:
    """Return the answer with the names that a model has given to its topics so far."""
    now = task_of(library, BackgroundNaming).status
    if now.key != conversation.key_of(text) or len(now.names) != len(answer.topics):
        return answer
    topics = tuple(
        replace(topic, topic=replace(topic.topic, name=name or topic.topic.name))
        for topic, name in zip(answer.topics, now.names, strict=True)
    )
    return replace(answer, topics=topics)


@st.fragment
def naming(library: Library, text: str, topics: Sequence[Topic]) -> None:
    """Draw the button that has a model name the topics, or the progress; nothing without one."""
    task, key = task_of(library, BackgroundNaming), conversation.key_of(text)
    now = task.status
    mine = now.key == key
    if now.running and mine:
        in_progress("long-naming", conversation.naming_line(now.progress), task, now.cancelled)
    elif mine and now.problem:
        st.html(markup.notices([f"{now.problem} {now.cure}"]))
    elif topics and not now.running and not (mine and now.names):
        look = library.ollama.look()
        if look is None:
            browser.pulse("long-naming-look", 1)
        elif look.writers:
            texts = ["\n".join(segment.text for segment in topic.segments) for topic in topics]
            st.button(
                "Name topics with a model", key="long_name", type="tertiary",
                help=f"Model: {as_label(look.best)}",
                on_click=frame.click(task.start), args=(key, texts, library.topic_namer),
            )  # fmt: skip
    if moved_on("long_naming_seen", (now.round, now.running)):
        st.rerun(scope="app")


def show(library: Library, text: str, answer: ChunkedAnswer, answers: Sequence[Source]) -> None:
    """Draw both columns; ``answers`` are those of the questions in the text."""
    answer = with_names(library, text, answer)
    chosen = st.session_state[TOPIC]
    if chosen is not None and chosen >= len(answer.topics):
        chosen = None
    left, right = st.columns([5, 6], gap="large")
    with left:
        naming(library, text, [part.topic for part in answer.topics])
        st.html(
            conversation.topic_list(answer, chosen)
            + conversation.coloured(text, answer.topics, chosen, answers)
        )
    parts = [conversation.summary(answer), markup.notices(answer.notices)]
    if chosen is not None:
        topic = answer.topics[chosen]
        records = library.documents.records([number for number, _score in topic.documents])
        parts.append(conversation.topic_results(topic, records))
    if answer.results:
        if answer.nothing_close:
            parts.append(markup.notices(["Nothing here is close to this text. The nearest:"]))
        parts.append(conversation.matrix(answer))
        parts += [
            conversation.compact_card(result, number, answer.topics)
            for number, result in enumerate(answer.results)
        ]
    else:
        parts.append(
            markup.state(
                "No results",
                "No document fits this text. Lower the minimum similarity under Options, or "
                "search for a few words of it.",
            )
        )
    with right:
        st.html("".join(parts))
        if chosen is not None:
            browser.scroll_to("topic-scroll", ".rk-of-topic", f"topic-{chosen}")


draw()
