"""Models in folders: which are read, what they answer, and what is said of those that are not."""

from __future__ import annotations

import hashlib
import json
import math
import os
import struct
import subprocess
import sys
from pathlib import Path

import network_watch
import numpy as np
import onnx
import pytest
from model_folders import (
    DIMENSIONS,
    SPECIAL,
    WORDS,
    cross_encoder_folder,
    embedder_folder,
    static_folder,
    token_vectors,
    write_tokenizer,
)
from safetensors.numpy import save_file

from ragkit.errors import ModelFolderError, ModelUnsuitableError
from ragkit.models.cross_encoder import CrossEncoder
from ragkit.models.factory import full_name, open_known, open_named
from ragkit.models.folder_model import describe_folder
from ragkit.models.model_folder import ModelKind, find_folder, short_name
from ragkit.models.onnx_model import grade_of
from ragkit.settings import ModelSettings

_ROOT = Path(__file__).resolve().parents[2]


def opened(folder):
    return open_named(f"folder:{folder}", ModelSettings())


def unit(vector):
    return vector / np.linalg.norm(vector)


def vectors_of(*words):
    vectors = token_vectors()
    return [vectors[len(SPECIAL) + WORDS.index(word)] for word in words]


# -- embedders -------------------------------------------------------------------------------


def test_an_onnx_embedder_takes_the_mean_of_its_tokens(tmp_path):
    embedder = opened(embedder_folder(tmp_path / "tiny"))

    rows = embedder.embed_passages(["Buoy return", " ", "soup"])

    buoy, back, soup = vectors_of("buoy", "return", "soup")
    assert (embedder.dimensions, rows.shape, rows.dtype) == (16, (3, DIMENSIONS), np.float32)
    np.testing.assert_allclose(rows[0], unit(buoy + back), atol=1e-6)
    np.testing.assert_allclose(rows[2], soup, atol=1e-6)
    assert not rows[1].any()


def test_a_text_has_one_vector_whatever_is_embedded_with_it(tmp_path):
    embedder = opened(embedder_folder(tmp_path / "tiny"))

    together = embedder.embed_passages(["buoy", "how long may a customer return the boat"])

    assert (together[0] == embedder.embed_passages(["buoy"])[0]).all()


def test_pooling_prompts_and_length_are_those_that_the_files_state(tmp_path):
    prompts = {"query": "customer ", "passage": "boat "}
    folder = embedder_folder(tmp_path / "tiny", pooling="mean", prompts=prompts)
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 32}')
    embedder = opened(folder)

    customer, boat, soup = vectors_of("customer", "boat", "soup")
    query, passage = embedder.embed_queries(["soup"])[0], embedder.embed_passages(["soup"])[0]
    np.testing.assert_allclose(query, unit(customer + soup), atol=1e-6)
    np.testing.assert_allclose(passage, unit(boat + soup), atol=1e-6)
    # Of 32 tokens 2 are special and 1 is the prompt's.
    cut, whole = embedder.embed_queries(["soup " * 29 + "boat", "soup " * 29])
    np.testing.assert_allclose(cut, whole, atol=1e-6)
    # The first token is special: it has no vector.
    assert not opened(embedder_folder(tmp_path / "first", pooling="cls")).embed_queries(["a"]).any()


def test_a_model_without_prompts_has_those_known_of_its_name(tmp_path):
    assert (
        find_folder(f"folder:{embedder_folder(tmp_path / 'e5-tiny')}").prefixes.query == "query: "
    )
    stated = embedder_folder(tmp_path / "e5-other", prompts={"query": "", "document": "d: "})
    prefixes = find_folder(f"folder:{stated}").prefixes
    assert (prefixes.query, prefixes.passage) == ("", "d: ")


