"""Checks of a written sentence against the sentences that it cites, without a model."""

from __future__ import annotations

from ragkit.answering.citations import CitedSentence
from ragkit.answers import Check, CheckKind


def check_sentence(sentence: CitedSentence) -> tuple[Check, ...]:
    """Return what speaks against a sentence."""
    if sentence.claims and not sentence.cited:
        return (Check(CheckKind.NO_SOURCE),)
    return ()
