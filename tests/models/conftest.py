from __future__ import annotations

import pytest
from ollama_clients import Clock

from ragkit.models.ollama import OllamaClient
from ragkit.settings import ModelSettings


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