def test_a_model_is_known_by_its_folder_or_else_by_where_its_training_began(tmp_path):
    trained_from = {
        "bge-small": "/models/sentence_transformers/BAAI_bge-small-en/",
        "e5-small": "tmp/",
        "renamed": "/models/sentence_transformers/BAAI_bge-large-en/",
        "bge-m3": "",
    }
    queries = {}
    for name, origin in trained_from.items():
        folder = embedder_folder(tmp_path / name)
        (folder / "config.json").write_text(json.dumps({"_name_or_path": origin}))
        queries[name] = find_folder(str(folder)).prefixes.query
    bge = "Represent this sentence for searching relevant passages: "
    assert queries == {"bge-small": bge, "e5-small": "query: ", "renamed": bge, "bge-m3": ""}


@pytest.mark.parametrize(
    ("stated", "pooling"),
    [("cls", "cls"), ("mean", "mean"), (["cls"], "cls"), (["mean", "max"], None), ("max", None)],
)
def test_pooling_is_read_as_sentence_transformers_6_writes_it(tmp_path, stated, pooling):
    folder = embedder_folder(tmp_path / "tiny")
    config = {"embedding_dimension": 16, "pooling_mode": stated, "include_prompt": True}
    (folder / "1_Pooling/config.json").write_text(json.dumps(config))
    if pooling is None:
        with pytest.raises(ModelFolderError, match="pooled in a way that is not supported"):
            find_folder(str(folder))
    else:
        model = find_folder(str(folder))
        assert (model.pooling, model.pooling_stated) == (pooling, True)


def test_in_a_cache_of_the_hub_the_name_stands_two_folders_above(tmp_path):
    folder = tmp_path / "models--somebody--e5-tiny" / "snapshots" / "0f1e2d"
    embedder_folder(folder)
    (folder / "onnx/model.onnx").rename(tmp_path / "blob")
    (folder / "onnx/model.onnx").symlink_to(tmp_path / "blob")
    assert short_name(f"folder:{folder}") == "e5-tiny"
    assert opened(folder)._prefixes.query == "query: "


def test_a_model2vec_folder_takes_weighted_means_without_unknown_words(tmp_path):
    plain = opened(static_folder(tmp_path / "plain"))
    weights = np.ones(25, np.float32)
    weights[4] = 3.0
    mapping = np.arange(25, dtype=np.int64)[::-1].copy()
    changed = opened(
        static_folder(
            tmp_path / "changed",
            embeddings=token_vectors()[::-1].copy(),
            weights=weights,
            mapping=mapping,
        )
    )

    buoy, soup = vectors_of("buoy", "soup")
    np.testing.assert_allclose(
        plain.embed_passages(["buoy zeppelin soup"])[0], unit(buoy + soup), atol=1e-6
    )
    np.testing.assert_allclose(
        changed.embed_queries(["buoy zeppelin soup"])[0], unit(3 * buoy + soup), atol=1e-6
    )
    assert not plain.embed_passages(["zeppelin", "", "\udcff"]).any()


def test_half_precision_and_eight_bit_vectors_are_read(tmp_path):
    halves = opened(static_folder(tmp_path / "half", embeddings=token_vectors().astype(np.float16)))
    eighths = (token_vectors() * 127).astype(np.int8)
    bytes_ = opened(static_folder(tmp_path / "bytes", embeddings=eighths))

    (soup,) = vectors_of("soup")
    assert halves.embed_passages(["soup"])[0] @ soup > 0.999
    assert bytes_.embed_passages(["soup"])[0] @ soup > 0.999


def test_the_fingerprint_is_that_of_the_files_and_not_of_their_place(tmp_path):
    first = opened(embedder_folder(tmp_path / "one"))
    again = opened(embedder_folder(tmp_path / "two"))
    others = [
        embedder_folder(tmp_path / "weights", vectors=token_vectors(8)),
        embedder_folder(tmp_path / "pooling", pooling="cls"),
        embedder_folder(tmp_path / "prompts", prompts={"query": "q: "}),
        embedder_folder(tmp_path / "tokens"),
    ]
    write_tokenizer(others[-1], words=("other", "words"))

    assert first.fingerprint == again.fingerprint
    assert first.name == f"folder:{tmp_path / 'one'}"
    assert len({first.fingerprint, *(opened(folder).fingerprint for folder in others)}) == 5


