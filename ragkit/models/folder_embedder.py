"""Embedders of folders: ONNX models, and vectors of tokens as model2vec writes them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragkit.errors import ModelFolderError
from ragkit.models.base import FOLDER, to_unit_length
from ragkit.models.model_folder import ModelFolder, ModelKind, find_folder
from ragkit.models.onnx_model import OnnxModel, failed, raise_unless_foreign, read_tokenizer

if TYPE_CHECKING:
    from ragkit.models.base import Embedder

_LONGEST_TEXT = 200_000
_MOST_DIMENSIONS = 8192


def open_folder_embedder(name: str) -> Embedder:
    """Open the embedder of a folder.

    Raises:
        ModelFolderError: there is none that can be used.
    """
    folder = find_folder(name)
    if folder.static:
        return StaticEmbedder(folder)
    model = OnnxModel(folder)
    if model.kind is not ModelKind.EMBEDDER:
        raise ModelFolderError(
            f"The model in {folder.path} is a {model.kind}, not an embedder.",
            "Choose an embedder; a cross-encoder reranks (models.rerank_model).",
        )
    return OnnxEmbedder(model)


class OnnxEmbedder:
    """Embeds with an ONNX model. Safe between threads."""

    def __init__(self, model: OnnxModel) -> None:
        """Keep a model that makes vectors, and hash its files."""
        self._model = model
        self._prefixes = model.folder.prefixes
        self.name = f"{FOLDER}{model.folder.path}"
        self.dimensions = model.width
        self.fingerprint = model.folder.fingerprint(model.width)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts to be searched, (n, d): unit rows, or zeros for a text of white space.

        Raises:
            ModelFolderError: the model fails.
        """
        return self._embed(texts, self._prefixes.passage)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions, (n, d): unit rows, or zeros for white space.

        Raises:
            ModelFolderError: the model fails.
        """
        return self._embed(texts, self._prefixes.query)

    def _embed(self, texts: Sequence[str], prefix: str) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for row, text in enumerate(texts):
            if text and not text.isspace():
                rows[row] = self._model.vector(prefix + text)
        return to_unit_length(rows)


class StaticEmbedder:
    """Means of the vectors of tokens; their order makes no difference. Safe between threads."""

    def __init__(self, folder: ModelFolder) -> None:
        """Read the vectors and the tokenizer.

        Raises:
            ModelFolderError: they are damaged, or do not belong together.
        """
        self._folder = folder
        self._tokenizer = read_tokenizer(folder)
        self._unknown = _unknown_token(self._tokenizer)
        tokens = max(self._tokenizer.get_vocab().values(), default=-1) + 1
        self._vectors, self._rows, self._weights = _read_tensors(folder, tokens)
        self.name = f"{FOLDER}{folder.path}"
        self.dimensions = int(self._vectors.shape[1])
        self.fingerprint = folder.fingerprint(self.dimensions)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts to be searched, (n, d): unit rows, or zeros for one without known tokens.

        Raises:
            ModelFolderError: the tokenizer fails.
        """
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        # Half characters stop some tokenizers.
        plain = [text[:_LONGEST_TEXT].encode("utf-8", "replace").decode("utf-8") for text in texts]
        try:
            encoded = self._tokenizer.encode_batch_fast(plain, add_special_tokens=False)
        except BaseException as error:
            raise_unless_foreign(error)
            raise failed(self._folder, error) from error
        for row, each in enumerate(encoded):
            ids = np.array([number for number in each.ids if number != self._unknown], np.int64)
            if not len(ids):
                continue
            vectors = self._vectors[ids if self._rows is None else self._rows[ids]]
            if self._weights is not None:
                vectors = vectors * self._weights[ids][:, None]
            rows[row] = vectors.mean(axis=0, dtype=np.float32)
        return to_unit_length(rows)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed questions, (n, d), just as passages."""
        return self.embed_passages(texts)


def _unknown_token(tokenizer: Any) -> int | None:
    """Return the number of the token for what the vocabulary lacks, which counts for nothing."""
    model = json.loads(tokenizer.to_str())["model"]
    number = model.get("unk_id")
    if isinstance(number, int):
        return number
    token = model.get("unk_token")
    return tokenizer.token_to_id(token) if isinstance(token, str) else None


def _read_tensors(
    folder: ModelFolder, tokens: int
) -> tuple[NDArray[Any], NDArray[np.int64] | None, NDArray[np.float32] | None]:
    """Return the vectors (v, d), and by token its row and its weight, if there are such.

    Raises:
        ModelFolderError: they are damaged, or do not fit a vocabulary of that many tokens.
    """
    from safetensors.numpy import load

    try:
        tensors = load(folder.weights.read_bytes())
    except Exception as error:  # the library raises exceptions of its own
        raise ModelFolderError(
            f"{folder.weights.name} cannot be read: {error}.",
            "Get the file again, whole; 32-bit and 16-bit floats are read, bfloat16 is not.",
        ) from error
    vectors, mapping, weights = (tensors.get(name) for name in ("embeddings", "mapping", "weights"))
    fits = (
        vectors is not None
        and vectors.ndim == 2
        and 0 < vectors.shape[1] <= _MOST_DIMENSIONS
        and vectors.dtype.kind in "fi"
        and np.isfinite(vectors).all()
        and (mapping is None or _fits_mapping(mapping, tokens, len(vectors)))
        and (mapping is not None or len(vectors) >= tokens)
        and (weights is None or (weights.shape[0] >= tokens and np.isfinite(weights).all()))
    )
    if not fits or vectors is None:
        raise ModelFolderError(
            f"The vectors in {folder.weights.name} are not those of its tokenizer, or damaged.",
            "Get all of the model's files again, of one version.",
        )
    if vectors.dtype.kind == "i":
        vectors = vectors.astype(np.float32)
    rows = None if mapping is None else mapping.astype(np.int64)
    return vectors, rows, None if weights is None else weights.astype(np.float32).reshape(-1)


def _fits_mapping(mapping: NDArray[Any], tokens: int, rows: int) -> bool:
    return bool(
        mapping.ndim == 1
        and mapping.dtype.kind in "iu"
        and len(mapping) >= tokens
        and len(mapping)
        and mapping.min() >= 0
        and mapping.max() < rows
    )
