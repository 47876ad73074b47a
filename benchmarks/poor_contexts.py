"""Makes poor contexts of recorded ones, to see what a poor model would do to the results.

python benchmarks/poor_contexts.py CONTEXTS.jsonl FOLDER

writes ``short.jsonl`` (the first 60 characters of each context, no keywords, no questions),
``empty.jsonl`` (one sentence that says nothing) and ``wrong.jsonl`` (four of ten are of another
chunk). Each is for ``ragkit eval --corpus … --contexts``.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_LETTERS, _WRONG = 60, 0.4
_NOTHING = (
    "This part of the document shows code that is used in the project and gives details of how it "
    "works."
)
_NO_WORDS: dict[str, list[str]] = {"keywords": [], "questions": []}


def short(recorded: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in recorded:
        yield {"id": row["id"], "context": row["context"][:_LETTERS], **_NO_WORDS}


def empty(recorded: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in recorded:
        yield {"id": row["id"], "context": _NOTHING, **_NO_WORDS}


def wrong(recorded: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    chooser = random.Random(1)
    for row in recorded:
        other = chooser.choice(recorded) if chooser.random() < _WRONG else row
        yield {**other, "id": row["id"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("contexts", type=Path)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    with given.contexts.open(encoding="utf-8") as stream:
        recorded = [json.loads(line) for line in stream]
    given.folder.mkdir(parents=True, exist_ok=True)
    for make in (short, empty, wrong):
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in make(recorded))
        (given.folder / f"{make.__name__}.jsonl").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
