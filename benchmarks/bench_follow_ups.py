"""What it brings to make a question that follows others stand alone before it is asked.

python benchmarks/bench_follow_ups.py [--json]

The last turns of the conversations of ``../shared/data/mtrag_pool``, asked as they were typed, as
the rules of ``ragkit/answering/elliptic.py`` rewrite them, and with the turn before; nDCG@10.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

from common import SHARED, arguments, report

from ragkit.answering.elliptic import stand_alone
from ragkit.answers import Turn
from ragkit.evaluation.corpus import load_question_set
from ragkit.evaluation.experiments import ephemeral_experiment
from ragkit.evaluation.measuring import measure
from ragkit.evaluation.search_config import SearchConfig
from ragkit.options import SearchOptions
from ragkit.settings import load_settings

SET = SHARED / "mtrag_pool"


def rewritten(asked: Sequence[str]) -> str:
    turns: list[Turn] = []
    for question in asked:
        turns.append(Turn(question, stand_alone(question, turns)))
    return turns[-1].asked


WAYS: dict[str, Callable[[Sequence[str]], str]] = {
    "as typed": lambda asked: asked[-1],
    "by rules": rewritten,
    "with the turn before": lambda asked: " ".join(asked[-2:]),
}


def conversations() -> dict[str, list[str]]:
    """The turns of each conversation with more than one, by the id of its last."""
    lines = map(json.loads, (SET / "queries.jsonl").read_text("utf-8").splitlines())
    found = {line["_id"]: line["metadata"]["user_turns"].split("\n") for line in lines}
    return {key: asked for key, asked in found.items() if len(asked) > 1}


def main() -> None:
    given = arguments(__doc__ or "").parse_args()
    asked, questions = conversations(), load_question_set(SET)
    follow = tuple(one for one in questions.questions if one.id in asked)
    leaning = [one.id for one in follow if rewritten(asked[one.id]) != asked[one.id][-1]]
    figures: dict[str, float] = {"questions": len(follow), "rewritten": len(leaning)}
    with (
        tempfile.TemporaryDirectory() as folder,
        ephemeral_experiment(questions, load_settings(), Path(folder, "library")) as experiment,
    ):
        for name, way in WAYS.items():
            texts = tuple(replace(one, text=way(asked[one.id])) for one in follow)
            evaluation = measure(
                replace(experiment, questions=texts), SearchConfig(SearchOptions())
            )
            values = evaluation.values["ndcg@10"]
            figures[f"{name}, all"] = mean(values.values())
            figures[f"{name}, those rewritten"] = mean(values[key] for key in leaning)
    report(figures, given.json)


if __name__ == "__main__":
    main()
