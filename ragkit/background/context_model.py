"""The models that write contexts and rerank, by the settings and the person's choice."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ragkit.catalog import Catalog
from ragkit.catalog.background_state import context_model_name
from ragkit.catalog.model_choice import rerank_model_name
from ragkit.catalog.records import CollectionRecord
from ragkit.models.factory import FOLDER

if TYPE_CHECKING:
    # A command imports what it needs: looking at an unchanged folder writes no context.
    from ragkit.indexing.writer import Writer
    from ragkit.models.context_checks import WrittenContext, WrittenSummary
    from ragkit.models.context_prompt import ContextRequest, PromptKind
    from ragkit.retrieval.phrasings import OpenQueryWriter, QueryWriter
    from ragkit.retrieval.rerank import Grader, OpenGrader
    from ragkit.settings import ModelSettings


class WritesContexts(Protocol):
    """A model that writes contexts with one collection's prompts."""

    @property
    def model(self) -> str:
        """The model's name."""
        ...

    def prompt_hash(self, kind: PromptKind) -> str:
        """Return the hash of the prompt that it uses for that kind."""
        ...

    def write(self, request: ContextRequest, attempt: int = 0) -> WrittenContext:
        """Write a context; later attempts may come out differently.

        Raises:
            ContextRejectedError: what the model wrote is of no use.
            ModelError: the model did not answer.
        """
        ...

    def summarise(self, request: ContextRequest, attempt: int = 0) -> WrittenSummary | None:
        """Summarise the document of a request; ``None`` where its prompt can show all of it.

        Raises:
            ContextRejectedError: what the model wrote is of no use.
            ModelError: the model did not answer.
        """
        ...


OpenModel: TypeAlias = Callable[[CollectionRecord], WritesContexts]
"""Returns the model of a collection, or raises a ModelError that says what is missing."""


def context_models(writer: Writer) -> OpenModel:
    """Return a function that opens Ollama's model for a collection, with its own prompts.

    The model that the person chose for the library takes precedence over that of the settings.
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
    """Return a function that opens the library's query writer once: the model of contexts."""

    @cache
    def opened() -> QueryWriter:
        from ragkit.models.query_writer import OllamaQueryWriter

        return OllamaQueryWriter(models, lambda: context_model_name(catalog, models))

    return opened


def grader_of(models: ModelSettings, catalog: Catalog) -> OpenGrader:
    """Return a function that opens the library's grader; each is opened once, when first needed.

    The person's choice for the library reranks, or that of the settings; with neither, the model
    that writes contexts.
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