def test_an_embedder_whose_files_changed_is_not_asked(tmp_path):
    folder = embedder_folder(tmp_path / "tiny")
    before = opened(folder)
    embedder_folder(folder, vectors=token_vectors(8), pooling=None)
    known = open_known(before.name, before.fingerprint, before.dimensions, ModelSettings())

    with pytest.raises(ModelUnsuitableError, match="another version") as changed:
        known.embed_queries(["soup"])
    assert f"ragkit embedder folder:{folder}" in changed.value.cure


# -- cross-encoders --------------------------------------------------------------------------


def test_a_cross_encoder_grades_pairs_from_0_to_10(tmp_path):
    grader = CrossEncoder(f"folder:{cross_encoder_folder(tmp_path / 'tiny')}", 20)

    best, none, unknown = grader.grade("buoy soup", ["the buoy soup", "zeppelin", ""])

    assert grader.name == "tiny"
    assert best > 9.0
    assert none == unknown == pytest.approx(10 / (1 + math.exp(2)))


def test_of_two_classes_the_second_counts(tmp_path):
    folder = cross_encoder_folder(tmp_path / "tiny", classes=2)

    # The logits are x and 2x: their difference is x.
    grades = CrossEncoder(f"folder:{folder}", 20).grade("buoy", ["zeppelin"])
    assert grades == [pytest.approx(10 / (1 + math.exp(2)))]


def test_numbers_out_of_bounds_are_the_ends_of_the_scale_and_nan_is_no_grade(tmp_path):
    low = cross_encoder_folder(tmp_path / "low", bias=-1e30, scale=0.0)
    high = cross_encoder_folder(tmp_path / "high", bias=1e30, scale=0.0)
    # NaN as soon as a word of the question has a vector, and not before.
    nan = cross_encoder_folder(tmp_path / "nan", scale=math.inf)

    assert CrossEncoder(f"folder:{low}", 20).grade("a", ["b"]) == [pytest.approx(0.0)]
    assert CrossEncoder(f"folder:{high}", 20).grade("a", ["b"]) == [10.0]
    with pytest.raises(ModelFolderError, match="something other than numbers"):
        CrossEncoder(f"folder:{nan}", 20).grade("buoy", ["soup"])
    assert grade_of(math.nan) is None


def test_reranking_stops_at_its_time_limit(tmp_path):
    ticks = iter(range(100))
    folder = cross_encoder_folder(tmp_path / "tiny")
    grader = CrossEncoder(f"folder:{folder}", 3, clock=lambda: float(next(ticks)))

    with pytest.raises(ModelFolderError) as late:
        grader.grade("buoy", ["soup"] * 5)
    assert late.value.message == "tiny graded 2 of 5 passages within 3 s."
    assert "models.rerank_seconds" in late.value.cure


def test_a_cross_encoder_that_is_replaced_is_loaded_again(tmp_path):
    folder = cross_encoder_folder(tmp_path / "tiny")
    grader = CrossEncoder(f"folder:{folder}", 20)
    before = grader.grade("a", ["zeppelin"])
    cross_encoder_folder(folder, bias=2.0)
    os.utime(folder / "model.onnx", (1, 1))

    assert before[0] < 5.0 < grader.grade("a", ["zeppelin"])[0]
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ModelFolderError, match=r"tokenizer\.json is missing"):
        grader.grade("a", ["zeppelin"])


def test_what_is_no_cross_encoder_does_not_rerank_and_does_not_embed(tmp_path):
    for folder in (embedder_folder(tmp_path / "e"), static_folder(tmp_path / "s")):
        with pytest.raises(ModelFolderError, match="an embedder, not a cross-encoder"):
            CrossEncoder(f"folder:{folder}", 20).grade("a", ["b"])
    with pytest.raises(ModelFolderError, match="a cross-encoder, not an embedder"):
        opened(cross_encoder_folder(tmp_path / "c"))


# -- folders ---------------------------------------------------------------------------------


def test_a_folder_says_what_it_is(tmp_path):
    embedder = describe_folder(str(embedder_folder(tmp_path / "e")))
    reranker = describe_folder(str(cross_encoder_folder(tmp_path / "c")))
    static = describe_folder(str(static_folder(tmp_path / "s")))

    assert (embedder.kind, embedder.dimensions, embedder.licence) == (
        ModelKind.EMBEDDER, 16, "apache-2.0"
    )  # fmt: skip
    assert (reranker.kind, reranker.dimensions, reranker.licence) == (
        ModelKind.CROSS_ENCODER,
        0,
        "",
    )
    assert (static.kind, static.dimensions, static.licence) == (ModelKind.STATIC, 16, "MIT License")
    weights = tmp_path / "e/onnx/model.onnx"
    assert embedder.size == weights.stat().st_size
    assert embedder.checksum == hashlib.sha256(weights.read_bytes()).hexdigest()


def test_the_quantised_file_is_taken_first(tmp_path):
    folder = embedder_folder(tmp_path / "tiny")
    (folder / "model_int8.onnx").write_bytes((folder / "onnx/model.onnx").read_bytes())
    assert find_folder(str(folder)).weights == folder / "model_int8.onnx"
    (folder / "onnx/model_quantized.onnx").write_bytes((folder / "onnx/model.onnx").read_bytes())
    assert find_folder(str(folder)).weights == folder / "onnx/model_quantized.onnx"


def test_an_only_onnx_file_counts_whatever_its_name(tmp_path):
    folder = embedder_folder(tmp_path / "tiny", name="onnx/model_qint8_avx512.onnx")
    assert find_folder(str(folder)).weights == folder / "onnx/model_qint8_avx512.onnx"
    (folder / "model_optimized.onnx").write_bytes(b"another")
    with pytest.raises(ModelFolderError, match="There is no model"):
        find_folder(str(folder))


def test_a_name_is_a_whole_path_and_never_an_address(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert full_name("folder:tiny") == full_name(" folder:~/tiny/") == f"folder:{tmp_path}/tiny"
    with pytest.raises(ModelFolderError, match="downloads no models") as refused:
        full_name("folder:https://models.example/tiny")
    assert "by hand" in refused.value.cure
    with pytest.raises(ModelFolderError, match="names no folder"):
        full_name("folder:")
    with pytest.raises(ModelFolderError, match="There is no folder"):
        find_folder("folder:sentence-transformers/all-MiniLM-L6-v2")


def with_external(folder, location):
    """Have the weights of a folder's model stand in another file."""
    file = folder / "onnx/model.onnx"
    model = onnx.load(file)
    tensor = model.graph.initializer[0]
    data = tensor.raw_data
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", "0"), ("length", str(len(data)))):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value
    file.write_bytes(model.SerializeToString())
    return data


def test_weights_beside_the_model_count(tmp_path):
    folder = embedder_folder(tmp_path / "tiny")
    whole = opened(folder)
    data = with_external(folder, "model.onnx_data")
    with pytest.raises(ModelFolderError, match=r"lacks its weights, model\.onnx_data"):
        find_folder(str(folder))
    (folder / "onnx/model.onnx_data").write_bytes(data)

    split = opened(folder)

    np.testing.assert_array_equal(split.embed_queries(["buoy"]), whole.embed_queries(["buoy"]))
    assert describe_folder(str(folder)).size > len(data)
    (folder / "onnx/model.onnx_data").write_bytes(data[::-1])
    assert opened(folder).fingerprint != split.fingerprint


@pytest.mark.parametrize("location", ["../secret", "{outside}", "linked"])
def test_weights_elsewhere_are_refused(tmp_path, location):
    folder = embedder_folder(tmp_path / "tiny")
    outside = tmp_path / "secret"
    data = with_external(folder, location.format(outside=outside))
    outside.write_bytes(data)
    (folder / "secret").write_bytes(data)
    (folder / "onnx/linked").symlink_to(outside)

    with pytest.raises(ModelFolderError, match="not in its folder") as refused:
        opened(folder)
    assert "copies" in refused.value.cure


def _written(file, data):
    file.write_bytes(data)


def _cut(file, share):
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * share)])


