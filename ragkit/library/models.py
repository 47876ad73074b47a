"""Models in folders: checking, adding and removing them, and which one reranks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ragkit.catalog import Catalog
from ragkit.catalog.model_choice import (
    AddedModel,
    added_models,
    choose_reranker,
    chosen_reranker,
    rerank_model_name,
    store_models,
)
from ragkit.errors import ModelFolderError, NotFoundError, SettingsError
from ragkit.models.base import FOLDER
from ragkit.models.model_folder import ModelKind, find_folder, folder_name, short_name

if TYPE_CHECKING:
    from ragkit.models.folder_model import FolderModel
    from ragkit.settings import Settings

__all__ = ["AddedModel", "ListedModel", "ModelService", "short_name"]


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model that was added. ``used`` says for what, ``trouble`` why it cannot be used."""

    model: AddedModel
    used: str = ""
    trouble: str = ""


class ModelService:
    """The models in folders that were added to the library."""

    def __init__(self, settings: Settings, catalog: Catalog) -> None:
        self._settings = settings
        self._catalog = catalog

    @property
    def reranker(self) -> str:
        """The model that reranks: the chosen one, else that of the settings, else empty."""
        return rerank_model_name(self._catalog, self._settings.models)

    def list(self) -> list[ListedModel]:
        """Return the added models; their files are read to see whether they have changed."""
        return [
            ListedModel(model, self._used(model.name), _trouble(model))
            for model in added_models(self._catalog)
        ]

    def check(self, path: str | Path) -> FolderModel:
        """Open the model in a folder and describe it, without adding it.

        Raises:
            ModelFolderError: the folder has no usable model.
        """
        from ragkit.models.folder_model import describe_folder

        return describe_folder(str(path))

    def add(self, model: FolderModel) -> str:
        """Add a checked model; return a sentence on what it does now.

        A cross-encoder is used for reranking from now on. An embedder can then be chosen.
        """
        added = AddedModel(
            model.name, model.kind.value, model.dimensions, model.size, model.licence,
            model.checksum,
        )  # fmt: skip
        others = [other for other in added_models(self._catalog) if other.name != added.name]
        store_models(self._catalog, [*others, added])
        if model.kind is not ModelKind.CROSS_ENCODER:
            return f"Added. Switch to it with: ragkit embedder {model.name}"
        choose_reranker(self._catalog, model.name)
        return "Added. It reranks searches that ask for it (--rerank model)."

    def remove(self, path: str | Path) -> str:
        """Remove a model from the library, but not its files; return a sentence on that.

        Raises:
            NotFoundError: it was not added.
            SettingsError: it is the embedder in use, or the one being switched to.
        """
        name = folder_name(str(path))
        models = added_models(self._catalog)
        if name not in [model.name for model in models]:
            raise NotFoundError(f"{name} was not added.", "See ragkit models list.")
        if self._embeds(name):
            raise SettingsError(
                f"{name} embeds this library.", "Switch first: ragkit embedder wordllama"
            )
        store_models(self._catalog, [model for model in models if model.name != name])
        if chosen_reranker(self._catalog) == name:
            choose_reranker(self._catalog, "")
        return "Removed from the library; its files stay."

    def _used(self, name: str) -> str:
        if name == self.reranker:
            return "reranks"
        return "embeds" if self._embeds(name) else ""

    def _embeds(self, name: str) -> bool:
        choice = self._catalog.embedders.choice()
        return choice is not None and name in (choice.active.name, choice.target)


def _trouble(model: AddedModel) -> str:
    try:
        changed = find_folder(model.name).checksum() != model.checksum
    except (ModelFolderError, OSError) as error:
        return str(error)
    path = model.name.removeprefix(FOLDER)
    return f"Its weights have changed. Check it again: ragkit models add {path}" if changed else ""
