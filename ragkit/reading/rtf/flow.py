"""A stretch of a rich text file that reads on by itself: the body, a note, a box or a comment."""

from __future__ import annotations

from ragkit.reading.blocks import Block, inline, paragraph, tabled
from ragkit.reading.reading_parts import whole_line


class Flow:
    """Collects the words of paragraphs and cells as they come, and makes blocks of them."""

    def __init__(self) -> None:
        self._blocks: list[Block] = []
        self._beside: list[Block] = []
        self._words: list[tuple[str, bool]] = []
        self._rows: list[list[list[Block]]] = []
        self._row: list[list[Block]] = []
        self._cell: list[Block] = []

    def say(self, words: str) -> None:
        """Add words to the paragraph that is begun."""
        self._words.append((words, False))

    def mark(self, markup: str) -> None:
        """Add a piece of Markdown to the paragraph that is begun."""
        self._words.append((markup, True))

    def place(self) -> int:
        """Return how much of the paragraph there is, for ``link``."""
        return len(self._words)

    def link(self, start: int, target: str) -> None:
        """Make what was said since a place a link, unless it shows its target."""
        words = "".join(word for word, _ in self._words[start:])
        if words.strip() and words not in target and "\n" not in words:
            self._words.insert(start, ("[", True))
            self.mark(f"]({target})")

    def put_beside(self, blocks: list[Block]) -> None:
        """Let blocks follow the paragraph that is begun."""
        self._beside += blocks

    def end_paragraph(
        self, *, level: int = 0, depth: int = 0, number: str = "", in_table: bool
    ) -> None:
        """End the paragraph as a heading of a level, an item at a depth of lists, or neither."""
        ended = paragraph(self._text(), level=level, depth=depth, number=number)
        blocks = [ended, *self._beside]
        self._words, self._beside = [], []
        if in_table:
            self._cell += blocks
        else:
            self._end_table()
            self._blocks += blocks

    def end_cell(self) -> None:
        """End the cell with the paragraph that is begun."""
        self.end_paragraph(in_table=True)
        self._row.append(self._cell)
        self._cell = []

    def end_row(self) -> None:
        """End the row of a table."""
        self._rows.append(self._row)
        self._row = []

    def ended(self) -> list[Block]:
        """Return the blocks of the whole flow."""
        self.end_paragraph(in_table=bool(self._row or self._cell))
        self._end_table()
        return self._blocks

    def lines(self) -> list[str]:
        """Return the paragraphs of the whole flow that are not empty, each on one line."""
        return [line for block in self.ended() if (line := whole_line(block.text))]

    def _end_table(self) -> None:
        if self._row or self._cell:
            self._rows.append([*self._row, self._cell])
        self._blocks += tabled(self._rows)
        self._rows, self._row, self._cell = [], [], []

    def _text(self) -> str:
        """Return the paragraph as Markdown; letters may have come in halves."""
        pieces: list[str] = []
        halves = ""
        for words, is_markup in (*self._words, ("", True)):
            if not is_markup:
                halves += words
                continue
            pieces += [inline(whole_letters(halves)), words]
            halves = ""
        return "".join(pieces)


def whole_letters(text: str) -> str:
    """Return a text in which the halves of letters beyond 16 bits are put together."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
