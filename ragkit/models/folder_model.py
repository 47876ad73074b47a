"""What a folder with a model holds, found by opening it."""

from __future__ import annotations

from dataclasses import dataclass

from ragkit.models.base import FOLDER
from ragkit.models.model_folder import ModelFolder, ModelKind, find_folder, licence_of


@dataclass(frozen=True, slots=True)
class FolderModel:
    """A folder's model that works: its kind, and what its files say.

    ``dimensions`` of its vectors, 0 for a cross-encoder; ``licence`` as stated, or empty;
    ``checksum`` the SHA-256 of the weights.
    """

    folder: ModelFolder
    kind: ModelKind
    dimensions: int
    size: int
    licence: str
    checksum: str

    @property
    def name(self) -> str:
        """What settings and commands call it."""
        return f"{FOLDER}{self.folder.path}"


def describe_folder(name: str) -> FolderModel:
    """Open the model of a folder, and say what it is.

    Raises:
        ModelFolderError: there is none that can be used.
    """
    folder = find_folder(name)
    if folder.static:
        from ragkit.models.folder_embedder import StaticEmbedder

        kind, dimensions = ModelKind.STATIC, StaticEmbedder(folder).dimensions
    else:
        from ragkit.models.onnx_model import OnnxModel

        model = OnnxModel(folder)
        kind = model.kind
        dimensions = model.width if kind is ModelKind.EMBEDDER else 0
    return FolderModel(
        folder, kind, dimensions, folder.size, licence_of(folder.path), folder.checksum()
    )
