"""Outcomes: what was decided in a document and what is to be done, with the sentences that say so.

Contexts note them (``catalog/chunk_notes.py``). What they note is no part of the document, so each
is looked for in the text of its chunk: by its words, or by words that decide or ask where a
context only says that there is something.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragkit.catalog.chunk_notes import ACTION, DECISION, notes_of
from ragkit.catalog.context_records import ContextAnswer
from ragkit.catalog.records import ChunkRecord
from ragkit.chunking.units import Unit, text_units
from ragkit.indexes.tokenizer import index_tokens
from ragkit.types import Span

_LEAST_SHARE, _OF_QUESTION, _OF_CUE = 0.3, 0.6, 1.3
_DECIDED = re.compile(
    r"\b(?:decid\w+|agree[ds]?|settled|approved|let's|keep|then (?:yes|no)|yes please|"
    r"we(?:'ll| will)|entsch(?:ied|eid)\w*|beschlossen|vereinbart|einig|décid\w+|convenu|"
    r"decidi\w+|acordado|deciso|besloten)\b|決",
    re.I,
)
_TO_DO = re.compile(
    r"\b(?:to-?do|please|must|ha(?:s|ve) to|needs? to|should(?! I\b)|could you|can you|do you|will|"
    r"bitte|muss|müssen|soll\w*|doit|devez|veuillez|hay que|debes?|por favor|deve|moet)\b|'ll\b|"
    r"してください|お願い",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Something that was decided or is to be done in chunk ``chunk``, counted from 0.

    ``kind`` is "decision" or "action". ``text`` is what the context calls it, empty where it only
    says that there is one. ``sentence`` supports it, and is at ``span`` of the document's
    text; ``None`` where none was found.
    """

    kind: str
    chunk: int
    text: str = ""
    sentence: str = ""
    span: Span | None = None


def outcomes_of(
    text: str, chunks: Sequence[ChunkRecord], answers: Mapping[int, ContextAnswer], *, code: bool
) -> list[Outcome]:
    """Return the outcomes of a document in order; ``answers`` are its contexts by chunk index.

    What two chunks share is returned once.
    """
    outcomes: dict[tuple[str, object], Outcome] = {}
    for record in chunks:
        answer = answers.get(record.chunk.index)
        notes = notes_of(answer.details) if answer else None
        if answer is None or notes is None or not (notes.has_decision or notes.has_action):
            continue
        place = _Place(text, record.chunk.start, record.chunk.end, code=code)
        about = "\n".join((answer.context, notes.topic, *answer.keywords, *answer.questions))
        for kind, there, named, cue in (
            (DECISION, notes.has_decision, notes.decisions, _DECIDED),
            (ACTION, notes.has_action, notes.actions, _TO_DO),
        ):
            for note in named if there and named else [""] * there:
                unit = place.saying(note, cue) if note else place.with_cue(cue, about)
                outcome = place.outcome(kind, record.chunk.index, note, unit)
                key = outcome.span or (outcome.text, outcome.chunk)
                outcomes.setdefault((kind, key), outcome)
    return list(outcomes.values())


class _Place:
    """The sentences of one chunk, with the stems of each."""

    def __init__(self, text: str, start: int, end: int, *, code: bool) -> None:
        self._text = text[start:end]
        self._start = start
        self._units: list[Unit] = []
        self._stems: list[frozenset[str]] = []
        speaker = ""
        for unit in text_units(self._text, code=code):
            own = self._text[unit.start : unit.end]
            if unit.kind == "heading":
                speaker = own.partition("·")[0] if unit.speaker else ""
                continue
            self._units.append(unit)
            # Who says it is in the line above.
            self._stems.append(frozenset(index_tokens(f"{speaker} {own}")))
        self._spread = Counter(stem for stems in self._stems for stem in stems)

    def saying(self, note: str, cue: re.Pattern[str]) -> Unit | None:
        """Return the sentence that has most of a note's rare words, if it has enough of them.

        One with a cue is preferred.
        """
        tokens = set(index_tokens(note))
        weights = {stem: 1 / self._spread[stem] for stem in tokens if stem in self._spread}
        least = max(_LEAST_SHARE * len(tokens), min(2, len(tokens)))
        enough = [
            (sum(weights[stem] for stem in shared) * self._trust(at, cue), -at)
            for at, stems in enumerate(self._stems)
            if len(shared := tokens & stems) >= least
        ]
        return self._units[-max(enough)[1]] if enough else None

    def _trust(self, at: int, cue: re.Pattern[str] | None = None) -> float:
        """Return how well a sentence supports anything: a question less, one with a cue more."""
        unit = self._units[at]
        trust = _OF_QUESTION if self._text[: unit.end].endswith(("?", "？")) else 1.0
        with_cue = cue is not None and cue.search(self._text, unit.start, unit.end)
        return trust * _OF_CUE if with_cue else trust

    def with_cue(self, cue: re.Pattern[str], about: str) -> Unit | None:
        """Return the sentence with a cue that has most words of what the chunk is about."""
        tokens = set(index_tokens(about))
        cued = [
            (len(tokens & stems) * self._trust(at), -at)
            for at, (unit, stems) in enumerate(zip(self._units, self._stems, strict=True))
            if cue.search(self._text, unit.start, unit.end)
        ]
        return self._units[-max(cued)[1]] if cued else None

    def outcome(self, kind: str, chunk: int, text: str, unit: Unit | None) -> Outcome:
        """Return an outcome, with the sentence that was found."""
        if unit is None:
            return Outcome(kind, chunk, text)
        span = Span(self._start + unit.start, self._start + unit.end)
        return Outcome(kind, chunk, text, self._text[unit.start : unit.end], span)
