"""What pages say of contexts that models or people wrote. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pages.parts.common.markup import (
    action,
    document_url,
    excerpt,
    meter,
    name,
    number,
    plural,
    text,
)
from pages.parts.library.source_tables import left, moment, size
from ragkit.catalog.background_state import BackfillState, BackgroundPhase
from ragkit.catalog.records import (
    RECORDED,
    ContextAnswer,
    ContextCounts,
    ContextRecord,
    ContextStatus,
    FailedContext,
)
from ragkit.models.ollama_monitor import Download, OllamaLook

_STATUS_WORDS = {
    ContextStatus.PENDING: "waits to be written",
    ContextStatus.COMPLETE: "written",
    ContextStatus.FAILED: "failed",
    ContextStatus.TRUNCATED: "written from a part of the prompt",
}
_COUNTS = (
    ("written", "Chunks whose context is there and searched."),
    ("waiting", "Chunks whose context is still to be written."),
    ("failed", "Chunks of which a model could write nothing of use."),
    ("cut short", "Written, but the model could not see the whole prompt."),
)
_ON_CARD, _ON_PAGE = 320, 1500
_MOST_ITEMS = 12


def by_whom(answer: ContextAnswer) -> str:
    """A mark that says who wrote a context, with the model's name on hover."""
    if answer.by_person:
        said, more = "written by you", "You wrote this. No model changes it."
    elif answer.model == RECORDED:
        said, more = "recorded with the sample", "It came with the sample documents, in a file."
    else:
        model = f"Model: {answer.model}. " if answer.model else ""
        said, more = "written by a model", f"{model}It may be wrong; the passage below is not it."
    return f'<span class="rk-by" tabindex="0" role="note" title="{text(more)}">{said}</span>'


def on_card(record: ContextRecord | None) -> str:
    """What was written of the best passage, as a line; empty when nothing was."""
    if record is None or not record.answer.context:
        return ""
    shown = excerpt(record.answer.context, (), _ON_CARD)
    return f'<p class="rk-context rk-written" dir="auto">{by_whom(record.answer)} {shown}</p>'


# -- the Document page -----------------------------------------------------------------------


def about_chunk(record: ContextRecord | None, index: int) -> str:
    """A chunk's written context with everything that is known of it, and what can be done."""
    answer = record.answer if record else ContextAnswer("")
    parts = []
    if answer.context:
        shown = excerpt(answer.context, (), _ON_PAGE)
        parts.append(f'<p class="rk-context rk-written" dir="auto">{by_whom(answer)} {shown}</p>')
    if record is None or not answer.context or record.status is not ContextStatus.COMPLETE:
        parts.append(_standing_of(record, bool(answer.context)))
    if record is not None:
        facts = "".join(f"<dt>{term}</dt><dd>{said}</dd>" for term, said in _facts(record))
        parts.append(
            f'<details class="rk-why"><summary>What is known of it</summary><dl class="rk-facts">'
            f"{facts}</dl></details>"
        )
    place = f"the context of chunk {index + 1}"
    edit = "Edit" if answer.context else "Write it yourself"
    buttons = action(
        "edit-context", edit, data_chunk=index, aria_label=f"{edit}: {place}"
    ) + action("write-again", "Write again", data_chunk=index, aria_label=f"Write again: {place}")
    return f'{"".join(parts)}<div class="rk-foot">{buttons}</div>'


def _standing_of(record: ContextRecord | None, written: bool) -> str:
    """Why there is no context, or not yet a new one."""
    if record is None:
        return '<p class="rk-soft">No model has written of this chunk yet.</p>'
    if record.status is ContextStatus.FAILED:
        return f'<p class="rk-error-text">Could not be written. {name(record.error)}</p>'
    if record.status is ContextStatus.TRUNCATED:
        return '<p class="rk-soft">The model saw only a part of the prompt.</p>'
    kept = " The old one is searched until then." if written else ""
    if record.status is ContextStatus.PENDING:
        return f'<p class="rk-soft">It waits to be written anew.{kept}</p>'
    return ""


def _facts(record: ContextRecord) -> list[tuple[str, str]]:
    answer = record.answer
    state = [_STATUS_WORDS[record.status], moment(record.changed_at)]
    found = [("State", text(" · ".join(state)))]
    if answer.model and not answer.by_person:
        found.append(("Model", name(answer.model)))
    found.append(("Attempts", number(record.attempts)))
    if answer.seconds and not answer.by_person:
        cost = f"{answer.seconds:.1f} s · {plural(answer.tokens, 'token')}"
        found.append(("Cost", text(cost)))
    if answer.keywords:
        found.append(("Keywords", text(", ".join(answer.keywords[:_MOST_ITEMS]))))
    if answer.questions:
        asked = "".join(f"<li>{text(one)}</li>" for one in answer.questions[:_MOST_ITEMS])
        found.append(("Questions that it answers", f"<ul>{asked}</ul>"))
    found += [(text(key.replace("_", " ").capitalize()), said) for key, said in _details(answer)]
    if record.error:
        found.append(("Last error", name(record.error)))
    return found


def _details(answer: ContextAnswer) -> list[tuple[str, str]]:
    """What else a model said of a conversation, as words."""

    def words(value: Any) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, list | tuple):
            return ", ".join(str(one) for one in value[:_MOST_ITEMS])
        return str(value)

    shown = ((key, words(value)) for key, value in answer.details.items())
    return [(key, text(value[:300])) for key, value in shown if value]


# -- the Health page ---------------------------------------------------------------------------


