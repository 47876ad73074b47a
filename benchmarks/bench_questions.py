"""What reading a question changes: one typo in each question, and what is read as filters.

python benchmarks/bench_questions.py [--sets scifact mtrag_pool] [--limit 50] [--words] [--json]

A typo is made by a seeded rule in a plain word of five letters or more: two letters swapped, one
left out, doubled, or taken for a neighbour on the keyboard. For filters every document gets a
made-up date of the years since 2000, so that any time in a question would leave some of them.
``--words`` asks for single words of the sample library and of docs_tree instead: the typos of
``typos.tsv``, written by hand; 400 words of each with a typo by the rule; and words that only the
other one has, which should be left as they are.
"""

from __future__ import annotations

import random
import re
import tempfile
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from bench_quality import SETS, SHOWN, SPANS
from common import SAMPLE, SHARED, arguments, report, sets_beside

from ragkit.evaluation.corpus import Question, load_question_set
from ragkit.evaluation.experiments import Experiment, ephemeral_experiment
from ragkit.evaluation.measuring import measure
from ragkit.evaluation.search_config import SearchConfig
from ragkit.indexes.tokenizer import index_tokens
from ragkit.library import Library
from ragkit.options import SearchOptions
from ragkit.settings import load_settings

TYPOS = Path(__file__).with_name("typos.tsv")
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


def word_figures() -> dict[str, int]:
    """Count the single words that are read as what was meant, as another word, or left alone."""
    figures: dict[str, int] = {}
    rows = [line.split("\t") for line in TYPOS.read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        opened: dict[str, Library] = {}
        words: dict[str, Counter[str]] = {}
        for name, files in (("sample", SAMPLE), ("docs_tree", SHARED / "docs_tree")):
            settings = load_settings(library=Path(folder, name))
            library = stack.enter_context(Library.open(settings, create=True))
            library.jobs.wait(library.sources.sync(library.sources.add_folder(files)))
            texts = [library.documents.get(one.id).text for one in library.documents.list()]
            words[name] = Counter(word for one in texts for word in _WORD.findall(one))
            written = [(typo, meant) for set_name, typo, meant in rows if set_name == name]
            rng = random.Random(11)
            made = [(with_typo(one, 3), one) for one in rng.sample(sorted(words[name]), 400)]
            figures |= _read_as(library, written, f"{name} by hand")
            figures |= _read_as(library, made, f"{name} by rule")
            opened[name] = library
        for name, other in (("sample", "docs_tree"), ("docs_tree", "sample")):
            stems = {token for word in words[name] for token in index_tokens(word)}
            real = sorted(
                word
                for word, times in words[other].items()
                if times > 1 and stems.isdisjoint(index_tokens(word))
            )
            some = random.Random(5).sample(real, min(600, len(real)))
            figures |= _read_as(opened[name], [(one, one) for one in some], f"{name} real")
    return figures


def _read_as(library: Library, pairs: list[tuple[str, str]], said: str) -> dict[str, int]:
    counts = Counter({f"{said} {how}": 0 for how in ("right", "alone", "wrong")})
    for word, meant in pairs:
        answer = library.search(word, limit=1)
        read = answer.spelled[0].meant if answer.spelled else answer.corrected or word
        right = index_tokens(read) == index_tokens(meant)
        counts[f"{said} {'right' if right else 'alone' if read == word else 'wrong'}"] += 1
    return dict(counts)


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--sets", nargs="+", default=SETS, metavar="NAME")
    parser.add_argument("--limit", type=int, help="only so many questions of each set")
    parser.add_argument("--words", action="store_true", help="single words with typos instead")
    given = parser.parse_args()
    if given.words:
        report(word_figures(), given.json)
        return
    figures: dict[str, float] = {}
    for name in sets_beside(given.sets):
        figures.update(figures_of(name, given.limit))
    report(figures, given.json)


if __name__ == "__main__":
    main()
