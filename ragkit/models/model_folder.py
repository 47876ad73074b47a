"""Folders with a model, in the layout of the Hub: which files count, and what identifies them.

Two kinds are read: ONNX files with ``tokenizer.json`` (embedders and cross-encoders), and the
vectors of tokens that model2vec writes (``model.safetensors``). Nothing is ever downloaded.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ragkit.errors import ModelFolderError
from ragkit.models.base import FOLDER
from ragkit.models.ollama_text import one_line
from ragkit.models.onnx_file import external_files
from ragkit.models.prefixes import Prefixes, prefixes_of

LONGEST = 512
"""Tokens of a text that an ONNX model reads at most."""

LARGEST_WEIGHTS = 4 * 2**30
"""Bytes: what is larger is no model for a processor."""

INSTALL = "Install it: python -m pip install onnxruntime"
"""What to do where the package that runs ONNX files is missing."""

_LARGEST_TEXT = 128 * 2**20
_STATIC = "model.safetensors"
_TOKENIZER = "tokenizer.json"
_ONNX = tuple(
    f"{place}{name}.onnx"
    for name in ("model_quantized", "model_int8", "model")
    for place in ("", "onnx/")
)
_POOLING = "1_Pooling/config.json"
_POOLED = {
    "mean": "mean", "pooling_mode_mean_tokens": "mean",
    "cls": "cls", "pooling_mode_cls_token": "cls",
}  # fmt: skip
"""Names of supported poolings, as sentence-transformers 6 writes them and as earlier ones do."""
_KNOWN_MODULES = {"Transformer", "Pooling", "Normalize"}
_POINTER = b"version https://git-lfs"
_LICENCE = re.compile(r"^license:\s*['\"]?([^'\"\n]+)", re.MULTILINE)
_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---", re.DOTALL)
_RECIPE = "1"


class ModelKind(StrEnum):
    """What a folder's model does."""

    EMBEDDER = "embedder"
    STATIC = "model2vec"
    CROSS_ENCODER = "cross-encoder"


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """The files of a folder that decide what its model answers, and what they say.

    ``pooling`` is "mean" or "cls", ``pooling_stated`` whether a file says so; ``longest`` counts
    tokens. ``static``: vectors of tokens, not ONNX.
    """

    path: Path
    weights: Path
    tokenizer: Path
    external: tuple[Path, ...] = ()
    static: bool = False
    pooling: str = "mean"
    pooling_stated: bool = False
    prefixes: Prefixes = field(default_factory=Prefixes)
    longest: int = LONGEST

    @property
    def size(self) -> int:
        """Bytes of the weights."""
        return sum(file.stat().st_size for file in (self.weights, *self.external))

    def signature(self) -> tuple[tuple[int, int], ...]:
        """Return sizes and times of its files, which change when they are replaced.

        It is empty when a file is gone.
        """
        files = (self.weights, self.tokenizer, *self.external)
        try:
            return tuple((stat.st_size, stat.st_mtime_ns) for stat in map(os.stat, files))
        except OSError:
            return ()

    def checksum(self) -> str:
        """Return the SHA-256 of the weights in hexadecimal; of several files, of all their sums."""
        digests = [_digest(file) for file in (self.weights, *self.external)]
        if len(digests) == 1:
            return digests[0]
        return hashlib.sha256("".join(digests).encode()).hexdigest()

    def fingerprint(self, dimensions: int) -> str:
        """Return the vectors' fingerprint: of weights, tokenizer, pooling, prefixes and length."""
        parts = (
            _RECIPE,
            self.checksum(),
            _digest(self.tokenizer),
            "static" if self.static else self.pooling,
            self.prefixes.query,
            self.prefixes.passage,
            str(self.longest),
        )
        digest = hashlib.blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()
        return f"folder-{dimensions}-{digest}"


def is_installed() -> bool:
    """Return whether the package that runs ONNX files is there, without loading it."""
    return find_spec("onnxruntime") is not None


