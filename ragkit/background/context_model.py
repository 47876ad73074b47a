"""Which model writes the contexts of a collection."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ragkit.background.context_state import wanted_model
from ragkit.catalog import Catalog
from ragkit.catalog.records import CollectionRecord
from ragkit.indexing.writer import Writer
from ragkit.models.context_types import ContextKind, ContextRequest, WrittenContext
from ragkit.settings import ModelSettings

if TYPE_CHECKING:
    from ragkit.retrieval.rerank import Grader, OpenGrader


class WritesContexts(Protocol):
    """A model that writes contexts with one collection's prompts."""

    @property
    def model(self) -> str:
        """The model's name."""
        ...

    def prompt_hash(self, kind: ContextKind) -> str:
        """The name of the prompt that it uses for that kind."""
        ...

    def write(self, request: ContextRequest, attempt: int = 0) -> WrittenContext:
        """Write a context; later attempts may come out differently.

        Raises:
            ContextRejectedError: what the model wrote is of no use.
            ModelError: the model did not answer.
        """
        ...


OpenModel: TypeAlias = Callable[[CollectionRecord], WritesContexts]
"""Gives the model of a collection, or raises a ModelError that says what is missing."""


def context_models(writer: Writer) -> OpenModel:
    """Give what asks Ollama, by the library's settings and each collection's own prompts.

    The model that the person chose for the library goes before that of the settings.
    """
    from ragkit.models.context_writer import ContextWriter
    from ragkit.models.ollama import OllamaClient

    settings = writer.settings.models
    client = OllamaClient(settings)

    def open_model(collection: CollectionRecord) -> WritesContexts:
        folders = writer.paths.prompts(collection.id), writer.paths.prompts()
        own = next((folder for folder in folders if folder.is_dir()), None)
        wanted = wanted_model(writer.catalog, settings)
        asked = settings.model_copy(update={"context_model": wanted})
        return ContextWriter.open(client, asked, own)

    return open_model


def grader_of(models: ModelSettings, catalog: Catalog) -> OpenGrader:
    """Give what opens the grader of a library, once, when it is first needed.

    The model of the settings reranks, or else the one that writes contexts.
    """

    def wanted() -> str:
        return models.rerank_model or wanted_model(catalog, models)

    @cache
    def opened() -> Grader:
        from ragkit.models.grader import OllamaGrader

        return OllamaGrader(models, wanted)

    return opened
