"""Folders with tiny models, in the layout of the Hub: 16 dimensions, words for tokens, 3 kB.

The embedder's vectors are those of its words, pooled by whoever reads it; the cross-encoder's
logit grows with the words that a question and a passage share.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

DIMENSIONS = 16
WORDS = (
    "buoy", "return", "days", "customer", "harbour", "storm", "soup", "carrots", "onions",
    "the", "a", "of", "how", "long", "may", "boat", "ship", "water", "cook", "thirty", "ragkit",
)  # fmt: skip
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")


def token_vectors(seed: int = 7, words: Sequence[str] = WORDS) -> np.ndarray:
    """One vector a token, zeros for the special ones; those of few words have nothing in common."""
    if len(words) <= DIMENSIONS:
        return np.eye(len(SPECIAL) + len(words), DIMENSIONS, -len(SPECIAL), dtype=np.float32)
    vectors = np.random.default_rng(seed).normal(size=(len(SPECIAL) + len(words), DIMENSIONS))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[: len(SPECIAL)] = 0.0
    return vectors.astype(np.float32)


def write_tokenizer(folder: Path, *, pairs: bool = True, words: Sequence[str] = WORDS) -> None:
    vocabulary = {word: number for number, word in enumerate((*SPECIAL, *words))}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    if pairs:
        tokenizer.post_processor = TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
        )
    tokenizer.save(str(folder / "tokenizer.json"))


def _save(folder: Path, name: str, nodes, outputs, vectors, inputs, more=()) -> None:
    constants = [numpy_helper.from_array(vectors, "vectors"), *more]
    shape = ["batch", "tokens"]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(each, TensorProto.INT64, shape) for each in inputs],
        outputs,
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    onnx.checker.check_model(model)
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, file)


def embedder_folder(
    folder: Path,
    *,
    vectors: np.ndarray | None = None,
    pooling: str | None = "mean",
    prompts: dict[str, str] | None = None,
    name: str = "onnx/model.onnx",
) -> Path:
    """A sentence embedder: (1, tokens, 16), to be pooled."""
    folder.mkdir(parents=True, exist_ok=True)
    write_tokenizer(folder)
    chosen = token_vectors() if vectors is None else vectors
    shape = ["batch", "tokens", chosen.shape[1]]
    _save(
        folder,
        name,
        [helper.make_node("Gather", ["vectors", "input_ids"], ["last_hidden_state"])],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, shape)],
        chosen,
        ("input_ids", "attention_mask"),
    )
    config = {"model_type": "bert", "hidden_size": DIMENSIONS, "max_position_embeddings": 64}
    (folder / "config.json").write_text(json.dumps(config))
    if pooling is not None:
        modes = {"cls_token": False, "mean_tokens": False, "max_tokens": False}
        modes[f"{pooling}_{'token' if pooling == 'cls' else 'tokens'}"] = True
        stated = {f"pooling_mode_{mode}": value for mode, value in modes.items()}
        (folder / "1_Pooling").mkdir()
        (folder / "1_Pooling" / "config.json").write_text(json.dumps(stated))
    if prompts is not None:
        value = json.dumps({"prompts": prompts})
        (folder / "config_sentence_transformers.json").write_text(value)
    (folder / "README.md").write_text("---\nlicense: apache-2.0\nlanguage: en\n---\n# Tiny\n")
    return folder


def cross_encoder_folder(
    folder: Path,
    *,
    scale: float = 4.0,
    bias: float = -2.0,
    classes: int = 1,
    words: Sequence[str] = WORDS,
) -> Path:
    """A cross-encoder: (1, classes), its logit the words that both have."""
    folder.mkdir(parents=True, exist_ok=True)
    write_tokenizer(folder, words=words)
    more = [
        numpy_helper.from_array(np.array([1], np.int64), "axis"),
        numpy_helper.from_array(np.array([2], np.int64), "last"),
        numpy_helper.from_array(np.float32(1.0), "one"),
        numpy_helper.from_array(np.float32(scale), "scale"),
        numpy_helper.from_array(np.float32(bias), "bias"),
        numpy_helper.from_array(np.arange(classes, dtype=np.float32) + 1.0, "each"),
    ]
    node = helper.make_node
    nodes = [
        node("Gather", ["vectors", "input_ids"], ["embedded"]),
        node("Cast", ["token_type_ids"], ["second"], to=TensorProto.FLOAT),
        node("Sub", ["one", "second"], ["first"]),
        node("Unsqueeze", ["first", "last"], ["first_mask"]),
        node("Unsqueeze", ["second", "last"], ["second_mask"]),
        node("Mul", ["embedded", "first_mask"], ["question_words"]),
        node("Mul", ["embedded", "second_mask"], ["passage_words"]),
        node("ReduceSum", ["question_words", "axis"], ["question"], keepdims=0),
        node("ReduceSum", ["passage_words", "axis"], ["passage"], keepdims=0),
        node("Mul", ["question", "passage"], ["both"]),
        node("ReduceSum", ["both", "axis"], ["shared"], keepdims=1),
        node("Mul", ["shared", "scale"], ["scaled"]),
        node("Add", ["scaled", "bias"], ["logit"]),
        node("Mul", ["logit", "each"], ["logits"]),
    ]
    _save(
        folder,
        "model.onnx",
        nodes,
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", classes])],
        token_vectors(words=words),
        ("input_ids", "attention_mask", "token_type_ids"),
        more,
    )
    config = {"architectures": ["BertForSequenceClassification"], "max_position_embeddings": 64}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def static_folder(folder: Path, **tensors: np.ndarray) -> Path:
    """A model2vec folder; ``tensors`` are added, or stand in place of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    write_tokenizer(folder, pairs=False)
    save_file({"embeddings": token_vectors(), **tensors}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"model_type": "model2vec", "normalize": True}))
    (folder / "LICENSE").write_text("MIT License\n\nCopyright (c) somebody\n")
    return folder
