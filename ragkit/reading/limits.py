"""Limits on reading one file, and the errors that several readers share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragkit.errors import ReadingError, SkippedError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ragkit.settings import ReadingSettings

MEGABYTE = 1_000_000
_CHARACTERS_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """What reading one file may cost, without pydantic: a reading process starts quickly."""

    timeout_seconds: float
    memory_mb: int
    max_file_mb: float
    max_text_mb: float

    @classmethod
    def of(cls, settings: ReadingSettings) -> Limits:
        """Return the limits that the settings set."""
        return cls(
            settings.timeout_seconds,
            settings.memory_mb,
            settings.max_file_mb,
            settings.max_text_mb,
        )


def cutting_seconds(characters: int, limits: Limits) -> float:
    """Return the seconds that cutting a text may take: those of reading, more for a long text."""
    return limits.timeout_seconds * max(1.0, characters / _CHARACTERS_AT_ONCE)


def number(value: float) -> str:
    """Format a figure for people, with three digits."""
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
        f"The file holds more than {number(limits.max_text_mb)} MB of text.",
        "Split it, or raise reading.max_text_mb in the settings.",
    )


def check_text(pieces: Iterable[str], limits: Limits) -> None:
    """Raise an error if the pieces together have more characters than ``max_text_mb`` allows."""
    allowed = limits.max_text_mb * MEGABYTE
    for piece in pieces:
        allowed -= len(piece)
        if allowed < 0:
            raise too_much_text(limits)


def too_slow(limits: Limits) -> ReadingError:
    """Return the error for a file that took too long."""
    return ReadingError(
        f"Reading took longer than {number(limits.timeout_seconds)} s.",
        "Split the file, or raise reading.timeout_seconds in the settings, then retry it.",
    )


def too_much_memory(limits: Limits) -> ReadingError:
    """Return the error for a file that needed too much memory."""
    return ReadingError(
        f"Reading needed more than {limits.memory_mb} MB of memory.",
        "Split the file, or raise reading.memory_mb in the settings, then retry it.",
    )


def too_deep() -> ReadingError:
    """Return the error for a file that is nested too deeply."""
    return ReadingError(
        "The file is nested too deeply to be read.",
        "Save it again from the program that made it, or simplify it.",
    )


def damaged(label: str) -> ReadingError:
    """Return the error for a damaged file; ``label`` is its format's ("PDF", "Word document")."""
    return ReadingError(
        f"This {label} is damaged or incomplete and cannot be opened.",
        "Open it in the program that made it, save it again, then retry it.",
    )


def uncut() -> ReadingError:
    """Return the error for a text that was read but could not be cut into chunks."""
    return ReadingError(
        "The file's text could not be cut into sections.",
        "Save it again from the program that made it, then retry it.",
    )


def no_text(label: str) -> ReadingError:
    """Return the error for a file that opened well but has nothing to search."""
    return ReadingError(
        f"This {label} holds no text.", "Add text to it, or leave it out of the folder."
    )
