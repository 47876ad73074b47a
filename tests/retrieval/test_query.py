from __future__ import annotations

import threading

import numpy as np
from support import until

from ragkit.errors import ModelError, OllamaUnreachableError
from ragkit.retrieval.query.encoding import QueryEmbedder


class Slow:
    """An embedder that is called a server's, and does what it is told."""

    fingerprint = "f"
    dimensions = 4

    def __init__(self, name="ollama:slow"):
        self.name = name
        self.go = threading.Event()
        self.go.set()
        self.error = None
        self.width = 4
        self.calls = 0

    def embed_passages(self, texts):
        return self.embed_queries(texts)

    def embed_queries(self, texts):
        self.calls += 1
        assert self.go.wait(10)
        if self.error is not None:
            raise self.error
        return np.ones((len(texts), self.width), np.float32) / 2


def test_a_server_that_answers_is_asked_for_all_together():
    embedder = Slow()
    vectors, trouble = QueryEmbedder(embedder).embed(["one", "two"])
    assert (len(vectors), trouble, embedder.calls) == (2, "", 1)
    assert vectors[0].tolist() == [0.5] * 4


def test_one_search_waits_in_vain_and_the_next_do_not_wait():
    embedder = Slow()
    asked = QueryEmbedder(embedder, longest=0.05)
    embedder.go.clear()
    vectors, trouble = asked.embed(["one"])
    assert vectors == [None]
    assert trouble == ("These results are by words alone: Ollama has not answered within 0.05 s.")
    assert asked.embed(["two"]) == ([None], trouble)
    assert embedder.calls == 1
    embedder.go.set()
    until(lambda: asked.embed(["three"])[1] == "")


def test_what_is_refused_is_said_and_tried_again():
    embedder = Slow()
    asked = QueryEmbedder(embedder)
    embedder.error = OllamaUnreachableError("Nobody there.", "Start it.")
    assert asked.embed(["one"]) == (
        [None],
        "These results are by words alone: Nobody there. Start it.",
    )
    embedder.error = None
    until(lambda: asked.embed(["two"])[1] == "")


def test_vectors_of_another_length_are_none():
    embedder = Slow()
    embedder.width = 5
    vectors, trouble = QueryEmbedder(embedder).embed(["one"])
    assert vectors == [None]
    assert "another length" in trouble


def test_an_embedder_of_this_process_is_asked_directly():
    embedder = Slow("wordllama")
    embedder.error = ModelError("It is broken.", "Mend it.")
    assert "It is broken. Mend it." in QueryEmbedder(embedder).embed(["one"])[1]
    embedder.error = None
    assert QueryEmbedder(embedder).embed(["one"])[1] == ""
