"""Summaries of documents that are too long for a prompt, written before their contexts."""

from __future__ import annotations

import logging
import time

from ragkit.background.context_entries import OpenDocument
from ragkit.background.context_model import WritesContexts
from ragkit.catalog.summaries import Summaries, SummaryRecord
from ragkit.errors import ModelError, OllamaError

logger = logging.getLogger(__name__)

_ATTEMPTS = 2


def summary_of(
    summaries: Summaries, model: WritesContexts, document: OpenDocument
) -> tuple[str, bool]:
    """Return the summary of a document, and whether the model was asked for it just now.

    Each model and prompt writes it once. It is empty if a prompt can hold the whole document, or if
    the model failed: then the reason is stored, and contexts are written without a summary.

    Raises:
        OllamaError: no model can be asked now.
    """
    prompt = model.prompt_hash("summary")
    kept = summaries.of(document.record.hash)
    if kept is not None and (kept.model, kept.prompt_hash) == (model.model, prompt):
        return kept.summary, False
    started, reason = time.monotonic(), ""
    for attempt in range(_ATTEMPTS):
        try:
            written = model.summarise(document.request(document.longest), attempt)
        except ModelError as error:
            if isinstance(error, OllamaError) and error.concerns_all:
                raise
            reason = str(error)
            logger.info("summary of document %d: %s", document.record.id, error)
            continue
        if written is None:
            return "", False
        record = SummaryRecord(
            document.record.hash, model.model, prompt, written.text,
            tokens=written.tokens, seconds=written.seconds,
        )  # fmt: skip
        summaries.keep(record)
        return written.text, True
    seconds = time.monotonic() - started
    failed = SummaryRecord(document.record.hash, model.model, prompt, "", reason, seconds=seconds)
    summaries.keep(failed)
    return "", True
