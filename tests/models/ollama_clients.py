"""What tests of Ollama's client share: a clock that does not wait, and a greeting."""

from __future__ import annotations

HELLO = [{"role": "user", "content": "Hello, what is this about?"}]


class Clock:
    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds
