"""A library of which only names and counts are known, and how a question is read in it."""

from __future__ import annotations

from datetime import date

from ragkit.retrieval.query.intent import read, with_filters

TODAY = date(2026, 11, 23)


class Known:
    """A library in which every filter leaves a tenth, but not those of ``none`` and ``all``."""

    total = 100

    def __init__(self, none=(), every=()):
        self.none, self.every = none, every

    def count(self, filters):
        return 0 if filters in self.none else 100 if filters in self.every else 10

    def is_sender(self, name):
        words = set(name.lower().split())
        return any(words <= set(own.split()) for own in ("anna berg", "david howells", "the times"))

    def has_folder(self, name):
        return name.lower() in ("handbook", "code", "freedombox", "sicherheit", "home", "2024")

    def has_title(self, phrase):
        return phrase.lower() in ("travel handbook", "summer 2019", "last month")


def asked(question, known=None):
    """The question as it is searched, and what is only offered."""
    readings = read(question, known or Known(), TODAY)
    for one in readings:
        assert question[one.start : one.end] == one.words
    meant = with_filters(question, [one for one in readings if one.restricts])
    return meant, [one.filters for one in readings if not one.restricts]
