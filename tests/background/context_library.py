"""A model that writes what it is told to, and a backfill with it."""

from __future__ import annotations

import time

from ragkit.background.contexts import Backfill
from ragkit.models.context_checks import WrittenContext


class Model:
    """Writes what it is told to; ``failures`` are raised in turn before it does."""

    def __init__(self, *failures, model="small:3b", prompt="p1", write=None, seconds=0.0):
        self.model = model
        self.prompt = prompt
        self.failures = list(failures)
        self.asked = []
        self.seconds = seconds
        self._write = write

    def prompt_hash(self, kind):
        return f"{self.prompt} {kind}"

    def summarise(self, _request, _attempt=0):
        return None

    def write(self, request, attempt=0):
        self.asked.append(request)
        if self.seconds:
            time.sleep(self.seconds)
        if self.failures and (failure := self.failures.pop(0)) is not None:
            raise failure
        if self._write is not None:
            return self._write(request)
        number = len(self.asked)
        return WrittenContext(
            f"Context {number} of {request.document_title}.",
            (f"keyword{number}", "sprocket"),
            (f"What is question{number}?",),
            {"topic_summary": "Topics"},
            100,
            0.5,
            truncated=False,
        )


def backfill(library, model, **more):
    return Backfill(library.writer(), lambda _collection: model, **more)


def statuses(library):
    return {
        (record.path, index): one.status.value
        for record in library.documents.list()
        for index, one in library.contexts.of_document(record.id).items()
    }
