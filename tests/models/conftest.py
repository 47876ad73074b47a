from __future__ import annotations

import pytest
from ollama_clients import Clock

from ragkit.models.base import Embedder
from ragkit.models.factory import open_embedder
from ragkit.models.ollama import OllamaClient
from ragkit.models.wordllama import WordLlamaEmbedder
from ragkit.settings import ModelSettings


@pytest.fixture(scope="module")
def wordllama() -> WordLlamaEmbedder:
    return WordLlamaEmbedder.open()


@pytest.fixture(params=["wordllama", "hash"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return open_embedder(ModelSettings(embedder=request.param))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ask(server, clock):
    """Make clients of the stand-in, and close them."""
    made: list[OllamaClient] = []

    def make(**changed) -> OllamaClient:
        settings = ModelSettings(ollama_url=server.url, **changed)
        made.append(OllamaClient(settings, clock=clock, sleep=clock.sleep))
        return made[-1]

    yield make
    for client in made:
        client.close()
