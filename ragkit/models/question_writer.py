"""Has a model write questions that a passage answers, and checks what it wrote."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ragkit.models.context_prompt import (
    divided,
    fenced,
    messages_of,
    named,
    prompt_text,
    shortened,
)
from ragkit.models.context_writer import writing_model
from ragkit.models.ollama import OllamaClient
from ragkit.models.ollama_types import JsonObject, Message, ModelInfo
from ragkit.models.question_checks import (
    QUESTION_KINDS,
    CheckedQuestions,
    QuestionRequest,
    checked_questions,
)
from ragkit.settings import ModelSettings

PROMPT = "questions"
"""The name of the prompt's file, without its ``.txt``."""

_SLOTS = ("title", "place", "passage")
_NEEDED = ("passage",)
_PASSAGE_SHARE = 0.8
_TEXT = {"type": "string"}
ANSWER: JsonObject = {
    "type": "object",
    "properties": {
        "questions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "question": _TEXT,
                    "kind": {"type": "string", "enum": list(QUESTION_KINDS)},
                },
                "required": ["question", "kind"],
            },
        }
    },
    "required": ["questions"],
}
"""The JSON schema of the answer."""


@dataclass(frozen=True, slots=True)
class QuestionPrompt:
    """Instructions, a line of ``=====``, and a form with slots; ``own``: a person wrote it."""

    text: str
    own: bool = False


def load_question_prompt(override_dir: Path | None = None) -> QuestionPrompt:
    """Read ``questions.txt`` of that folder if it is there, and else the one of ragkit.

    Raises:
        SettingsError: the file cannot be read or is not a prompt.
    """
    return QuestionPrompt(*prompt_text(PROMPT, override_dir, _SLOTS, _NEEDED))


class QuestionWriter:
    """Writes questions with one model. Safe between threads."""

    def __init__(
        self,
        client: OllamaClient,
        model: ModelInfo,
        prompt: QuestionPrompt,
        *,
        window: int = 8192,
        answer_tokens: int = 512,
    ) -> None:
        """Take a model and a prompt; ``window`` counts prompt and answer, in tokens."""
        self.model = model.name
        self._client = client
        self._prompt = prompt
        self._window = min(window, model.context_length or window)
        self._answer_tokens = min(answer_tokens, self._window // 2)

    @classmethod
    def open(
        cls, client: OllamaClient, settings: ModelSettings, override_dir: Path | None = None
    ) -> QuestionWriter:
        """Choose the model that the settings name, or the best that is there.

        Raises:
            OllamaError: Ollama does not answer, or has no such model.
            SettingsError: the prompt's file is wrong.
        """
        return cls(
            client,
            writing_model(client, settings.context_model),
            load_question_prompt(override_dir),
            window=settings.context_window,
            answer_tokens=settings.answer_tokens,
        )

    def write(self, request: QuestionRequest, seed: int = 0) -> CheckedQuestions:
        """Have up to two questions written that a passage answers.

        Raises:
            OllamaError: it wrote nothing; ``concerns_all`` says whether to go on with others.
        """
        reply = self._client.chat(
            self._messages(request),
            self.model,
            schema=ANSWER,
            num_ctx=self._window,
            num_predict=self._answer_tokens,
            seed=seed,
        )
        return checked_questions(reply.data or {}, request, any_language=self._prompt.own)

    def _messages(self, request: QuestionRequest) -> list[Message]:
        system, form = divided(self._prompt.text)
        room = int((self._window - self._answer_tokens) * _PASSAGE_SHARE)
        values = {
            **named(request.title, request.place),
            "passage": fenced("passage", shortened(request.passage, room), request.passage),
        }
        return messages_of(system, form, values)
