"""While contexts are written, some chunks have more vectors than others, and gain nothing by it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from small_library import paths

from ragkit.background.contexts import Backfill
from ragkit.errors import OllamaUnreachableError
from ragkit.evaluation.metrics import score
from ragkit.library import Library
from ragkit.models.context_checks import WrittenContext
from ragkit.options import Mode, QuestionMerge
from ragkit.settings import load_settings

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data"
QUESTIONS = [
    json.loads(line) for line in (SAMPLE / "questions.jsonl").read_text("utf-8").splitlines()
]
RIGHT = {
    one["id"]: {place["path"]: place["grade"] for place in one["relevant"]} for one in QUESTIONS
}
BOUND = 0.02
"""What two of the forty questions can make, each first for second."""


class Writer:
    """Repeats a chunk, whole and in thirds, so that it says nothing new; ``left`` times."""

    model = "small"

    def __init__(self, left: int) -> None:
        self.left = left

    def prompt_hash(self, _kind: str) -> str:
        return "p"

    def summarise(self, _request, _attempt=0):
        return None

    def write(self, request, _attempt=0):
        if not self.left:
            raise OllamaUnreachableError("Ollama does not answer.", "Start it.")
        self.left -= 1
        words = request.chunk_text.split()
        third = -(-len(words) // 3)
        parts = tuple(" ".join(words[at : at + third]) for at in range(0, len(words), third))
        return WrittenContext(" ".join(words), (), parts, {}, 1, 0.1, truncated=False)


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Iterator[Library]:
    place = tmp_path_factory.mktemp("sample") / "library"
    opened = Library.open(load_settings(library=place), create=True)
    opened.jobs.wait(opened.sources.sync(opened.sources.add_folder(SAMPLE / "library")))
    yield opened
    opened.close()


def ndcg(library: Library, mode: Mode, merge: QuestionMerge) -> float:
    asked = library.options(mode=mode, question_merge=merge)
    found = {one["id"]: paths(library.search(one["text"], asked)) for one in QUESTIONS}
    values = score(found, RIGHT)["ndcg@10"]
    return sum(values.values()) / len(QUESTIONS)


@pytest.fixture(scope="module")
def unwritten(library: Library) -> dict[Mode, float]:
    """What is found without any context."""
    return {mode: ndcg(library, mode, QuestionMerge.BEST) for mode in (Mode.VECTOR, Mode.HYBRID)}


@pytest.mark.parametrize("share", [0.0, 0.17, 0.5, 1.0])
def test_a_sum_of_inverse_ranks_loses_nothing_while_contexts_are_written(library, unwritten, share):
    counts = library.contexts.status().counts
    wanted = round(share * counts.chunks)
    writer = Writer(wanted - counts.complete)
    work = Backfill(library.writer(), lambda _one: writer, heed_pause=False)
    if wanted < counts.chunks:
        with pytest.raises(OllamaUnreachableError):
            work.work()
    else:
        work.work()
    assert library.contexts.status().counts.complete == wanted
    found = {mode: ndcg(library, mode, QuestionMerge.SUM) for mode in unwritten}
    assert all(found[mode] >= without - BOUND for mode, without in unwritten.items()), found
