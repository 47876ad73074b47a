"""Other files in Word documents (``altChunk``), which Word shows as if they were typed there.

Programs that write a report as a web page pack it like that.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragkit.errors import RagkitError
from ragkit.reading.zip_container import relations

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Callable, Sequence

_CHUNK = re.compile(
    rb"<w:altChunk\s(?:[^<>]*?\s)?r:id=\"([^\"<>]{1,100})\"[^<>]*(?:/>|>.*?</w:altChunk>)", re.S
)
_MARK = re.compile("\ufdde(\\d+)\ufddf")
_PARAGRAPH = "<w:p><w:r><w:t>\ufdde{}\ufddf</w:t></w:r></w:p>"
_MOST_CHUNKS = 200


class Chunks:
    """The files in a document: marks stand for them while the document is converted."""

    def __init__(self, archive: zipfile.ZipFile, read: Callable[[bytes, str], str]) -> None:
        """``read`` returns the Markdown of a file from its bytes and its name."""
        self._archive = archive
        self._read = read
        self._names: list[str] = []

    def marked(self, document: bytes) -> bytes:
        """Return the XML of a document with a paragraph for each file that is there."""
        if b"<w:altChunk" not in document:
            return document
        linked, there = relations(self._archive, "word/document.xml"), self._archive.namelist()

        def marked(chunk: re.Match[bytes]) -> bytes:
            name, _ = linked.get(chunk[1].decode("utf-8", "replace"), ("", ""))
            if name not in there or len(self._names) == _MOST_CHUNKS:
                return b""
            self._names.append(name)
            return _PARAGRAPH.format(len(self._names) - 1).encode()

        return _CHUNK.sub(marked, document)

    def in_place(self, markdown: str) -> str:
        """Return converted text with the text of each file where its mark is."""
        texts = [self._text(name) for name in self._names]
        return _MARK.sub(lambda mark: _nth(texts, int(mark[1])), markdown)

    def _text(self, name: str) -> str:
        try:
            return self._read(self._archive.read(name), name)
        except RagkitError:
            # What surrounds it is worth reading without it.
            return ""


def _nth(texts: Sequence[str], number: int) -> str:
    return f"\n\n{texts[number]}\n\n" if number < len(texts) else ""
