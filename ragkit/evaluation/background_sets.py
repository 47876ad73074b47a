"""Having question sets written beside the pages: one at a time, with progress, and stopped."""

from __future__ import annotations

from dataclasses import dataclass

from ragkit.evaluation.background_task import BackgroundWork, WorkStanding
from ragkit.evaluation.generated_sets import WRITTEN, Home, Written, write_set


@dataclass(frozen=True, slots=True)
class WritingStanding(WorkStanding):
    """How far the writing of a set is; ``found`` is what came of the last one."""

    collection: str = ""
    found: Written | None = None


class BackgroundWriting(BackgroundWork[WritingStanding]):
    """Has sets written in a thread of its own. Safe to share between threads."""

    def __init__(self) -> None:
        super().__init__(WritingStanding(), "question-writing")

    def start(
        self,
        home: Home,
        collection: str,
        *,
        count: int = 20,
        name: str = WRITTEN,
        model: str = "",
        seed: int = 0,
    ) -> bool:
        """Begin to write; False when another set is not done yet.

        One that is cancelled stops after the passage at hand.
        """

        def write() -> None:
            found = write_set(
                home, collection, count=count, name=name, seed=seed, model=model, tell=self._tell
            )
            self._say(found=found)

        return self._begin(WritingStanding(collection=collection), write)
