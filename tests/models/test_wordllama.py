from __future__ import annotations

import socket
import threading
import time

import numpy as np
import pytest

from ragkit.errors import ModelError
from ragkit.models import wordllama as module
from ragkit.models.base import Embedder
from ragkit.models.factory import open_embedder
from ragkit.models.wordllama import WordLlamaEmbedder, plain_words
from ragkit.settings import ModelSettings


def test_opened_twice_it_has_one_fingerprint_and_one_result(embedder: Embedder):
    again = open_embedder(ModelSettings(embedder=embedder.name))
    assert again.fingerprint == embedder.fingerprint
    assert np.array_equal(again.embed_queries(["same"])[0], embedder.embed_queries(["same"])[0])


def test_meaning_is_near(wordllama: WordLlamaEmbedder):
    texts = ["how to store data in a cache", "a recipe for apple cake", "the cat sleeps"]
    scores = wordllama.embed_passages(texts) @ wordllama.embed_queries(["baking with apples"])[0]
    assert scores.argmax() == 1
    assert wordllama.dimensions == 256


def test_a_batch_gives_what_single_texts_give(wordllama: WordLlamaEmbedder):
    texts = [f"text number {i} about " + "words " * (i % 50) for i in range(1200)]
    together = wordllama.embed_passages(texts)
    for i in (0, 511, 512, 513, 1199):
        assert np.array_equal(together[i], wordllama.embed_queries([texts[i]])[0])


def test_questions_that_are_remembered_have_the_vectors_of_passages(wordllama: WordLlamaEmbedder):
    for asked in (
        ["a lost buoy", "two anchors"],
        ["two anchors", "fog", "two anchors"],
        ["", "fog"],
    ):
        assert np.array_equal(wordllama.embed_queries(asked), wordllama.embed_passages(asked))
    assert wordllama.embed_queries([]).shape == (0, 256)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("HTTPServer.get_userName()", "http server get user name"),
        ("“Don’t!” — she said…", "don t she said"),
        ("ﬁle №½", "file no1 2"),
        ("!?", "!?"),
        ("日本語、です。", "日本語 です"),
        ("", ""),
    ],
)
def test_texts_are_embedded_as_plain_words(text: str, words: str):
    assert plain_words(text) == words


def test_repetition_counts_less_and_less(wordllama: WordLlamaEmbedder):
    plain = WordLlamaEmbedder.open(count_power=1.0)
    one, two = plain.embed_queries(["cake"])[0], plain.embed_queries(["engine"])[0]
    many = "cake " * 50 + "engine"
    # The rarer word weighs more than in the mean, where the repeated one drowns it.
    assert wordllama.embed_queries([many])[0] @ two > plain.embed_queries([many])[0] @ two
    assert plain.embed_queries([many])[0] @ one > wordllama.embed_queries([many])[0] @ one
    assert plain.fingerprint != wordllama.fingerprint


def test_the_plain_mean_is_that_of_the_wheel_s_own_code(monkeypatch: pytest.MonkeyPatch):
    import logging
    from pathlib import Path

    monkeypatch.setattr(logging, "basicConfig", lambda **_: None)
    import wordllama as wheel
    from safetensors.numpy import load_file
    from wordllama.inference import WordLlamaInference

    folder = Path(wheel.__file__).parent
    config = wheel.Config._configurations["l2_supercat"]
    tokenizer = wheel.WordLlama.load_tokenizer(folder / module._TOKENIZER, config)
    weights = load_file(folder / module._WEIGHTS)["embedding.weight"]
    theirs = WordLlamaInference(weights, config, tokenizer)
    texts = ["how to cache a connection", "日本語", "x = [1, 2, 3]  # list"]
    ours = WordLlamaEmbedder.open(count_power=1.0).embed_passages(texts)
    assert np.abs(ours - theirs.embed([*map(plain_words, texts)], norm=True)).max() < 1e-5


def test_long_texts_are_bounded(wordllama: WordLlamaEmbedder):
    started = time.perf_counter()
    vector = wordllama.embed_queries(["word " * 1_000_000])[0]
    wordllama.embed_passages(["x" * 3_000_000, "y"])
    assert time.perf_counter() - started < 60
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_no_network_is_asked(monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert WordLlamaEmbedder.open().embed_queries(["hello"])[0].any()


def test_a_missing_or_damaged_wheel_is_a_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path):
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match="not installed"):
        WordLlamaEmbedder.open()
    monkeypatch.setattr(module, "_wheel_folder", lambda: tmp_path)
    with pytest.raises(ModelError, match="cannot be read") as caught:
        WordLlamaEmbedder.open()
    assert caught.value.cure == "Reinstall ragkit."


def test_threads_agree(wordllama: WordLlamaEmbedder):
    texts = [f"about {i}" for i in range(200)]
    wanted = wordllama.embed_passages(texts)
    seen: list[bool] = []
    run = lambda: seen.append(np.array_equal(wordllama.embed_passages(texts), wanted))  # noqa: E731
    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 4


_AWKWARD = (
    "fooBar_baz == getHTTPResponse(x), v1.2.3",
    "ÀÉ ΑΣ ΒΓΣ, σας ΟΔΥΣΣΕΥΣ.",
    "日本語のテキスト and 한국어、です。",
    "½ ﬁne ´a x\u0301 \u0301b a\u00a0b\u2003c\u2028d",
    "</s> <unk> <s>hi 🙂🙂 İstanbul ᾳ",
    "--- ***",
    "x" * 300 + " y",
    "don't \t stop\r\nme-now",
)


@pytest.mark.parametrize("text", _AWKWARD)
def test_the_tokens_of_a_text_are_those_of_its_words(wordllama: WordLlamaEmbedder, text: str):
    assert np.array_equal(wordllama.embed_passages([text])[0], wordllama.embed_queries([text])[0])


def test_remembered_words_are_bounded_and_change_nothing(
    wordllama: WordLlamaEmbedder, monkeypatch: pytest.MonkeyPatch
):
    texts = [f"number{i} and word{i * 7} of all" for i in range(300)]
    wanted = wordllama.embed_passages(texts)
    monkeypatch.setattr(module, "_CACHED_CHARACTERS", 2000)
    one = WordLlamaEmbedder.open()
    for start in range(0, 300, 20):
        part = one.embed_passages(texts[start : start + 20])
        assert np.array_equal(part, wanted[start : start + 20])
    assert len(one._words.ids) < 250


def test_the_known_fingerprint_is_that_of_the_files(wordllama: WordLlamaEmbedder):
    folder = module._wheel_folder()
    assert module._listed_files(folder) in module._DIGESTS
    assert module._read(folder, module.COUNT_POWER)[2] == wordllama.fingerprint


def test_without_the_installer_s_list_the_files_are_read(
    wordllama: WordLlamaEmbedder, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "_listed_files", lambda folder: None)
    assert WordLlamaEmbedder.open().fingerprint == wordllama.fingerprint


def test_files_that_are_not_what_the_list_says_are_an_error(monkeypatch: pytest.MonkeyPatch):
    listed = module._listed_files(module._wheel_folder())
    monkeypatch.setattr(module, "_DIGESTS", {listed: "0" * 16})
    opened = WordLlamaEmbedder.open()
    with pytest.raises(ModelError, match="has been changed"):
        opened.embed_queries(["word"])
