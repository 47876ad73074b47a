"""Retrieval quality of the published question sets, by the defaults and by each index alone.

python benchmarks/bench_quality.py [--sets scifact mtrag_pool] [--limit 50] [--json]

Each set is indexed into a temporary library by the real pipeline, as ``ragkit eval`` does.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from common import SHARED, arguments, report, sets_beside

from ragkit.evaluation.corpus import load_question_set
from ragkit.evaluation.experiments import ephemeral_experiment
from ragkit.evaluation.measuring import measure
from ragkit.evaluation.search_config import SearchConfig
from ragkit.options import Expansion, Fusion, Mode, SearchOptions
from ragkit.settings import load_settings

SETS = ("scifact", "anthropic_codebase", "mtrag_pool", "chroma_chunking")
SHOWN = ("ndcg@10", "pass@5", "pass@10", "pass@20", "recall@100", "token_recall", "token_iou")
COLUMNS = {
    "default": {},
    "keyword": {"mode": Mode.KEYWORD},
    "vector": {"mode": Mode.VECTOR},
    "rrf": {"fusion": Fusion.RRF},
    "no phrases": {"phrase_weight": 0.0},
    "no documents": {"document_weight": 0.0},
    "fixed weights": {"adaptive": False},
}
SPANS = SearchOptions(limit=5, per_document=0, expansion=Expansion.NEIGHBOURS)


def figures_of(name: str, columns: Sequence[str], limit: int | None) -> dict[str, float]:
    questions = load_question_set(SHARED / name, limit=limit)
    base = SPANS if questions.excerpts else SearchOptions()
    figures: dict[str, float] = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        ephemeral_experiment(questions, load_settings(), Path(folder, "library")) as experiment,
    ):
        for column in columns:
            evaluation = measure(experiment, SearchConfig(replace(base, **COLUMNS[column])))
            for metric in evaluation.metrics:
                if metric.name in SHOWN:
                    figures[f"{name} {column} {metric.name}"] = metric.value
            if column == "default":
                figures[f"{name} search ms, p50"] = evaluation.stages[0].p50
                figures[f"{name} search ms, p95"] = evaluation.stages[0].p95
    return figures


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--sets", nargs="+", default=SETS, metavar="NAME")
    parser.add_argument("--columns", nargs="+", default=tuple(COLUMNS), choices=tuple(COLUMNS))
    parser.add_argument("--limit", type=int, help="only so many questions of each set")
    given = parser.parse_args()
    figures: dict[str, float] = {}
    for name in sets_beside(given.sets):
        figures.update(figures_of(name, given.columns, given.limit))
    report(figures, given.json)


if __name__ == "__main__":
    main()
