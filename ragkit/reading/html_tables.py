"""Tables of web pages that only say where things stand: most tables of mails, and of old pages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from itertools import pairwise

_ONLY_PLACES = re.compile(r"\srole\s*=\s*[\"']?\s*(?:presentation|none)\b", re.I)
_PICTURE = re.compile(r"<img\b[^<>]*>", re.I)
_ANY = re.compile(r"<[^<>]*>")
_BLOCK = re.compile(
    r"</?(?:address|blockquote|br|center|d[dlt]|div|h[1-6r]|li|[ou]l|p|pre|t[dhr]|table)\b[^<>]*>",
    re.I,
)
UNSEEN = re.compile("[\xad\u034f\u200b-\u200f\u2060-\u2064\ufeff]+")
"""Signs that fill up or divide a line without being seen."""

_SPACE = re.compile(r"\s+")
_AMOUNT = re.compile(r"\D{0,4}\d[\d.,'’]{0,15}\D{0,4}")
_LONGEST_LINE = 150


@dataclass(slots=True)
class Table:
    """An open table: where its tags are among the pieces of the page, and what its cells hold."""

    more: str = ""
    tags: list[int] = field(default_factory=list)
    rows: int = 0
    is_rich: bool = False
    holds_blocks: bool = False
    has_heads: bool = False

    def only_lays_out(self, pieces: list[str]) -> bool:
        """Write divisions in place of a table that holds no data; return whether it is one.

        What stands side by side in a row, such as a sum and its name, becomes one line if it is
        short.
        """
        rows = self._filled(pieces)
        is_note = self._is_note(rows, pieces)
        if not is_note and not self._is_layout(rows, pieces):
            return False
        if is_note:
            self._as_note(pieces)
        for place in self.tags:
            pieces[place] = "</div>" if pieces[place][1] == "/" else "<div>"
        for cells in rows:
            if len(cells) > 1 and _is_line(["".join(pieces[a:b]) for a, b in cells]):
                for place in range(cells[0][0], cells[-1][1]):
                    pieces[place] = _SPACE.sub(" ", _BLOCK.sub(" ", pieces[place]))
        return True

    def _filled(self, pieces: list[str]) -> list[list[tuple[int, int]]]:
        """Return of each row which pieces are cells that have a text."""
        rows: list[list[tuple[int, int]]] = [[]]
        for place, after in pairwise(self.tags):
            name = pieces[place][1:3].lower()
            if name == "tr":
                rows.append([])
            elif name in ("td", "th") and _text("".join(pieces[place + 1 : after])):
                rows[-1].append((place + 1, after))
        return rows

    def _is_layout(self, rows: list[list[tuple[int, int]]], pieces: list[str]) -> bool:
        if self.holds_blocks or (self.is_rich and self.rows < 2):
            return True
        only_places = bool(_ONLY_PLACES.search(self.more))
        widest = max(rows, key=len)
        if len(widest) < 2:
            return only_places or self.rows < 2 or not self.has_heads
        cells = ["".join(pieces[begin:end]) for begin, end in widest]
        return self.rows < 2 and (
            only_places or (not _is_line(cells) and any(map(_BLOCK.search, cells)))
        )

    def _is_note(self, rows: list[list[tuple[int, int]]], pieces: list[str]) -> bool:
        """Return whether paragraphs stand below a single head, as in notes and warnings."""
        if self.rows != 2 or not self.has_heads or max(map(len, rows)) > 1:
            return False
        return any(_BLOCK.search("".join(pieces[a:b])) for cells in rows[2:] for a, b in cells)

    def _as_note(self, pieces: list[str]) -> None:
        """Write the head of a note in bold letters, and no picture in place of a text."""
        for place, after in pairwise(self.tags):
            between = slice(place + 1, after)
            if not _text("".join(pieces[between])):
                pieces[between] = [_PICTURE.sub("", piece) for piece in pieces[between]]
            elif pieces[place][1:3].lower() == "th":
                pieces[place + 1] = f"<b>{pieces[place + 1]}"
                pieces[after - 1] = f"{pieces[after - 1]}</b>"


def _text(source: str) -> str:
    return "".join(UNSEEN.sub("", unescape(_ANY.sub("", source))).split())


def _is_line(cells: list[str]) -> bool:
    """Return whether cells hold one short text each, or an item of several and its price."""
    texts = [[text for part in _BLOCK.split(cell) if (text := _text(part))] for cell in cells]
    length = sum(len(text) for cell in texts for text in cell)
    if length > _LONGEST_LINE or any("<tr" in cell for cell in cells):
        return False
    is_priced = len(texts[-1]) == 1 and _AMOUNT.fullmatch(texts[-1][0]) is not None
    return is_priced or all(len(cell) == 1 for cell in texts)
