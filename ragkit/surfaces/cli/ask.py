"""``ragkit ask``: a question answered by sentences of the documents, and by a local model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragkit.answers import AnswerState, Source, Thread, Turn, WrittenAnswer
from ragkit.errors import QueryError, RagkitError
from ragkit.indexing.progress import Progress
from ragkit.library import Library
from ragkit.options import SEARCH_OPTIONS, IndexMode, SearchOptions
from ragkit.results import Answer
from ragkit.surfaces import render, render_answers
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import (
    AssignOption,
    CollectionOption,
    FusionOption,
    JsonOption,
    LibraryOption,
    LimitOption,
    ModeOption,
    RerankOption,
    WebOption,
    YesOption,
    assigned,
    flag,
    open_library,
)
from ragkit.surfaces.cli.web import search_web
from ragkit.surfaces.render_web import web_as_json, web_as_text
from ragkit.web.results import WebAnswer, WebPreview, web_sources

if TYPE_CHECKING:
    from ragkit.answering.follow_up import FollowUp


@dataclass(slots=True)
class _Asked:
    """A question with its results and answers so far; ``thread`` is the one that it continues.

    ``kept`` are the ids of the thread and turn as which it was saved.
    """

    follow: FollowUp
    answer: Answer
    quick: Sequence[Source]
    thread: Thread | None
    collections: Sequence[str]
    written: WrittenAnswer | None = None
    web: WebAnswer | None = None
    kept: tuple[int, int] | None = None


def ask(
    question: Annotated[list[str], typer.Argument(metavar="QUESTION...", help="What to answer.")],
    library: LibraryOption = None,
    collection: CollectionOption = None,
    mode: ModeOption = None,
    fusion: FusionOption = None,
    index: Annotated[IndexMode | None, flag(SEARCH_OPTIONS["index"])] = None,
    rerank: RerankOption = None,
    limit: LimitOption = None,
    option: AssignOption = None,
    json_: JsonOption = False,
    model: Annotated[
        str, typer.Option("--model", metavar="NAME", help="The Ollama model that writes.")
    ] = "",
    no_model: Annotated[bool, typer.Option("--no-model", help="Only quote the documents.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Have the model judge each sentence it wrote.")
    ] = False,
    thread: Annotated[
        int | None, typer.Option("--thread", metavar="ID", help="Continue a saved thread.")
    ] = None,
    as_typed: Annotated[
        bool, typer.Option("--as-typed", help="Do not rewrite a follow-up question.")
    ] = False,
    keep: Annotated[
        bool | None,
        typer.Option(
            "--keep/--no-keep", help="Save the answer in a thread (default with --thread)."
        ),
    ] = None,
    web: WebOption = False,
    yes: YesOption = False,
) -> None:
    """Answer a question with sentences of the documents. A local model then writes an answer."""
    text = " ".join(question).strip()
    if not text:
        raise QueryError("The question is empty.", "Write what to answer.")
    opened = open_library(library, collection)
    if web:
        opened.web.preview(text)  # Refused now if it is off, and not after the search.
    followed = opened.threads.get(thread) if thread is not None else None
    where = followed.collections if followed and collection is None else None
    options = opened.options(
        mode=mode, fusion=fusion, index=index, rerank=rerank, limit=limit, collections=where
    )
    # Answers need texts, even if the collection's own options leave them out.
    options = replace(assigned(options, option), show_content=True)
    asked = _search(opened, text, options, followed, model, no_model=no_model, as_typed=as_typed)
    preview = _preview(opened, asked) if web else None
    if not json_:
        _put_found(asked)
    if preview is not None:
        asked.web = search_web(opened, preview, yes=yes)
    interrupted = not no_model and _write(opened, asked, model, check=check, show=not json_)
    refused = _keep(opened, asked) if (followed is not None if keep is None else keep) else None
    if json_:
        console.put_json(_as_json(opened, asked))
    else:
        _put_results(asked)
    if refused is not None:
        raise refused
    if interrupted:
        raise typer.Exit(console.STOPPED)
    written = asked.written
    if written is not None and written.state is AnswerState.FAILED:
        # Without a model, the quick answer will do, unless a model was named.
        raise typer.Exit(1 if model or render_answers.has_text(written) else 0)


def _search(
    opened: Library,
    text: str,
    options: SearchOptions,
    followed: Thread | None,
    model: str,
    *,
    no_model: bool,
    as_typed: bool,
) -> _Asked:
    """Search for a question, rewriting a follow-up so that it stands alone, and answer it."""
    from ragkit.answering.follow_up import FollowUp

    follow = FollowUp(text, text)
    if followed is not None and not as_typed:
        follow = opened.answers.follow_up(followed, text, model=None if no_model else model)
    answer = opened.search(follow.rewritten, options)
    opened.searches.note(follow.rewritten, answer, options, door="command")
    opened.contexts.note_hits(answer)
    return _Asked(follow, answer, opened.answers.quick(answer), followed, options.collections)


def _preview(opened: Library, asked: _Asked) -> WebPreview:
    """Return the preview of a web search, which sends only the person's own words."""
    follow = asked.follow
    if follow.rewritten == follow.question:
        return opened.web.preview(follow.question, asked.answer.readings)
    from ragkit.answering.follow_up import in_own_words

    turns = asked.thread.turns if asked.thread else ()
    return opened.web.preview(in_own_words(follow.question, turns))


