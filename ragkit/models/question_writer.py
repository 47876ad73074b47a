"""Writes questions that a passage answers with a model, and checks them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ragkit.errors import ContextRejectedError
from ragkit.models.context_checks import (
    check_harmless,
    check_says_something,
    clean,
    in_another_language,
    is_copied,
)
from ragkit.models.context_prompt import (
    QUESTION_KINDS,
    Prompt,
    answer_schema,
    divided,
    fenced,
    messages_of,
    named,
    prompt_of,
    shortened,
)
from ragkit.models.context_writer import writing_model
from ragkit.models.ollama import OllamaClient

MOST_QUESTIONS = 2
"""So many are kept of one passage."""

REASONS: Mapping[str, str] = {
    "empty": "empty",
    "refusal": "refused",
    "form": "no question by its form",
    "short": "too short",
    "long": "too long",
    "copied": "copied from the passage",
    "pointing": "senseless without the passage",
    "language": "in another language",
    "instructions": "an order, as a document might give",
    "characters": "not text",
    "twice": "asked before",
}
"""Why questions are left out, in words for a person."""

_SHORTEST, _LONGEST = 8, 250
_MOST_LOOKED_AT = 6
_QUESTION_MARKS = ("?", "\uff1f", "\u061f", "\u037e", "\u055e", "\u1367")
_POINTING = re.compile(
    r"\b(?:this|the (?:above|following|given|provided)) (?:\w+ )?(?:passage|text|document|excerpt|"
    r"section|paragraph|chunk|snippet|article|page|table|code|conversation)\b|\bthe passage\b|"
    r"\baccording to the (?:passage|text|document|excerpt|author|speaker)\b|"
    r"\b(?:mentioned|described|given|listed|shown) (?:above|here|below)\b|"
    r"\b(?:in|laut|nach) (?:dies(?:em|er)|dem|der) (?:text|abschnitt|dokument|passage|absatz)\b|"
    r"\b(?:ce (?:texte|passage|document)|este (?:texto|pasaje|documento))\b",
    re.I,
)

_PASSAGE_SHARE = 0.8


@dataclass(frozen=True, slots=True)
class QuestionRequest:
    """A passage to write questions about; ``place`` is its place in its document."""

    title: str
    place: str
    passage: str
    document_text: str


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    """A question that a model wrote; ``kind`` is one of ``QUESTION_KINDS``."""

    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class CheckedQuestions:
    """What of an answer can be used, and for each thing that cannot a word of ``REASONS``."""

    kept: tuple[WrittenQuestion, ...] = ()
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionWriter:
    """Writes questions with one model. Safe between threads."""

    client: OllamaClient
    model: str
    prompt: Prompt

    @classmethod
    def open(cls, client: OllamaClient, model: str = "", own: str = "") -> QuestionWriter:
        """Choose the model of that name, or without one the best that is there.

        ``own`` is the prompt that a person wrote, if there is one.

        Raises:
            OllamaError: Ollama does not answer, or has no such model.
            SettingsError: the prompt is wrong.
        """
        prompt = prompt_of("questions", own)
        return cls(client, writing_model(client, model).name, prompt)

    def write(self, request: QuestionRequest, seed: int = 0) -> CheckedQuestions:
        """Write up to two questions that a passage answers.

        Raises:
            OllamaError: it wrote nothing; ``concerns_all`` says whether to go on with others.
        """
        system, form = divided(self.prompt.text)
        room = int(self.client.room(self.model) * _PASSAGE_SHARE)
        values = {
            **named(request.title, request.place),
            "passage": fenced("passage", shortened(request.passage, room), request.passage),
        }
        messages = messages_of(system, form, values)
        schema = answer_schema("questions")
        reply = self.client.chat(messages, self.model, schema=schema, seed=seed)
        return checked_questions(reply.data or {}, request, any_language=self.prompt.own)


def checked_questions(
    data: Mapping[str, Any], request: QuestionRequest, *, any_language: bool = False
) -> CheckedQuestions:
    """Parse a decoded answer and keep the questions that pass all checks."""
    listed = data.get("questions")
    if not isinstance(listed, list):
        return CheckedQuestions(left_out=("form",))
    if not listed:
        return CheckedQuestions(left_out=("empty",))
    kept: dict[str, WrittenQuestion] = {}
    left_out = []
    for entry in listed[:_MOST_LOOKED_AT]:
        if len(kept) == MOST_QUESTIONS:
            break
        try:
            question = _question(entry, request, any_language)
        except ContextRejectedError as error:
            left_out.append(error.reason)
            continue
        if isinstance(question, str):
            left_out.append(question)
        elif same_question(question.text) in kept:
            left_out.append("twice")
        else:
            kept[same_question(question.text)] = question
    return CheckedQuestions(tuple(kept.values()), tuple(left_out))


def same_question(text: str) -> str:
    """Return a key that is equal for questions with the same words."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def _question(value: object, request: QuestionRequest, any_language: bool) -> WrittenQuestion | str:
    """Return a question, or the reason why it cannot be used.

    Raises:
        ContextRejectedError: it fails a check that contexts must pass as well.
    """
    content = value.get("question") if isinstance(value, dict) else None
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(content, str) or not isinstance(kind, str):
        return "form"
    # What is too long is left out by its length; cleaning megabytes first would only take time.
    text, kind = clean(content[: 10 * _LONGEST]), " ".join(kind.casefold().split())
    check_says_something(text)
    if len(text) > _LONGEST:
        return "long"
    check_harmless((text,), request.document_text)
    if kind not in QUESTION_KINDS or not text.endswith(_QUESTION_MARKS):
        return "form"
    if len(text) < _SHORTEST and text.isascii():
        return "short"
    if _POINTING.search(text):
        return "pointing"
    if is_copied(text, request.passage):
        return "copied"
    if not any_language and in_another_language(text, request.passage, request.document_text):
        return "language"
    return WrittenQuestion(text, kind)
