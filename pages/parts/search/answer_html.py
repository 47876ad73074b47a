"""Answers as HTML: quick ones, written ones with their sources and checks. Pure functions.

What a model wrote is text and nothing else: no Markdown, no links, no pictures of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

from pages.parts.common.markup import action, attributes, name, notices, number, text
from pages.parts.rendering import Kind, kind_of, row_snippet
from pages.parts.rendering.allowed import safe_link
from pages.parts.rendering.canvas import Span
from ragkit.answers import (
    AnswerSentence,
    AnswerState,
    Check,
    CheckKind,
    Source,
    Turn,
    WrittenAnswer,
    told_apart,
)
from ragkit.formatting import page_range, plural
from ragkit.retrieval.highlight import best_window, highlight_question
from ragkit.surfaces.addresses import source_url

_LONGEST_QUICK, _LONGEST_SOURCE = 360, 420
_NONE: Mapping[str, str] = MappingProxyType({})
_MISSING = " is not in the source"
_PASSED = (
    "A sentence passes if it cites a source that was given and its figures, dates, names and "
    "quotations are there. Whether the source says so, you decide: follow its number."
)


# -- the quick answer ------------------------------------------------------------------------


def quick(
    sources: Sequence[Source],
    question: str,
    forms: Mapping[str, str] = _NONE,
    label: str = "Quick answer",
) -> str:
    """Return the sentences that answer best, each with a link to its place; empty without any.

    Where several questions are answered, each stands above its sentences. ``forms`` are other
    forms of their words. ``label`` is its accessible name, unique on a page.
    """
    if not sources:
        return ""
    rows, apart = "", told_apart(sources)
    for asked, answers in groupby(sources, key=lambda source: source.question):
        if asked:
            rows += f'<h3 class="rk-quick-asked" dir="auto">{text(asked)}</h3>'
        rows += "".join(_quick_row(source, asked or question, forms, apart) for source in answers)
    given = attributes(class_="rk-answer rk-answer-quick", aria_label=label)
    return f"<section{given}>{rows}</section>"


def _quick_row(
    source: Source, question: str, forms: Mapping[str, str], apart: Mapping[int, str]
) -> str:
    shown = sentence(source, question, _LONGEST_QUICK, forms)
    link = place_link(source, question, apart)
    return f'<p class="rk-quick-row" dir="auto">{shown} {link}</p>'


def sentence(source: Source, question: str, longest: int, forms: Mapping[str, str] = _NONE) -> str:
    """Return a sentence of a document without its markup, the words of the question marked."""
    marks = highlight_question(source.text, question, forms)
    start, end = best_window(source.text, marks, longest)
    named = highlight_question(source.header, question, forms)
    shown = _drawn(source, (start, end), marks, named) or text(source.text[start:end])
    cut = f"{'… ' if start else ''}{shown}{' …' if end < len(source.text) else ''}"
    style = ' class="rk-code"' if _kind(source).form == "code" else ""
    return f"<span{style}>{cut}</span>"


def _drawn(source: Source, span: Span, marks: Sequence[Span], named: Sequence[Span]) -> str:
    """Return a part of a sentence without markup; a row names its columns by their header."""
    return row_snippet(source.text, span, marks, _kind(source), source.header, named)


def place_link(source: Source, question: str, apart: Mapping[int, str]) -> str:
    """Return a link to the place of a sentence, which opens with exactly it marked.

    ``apart`` is what tells documents of the same title apart (``told_apart``).
    """
    data = attributes(
        class_="rk-answer-place", dir="ltr", title="Opens the document with this sentence marked"
    )
    return f"<a{_leads(source, question)}{data}>{place_of(source, apart)}</a>"


def place_of(source: Source, apart: Mapping[int, str]) -> str:
    """Return the place of a sentence, as HTML: title, the last heading, page, what tells apart."""
    document = source.document
    title = source.title or source.url if document is None else document.title or document.path
    parts = [f"<bdi>{name(title, 90)}</bdi>"]
    if source.own_headings:
        parts.append(f" › <bdi>{name(source.own_headings[-1], 70)}</bdi>")
    if source.page is not None:
        format_ = document.format if document else ""
        parts.append(f", {page_range(source.page, source.page, format_)}")
    if document is None:
        parts.append(' <span class="rk-soft">(web)</span>')
    elif document.id in apart:
        parts.append(f" · <bdi>{name(apart[document.id], 70)}</bdi>")
    return "".join(parts)


def _leads(source: Source, question: str) -> str:
    """Return the attributes of a link to a sentence; a page of the web opens in a new tab."""
    if source.document is not None:
        return attributes(
            href=source_url(source, question), target="_self", data_rk="open",
            data_id=source.document.id,
        )  # fmt: skip
    return attributes(href=safe_link(source.url), target="_blank", rel="noopener noreferrer")


def _kind(source: Source) -> Kind:
    document = source.document
    if document is None:
        return Kind("plain")
    return kind_of(document.format, document.path, document.markup)


def offers(*, can_write: bool, follows: bool) -> str:
    """Return the buttons that ask a model for an answer, and for the box of a follow-up."""
    parts = []
    if can_write:
        title = "Have a model on this machine write an answer from these passages. Key w"
        parts.append(action("write", "Write an answer", style="rk-act rk-write", title=title))
    if follows:
        parts.append(action("follow-up", "Ask a follow-up"))
    return "".join(parts)


def asked_as(turn: Turn | None) -> str:
    """Return the typed follow-up if a rewritten question is asked instead, or an empty string."""
    if turn is None or turn.question == turn.asked:
        return ""
    typed = action("as-typed", "Search as typed", style="rk-inline")
    change = action("change-asked", "Edit", style="rk-inline")
    return (
        f'<p class="rk-said-of">Rewritten from “<bdi>{name(turn.question, 200)}</bdi>”. '
        f"{typed} · {change}</p>"
    )


def earlier(turns: Sequence[Turn]) -> str:
    """Return the turns of a thread before the one that is shown, each folded under its question."""
    items = []
    for turn in turns:
        rewritten = ""
        if turn.asked != turn.question:
            rewritten = f' <span class="rk-soft">{text(turn.asked)}</span>'
        answer = (
            written(turn.written, tools=False) if turn.written else quick(turn.quick, turn.asked)
        )
        items.append(
            f'<details class="rk-turn"><summary dir="auto">{text(turn.question)}{rewritten}'
            "</summary>"
            f"{answer or '<p class=rk-soft>No answer was written.</p>'}</details>"
        )
    return (
        f'<section class="rk-turns" aria-label="Earlier questions">{"".join(items)}</section>'
        if items
        else ""
    )


# -- a written answer --------------------------------------------------------------------------


def written(answer: WrittenAnswer, *, tools: bool = True) -> str:
    """Return a written answer, as far as it is, without its state in words (``state_of``).

    ``tools`` adds the buttons that check it and write it again.
    """
    parts = [_banner(answer), notices(answer.notices), _text(answer)]
    if answer.state.is_over:
        parts += [_figures(answer, tools), _sources(answer)]
    return "".join(parts)


def state_of(answer: WrittenAnswer) -> str:
    """Return the step in words; empty once the answer is complete."""
    match answer.state:
        case AnswerState.READING if answer.passages_found:
            return f"Reading {answer.passages_read} of {plural(answer.passages_found, 'passage')}"
        case AnswerState.READING:
            return "Reading the passages"
        case AnswerState.THINKING:
            return "Thinking"
        case AnswerState.WRITING:
            return "Writing"
        case AnswerState.CHECKING:
            return f"Checking {plural(len(answer.sentences), 'sentence')}"
        case AnswerState.CANCELLED:
            return "Stopped"
        case AnswerState.FAILED:
            return "Failed"
        case AnswerState.DONE:
            return "Cut off" if answer.cut else ""


def _banner(answer: WrittenAnswer) -> str:
    """Return the notice above an answer."""
    if answer.failure:
        cure = f" {text(answer.cure)}" if answer.cure else ""
        return f'<p class="rk-notice rk-warn" role="alert">{text(answer.failure)}{cure}</p>'
    if answer.not_found:
        return (
            '<p class="rk-answer-none"><b>Not in your documents.</b> The model found no answer in '
            "the passages that it read. The nearest are below.</p>"
        )
    if answer.state is AnswerState.DONE and not answer.is_grounded:
        return (
            '<p class="rk-notice rk-warn">No sentence of this answer names a source, so nothing '
            "shows that it is in your documents. Read the passages below instead.</p>"
        )
    return ""


def _text(answer: WrittenAnswer) -> str:
    """Return the sentences in their paragraphs and lists, with citations and findings."""
    if answer.not_found:
        return ""
    blocks: list[tuple[bool, str]] = []
    for _, group in groupby(answer.sentences, key=lambda part: part.block):
        sentences = tuple(group)
        html = " ".join(_sentence(part, answer) for part in sentences)
        blocks.append((sentences[0].item, html))
    if answer.unfinished:
        coming = f'<span class="rk-answer-coming">{text(answer.unfinished)}</span>'
        is_item, html = blocks.pop() if blocks else (False, "")
        blocks.append((is_item, f"{html} {coming}"))
    parts = []
    for is_list, items in groupby(blocks, key=lambda block: block[0]):
        outer = "ul" if is_list else "div"
        inner = "".join(
            f'<li><div dir="auto">{html}</div></li>' if is_list else f'<p dir="auto">{html}</p>'
            for _, html in items
        )
        parts.append(f"<{outer}>{inner}</{outer}>")
    cut = '<p class="rk-soft">… The answer was cut off here: it reached the maximum length.</p>'
    return f'<div class="rk-answer-text">{"".join(parts)}{cut * answer.cut}</div>'


def _sentence(part: AnswerSentence, answer: WrittenAnswer) -> str:
    fails = any(not check.holds for check in part.checks)
    style = "rk-answer-sentence rk-fails" if fails else "rk-answer-sentence"
    cites = "".join(_citation(number_, answer) for number_ in part.sources)
    findings = _findings(part.checks)
    return f'<span class="{style}">{text(part.text)}</span>{cites}{findings}'


def _citation(number_: int, answer: WrittenAnswer) -> str:
    """Return a small numbered link to a source, with a card that shows its sentence."""
    if not 1 <= number_ <= len(answer.sources):
        return ""
    source = answer.sources[number_ - 1]
    shown = sentence(source, "", _LONGEST_SOURCE)
    place = f'<i dir="ltr">{place_of(source, told_apart(answer.sources))}</i>'
    card = f'<span class="rk-cite-card" role="tooltip" dir="auto">{shown}{place}</span>'
    label = attributes(class_="rk-cite", aria_label=f"Source {number_}", data_source=number_)
    return f"<a{_leads(source, answer.question)}{label}>{number_}{card}</a>"


def _findings(checks: Sequence[Check]) -> str:
    """Return the findings about a sentence; those missing in its sources form one finding."""
    missing = [
        check.words.removesuffix(_MISSING)
        for check in checks
        if check.kind is CheckKind.NOT_IN_SOURCE
    ]
    parts = []
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        words = f"{', '.join(missing)} {verb} not in the source"
        parts.append(f'<span class="rk-check" dir="ltr">{text(words)}</span>')
    for check in checks:
        if check.kind is not CheckKind.NOT_IN_SOURCE:
            style = "rk-check rk-check-holds" if check.holds else "rk-check"
            title = "The verdict of the model that checked this" if check.is_verdict else None
            given = attributes(class_=style, title=title, dir="ltr")
            parts.append(f"<span{given}>{text(check.words)}</span>")
    return "".join(parts)


def _figures(answer: WrittenAnswer, with_tools: bool) -> str:
    """Return the figures under an answer, and what can be done with it."""
    facts = []
    if answer.figure:
        facts.append(f'<span title="{text(_PASSED)}">{text(answer.figure)}</span>')
    if answer.dropped:
        facts.append(f"{plural(answer.dropped, 'invalid citation')} removed")
    if answer.passages_found:
        is_all = answer.passages_read == answer.passages_found
        read = "" if is_all else f"{number(answer.passages_read)} of "
        facts.append(f"{read}{plural(answer.passages_found, 'passage')} read")
    if answer.model:
        took = f" in {answer.seconds:.1f} s" * bool(answer.seconds)
        facts.append(f"written by {name(answer.model)}{took}")
    tools = []
    if with_tools and answer.is_grounded and not (answer.judged or answer.failure):
        judge = "Asks the model whether the cited sentences say what each sentence says"
        tools.append(action("judge-answer", "Check each sentence", title=judge))
    if answer.sentences and not answer.not_found:
        tools.append(action("copy-path", "Copy", data_text=as_text(answer)))
    if with_tools:
        tools.append(action("write", "Try again" if answer.failure else "Write again"))
    return (
        f'<div class="rk-answer-foot"><span>{" · ".join(facts)}</span>'
        f"<span>{''.join(tools)}</span></div>"
    )


def _sources(answer: WrittenAnswer) -> str:
    """Return the sentences that were cited, numbered as in the answer."""
    if not answer.sources:
        return ""
    changed = ' <span class="rk-check" dir="ltr">changed since</span>'
    apart = told_apart(answer.sources)
    items = "".join(
        f'<li><div dir="auto">{sentence(source, "", _LONGEST_SOURCE)} '
        f"{place_link(source, answer.question, apart)}{changed * source.changed}</div></li>"
        for source in answer.sources
    )
    return f'<ol class="rk-answer-sources" aria-label="Sources">{items}</ol>'


def as_text(answer: WrittenAnswer) -> str:
    """Return an answer as plain text, with its citations as numbers and the list of sources."""
    lines: list[str] = []
    block = None
    for part in answer.sentences:
        cites = "".join(f" [{number_}]" for number_ in part.sources)
        if part.block == block:
            lines[-1] += f" {part.text}{cites}"
        else:
            lines.append(f"{'- ' if part.item else ''}{part.text}{cites}")
        block = part.block
    for place, source in enumerate(answer.sources, start=1):
        at = source.url or (source.document.path if source.document else "")
        page = f", p. {source.page}" if source.page is not None else ""
        lines.append(f'[{place}] "{" ".join(source.text.split())}" ({at}{page})')
    return "\n".join(lines)