def _put_found(asked: _Asked) -> None:
    """Print the question if it was rewritten, and the quick answer."""
    follow = asked.follow
    if follow.rewritten != follow.question:
        console.say(render.plain(f"Asked as: {follow.rewritten}"))
    if follow.notice:
        console.say(render.plain(follow.notice))
    console.say(*render.remarks(asked.answer, apart=True))
    if asked.quick:
        console.put(*render_answers.quick_as_text(asked.quick))
    else:
        console.say("No sentence of the documents answers this by itself.")
    console.flush()


def _write(opened: Library, asked: _Asked, model: str, *, check: bool, show: bool) -> bool:
    """Have a model write the answer, and judge it if ``check``; return whether it was stopped."""
    with console.waiting_for_model() as watch:
        stopped = _stream(opened, asked, model, watch, show=show)
        written = asked.written
        if check and written and written.is_grounded and written.state is AnswerState.DONE:
            console.say("Checking the sentences …")
            try:
                asked.written = opened.answers.judge(written, model=model)
            except KeyboardInterrupt:
                stopped = True
    written = asked.written
    if written is not None and not render_answers.has_text(written):
        console.say(render.plain(f"No written answer: {written.failure} {written.cure}".strip()))
    elif written is not None and show:
        console.put(*render_answers.verdicts_as_text(written))
        console.put(*render_answers.after_sentences(written))
    return stopped


def _stream(
    opened: Library,
    asked: _Asked,
    model: str,
    watch: Callable[[Progress], Progress],
    *,
    show: bool,
) -> bool:
    """Have the answer written, and print each sentence once it is final.

    Returns whether it was stopped.
    """
    shown, stopped, last = 0, False, WrittenAnswer(asked.follow.rewritten)
    try:
        for last in opened.answers.write(
            asked.follow.rewritten,
            asked.answer,
            carried=asked.follow.carried,
            history=asked.thread.turns if asked.thread else (),
            extra=web_sources(asked.web.results) if asked.web else (),
            model=model,
        ):
            watch(Progress(last.state.value))
            if show:
                shown = _put_sentences(last, shown, last.settled)
    except KeyboardInterrupt:
        stopped, last = True, replace(last, state=AnswerState.CANCELLED)
    if show and not last.not_found:
        _put_sentences(last, shown, len(last.sentences))
    asked.written = last
    return stopped


def _put_sentences(written: WrittenAnswer, first: int, end: int) -> int:
    """Print the sentences from ``first`` to ``end``; return how many have been printed now."""
    if end <= first:
        return first
    if not first:
        console.put("", f"{render.plain(written.model)} wrote:")
    console.put(*map(render_answers.sentence_as_text, written.sentences[first:end]))
    console.flush()
    return end


def _keep(opened: Library, asked: _Asked) -> RagkitError | None:
    """Save the turn in its thread, or in a new one; return the error if that failed."""
    follow = asked.follow
    turn = Turn(follow.question, follow.rewritten, tuple(asked.quick), asked.written)
    try:
        begun = asked.thread or opened.threads.begin(follow.question, asked.collections)
        asked.kept = begun.id, opened.threads.add(begun.id, turn).id
    except RagkitError as error:
        return error
    console.say(f"Saved in thread {begun.id}. To follow up: ragkit ask --thread {begun.id} …")
    return None


def _as_json(opened: Library, asked: _Asked) -> dict[str, Any]:
    answer = asked.answer
    excerpts = opened.answers.excerpts(answer.corrected or answer.query, answer.results)
    value = render_answers.asked_as_json(asked.quick, asked.written, answer, excerpts)
    if asked.web is not None:
        value["web"] = web_as_json(asked.web)
    thread = asked.kept[0] if asked.kept else asked.thread.id if asked.thread else None
    if thread is not None:
        value["thread"] = {
            "id": thread,
            "turn": asked.kept[1] if asked.kept else None,
            "asked": asked.follow.rewritten,
            "model": asked.follow.model,
            "notice": asked.follow.notice,
        }
    return value


def _put_results(asked: _Asked) -> None:
    if asked.answer.results:
        console.put("", "Results:", *render_answers.titles_as_text(asked.answer))
    if asked.web is not None:
        console.put("", *web_as_text(asked.web))
