"""Answers to questions, each sentence with the place that it stands on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.models.factory import is_remote

if TYPE_CHECKING:
    from ragkit.answers import Source
    from ragkit.library.services import ActiveServices
    from ragkit.results import Answer


class AnswerService:
    """Makes answers of what a search found. Safe to share between threads."""

    def __init__(self, services: ActiveServices) -> None:
        self._services = services

    def quick(self, answer: Answer) -> tuple[Source, ...]:
        """Return the one to three sentences that answer best, best first; none if none is good.

        No model writes it, and none on a server is waited for.
        """
        from ragkit.answering.quick import quick_answer

        embedder = self._services.last_seen().embedder
        question = answer.corrected or answer.query
        return quick_answer(question, answer, None if is_remote(embedder.name) else embedder)
