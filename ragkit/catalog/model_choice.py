"""The models that a person added to a library as folders, and the reranker that they chose."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

from ragkit.catalog import Catalog

if TYPE_CHECKING:
    from ragkit.settings import ModelSettings

_FOLDERS_KEY = "model folders"
_RERANKER_KEY = "rerank model"


@dataclass(frozen=True, slots=True)
class AddedModel:
    """A model in a folder, as it was when a person added it.

    ``name`` is "folder:/path", ``kind`` a value of ``ModelKind``, ``dimensions`` 0 for a
    cross-encoder, ``size`` in bytes, ``licence`` as its files state it or empty, ``checksum`` the
    SHA-256 of its weights.
    """

    name: str
    kind: str
    dimensions: int
    size: int
    licence: str
    checksum: str


def added_models(catalog: Catalog) -> list[AddedModel]:
    """Return the added models, in the order in which they were added."""
    names = {field.name for field in fields(AddedModel)}
    stored = catalog.get_meta(_FOLDERS_KEY) or []
    return [AddedModel(**each) for each in stored if each.keys() == names]


def store_models(catalog: Catalog, models: Iterable[AddedModel]) -> None:
    """Replace the list of added models."""
    catalog.set_meta(_FOLDERS_KEY, [asdict(model) for model in models] or None)


def chosen_reranker(catalog: Catalog) -> str:
    """Return the reranker that the person chose for this library, or an empty string."""
    return str(catalog.get_meta(_RERANKER_KEY) or "")


def choose_reranker(catalog: Catalog, name: str) -> None:
    """Choose the reranker; empty: that of the settings."""
    catalog.set_meta(_RERANKER_KEY, name or None)


def rerank_model_name(catalog: Catalog, settings: ModelSettings) -> str:
    """Return the reranker: the person's choice, else that of the settings, which may be empty."""
    return chosen_reranker(catalog) or settings.rerank_model
