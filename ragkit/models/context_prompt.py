"""Prompts for contexts, which a person can replace, filled so that a server can reuse its work.

The document always comes before the passage, so that all prompts of one document begin alike and
the server keeps what it has read. Of a document that is longer than the window the prompt shows
the outline, the beginning and the surroundings, in steps that neighbouring chunks share.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal, TypeAlias

from ragkit.errors import SettingsError
from ragkit.models.ollama_text import JsonObject, Message, estimate_tokens, one_line
from ragkit.types import Span

ContextKind: TypeAlias = Literal["document", "conversation"]
"""Which prompt asks for a context."""

CONTEXT_KINDS: tuple[ContextKind, ...] = ("document", "conversation")
"""All kinds of contexts."""

PromptKind: TypeAlias = Literal["document", "conversation", "summary", "questions"]
"""What a prompt asks for; the built-in ones are files of these names."""

PROMPT_KINDS: tuple[PromptKind, ...] = ("document", "conversation", "summary", "questions")
"""All kinds of prompts."""

QUESTION_KINDS = ("exact term", "paraphrase", "number", "identifier")
"""The kinds of question that a single passage can answer."""

SENTIMENTS = ("positive", "neutral", "negative", "mixed")
"""What ``sentiment`` may be."""

_LONGEST_PROMPT = 20_000
_PROMPTS = Path(__file__).with_name("prompts")
_SLOT = re.compile(r"\{\{\s*([^{}\n]*?)\s*\}\}")
_DIVIDER = re.compile(r"^={3,}[ \t]*$", re.M)
_RECIPE = "1"
_TITLE_CHARACTERS = 200
_CHARACTERS_PER_TOKEN = 8
_OUTLINE_SHARE = 0.1
_BEGINNING_SHARE = 0.2
_RESERVE = 0.9
_LEAST_ROOM = 128
_SUMMARY_BEGINNING, _STRETCHES = 0.4, 8
_SAMPLE_CHARACTERS = 40_000
_SCALES = (1.0, 0.8, 0.6, 0.45, 0.3)

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_WRITTEN: JsonObject = {
    "context": _TEXT,
    "keywords": _TEXTS,
    "questions": _TEXTS,
    "topic_summary": _TEXT,
}
_SAID: JsonObject = {
    "speakers": _TEXTS,
    "decisions": _TEXTS,
    "action_items": _TEXTS,
    "sentiment": {"type": "string", "enum": list(SENTIMENTS)},
}
_QUESTION: JsonObject = {
    "type": "object",
    "properties": {
        "question": _TEXT,
        "kind": {"type": "string", "enum": list(QUESTION_KINDS)},
    },
    "required": ["question", "kind"],
}


@dataclass(frozen=True, slots=True)
class _Form:
    """What a prompt of a kind asks for, the slots that it may have, and those that it must."""

    properties: JsonObject
    slots: tuple[str, ...] = ("title", "summary", "outline", "document", "place", "passage")
    needed: tuple[str, ...] = ("document", "passage")


_FORMS: Mapping[PromptKind, _Form] = {
    "document": _Form(_WRITTEN),
    "conversation": _Form({**_WRITTEN, **_SAID}),
    "summary": _Form(
        {"summary": _TEXT}, slots=("title", "outline", "document"), needed=("document",)
    ),
    "questions": _Form(
        {"questions": {"type": "array", "items": _QUESTION}},
        slots=("title", "place", "passage"),
        needed=("passage",),
    ),
}


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """A chunk and the document that it is in.

    ``chunk_span`` is where ``chunk_text`` is in ``document_text``. ``outline`` holds headings,
    outermost first, each a line. ``structural_context`` says where the chunk is. ``summary`` is
    of the whole document, and shown where the prompt has no room for all of it.
    """

    document_title: str
    document_text: str
    outline: Sequence[str]
    chunk_text: str
    chunk_span: Span
    structural_context: str = ""
    kind: ContextKind = "document"
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Prompt:
    """The request to the model: instructions, a line of ``=====``, and a form with slots.

    ``hash`` covers everything that decides what is asked. ``own`` marks one that a person wrote.
    """

    text: str
    hash: str
    own: bool = False


def prompt_of(kind: PromptKind, own: str = "") -> Prompt:
    """Return the prompt that a person wrote, or else the one that ragkit brings.

    Raises:
        SettingsError: what the person wrote is not a prompt of that kind.
    """
    text = own.removeprefix("\ufeff").replace("\r\n", "\n").strip()
    built_in = (_PROMPTS / f"{kind}.txt").read_text("utf-8").strip()
    if len(text) > _LONGEST_PROMPT:
        raise SettingsError(
            "The prompt is too long.", f"Shorten it to {_LONGEST_PROMPT:,} characters."
        )
    text = text or built_in
    _check_slots(text, _FORMS[kind])
    parts = (_RECIPE, kind, text, json.dumps(answer_schema(kind), sort_keys=True))
    digest = hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=8).hexdigest()
    return Prompt(text, digest, own=text != built_in)


def placeholders(kind: PromptKind) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the placeholders that a prompt needs, and those that it may have besides."""
    form = _FORMS[kind]
    needed, others = form.needed, [slot for slot in form.slots if slot not in form.needed]
    return tuple(map(_braced, needed)), tuple(map(_braced, others))


