"""Defaults that were chosen by measuring: one value after the other, each against the default.

python benchmarks/bench_sweep.py scifact --k1 0.9 1.2 1.6 --b 0.4 0.75 0.9 [--limit 100] [--json]
python benchmarks/bench_sweep.py DIR --words 160 240 320 480 --min-words 0 120 200
python benchmarks/bench_sweep.py DIR --contexts DIR/contexts.jsonl --keywords 1 3 --fields-k1 1.2 2

A set is the name of one of the published ones beside the project, or any folder of the same layout
(docs/question_sets.md; ``ragkit judgments export`` makes one of a library's own questions). Sizes
of chunks index it anew, all else asks the same library. ``--k1`` and ``--b`` are those of texts
alone, ``--fields-k1`` and ``--fields-b`` those of texts with contexts, whose fields have a weight
each (``--keywords`` and so on). Differences are paired, question by question, with their 95 %
interval and p.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from common import SHARED, arguments, report

from ragkit.evaluation.corpus import QuestionSet, load_question_set
from ragkit.evaluation.experiments import Experiment, ephemeral_experiment
from ragkit.evaluation.measuring import Evaluation, measure
from ragkit.evaluation.metrics import main_metric, paired_difference
from ragkit.evaluation.recorded_contexts import load_contexts
from ragkit.evaluation.row_documents import RowsAs
from ragkit.evaluation.search_config import SearchConfig
from ragkit.indexes.bm25 import BM25F_PARAMETERS, FIELD_WEIGHTS, Bm25Parameters
from ragkit.indexes.local.backend import LocalBackend
from ragkit.indexes.local.scorer import BM25F
from ragkit.options import Mode, SearchOptions
from ragkit.paths import LibraryPaths
from ragkit.retrieval.candidates import WRITTEN
from ragkit.retrieval.search import SearchEngine
from ragkit.settings import load_settings
from ragkit.types import Field

SIZES = ("words", "overlap", "min_words")
TEXTS, FIELDS = Bm25Parameters(), BM25F_PARAMETERS


@contextmanager
def indexed(
    given: argparse.Namespace, questions: QuestionSet, **sizes: int
) -> Iterator[Experiment]:
    """Index the set with other sizes of chunks than the default ones."""
    contexts = load_contexts(given.contexts, questions.rows) if given.contexts else None
    rows = {"contexts": contexts, "whole_rows": True, "rows_as": RowsAs.APART} if contexts else {}
    settings = load_settings(chunking=sizes)
    with (
        tempfile.TemporaryDirectory() as folder,
        ephemeral_experiment(questions, settings, Path(folder, "library"), **rows) as experiment,
    ):
        yield experiment


@contextmanager
def with_texts(experiment: Experiment, parameters: Bm25Parameters) -> Iterator[Experiment]:
    """Index the words of its texts with other parameters."""
    usual = experiment.engine
    with tempfile.TemporaryDirectory() as folder:
        paths = LibraryPaths(Path(folder))
        source = experiment.catalog.entries
        backend = LocalBackend(source, paths, usual.embedder, parameters=parameters)
        engine = SearchEngine(experiment.catalog, backend, usual.embedder)
        scorer: Any = experiment.scorer
        scorer = replace(scorer, engine=engine)
        yield replace(experiment, engine=engine, indexes=backend, scorer=scorer)


@contextmanager
def with_fields(experiment: Experiment, parameters: Bm25Parameters) -> Iterator[Experiment]:
    """Count the words of several fields with other parameters."""
    usual = BM25F.__init__.__defaults__
    BM25F.__init__.__defaults__ = (parameters,)
    try:
        yield experiment
    finally:
        BM25F.__init__.__defaults__ = usual


def asked(experiment: Experiment, given: argparse.Namespace, **changes: Any) -> Evaluation:
    options = replace(SearchOptions(mode=given.mode), **changes)
    return measure(experiment, SearchConfig(options), timed=False)


def weights(field: Field, value: float) -> tuple[tuple[Field, float], ...]:
    return tuple({**FIELD_WEIGHTS, field: value}.items())


def swept(given: argparse.Namespace, questions: QuestionSet) -> Iterator[tuple[str, Evaluation]]:
    """Yield the default first, then each value of each parameter."""
    with indexed(given, questions) as experiment:
        yield "default", asked(experiment, given)
        for name in ("k1", "b"):
            for value in getattr(given, name):
                with with_texts(experiment, replace(TEXTS, **{name: value})) as other:
                    yield f"{name} {value:g}", asked(other, given)
            for value in getattr(given, f"fields_{name}"):
                with with_fields(experiment, replace(FIELDS, **{name: value})) as other:
                    yield f"fields {name} {value:g}", asked(other, given)
        for field in (Field.TITLE, *WRITTEN):
            for value in getattr(given, field.value):
                changed = asked(experiment, given, field_weights=weights(field, value))
                yield f"weight of {field.value} {value:g}", changed
    for name in SIZES:
        for value in getattr(given, name):
            with indexed(given, questions, **{name: value}) as experiment:
                yield f"{name} {value}", asked(experiment, given)


def figures_of(found: Sequence[tuple[str, Evaluation]]) -> dict[str, Any]:
    """Return the metric of each value, its difference to the default's, the interval, and p."""
    metric = main_metric(list(found[0][1].values))
    usual = found[0][1].values[metric]
    figures: dict[str, Any] = {"metric": metric}
    for name, evaluation in found:
        mean = next(one.value for one in evaluation.metrics if one.name == metric)
        paired = paired_difference(usual, evaluation.values[metric])
        assert paired is not None
        figures[name] = (
            f"{mean:.4f}  {paired.value:+.4f} ({paired.low:+.4f} to {paired.high:+.4f}), "
            f"p {paired.p:.3f}"
        )
    return figures


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("set", help="the name of a published set, or a folder")
    parser.add_argument("--contexts", type=Path, metavar="FILE", help="recorded contexts of rows")
    parser.add_argument("--mode", type=Mode, default=Mode.HYBRID, choices=list(Mode))
    parser.add_argument("--limit", type=int, help="only so many questions")
    for name in ("k1", "b", "fields-k1", "fields-b", "title", *(field.value for field in WRITTEN)):
        parser.add_argument(f"--{name}", type=float, nargs="+", default=(), metavar="VALUE")
    for name in SIZES:
        flag = name.replace("_", "-")
        parser.add_argument(f"--{flag}", type=int, nargs="+", default=(), metavar="VALUE")
    given = parser.parse_args()
    named = SHARED / given.set
    folder = named if named.is_dir() else Path(given.set)
    questions = load_question_set(folder, limit=given.limit)
    report(figures_of(list(swept(given, questions))), given.json)


if __name__ == "__main__":
    main()
