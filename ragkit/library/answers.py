"""Answers to questions, each sentence with the place that it stands on."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ragkit.models.factory import is_remote

if TYPE_CHECKING:
    from ragkit.answering.follow_up import FollowUp
    from ragkit.answers import Source, Thread
    from ragkit.catalog import Catalog
    from ragkit.library.services import ActiveServices
    from ragkit.models.ollama import OllamaClient
    from ragkit.results import Answer
    from ragkit.settings import Settings


class AnswerService:
    """Makes answers of what a search found. Safe to share between threads."""

    def __init__(self, settings: Settings, catalog: Catalog, services: ActiveServices) -> None:
        self._settings = settings
        self._catalog = catalog
        self._services = services

    def quick(self, answer: Answer) -> tuple[Source, ...]:
        """Return the one to three sentences that answer best, best first; none if none is good.

        No model writes it, and none on a server is waited for.
        """
        from ragkit.answering.quick import quick_answer

        embedder = self._services.last_seen().embedder
        question = answer.corrected or answer.query
        return quick_answer(question, answer, None if is_remote(embedder.name) else embedder)

    def follow_up(self, thread: Thread, question: str, *, model: str | None = "") -> FollowUp:
        """Return a question of a thread as it stands alone, with the sentences it leans on.

        The model of that name rewrites it; without a name that of the settings, with ``None``, or
        where it fails, rules do. A person may ask something else instead.
        """
        from ragkit.answering.follow_up import follow_up
        from ragkit.catalog.background_state import context_model_name

        client = self._client if model is not None else None
        chosen = model or context_model_name(self._catalog, self._settings.models)
        found = map(self._catalog.collections.find, thread.collections)
        fields = self._catalog.filters.field_names
        known = {name for record in found if record for name in fields(record)}
        return follow_up(question, thread.turns, client, chosen, known_fields=sorted(known))

    @cached_property
    def _client(self) -> OllamaClient:
        from ragkit.models.ollama import OllamaClient

        return OllamaClient(self._settings.models.model_copy(update={"retries": 0}))