def folder_name(name: str) -> str:
    """Return the name of a folder's model with its whole path, without looking whether it is there.

    Raises:
        ModelFolderError: it is an address of the web, or empty.
    """
    path = name.removeprefix(FOLDER).strip()
    if not path or "\0" in path:
        raise ModelFolderError("This names no folder.", f"Write {FOLDER}/path/to/model.")
    if "://" in path:
        raise ModelFolderError(
            "ragkit downloads no models.",
            "Get the model's files by hand (model.onnx, tokenizer.json and its JSON files, or "
            "model.safetensors for model2vec), and name the folder that they are in.",
        )
    return FOLDER + os.path.abspath(Path(path).expanduser())  # noqa: PTH100 - links stay


def short_name(name: str) -> str:
    """Return the short name of a folder's model: the last part of its path.

    In a cache of the Hub that is a number; the model's name is two folders above.
    """
    path = Path(name.removeprefix(FOLDER))
    if path.parent.name == "snapshots":
        return path.parents[1].name.rpartition("--")[2]
    return path.name


def find_folder(name: str) -> ModelFolder:
    """Find the files of a folder's model.

    Raises:
        ModelFolderError: the folder is not there, or has no model that can be used.
    """
    path = Path(folder_name(name).removeprefix(FOLDER))
    try:
        if not path.is_dir():
            raise ModelFolderError(
                f"There is no folder {one_line(str(path))}.",
                "Mount its drive, or name another; names of models on the web are not looked up.",
            )
        return _found(path)
    except (OSError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise ModelFolderError(
            f"The model in {one_line(str(path))} cannot be read: {why.lower()}.",
            "See that you may read its files.",
        ) from error


def licence_of(path: Path) -> str:
    """Return the licence that the files of a folder state, or an empty string."""
    stated = _json(path / "config.json").get("license")
    if isinstance(stated, str) and stated.strip():
        return one_line(stated, 80)
    front = _FRONT_MATTER.match(_text(path / "README.md").replace("\r\n", "\n"))
    named = _LICENCE.search(front[1]) if front else None
    if named:
        return one_line(named[1], 80)
    for name in ("LICENSE", "LICENSE.txt", "LICENSE.md", "COPYING"):
        lines = (line.strip(" #") for line in _text(path / name).splitlines())
        if first := next(filter(None, lines), ""):
            return one_line(first, 80)
    return ""


def _found(path: Path) -> ModelFolder:
    tokenizer = path / _TOKENIZER
    static = path / _STATIC
    onnx = _onnx_file(path)
    if _is_static(static):
        _check(static, LARGEST_WEIGHTS)
        _check(tokenizer, _LARGEST_TEXT)
        return ModelFolder(path, static, tokenizer, static=True)
    if onnx is None:
        raise ModelFolderError(
            f"There is no model in {one_line(str(path))}.",
            "Needed are tokenizer.json and model.onnx (also as onnx/model.onnx or "
            "model_quantized.onnx, or with any name if it is the only ONNX file), or "
            "model.safetensors as model2vec writes it.",
        )
    _check(onnx, LARGEST_WEIGHTS)
    _check(tokenizer, _LARGEST_TEXT)
    external = external_files(onnx)
    config = _json(path / "config.json")
    pooling, stated = _pooling(path)
    return ModelFolder(
        path,
        onnx,
        tokenizer,
        external,
        pooling=pooling,
        pooling_stated=stated,
        prefixes=_prefixes(path, config),
        longest=_longest(path, config),
    )


def _onnx_file(path: Path) -> Path | None:
    """Return the ONNX file of a folder: the first of the usual names, else the only one there."""
    usual = next((path / name for name in _ONNX if (path / name).is_file()), None)
    others = [*path.glob("*.onnx"), *path.glob("onnx/*.onnx")] if usual is None else []
    return others[0] if len(others) == 1 else usual


def _is_static(file: Path) -> bool:
    """Return whether a file holds vectors of tokens: its header names a tensor "embeddings"."""
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        header = stream.read(min(length, _LARGEST_TEXT))
    try:
        return "embeddings" in json.loads(header)
    except (ValueError, RecursionError):
        return False


def _check(file: Path, largest: int) -> None:
    """Check that a file can be a part of a model.

    Raises:
        ModelFolderError: it is missing, empty, too large, or a pointer to itself.
    """
    if not file.is_file():
        raise ModelFolderError(f"{file.name} is missing.", f"Put it into {file.parent}.")
    size = file.stat().st_size
    if size > largest:
        raise ModelFolderError(
            f"{file.name} is too large: {size / 2**30:.1f} GB of at most {largest / 2**30:.1f}.",
            "Choose a smaller model.",
        )
    with file.open("rb") as stream:
        start = stream.read(len(_POINTER))
    if not start:
        raise ModelFolderError(f"{file.name} is empty.", "Get the file again, whole.")
    if start == _POINTER:
        raise ModelFolderError(
            f"{file.name} is a pointer of Git LFS, not the file itself.",
            "Run git lfs pull in its folder, or get the file by itself.",
        )


def _pooling(path: Path) -> tuple[str, bool]:
    config = _json(path / _POOLING)
    flags = [name for name, value in config.items() if "pooling_mode_" in name and value is True]
    stated = config.get("pooling_mode", flags)
    modes = [str(mode) for mode in stated] if isinstance(stated, list) else [str(stated)]
    if not modes:
        return "mean", False
    if len(modes) > 1 or modes[0] not in _POOLED:
        raise ModelFolderError(
            f"Its vectors are pooled in a way that is not supported: {one_line(modes[0], 60)}.",
            "Choose a model that takes the mean of its tokens, or the first one.",
        )
    modules = _json(path / "modules.json", list)
    kinds = [str(module.get("type")).rpartition(".")[2] for module in modules]
    if unknown := [kind for kind in kinds if kind not in _KNOWN_MODULES]:
        raise ModelFolderError(
            f"It has a part beside the ONNX file: {one_line(unknown[0], 60)}.",
            "Choose a model that is whole in one ONNX file.",
        )
    return _POOLED[modes[0]], True


def _prefixes(path: Path, config: Mapping[str, Any]) -> Prefixes:
    """Return the prompts that a file states, or else those known of models of its name.

    The folder's name counts before ``_name_or_path``, which is where the training started.
    """
    prompts = _json(path / "config_sentence_transformers.json").get("prompts")
    if not isinstance(prompts, dict) or not any(prompts.values()):
        return prefixes_of(short_name(str(path))) or prefixes_of(str(config.get("_name_or_path")))
    return Prefixes(
        _first(prompts, ("query", "search_query", "retrieval.query")),
        _first(prompts, ("passage", "document", "search_document", "retrieval.passage")),
    )


def _first(prompts: Mapping[str, Any], names: Iterable[str]) -> str:
    values = (prompts[name] for name in names if isinstance(prompts.get(name), str))
    return next(values, "")


def _longest(path: Path, config: Mapping[str, Any]) -> int:
    stated = (
        _json(path / "sentence_bert_config.json").get("max_seq_length"),
        _json(path / "tokenizer_config.json").get("model_max_length"),
        config.get("max_position_embeddings"),
    )
    numbers = [int(each) for each in stated if isinstance(each, int | float) and 16 <= each < 1e9]
    return min(LONGEST, *numbers) if numbers else LONGEST


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _text(file: Path) -> str:
    if not file.is_file():
        return ""
    with file.open("rb") as stream:
        return stream.read(64 * 1024).decode("utf-8", "replace")


def _json(file: Path, kind: type = dict) -> Any:
    """Return the value in a small JSON file; empty without the file.

    Raises:
        ModelFolderError: it holds something else.
    """
    if not file.is_file():
        return kind()
    try:
        if file.stat().st_size > _LARGEST_TEXT:
            raise ValueError
        value = json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, kind):
        raise ModelFolderError(f"{file.name} is damaged.", "Get the file again, whole.")
    return value