def _braced(slot: str) -> str:
    return "{{" + slot + "}}"


def _check_slots(text: str, form: _Form) -> None:
    """Raise an error if a prompt has an unknown slot, or one is missing."""
    present = _SLOT.findall(text)
    unknown = sorted({one_line(slot, 40) for slot in present if slot not in form.slots})
    if unknown:
        raise SettingsError(
            f"The prompt has an unknown placeholder: {', '.join(map(_braced, unknown))}.",
            f"Use {', '.join(map(_braced, form.slots))}.",
        )
    missing = [slot for slot in form.needed if slot not in present]
    if missing:
        raise SettingsError(
            f"The prompt has no place for the {' and the '.join(missing)}.",
            f"Write {' and '.join(map(_braced, missing))} where it belongs.",
        )


def answer_schema(kind: PromptKind) -> JsonObject:
    """Return the JSON schema of the answer."""
    properties = _FORMS[kind].properties
    return {"type": "object", "properties": properties, "required": list(properties)}


def build_messages(request: ContextRequest, prompt: Prompt, room: int) -> list[Message]:
    """Build the messages of a prompt that takes about ``room`` tokens at most."""
    system, form = divided(prompt.text)
    passage = shortened(request.chunk_text, room // 2)
    left = _room_for_document(request, prompt, room)
    text, shown, outline, summary = request.document_text, request.document_text, "", ""
    if not _fits(text, left):
        if request.summary:
            summary = f"Summary:\n{fenced('summary', request.summary, text)}\n"
            left = max(_LEAST_ROOM, left - estimate_tokens(summary))
        outline, shown = _excerpts(request, left)
    values = {
        **named(request.document_title, request.structural_context),
        "passage": fenced("passage", passage, passage),
        "summary": summary,
        "outline": outline,
        "document": fenced("document", shown, text),
    }
    return messages_of(system, form, values)


def wants_summary(request: ContextRequest, prompt: Prompt, room: int) -> bool:
    """Return whether a prompt has a place for a summary and no room for the whole document."""
    left = _room_for_document(request, prompt, room)
    return "summary" in _SLOT.findall(prompt.text) and not _fits(request.document_text, left)


def build_summary_messages(request: ContextRequest, prompt: Prompt, room: int) -> list[Message]:
    """Build the messages that ask for the summary of a long document, in ``room`` tokens."""
    system, form = divided(prompt.text)
    title = named(request.document_title, "")["title"]
    spent = sum(estimate_tokens(part) for part in (system, form, title))
    left = max(_LEAST_ROOM, int(room * _RESERVE) - spent)
    outline = _bounded_lines(request.outline, int(left * _OUTLINE_SHARE))
    left = max(_LEAST_ROOM // 2, left - estimate_tokens(outline))
    shown = _scaled(request.document_text, left, partial(_spread, request.document_text))
    values = {
        "title": title,
        "outline": f"Outline:\n{outline}\n" if outline else "",
        "document": fenced("document", shown, request.document_text),
    }
    return messages_of(system, form, values)


def _room_for_document(request: ContextRequest, prompt: Prompt, room: int) -> int:
    """Return how many tokens are left for the document beside all the rest of a prompt."""
    passage = shortened(request.chunk_text, room // 2)
    rest = (
        *divided(prompt.text),
        *named(request.document_title, request.structural_context).values(),
        fenced("passage", passage, passage),
    )
    return max(_LEAST_ROOM, int(room * _RESERVE) - sum(map(estimate_tokens, rest)))


def divided(text: str) -> tuple[str, str]:
    """Split a prompt at its line of ``=====``; without one, all of it is the form."""
    parts = _DIVIDER.split(text, maxsplit=1)
    return (parts[0].strip(), parts[1].strip()) if len(parts) == 2 else ("", text.strip())


def named(title: str, place: str) -> dict[str, str]:
    """Return the slots that say what a passage belongs to, as quoted lines."""
    lines = {"title": one_line(title, _TITLE_CHARACTERS), "place": one_line(place)}
    return {slot: json.dumps(line, ensure_ascii=False) for slot, line in lines.items()}


def messages_of(system: str, form: str, values: Mapping[str, str]) -> list[Message]:
    """Build the messages from the parts that ``divided`` returns; instructions may be empty."""
    messages: list[Message] = [{"role": "user", "content": _filled(form, values)}]
    if system:
        messages.insert(0, {"role": "system", "content": _filled(system, values)})
    return messages


def _filled(form: str, values: Mapping[str, str]) -> str:
    """Fill all slots in one pass, so that braces in a document stay text."""
    return _SLOT.sub(lambda slot: values[slot[1]], form)


def fenced(name: str, shown: str, whole: str) -> str:
    """Return data between two marks that it cannot contain, as they depend on all of it."""
    mark = f"{name}-{_mark(whole)}"
    return f"<{mark}>\n{shown}\n</{mark}>"


@lru_cache(maxsize=4)  # of one document, many chunks are asked about in a row
def _mark(whole: str) -> str:
    return hashlib.blake2b(whole.encode("utf-8", "replace"), digest_size=6).hexdigest()


@lru_cache(maxsize=4)
def _characters_per_token(text: str) -> float:
    sample = text[:_SAMPLE_CHARACTERS]
    return len(sample) / max(1, estimate_tokens(sample))


def _fits(text: str, room: int) -> bool:
    return len(text) <= room * _CHARACTERS_PER_TOKEN and estimate_tokens(text) <= room


def _excerpts(request: ContextRequest, room: int) -> tuple[str, str]:
    """Return the outline of a document that is too long, and what of its text is shown."""
    text = request.document_text
    outline = _bounded_lines(request.outline, int(room * _OUTLINE_SHARE))
    left = max(_LEAST_ROOM // 2, room - estimate_tokens(outline))
    # Measured over the document, not near the chunk, so that neighbours get the same stretch.
    shown = _scaled(text, left, partial(_excerpt, text, request.chunk_span))
    return (f"Outline:\n{outline}\n" if outline else ""), shown


def _scaled(text: str, room: int, excerpt: Callable[[int], str]) -> str:
    """Return an excerpt, made by its size in characters, that takes ``room`` tokens at most."""
    size = room * _characters_per_token(text)
    for scale in _SCALES:
        shown = excerpt(int(size * scale))
        if estimate_tokens(shown) <= room:
            break
    return shown


def _spread(text: str, size: int) -> str:
    """Return about ``size`` characters: the beginning of a text, and stretches from all of it."""
    beginning = int(size * _SUMMARY_BEGINNING)
    each = (size - beginning) // _STRETCHES
    parts = [text[:beginning]]
    for number in range(1, _STRETCHES + 1):
        # The last one ends where the text does.
        end = beginning + (len(text) - beginning) * number // _STRETCHES
        parts.append(text[max(beginning, end - each) : end])
    return "\n[…]\n".join(parts)


def _excerpt(text: str, span: Span, size: int) -> str:
    """Return about ``size`` characters: the beginning of a text and the part around a span."""
    beginning = int(size * _BEGINNING_SHARE)
    first, last = _surroundings(len(text), span.start, span.end, size - beginning)
    tail = "" if last >= len(text) else "\n[…]"
    if first <= beginning:
        return text[:last] + tail
    return f"{text[:beginning]}\n[…]\n{text[first:last]}{tail}"


def _surroundings(length: int, start: int, end: int, size: int) -> tuple[int, int]:
    """Choose a stretch of ``size`` characters around a span, in steps that neighbours share."""
    step = min(size // 2, size - (end - start))
    if step <= 0:
        return start, min(length, start + size)
    centred = (start + end - size) / 2
    first = max(0, min(round(centred / step) * step, length - size))
    return first, min(length, first + size)


def _bounded_lines(lines: Sequence[str], room: int) -> str:
    """Join lines as far as there is room for them."""
    kept: list[str] = []
    for line in lines:
        short = one_line(line, 120)
        room -= estimate_tokens(short) + 1
        if room < 0:
            kept.append("[…]")
            break
        if short:
            kept.append(short)
    return "\n".join(kept)


def shortened(text: str, room: int) -> str:
    """Return a text without its middle if it is too long."""
    most = room * _CHARACTERS_PER_TOKEN
    bounded = text if len(text) <= most else text[:most]
    tokens = estimate_tokens(bounded)
    if len(text) <= most and tokens <= room:
        return text
    kept = int(len(bounded) * room / max(1, tokens) * 0.9) // 2
    return f"{text[:kept]}\n[…]\n{text[len(text) - kept :]}" if kept else ""
