"""The models that write contexts and rerank, as chosen in the settings or by the person."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ragkit.catalog import Catalog
from ragkit.catalog.background_state import context_model_name
from ragkit.catalog.model_choice import rerank_model_name
from ragkit.catalog.records import CollectionRecord
from ragkit.models.base import FOLDER

if TYPE_CHECKING:
    # Not imported at run time, so that commands that write no context start quickly.
    from ragkit.indexing.writer import Writer
    from ragkit.models.context_checks import WrittenContext, WrittenSummary
    from ragkit.models.context_prompt import ContextRequest, PromptKind
    from ragkit.retrieval.phrasings import OpenQueryWriter, QueryWriter
    from ragkit.retrieval.rerank import Grader, OpenGrader
    from ragkit.settings import ModelSettings


class WritesContexts(Protocol):
    """A model that writes contexts with the prompts of one collection."""

    @property
    def model(self) -> str:
        """The model's name."""
        ...

    def prompt_hash(self, kind: PromptKind) -> str:
        """Return the hash of its prompt of that kind."""
        ...

    def write(self, request: ContextRequest, attempt: int = 0) -> WrittenContext:
        """Write a context; later attempts may come out differently.

        Raises:
            ContextRejectedError: what the model wrote is of no use.
            ModelError: the model did not answer.
        """
        ...

    def summarise(self, request: ContextRequest, attempt: int = 0) -> WrittenSummary | None:
        """Summarise the document of a request; ``None`` if a prompt can hold all of it.

        Raises:
            ContextRejectedError: what the model wrote is of no use.
            ModelError: the model did not answer.
        """
        ...


OpenModel: TypeAlias = Callable[[CollectionRecord], WritesContexts]
"""Returns the model of a collection, or raises a ``ModelError``."""


def context_models(writer: Writer) -> OpenModel:
    """Return a function that opens Ollama's model for a collection, with the collection's prompts.

    The model chosen for the library takes precedence over that of the settings.
    """
    from ragkit.models.context_writer import ContextWriter
    from ragkit.models.ollama import OllamaClient

    settings = writer.settings.models
    client = OllamaClient(settings)

    def open_model(collection: CollectionRecord) -> WritesContexts:
        name = context_model_name(writer.catalog, settings)
        return ContextWriter.open(client, name, collection.prompts)

    return open_model


def query_writer_of(models: ModelSettings, catalog: Catalog) -> OpenQueryWriter:
    """Return a function that opens the query writer once; it uses the model of contexts."""

    @cache
    def opened() -> QueryWriter:
        from ragkit.models.query_writer import OllamaQueryWriter

        return OllamaQueryWriter(models, lambda: context_model_name(catalog, models))

    return opened


def grader_of(models: ModelSettings, catalog: Catalog) -> OpenGrader:
    """Return a function that opens the library's grader, which is opened once.

    The model is the one chosen for the library, that of the settings, or else that of contexts.
    """

    @cache
    def ollama() -> Grader:
        from ragkit.models.grader import OllamaGrader

        return OllamaGrader(
            models,
            lambda: rerank_model_name(catalog, models) or context_model_name(catalog, models),
        )

    @lru_cache(maxsize=1)
    def cross_encoder(name: str) -> Grader:
        from ragkit.models.cross_encoder import CrossEncoder

        return CrossEncoder(name, models.rerank_seconds)

    def opened() -> Grader:
        name = rerank_model_name(catalog, models)
        return cross_encoder(name) if name.startswith(FOLDER) else ollama()

    return opened
