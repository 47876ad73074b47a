"""What is attached to mails and notes: read within bounds, with a warning where it cannot be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragkit.errors import ReadingError, SkippedError
from ragkit.formatting import byte_size, plural
from ragkit.reading.sniffing import sniff

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragkit.types import Reading

MOST_OF_MANY = 20_000_000
"""Bytes of attachments that are read of a file with many mails or notes."""

_MOST_WARNINGS = 5


@dataclass(slots=True)
class Attachments:
    """Reads attachments up to ``most`` bytes, while there is room for ``characters`` of text."""

    most: float
    characters: float
    _size: int = 0
    _warnings: list[str] = field(default_factory=list)

    def text_of(self, name: str, content: bytes, read: Callable[[], Reading]) -> str:
        """Return the text of an attachment; ``""`` if it is no document or cannot be read."""
        try:
            if not content.strip():
                return ""
            if self._size + len(content) > self.most:
                sniff(name, content)  # of a picture nobody needs to be told
                raise ReadingError(f"no more than {byte_size(int(self.most))} of them are read.")
            text = read().text.strip()
            self._size += len(content)
            self.characters -= len(text)
            if self.characters < 0:
                raise ReadingError("there is too much text.")
        except SkippedError:  # a picture, most likely
            return ""
        except ReadingError as error:
            self._warnings.append(f"The attachment {name} was not read: {error.message}")
            return ""
        return text

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was not read, in sentences; of many, the first ones and the number of the others."""
        more = len(self._warnings) - _MOST_WARNINGS
        if more <= 0:
            return tuple(self._warnings)
        rest = f"{plural(more, 'further attachment')} could not be read."
        return (*self._warnings[:_MOST_WARNINGS], rest)
