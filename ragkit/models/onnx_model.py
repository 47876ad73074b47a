"""One ONNX model of a folder, run on the processor by onnxruntime, one text at a time.

Texts are not run together: quantised models scale by everything in a batch, so that a vector would
depend on its neighbours, and padding costs more than a batch saves (docs/decisions.md).
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ragkit.errors import ModelFolderError
from ragkit.models.model_folder import INSTALL, ModelFolder, ModelKind
from ragkit.models.ollama_text import one_line

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MOST_THREADS = 4
"""Cores that a model uses at most."""

_INTEGERS = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_OUTPUTS = ("sentence_embedding", "logits", "last_hidden_state", "token_embeddings")
"""The output that is taken, if it has one of that name; else its first."""

_CHARACTERS_A_TOKEN = 40
_LEAST_DIMENSIONS, _MOST_DIMENSIONS = 8, 8192
_PROBE = "ragkit"


class OnnxModel:
    """A session and a tokenizer. Safe between threads. ``width`` is that of a vector, or logits.

    ``tokens`` counts what it has read.
    """

    def __init__(self, folder: ModelFolder) -> None:
        """Load the model and run one word, to see that it works and what it is.

        Raises:
            ModelFolderError: it cannot be run, or is neither an embedder nor a cross-encoder.
        """
        self.folder = folder
        self.tokens = 0
        self._tokenizer = read_tokenizer(folder)
        self._tokenizer.enable_truncation(folder.longest)
        self._session = _session(folder)
        self._inputs = {each.name: each.type for each in self._session.get_inputs()}
        names = [each.name for each in self._session.get_outputs()]
        self._output = next((name for name in _OUTPUTS if name in names), names[0])
        supported = self._known_inputs(np.zeros((1, 1), np.int64), np.zeros((1, 1), np.int64))
        for name, kind in self._inputs.items():
            if name not in supported or kind not in _INTEGERS:
                raise ModelFolderError(
                    f'The model asks for "{one_line(name, 40)}", which is not supported.',
                    "Choose a model that reads one text, or a pair of texts.",
                )
        self.kind, self.width = self._described(self.run(_PROBE))

    def run(self, text: str, second: str | None = None) -> NDArray[np.float32]:
        """Return the output for a text or a pair: (1, t, d), (1, d), (1, w) or (1,).

        Raises:
            ModelFolderError: it fails; the tokenizer may not be that of the weights.
        """
        pair = None if second is None else self._plain(second)
        try:
            encoded = self._tokenizer.encode(self._plain(text), pair)
            ids = np.array([encoded.ids], np.int64)
            self.tokens += ids.size
            arrays = self._known_inputs(ids, np.array([encoded.type_ids], np.int64))
            fed = {
                name: arrays[name].astype(_INTEGERS[kind], copy=False)
                for name, kind in self._inputs.items()
            }
            output = np.asarray(self._session.run([self._output], fed)[0])
        except BaseException as error:
            raise_unless_foreign(error)
            raise failed(self.folder, error) from error
        if output.ndim == 0 or output.shape[0] != 1 or output.dtype.kind != "f":
            raise self._of_another_kind(output)
        return output.astype(np.float32, copy=False)

    def vector(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a text, (d,), pooled but not scaled."""
        output = self.run(text)
        if output.ndim == 3:
            first_only = self.folder.pooling == "cls"
            pooled: NDArray[np.float32] = output[0, 0] if first_only else output[0].mean(axis=0)
            return pooled
        row: NDArray[np.float32] = output[0]
        return row

    def logit(self, question: str, passage: str) -> float:
        """Return how well a passage answers a question, any number; NaN where it has none."""
        row = self.run(question, passage).reshape(-1)
        return float(row[0]) if len(row) == 1 else float(row[1]) - float(row[0])

    def _plain(self, text: str) -> str:
        # Half characters, such as a badly decoded command line gives, stop some tokenizers.
        bounded = text[: self.folder.longest * _CHARACTERS_A_TOKEN]
        return bounded.encode("utf-8", "replace").decode("utf-8")

    def _known_inputs(
        self, ids: NDArray[np.int64], kinds: NDArray[np.int64]
    ) -> dict[str, NDArray[Any]]:
        return {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": kinds,
            "position_ids": np.arange(ids.shape[1], dtype=np.int64)[None, :],
        }

    def _described(self, output: NDArray[np.float32]) -> tuple[ModelKind, int]:
        width = 1 if output.ndim == 1 else output.shape[-1]
        if not np.isfinite(output).all():
            raise ModelFolderError(
                "The model answers with something other than numbers.",
                "Get its files again, or another version of it.",
            )
        if output.ndim <= 2 and width <= 2:
            return ModelKind.CROSS_ENCODER, width
        is_vector = output.ndim == 3 or (output.ndim == 2 and self._output != "logits")
        if is_vector and _LEAST_DIMENSIONS <= width <= _MOST_DIMENSIONS:
            return ModelKind.EMBEDDER, width
        raise self._of_another_kind(output)

    def _of_another_kind(self, output: NDArray[Any]) -> ModelFolderError:
        shape = " × ".join(map(str, output.shape)) or "none"
        return ModelFolderError(
            f"The model is neither an embedder nor a cross-encoder: its answer is {shape} "
            f"{output.dtype}.",
            "Choose a sentence embedder, or a reranker with one or two classes.",
        )


