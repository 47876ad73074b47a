"""What reading a question changes: one typo in each question, and what is read as filters.

python benchmarks/bench_questions.py [--sets scifact mtrag_pool] [--limit 50] [--json]

A typo is made by a seeded rule in a plain word of five letters or more: two letters swapped, one
left out, doubled, or taken for a neighbour on the keyboard. For filters every document gets a
made-up date of the years since 2000, so that any time in a question would leave some of them.
"""

from __future__ import annotations

import random
import re
import tempfile
from dataclasses import replace
from pathlib import Path

from bench_quality import SETS, SHOWN, SPANS
from common import SHARED, arguments, report, sets_beside

from ragkit.evaluation.corpus import Question, load_question_set
from ragkit.evaluation.experiments import Experiment, ephemeral_experiment
from ragkit.evaluation.measuring import measure
from ragkit.evaluation.search_config import SearchConfig
from ragkit.options import SearchOptions
from ragkit.settings import load_settings

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_WORD = re.compile(r"(?<![\w:/.@#$_'-])[a-z]{5,}(?![\w/@$_'-])")


def with_typo(text: str, seed: int = 1) -> str:
    """Return a text with one typo; as it is where no word is plain and long enough."""
    rng = random.Random(f"{seed}:{text}")
    words = list(_WORD.finditer(text))
    if not words:
        return text
    match = rng.choice(words)
    word = wrong = match[0]
    while wrong == word:
        kind, at = rng.choice(("swap", "drop", "double", "neighbour")), rng.randrange(len(word) - 1)
        middle = {
            "swap": word[at + 1] + word[at] + word[at + 2 :],
            "drop": word[at + 1 :],
            "double": word[at] + word[at:],
            "neighbour": rng.choice(_neighbours(word[at])) + word[at + 1 :],
        }[kind]
        wrong = word[:at] + middle
    return text[: match.start()] + wrong + text[match.end() :]


def _neighbours(letter: str) -> list[str]:
    row = next(number for number, keys in enumerate(_ROWS) if letter in keys)
    at = _ROWS[row].index(letter)
    found = [keys[max(at - 1, 0) : at + 2] for keys in _ROWS[max(row - 1, 0) : row + 2]]
    return [key for key in "".join(found) if key != letter]


def figures_of(name: str, limit: int | None) -> dict[str, float]:
    questions = load_question_set(SHARED / name, limit=limit)
    base = SPANS if questions.excerpts else SearchOptions()
    figures: dict[str, float] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        ephemeral_experiment(questions, load_settings(), Path(folder, "library")) as clean,
    ):
        typed = [replace(one, text=with_typo(one.text)) for one in clean.questions]
        for said, asked in (("as typed", clean), ("with a typo", _of(clean, typed))):
            for spelling in (False, True):
                config = SearchConfig(replace(base, correct_spelling=spelling))
                for metric in measure(asked, config, timed=False).metrics:
                    if metric.name in SHOWN:
                        how = "corrected" if spelling else "uncorrected"
                        figures[f"{name} {said} {how} {metric.name}"] = metric.value
        figures |= {f"{name} {key}": value for key, value in _readings(clean).items()}
    return figures


def _of(experiment: Experiment, questions: list[Question]) -> Experiment:
    return replace(experiment, questions=tuple(questions))


def _readings(experiment: Experiment) -> dict[str, float]:
    """Count the questions of which something is read, with a date for every document."""
    engine, rng = experiment.engine, random.Random(5)
    catalog = engine._catalog
    with catalog.connections.write() as connection:
        for (number,) in connection.execute("SELECT id FROM documents").fetchall():
            day = f"{rng.randint(2000, 2026)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
            connection.execute("UPDATE documents SET date = ? WHERE id = ?", (day, number))
    options = SearchOptions(collections=(experiment.collection,))
    answers = [engine.search(one.text, options) for one in experiment.questions]
    restricted = sum(any(one.restricts for one in answer.readings) for answer in answers)
    offered = sum(bool(answer.readings) for answer in answers) - restricted
    return {"questions": len(answers), "restricted": restricted, "offered": offered}


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--sets", nargs="+", default=SETS, metavar="NAME")
    parser.add_argument("--limit", type=int, help="only so many questions of each set")
    given = parser.parse_args()
    figures: dict[str, float] = {}
    for name in sets_beside(given.sets):
        figures.update(figures_of(name, given.limit))
    report(figures, given.json)


if __name__ == "__main__":
    main()
