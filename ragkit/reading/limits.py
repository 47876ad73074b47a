"""What one file may cost, and the refusals that several readers share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ragkit.errors import ReadingError, SkippedError

if TYPE_CHECKING:
    from collections.abc import Iterable

MEGABYTE = 1_000_000


class Limits(Protocol):
    """The part of ``ReadingSettings`` that readers look at."""

    @property
    def timeout_seconds(self) -> float:
        """Longest time for one file."""
        ...

    @property
    def memory_mb(self) -> int:
        """Most memory for one reading process."""
        ...

    @property
    def max_file_mb(self) -> float:
        """Larger files are skipped."""
        ...

    @property
    def max_text_mb(self) -> float:
        """A file with more text than this fails."""
        ...


@dataclass(frozen=True, slots=True)
class PlainLimits:
    """The same limits without pydantic, so that a reading process starts quickly."""

    timeout_seconds: float
    memory_mb: int
    max_file_mb: float
    max_text_mb: float


_CHARACTERS_AT_ONCE = 4_000_000


def cutting_seconds(characters: int, limits: Limits) -> float:
    """How long a text may take to be cut: as long as reading, and longer when it is very long."""
    return limits.timeout_seconds * max(1.0, characters / _CHARACTERS_AT_ONCE)


def number(value: float) -> str:
    """Write a figure for people: three digits are enough."""
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def too_large(size: int, limits: Limits) -> SkippedError:
    """Say that a file is over the size cap."""
    return SkippedError(
        f"The file is larger than {number(limits.max_file_mb)} MB"
        f" (it has {number(size / MEGABYTE)} MB).",
        "Split it, or raise reading.max_file_mb in the settings.",
    )


def too_much_text(limits: Limits) -> ReadingError:
    """Say that a file unfolds into more text than is allowed."""
    return ReadingError(
        f"The file holds more than {number(limits.max_text_mb)} MB of text.",
        "Split it, or raise reading.max_text_mb in the settings.",
    )


def check_text(pieces: Iterable[str], limits: Limits) -> None:
    """Refuse pieces that together hold more characters than ``max_text_mb`` allows."""
    allowed = limits.max_text_mb * MEGABYTE
    for piece in pieces:
        allowed -= len(piece)
        if allowed < 0:
            raise too_much_text(limits)


def too_slow(limits: Limits) -> ReadingError:
    """Say that reading was stopped by the clock."""
    return ReadingError(
        f"Reading took longer than {number(limits.timeout_seconds)} s.",
        "Split the file, or raise reading.timeout_seconds in the settings, then retry it.",
    )


def too_much_memory(limits: Limits) -> ReadingError:
    """Say that reading needed more memory than is allowed."""
    return ReadingError(
        f"Reading needed more than {limits.memory_mb} MB of memory.",
        "Split the file, or raise reading.memory_mb in the settings, then retry it.",
    )


def too_deep() -> ReadingError:
    """Say that a file is nested beyond reason."""
    return ReadingError(
        "The file is nested too deeply to be read.",
        "Save it again from the program that made it, or simplify it.",
    )


def damaged(kind: str) -> ReadingError:
    """Say that a file is not a sound one of its kind ("PDF", "Word document")."""
    return ReadingError(
        f"This {kind} is damaged or incomplete and cannot be opened.",
        "Open it in the program that made it, save it again, then retry it.",
    )


def uncut() -> ReadingError:
    """Say that a text was read but could not be cut into chunks."""
    return ReadingError(
        "The file's text could not be cut into sections.",
        "Save it again from the program that made it, then retry it.",
    )


def no_text(kind: str) -> ReadingError:
    """Say that a file opened well but holds nothing to search."""
    return ReadingError(
        f"This {kind} holds no text.", "Add text to it, or leave it out of the folder."
    )
