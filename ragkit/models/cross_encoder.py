"""Grades how well passages answer a question, with a cross-encoder of a folder."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from ragkit.errors import ModelFolderError
from ragkit.models.model_folder import ModelKind, find_folder, short_name
from ragkit.models.ollama_text import one_line
from ragkit.models.onnx_model import OnnxModel, grade_of


class CrossEncoder:
    """Grades passages with an ONNX model that reads a pair of texts. Safe between threads.

    Nothing is loaded before the first question; files that are replaced are loaded again. All of a
    question's passages must be graded within ``seconds``.
    """

    def __init__(
        self, folder: str, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Keep the name of the folder, "folder:/path", and the time limit."""
        self._folder = folder
        self._seconds = seconds
        self._clock = clock
        self._guard = threading.Lock()
        self._model: OnnxModel | None = None
        self._signature: object = None

    @property
    def name(self) -> str:
        """The folder's own name."""
        return one_line(short_name(self._folder), 80)

    @property
    def tokens(self) -> int:
        """How many tokens the model that is loaded has read."""
        return self._model.tokens if self._model is not None else 0

    def grade(self, question: str, passages: Sequence[str]) -> list[float | None]:
        """Return a grade from 0 to 10 for each passage; ``None`` where the model gives no number.

        Raises:
            ModelFolderError: the model cannot be used, or not in time.
        """
        ends = self._clock() + self._seconds
        model = self._opened()
        query = " ".join(question.split())
        grades: list[float | None] = []
        for passage in passages:
            if self._clock() >= ends:
                raise ModelFolderError(
                    f"{self.name} graded {len(grades)} of {len(passages)} passages within "
                    f"{self._seconds:g} s.",
                    "Raise models.rerank_seconds, lower search.rerank_depth, or choose a smaller "
                    "model.",
                )
            grades.append(grade_of(model.logit(query, passage)))
        return grades

    def _opened(self) -> OnnxModel:
        with self._guard:
            if self._model is not None and self._model.folder.signature() != self._signature:
                self._model = None
            if self._model is None:
                folder = find_folder(self._folder)
                signature = folder.signature()
                model = None if folder.static else OnnxModel(folder)
                if model is None or model.kind is not ModelKind.CROSS_ENCODER:
                    raise ModelFolderError(
                        f"The model in {folder.path} is an embedder, not a cross-encoder.",
                        "Choose a cross-encoder; an embedder is chosen with ragkit embedder.",
                    )
                self._model, self._signature = model, signature
            return self._model
