"""The words of invented reports, from ``report_words.yaml``, which says what its templates hold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

EVENT_QUESTION = "Where do I read about this: {0}?", "{0}: what came of it?"


@dataclass(frozen=True)
class Fact:
    """A sentence that stands on one page of a document, and what a person would ask about it."""

    kind: str
    sentence: str
    question: str


@dataclass(frozen=True)
class Table:
    """Rows of figures with years as columns, each a label with a question, or an empty one."""

    name: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Chapter:
    title: str
    nouns: tuple[str, ...]
    facts: tuple[Fact, ...]
    table: Table | None


@dataclass(frozen=True)
class Kind:
    """A kind of document: what its cover says, its chapters, and the frames of its sentences."""

    cover: str
    chapters: tuple[Chapter, ...]
    frames: tuple[str, ...]


@dataclass(frozen=True)
class Words:
    """The kinds by name, and incidents, each as a sentence and what is asked."""

    kinds: dict[str, Kind]
    incidents: tuple[tuple[str, str], ...]


@cache
def load_words() -> Words:
    given = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))
    kinds = {
        name: Kind(kind["cover"], tuple(map(_chapter, kind["chapters"])), tuple(kind["frames"]))
        for name, kind in given["kinds"].items()
    }
    return Words(kinds, tuple((said, asked) for said, asked in given["incidents"]))


def _chapter(given: dict[str, Any]) -> Chapter:
    table = given.get("table")
    rows = tuple((label, question) for label, question in table["rows"]) if table else ()
    return Chapter(
        given["title"],
        tuple(given["nouns"].split(", ")),
        tuple(Fact(*fact) for fact in given.get("facts", ())),
        Table(table["name"], rows) if table else None,
    )