@pytest.mark.parametrize(
    ("name", "damage", "said"),
    [
        ("onnx/model.onnx", lambda file: _written(file, b"<html>404</html>"), "damaged or no ONNX"),
        ("onnx/model.onnx", lambda file: _written(file, b""), r"model\.onnx is empty"),
        ("onnx/model.onnx", lambda file: _cut(file, 0.6), "damaged or no ONNX"),
        ("onnx/model.onnx", lambda file: _written(file, b"\x12\x03abc"), "cannot be loaded"),
        (
            "onnx/model.onnx",
            lambda file: _written(file, b"version https://git-lfs.github.com/spec/v1\n"),
            "pointer of Git LFS",
        ),
        ("onnx/model.onnx", lambda file: file.unlink(), "There is no model"),
        ("tokenizer.json", lambda file: _cut(file, 0.5), r"tokenizer\.json is damaged"),
        ("tokenizer.json", lambda file: file.unlink(), r"tokenizer\.json is missing"),
        ("config.json", lambda file: _written(file, b"[" * 100_000), r"config\.json is damaged"),
        (
            "1_Pooling/config.json",
            lambda file: _written(file, b'{"pooling_mode_max_tokens": true}'),
            "not supported: pooling_mode_max_tokens",
        ),
    ],
)
@pytest.mark.usefixtures("nothing_collected")
def test_a_damaged_folder_says_what_is_wrong_and_what_to_do(tmp_path, name, damage, said):
    folder = embedder_folder(tmp_path / "tiny")
    damage(folder / name)
    with pytest.raises(ModelFolderError, match=said) as failed:
        opened(folder)
    assert failed.value.cure


def test_models_of_other_shapes_are_refused(tmp_path):
    with pytest.raises(ModelFolderError, match=r"neither an embedder .*1 × 3 × 4"):
        opened(embedder_folder(tmp_path / "narrow", vectors=token_vectors()[:, :4].copy()))
    with pytest.raises(ModelFolderError, match=r"neither .*1 × 9 float32"):
        opened(cross_encoder_folder(tmp_path / "classes", classes=9))
    nan = np.full((25, DIMENSIONS), np.nan, np.float32)
    with pytest.raises(ModelFolderError, match="something other than numbers"):
        opened(embedder_folder(tmp_path / "nan", vectors=nan))
    dense = embedder_folder(tmp_path / "dense")
    (dense / "modules.json").write_text('[{"type": "sentence_transformers.models.Dense"}]')
    with pytest.raises(ModelFolderError, match="a part beside the ONNX file: Dense"):
        opened(dense)


def test_a_tokenizer_of_another_model_is_noticed(tmp_path):
    folder = embedder_folder(tmp_path / "tiny", vectors=token_vectors()[:6].copy())
    with pytest.raises(ModelFolderError, match="failed"):
        opened(folder).embed_passages(["ragkit cook thirty"])


@pytest.mark.parametrize(
    "tensors",
    [
        {"embeddings": np.zeros((5, DIMENSIONS), np.float32)},
        {"embeddings": np.zeros(25, np.float32)},
        {"embeddings": np.full((25, DIMENSIONS), np.inf, np.float32)},
        {"weights": np.ones(3, np.float32)},
        {"mapping": np.full(25, 99, np.int64)},
        {"mapping": np.full(25, -1, np.int64)},
        {"mapping": np.zeros(3, np.int64)},
    ],
)
def test_vectors_that_are_not_those_of_the_tokenizer_are_refused(tmp_path, tensors):
    with pytest.raises(ModelFolderError, match="not those of its tokenizer"):
        opened(static_folder(tmp_path / "tiny", **tensors))


