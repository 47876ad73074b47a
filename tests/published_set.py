"""A small published set with recorded contexts, as files and as values."""

from __future__ import annotations

import json
from pathlib import Path

ROWS = [
    {"_id": "tide", "title": "/src/gauge.rs", "text": "fn read_level() gives metres above zero"},
    {"_id": "wind", "title": "/src/gauge.rs", "text": "fn read_speed() gives metres each second"},
    {"_id": "cake", "title": "", "text": "Apples, cinnamon, flour and butter in a round tin"},
    {"_id": "lamp", "title": "Lighthouse", "text": "It turns slowly, and Ebba keeps it burning"},
]
CONTEXTS = [
    {"id": "tide", "context": "Part of the harbour gauge that reports the tide.",
     "keywords": ["ebb"], "questions": ["How high is the water now?"], "tokens": 40},
    {"id": "wind", "context": "Part of the harbour gauge that reports the gale.",
     "keywords": ["anemometer"], "questions": ["How hard does it blow outside?"], "tokens": 50},
    {"id": "cake", "context": "A recipe from the keeper's kitchen.",
     "keywords": ["dessert"], "questions": ["What can I bake on Sunday?"]},
    {"id": "lamp", "context": "What the light on the cliff does at night.",
     "keywords": ["beacon"], "questions": ["Who looks after the beacon?"]},
]  # fmt: skip
QUERIES = [
    {"_id": "q1", "text": "What does read_level give?"},
    {"_id": "q2", "text": "Where is the anemometer?"},
    {"_id": "q3", "text": "dessert with apples"},
    {"_id": "q4", "text": "Who looks after the beacon?"},
]
RIGHT = {"q1": "tide", "q2": "wind", "q3": "cake", "q4": "lamp"}


def jsonl(file: Path, lines: list[dict]) -> Path:
    file.write_text("".join(json.dumps(one) + "\n" for one in lines), "utf-8")
    return file


def write_published(folder: Path) -> Path:
    """Write the set's folder, its contexts beside it."""
    folder.mkdir(parents=True)
    jsonl(folder / "corpus.jsonl", ROWS)
    jsonl(folder / "queries.jsonl", QUERIES)
    jsonl(folder / "contexts.jsonl", CONTEXTS)
    lines = [f"{question}\t{row}\t1" for question, row in RIGHT.items()]
    (folder / "qrels.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *lines]), "utf-8")
    return folder
