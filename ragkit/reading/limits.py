"""Limits on reading one file, and the errors that several readers share."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragkit.errors import LockedError, PassingError, ReadingError, SkippedError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragkit.settings import ReadingSettings

MEGABYTE = 1_000_000
SCANNED = "This PDF holds pictures of pages, not text."
NOT_RECOGNISED = "No text was recognised in the pictures of this PDF."
OCR, NEEDS_OCR = "OCR", "text, and need"
"""Parts of every warning about single pages that are pictures, and about unread ones."""
COUNTS_COMPUTING_TIME = hasattr(signal, "setitimer")
_LONGEST_WAIT = 10
"""How many times its computing time a reader may take: on a loaded machine it mostly waits."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What reading one file may cost, without pydantic: reading processes start quickly.

    ``timeout_seconds`` is processor time on systems that can limit it, or else elapsed time.
    ``attachments`` says whether what is attached to a mail is read with it.
    """

    timeout_seconds: float
    memory_mb: int
    max_file_mb: float
    max_text_mb: float
    attachments: bool = True

    @classmethod
    def of(cls, settings: ReadingSettings) -> Limits:
        """Return the limits of the settings."""
        return cls(
            settings.timeout_seconds,
            settings.memory_mb,
            settings.max_file_mb,
            settings.max_text_mb,
        )


def number(value: float) -> str:
    """Format a number for people, with three significant digits."""
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def too_large(size: int, limits: Limits) -> SkippedError:
    """Return the refusal of a file over the size limit."""
    return SkippedError(
        f"The file is larger than {number(limits.max_file_mb)} MB"
        f" (it has {number(size / MEGABYTE)} MB).",
        "Split it, or raise reading.max_file_mb in the settings.",
    )


def too_much_text(limits: Limits) -> ReadingError:
    """Return the error for a file with more text than is allowed."""
    return ReadingError(
        f"The file contains more than {number(limits.max_text_mb)} MB of text.",
        "Split it, or raise reading.max_text_mb in the settings.",
    )


def check_text(pieces: Iterable[str], limits: Limits) -> None:
    """Raise a ``ReadingError`` if the pieces together exceed ``max_text_mb``."""
    allowed = limits.max_text_mb * MEGABYTE
    for piece in pieces:
        allowed -= len(piece)
        if allowed < 0:
            raise too_much_text(limits)


def too_slow(limits: Limits) -> ReadingError:
    """Return the error for a file that needs too much computing time."""
    return ReadingError(
        f"Reading took longer than {number(limits.timeout_seconds)} s.",
        "Split the file, or raise reading.timeout_seconds in the settings, then retry it.",
    )


def kept_waiting(limits: Limits) -> PassingError:
    """Return the error for a file that ran out of elapsed time, not of processor time."""
    return PassingError(
        f"Reading was not finished after {number(wall_seconds(limits.timeout_seconds))} s.",
        "The machine or the drive was busy; it will be retried automatically.",
    )


def wall_seconds(computing_seconds: float) -> float:
    """Return the elapsed time allowed for a step with that limit of processor time."""
    return computing_seconds * (_LONGEST_WAIT if COUNTS_COMPUTING_TIME else 1)


def too_much_memory(limits: Limits) -> ReadingError:
    """Return the error for a file that needed too much memory."""
    return ReadingError(
        f"Reading needed more than {limits.memory_mb} MB of memory.",
        "Split the file, or raise reading.memory_mb in the settings, then retry it.",
    )


def ended_from_outside() -> PassingError:
    """Return the error for a file whose reading process was killed by the system."""
    return PassingError(
        "The system ended the reader of this file, probably because memory ran out.",
        "Close other programs; it will be retried automatically.",
    )


def too_deep() -> ReadingError:
    """Return the error for a file that is nested too deeply."""
    return ReadingError(
        "The file is nested too deeply.",
        "Save it again from the program that made it, or simplify it.",
    )


def damaged(label: str) -> ReadingError:
    """Return the error for a damaged file; ``label`` is its format's ("PDF", "Word document")."""
    return ReadingError(
        f"This {label} is damaged or incomplete and cannot be opened.",
        "Open it in the program that made it, save it again, then retry it.",
    )


def too_old(program: str, version: str, suffix: str) -> ReadingError:
    """Return the error of a document that is older than a version of its program."""
    return ReadingError(
        f"This file was written by a version of {program} before {version}.",
        f"Open it in a word processor and save it as {suffix}.",
    )


def locked(label: str) -> LockedError:
    """Return the error for a file that is protected by a password."""
    return LockedError(
        f"This {label} is locked with a password.",
        "Save a copy without a password, and put the copy in the folder.",
    )


def protected() -> ReadingError:
    """Return the error of an e-book that only the programs of its seller can open."""
    return ReadingError(
        "This e-book is protected against copying.",
        "Only the programs of its seller can open it; leave it out of the library.",
    )


def uncut() -> ReadingError:
    """Return the error for a file whose text could not be divided into chunks."""
    return ReadingError(
        "The file's text could not be cut into sections.",
        "Save it again from the program that made it, then retry it.",
    )


def no_text(label: str) -> ReadingError:
    """Return the error for a sound file without text."""
    return ReadingError(
        f"This {label} contains no text.",
        "Add text to it, or name it in a file .ragkitignore in its folder.",
    )


def needs_ocr() -> ReadingError:
    """Return the error for a PDF without text whose pages are pictures."""
    return ReadingError(
        SCANNED,
        "With Tesseract installed, ragkit recognises their text by itself, in the background.",
    )


def awaits_ocr() -> ReadingError:
    """Return why a PDF without text has none yet."""
    return ReadingError(SCANNED, "Its text will be recognised in the background.")


def never_drawn() -> ReadingError:
    """Return the error for a scanned PDF of which no page can be drawn for Tesseract."""
    return ReadingError(
        "This PDF holds pictures of pages, but they cannot be drawn and recognised.",
        "Save it again from the program that made it; if it is packed, unpack it.",
    )


def not_recognised() -> ReadingError:
    """Return the error for a scanned PDF in which no text was recognised."""
    return ReadingError(
        NOT_RECOGNISED,
        "If they show text, install Tesseract's data for its language, and name the language in "
        "reading.ocr_languages.",
    )