def standing(state: BackfillState, switched_on: bool) -> str:
    """What is being done about contexts, how far it is and how long it takes."""
    counts = state.counts
    return (
        '<div class="rk-progress" id="contexts-standing" role="status">'
        f"{_doing(state, switched_on)}"
        f"{meter('Contexts written', _there(state), counts.chunks)}</div>{_counted(counts)}"
    )


def _doing(state: BackfillState, switched_on: bool) -> str:
    counts = state.counts
    if not counts.chunks:
        return "<b>Nothing to write</b> · no document is indexed yet"
    share = f"{number(_there(state))} of {plural(counts.chunks, 'chunk')}"
    if not switched_on:
        return f"<b>Off</b> · {share} · switch it on with models.contexts in the settings"
    if state.paused:
        gone = "" if state.running else " · the worker is not running"
        return f"<b>Paused</b> · {share} · searches use what is written{gone}"
    if not counts.pending:
        if counts.failed:
            return f"<b>Done</b> · {share}, {number(counts.failed)} could not be written"
        return f"<b>All is written</b> · {share}"
    if not state.running:
        return (
            f"<b>Nobody writes now</b> · {share} · the worker is not running; what is written "
            "is kept, and it goes on when the worker does"
        )
    if state.phase is BackgroundPhase.WORKING:
        parts = [f"<b>Writing</b> {share}"]
        if state.per_minute:
            parts.append(f"{_pace(state.per_minute)} a minute")
        parts += [one for one in (left(state.seconds_left),) if one]
        if state.current:
            parts.append(f"<bdi>{name(state.current[-120:])}</bdi>")
        return " · ".join(parts)
    if state.phase is BackgroundPhase.WAITING and state.message:
        return f"<b>Waiting</b> · {share} · {name(state.message)}"
    return f"<b>About to begin</b> · {share}"


def _there(state: BackfillState) -> int:
    """How many chunks have a context, those that are about to be indexed included."""
    counts = state.counts
    return counts.complete + counts.truncated + min(state.ready, counts.pending)


def _pace(per_minute: float) -> str:
    return f"{per_minute:.1f}" if per_minute < 10 else number(round(per_minute))


def _counted(counts: ContextCounts) -> str:
    values = (counts.complete, counts.pending, counts.failed, counts.truncated)
    items = "".join(
        f'<li title="{text(why)}"><b>{number(value)}</b> {word}</li>'
        for value, (word, why) in zip(values, _COUNTS, strict=True)
    )
    return f'<ul class="rk-figures" id="contexts-counts">{items}</ul>'


def failures(failed: Sequence[FailedContext], total: int) -> str:
    """The last errors with their cures, each with its chunk as a link."""
    if not failed:
        return ""
    items = "".join(
        f'<li><a target="_self" href="{text(document_url(one.document_id, one.chunk_index))}">'
        f"<bdi>{name(one.path[-80:])}</bdi>, chunk {one.chunk_index + 1}</a> "
        f'<span class="rk-soft">{moment(one.changed_at)}, '
        f"{plural(one.attempts, 'attempt')}</span><br>{name(one.error[:300])}</li>"
        for one in failed
    )
    rest = total - len(failed)
    more = f'<p class="rk-soft">and {number(rest)} more</p>' if rest > 0 else ""
    return (
        f'<details class="rk-why" id="contexts-failures"><summary>Last errors</summary>'
        f'<ul class="rk-errors">{items}</ul>{more}</details>'
    )


def ollama_line(look: OllamaLook | None, chosen: str) -> str:
    """Whether Ollama is there and what writes, and if not, what to do."""
    if look is None:
        return '<p class="rk-soft" role="status">Looking for Ollama …</p>'
    health = look.health
    cure = f" {text(health.cure)}" if health.cure else ""
    if health.reachable:
        said = f"{text(health.sentence)}{cure}{_writer(look, chosen)}"
        return f'<p class="rk-soft" role="status">{said}</p>'
    return (
        f'<div class="rk-notice" id="ollama-missing" role="status"><b>{text(health.sentence)}</b>'
        f"{cure}<br>Ollama is a free program that runs models on this machine. Get it from "
        "ollama.com, install it and leave it running; ragkit finds it by itself within half a "
        "minute. Until then titles and headings are the only context.</div>"
    )


def _writer(look: OllamaLook, chosen: str) -> str:
    """Which model writes, or that the wanted one is not there."""
    wanted = chosen or look.best
    if not wanted:
        return " None writes text." if look.health.models else ""
    if any(one.name in (wanted, f"{wanted}:latest") for one in look.writers):
        return f" <b>{name(wanted)}</b> writes contexts."
    return f' <span class="rk-error-text">{name(wanted)} is to write, and is not there.</span>'


def download_line(download: Download) -> str:
    """How far a download is, or how it ended."""
    model = f"<b>{name(download.model)}</b>"
    if download.cancelled:
        said = f"{model} · cancelled; what has arrived is kept for the next time"
    elif download.problem:
        said = f'<span class="rk-error-text">{name(download.problem)}</span>'
    elif download.ended:
        said = f"{model} is here and writes from now on."
    else:
        far = f"{size(download.done)} of {size(download.total)}" if download.total else ""
        said = " · ".join(filter(None, (f"Getting {model}", text(download.status), far)))
    if download.ended:
        return f'<div class="rk-progress" role="status">{said}</div>'
    bar = meter("Download", download.done, download.total)
    return f'<div class="rk-progress" role="status">{said}{bar}</div>'
