"""A model whose answers a test lets through one by one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ollama_stand_in import OllamaStandIn

Reply = Callable[[list[dict[str, str]]], str]


class Gate:
    """Lets answers through as often as it is told to, and all of them once it is open."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self._passes = threading.Semaphore(0)

    def let(self, count: int) -> None:
        self._passes.release(count)

    def shut(self) -> None:
        """Let nothing through any more, also nothing for which a pass is left."""
        self.open.clear()
        self._passes = threading.Semaphore(0)

    @contextmanager
    def before(self, answer: Reply) -> Iterator[OllamaStandIn]:
        """An Ollama whose answers come through this gate."""

        def reply(messages: list[dict[str, str]]) -> str:
            while not self.open.is_set() and not self._passes.acquire(timeout=0.1):
                pass
            return answer(messages)

        with OllamaStandIn(reply=reply) as server:
            yield server
            self.open.set()