def test_a_tokenizer_that_counts_further_or_fails_is_noticed(tmp_path):
    folder = static_folder(tmp_path / "tiny")
    file = folder / "tokenizer.json"
    good = json.loads(file.read_text())
    good["model"]["vocab"]["ragkit"] = 50
    file.write_text(json.dumps(good))
    with pytest.raises(ModelFolderError, match="not those of its tokenizer"):
        opened(folder)
    good["model"]["vocab"]["ragkit"] = 24
    del good["model"]["vocab"]["[UNK]"]
    file.write_text(json.dumps(good))
    embedder = opened(folder)
    assert embedder.embed_passages(["soup"]).any()
    with pytest.raises(ModelFolderError, match=r"failed: .*UNK"):
        embedder.embed_passages(["zeppelin"])


def test_a_tokenizer_that_panics_is_a_failure_like_others(tmp_path):
    folder = embedder_folder(tmp_path / "tiny")
    file = folder / "tokenizer.json"
    value = json.loads(file.read_text())
    value["post_processor"]["single"][0]["SpecialToken"]["id"] = "[GONE]"
    file.write_text(json.dumps(value))
    with pytest.raises(ModelFolderError, match="failed: no entry found for key") as failed:
        opened(folder)
    assert failed.value.cure


def test_a_cut_or_invented_file_of_vectors_is_refused(tmp_path):
    folder = static_folder(tmp_path / "tiny")
    _cut(folder / "model.safetensors", 0.8)
    with pytest.raises(ModelFolderError, match=r"model\.safetensors cannot be read"):
        opened(folder)
    header = json.dumps({"embeddings": {"dtype": "F32", "shape": [2**40, 2**20]}}).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
    with pytest.raises(ModelFolderError, match=r"model\.safetensors cannot be read"):
        opened(folder)
    save_file({"encoder.weight": np.zeros(3, np.float32)}, folder / "model.safetensors")
    with pytest.raises(ModelFolderError, match="There is no model"):
        opened(folder)


def test_too_large_a_file_is_refused_before_it_is_read(tmp_path):
    folder = embedder_folder(tmp_path / "tiny")
    with (folder / "onnx/model.onnx").open("ab") as stream:
        stream.truncate(5 * 2**30)
    with pytest.raises(ModelFolderError, match=r"too large: 5\.0 GB of at most 4\.0"):
        opened(folder)


def test_without_the_package_the_cure_is_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ModelFolderError, match="onnxruntime, which is not installed") as missing:
        opened(embedder_folder(tmp_path / "tiny"))
    assert missing.value.cure == "Install it: python -m pip install onnxruntime"
    assert opened(static_folder(tmp_path / "static")).dimensions == DIMENSIONS


def test_loading_and_running_models_asks_the_network_for_nothing(tmp_path):
    folders = [embedder_folder(tmp_path / "e5-tiny"), static_folder(tmp_path / "s")]
    reranker = cross_encoder_folder(tmp_path / "c")
    script = (
        "import sys\n"
        "from ragkit.models.cross_encoder import CrossEncoder\n"
        "from ragkit.models.folder_embedder import open_folder_embedder\n"
        "for name in sys.argv[1:-1]:\n"
        "    assert open_folder_embedder(name).embed_queries(['soup']).any()\n"
        "print(CrossEncoder(sys.argv[-1], 20).grade('soup', ['soup'])[0] > 5)\n"
    )
    watch = tmp_path / "watch"
    environment = network_watch.watching(os.environ, watch)
    environment["PYTHONPATH"] += os.pathsep + str(_ROOT)
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, folders), str(reranker)],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (done.stdout, done.stderr) == ("True\n", "")
    assert network_watch.asked(watch) == []