def raise_unless_foreign(error: BaseException) -> None:
    """Raise an error again that is not of a library's making, such as an interruption.

    A panic of the tokenizers is no ``Exception``, and would end a thread without a word.
    """
    if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
        raise error


def failed(folder: ModelFolder, error: BaseException) -> ModelFolderError:
    """Return the error for a model that fails with a text."""
    return ModelFolderError(
        f"The model in {one_line(str(folder.path))} failed: {_why(error)}",
        "See that all of its files are of one model.",
    )


def grade_of(logit: float) -> float | None:
    """Return a grade from 0 to 10 for a logit, in the same order; ``None`` for no number."""
    if not math.isfinite(logit):
        return None
    return 10.0 / (1.0 + math.exp(-max(-700.0, logit)))


def read_tokenizer(folder: ModelFolder) -> Tokenizer:
    """Read the tokenizer of a folder, without padding and truncation.

    Raises:
        ModelFolderError: it is damaged.
    """
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(folder.tokenizer))
    except BaseException as error:
        raise_unless_foreign(error)
        raise ModelFolderError(
            f"tokenizer.json is damaged: {_why(error)}", "Get the file again, whole."
        ) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def _session(folder: ModelFolder) -> Any:
    try:
        import onnxruntime
    except ImportError as error:
        raise ModelFolderError(
            "Models in ONNX files need the package onnxruntime, which is not installed.", INSTALL
        ) from error
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = min(MOST_THREADS, os.cpu_count() or 1)
    options.inter_op_num_threads = 1
    # Threads that wait for the next operator by spinning double the processor time.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # A plan of memory for each length of text would be kept: 56 MB for a model of 23 MB.
    options.enable_mem_pattern = False
    options.log_severity_level = 4
    try:
        # Its own second attempt would write to standard output.
        return onnxruntime.InferenceSession(
            str(folder.weights), options, providers=["CPUExecutionProvider"], enable_fallback=0
        )
    except Exception as error:  # the library raises exceptions of its own, not of one kind
        raise ModelFolderError(
            f"{folder.weights.name} cannot be loaded: {_why(error)}",
            "Get the file again, whole, or another version of the model.",
        ) from error


def _why(error: BaseException) -> str:
    """Return the last part of a message, which says what is wrong, as a sentence."""
    text = one_line(str(error), 600).rpartition("[ONNXRuntimeError]")[2].lstrip(" :")
    return one_line(text, 200).rstrip(".") + "."
