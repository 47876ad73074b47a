"""The text of a long question, from a file of any format, uploaded bytes or pasted text."""

from __future__ import annotations

import secrets
from pathlib import Path

from ragkit.errors import NotFoundError, ReadingError
from ragkit.reading.conversations import read_conversation
from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.pool import ReaderPool, ReadTask
from ragkit.settings import ReadingSettings


def read_text(settings: ReadingSettings, place: Path, name: str = "") -> str:
    """Return the text of a file, read like a document in a confined process.

    ``name`` is the file's original name where ``place`` has another.

    Raises:
        NotFoundError: there is no such file.
        ReadingError: it cannot be read, or has an unknown format.
    """
    if place.is_dir():
        raise NotFoundError(f"{place} is a folder.", "Name a file, or add it: ragkit add.")
    if not place.is_file():
        raise NotFoundError(f"There is no file {place}.", "Check the path.")
    with ReaderPool(settings) as pool:
        (outcome,) = pool.read(iter([ReadTask(0, place, name or place.name)]))
    if isinstance(outcome.result, ReadingError):
        raise outcome.result
    return outcome.result.reading.text


def read_dropped(settings: ReadingSettings, folder: Path, name: str, data: bytes) -> str:
    """Return the text of an uploaded file, which is stored in ``folder`` only while it is read.

    Raises:
        ReadingError: it cannot be read, or has an unknown format.
    """
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"question-{secrets.token_hex(8)}"
    try:
        place.write_bytes(data)
        return read_text(settings, place, name)
    finally:
        place.unlink(missing_ok=True)


def as_conversation(pasted: str) -> str:
    """Return a pasted chat export as Markdown with a block per message; any other text as it is."""
    text = clean(pasted)
    formats: tuple[Format, ...] = (Format.TEXT,)
    if text.lstrip()[:1] in ("{", "["):
        formats = (Format.JSON, Format.JSONL)
    elif text.startswith(("---\n", "# ")):
        formats = (Format.MARKDOWN, Format.TEXT)
    for file_format in formats:
        conversation = read_conversation(text, "pasted", file_format)
        if conversation is not None:
            return conversation.text
    return text
