"""Renders a page of a PDF as a picture, with the positions of its words and of a passage.

PDFs may be hostile and their renderer is native code, so ``picture_of`` and ``sizes_of`` work in a
confined child process, which calls ``render_page``.
"""

from __future__ import annotations

import ctypes
import difflib
import io
import json
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from ragkit.errors import ReadingError

_MOST_PIXELS = 12_000_000
_MOST_CHARACTERS = 40_000
_BRIDGED_WORDS = 6
_WORD_SPACE = 0.05
_TIMEOUT_SECONDS = 20.0
_MEMORY_MB = 1500
_CURE = "Read its text instead."
_TOKEN = re.compile(r"[\u3040-\u9fff]|[^\s\u3040-\u9fff]+")
_UNSEEN = dict.fromkeys(map(ord, "\xad\u200b\ufffe\x02"))


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A part of a page, in fractions of its width and height from the top left corner."""

    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Cut:
    """A passage to frame, with the text around it to distinguish it from the same words elsewhere.

    Without that text, the passage may differ slightly from the page.
    """

    text: str = ""
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class PageImage:
    """A page as a PNG. ``rectangles`` frame the lines of the passage, if it was found.

    ``words`` are the page's words in order with their positions; a word that is followed by a space
    ends with it.
    """

    png: bytes
    width: int
    height: int
    pages: int
    rectangles: tuple[Rectangle, ...] = ()
    words: tuple[tuple[str, Rectangle], ...] = ()


def picture_of(
    file: Path, number: int, passage: Cut = Cut(), *, width: int = 1100, timeout: float = 0.0
) -> PageImage:
    """Render page ``number`` (from 1) in a confined child process.

    Raises:
        ReadingError: the file is missing, cannot be rendered, or takes too long.
    """
    parts = [part[:_MOST_CHARACTERS] for part in astuple(passage)]
    request = {"number": number, "passage": parts, "width": width}
    answer, png = _asked(file, request, f"Page {number} of {file.name}", timeout)
    if not png:
        raise ReadingError(f"Page {number} of {file.name} could not be drawn.", _CURE)
    rectangles = tuple(Rectangle(*edges) for edges in answer.pop("rectangles"))
    words = tuple((word, Rectangle(*edges)) for word, edges in answer.pop("words"))
    return PageImage(png, **answer, rectangles=rectangles, words=words)


def sizes_of(file: Path, *, timeout: float = 0.0) -> tuple[tuple[float, float], ...]:
    """Return the width and height in points of every page as shown, from a child process.

    Raises:
        ReadingError: the file is missing, cannot be read, or takes too long.
    """
    answer, _ = _asked(file, {"number": 0}, file.name, timeout)
    return tuple((float(across), float(down)) for across, down in answer["sizes"])


def _asked(
    file: Path, request: dict[str, Any], what: str, timeout: float
) -> tuple[dict[str, Any], bytes]:
    """Send a request to a child process; return the header of its answer and its data."""
    if not file.is_file():
        raise ReadingError(f"{file.name} is no longer where it was.", "Sync its folder.")
    message = json.dumps({**request, "file": str(file), "parent": os.getpid()}).encode("ascii")
    try:
        done = subprocess.run(
            [sys.executable, "-m", "ragkit.reading.pdf.page"],
            input=message,
            capture_output=True,
            timeout=timeout or _TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ReadingError(
            f"Drawing {what[:1].lower() + what[1:] if request['number'] else what} took too long.",
            _CURE,
        ) from error
    head, _, rest = done.stdout.partition(b"\n")
    try:
        answer = json.loads(head)
    except ValueError:
        answer = {}
    if done.returncode or not answer:
        reason = f": {answer['error']}" if answer.get("error") else ""
        raise ReadingError(f"{what} could not be drawn{reason}.", _CURE)
    return answer, rest


def render_page(file: Path, number: int, passage: Cut = Cut(), *, width: int = 1100) -> PageImage:
    """Render page ``number`` (from 1), at most ``width`` pixels wide, and find a passage on it.

    Raises:
        ReadingError: there is no such page.
    """
    import pypdfium2

    document = pypdfium2.PdfDocument(file)
    try:
        # Only with the form are its values drawn.
        document.init_forms()
        total = len(document)
        if not 1 <= number <= total:
            raise ReadingError(f"There is no page {number}.", f"The file has {total}.")
        page = document[number - 1]
        across, down = page.get_size()
        scale = width / max(across, 1.0)
        scale = min(scale, (_MOST_PIXELS / max(across * down, 1.0)) ** 0.5)
        bitmap = page.render(scale=scale)
        out = io.BytesIO()
        bitmap.to_pil().convert("RGB").save(out, "PNG")
        text = _Characters(page, bitmap.width, bitmap.height)
        rectangles = text.framing(passage) if passage.text.strip() else ()
        return PageImage(
            out.getvalue(), bitmap.width, bitmap.height, total, rectangles, text.words()
        )
    finally:
        document.close()


# -- finding the passage -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Word:
    """A word in its comparable form, and the indexes of its characters on the page."""

    form: str
    characters: tuple[int, ...]


def words_in(characters: Iterable[str]) -> list[_Word]:
    """Divide characters into comparable words with the indexes of their characters."""
    words: list[_Word] = []
    form: list[str] = []
    indexes: list[int] = []
    for index, character in enumerate(characters):
        if character in "\xad\u200b\ufffe\x02":
            continue
        plain = "".join(
            c for c in unicodedata.normalize("NFKC", character).casefold() if c.isalnum()
        )
        if plain:
            form.append(plain)
            indexes.append(index)
        # Each Han or kana character is a word.
        if (not plain or "\u3040" <= character <= "\u9fff") and form:
            words.append(_Word("".join(form), tuple(indexes)))
            form, indexes = [], []
    if form:
        words.append(_Word("".join(form), tuple(indexes)))
    return words


def matching_words(page: Sequence[str], passage: Sequence[str]) -> list[int]:
    """Return the indexes of the page's words that match a passage, also with small differences."""
    if not page or not passage:
        return []
    matcher = difflib.SequenceMatcher(None, page, passage, autojunk=False)
    least = 1 if len(passage) < 4 else 2
    blocks = [(b.a, b.a + b.size) for b in matcher.get_matching_blocks() if b.size >= least]
    joined: list[list[int]] = []
    for start, end in blocks:
        if joined and start - joined[-1][1] <= _BRIDGED_WORDS:
            joined[-1][1] = end
        else:
            joined.append([start, end])
    longest = max((end - start for start, end in joined), default=0)
    kept = [(a, b) for a, b in joined if b - a >= max(least, min(4, longest))]
    return [index for start, end in kept for index in range(start, end)]


def words_between(
    page: Sequence[str], before: Sequence[str], passage: Sequence[str], after: Sequence[str]
) -> list[int]:
    """Return the indexes of the page's words from the first to the last match of a passage.

    The words ``before`` and ``after`` it distinguish it from the same words elsewhere on the page.
    """
    matcher = difflib.SequenceMatcher(None, page, [*before, *passage, *after], autojunk=False)
    first, last = len(before), len(before) + len(passage)
    matches = [
        block.a + place - block.b
        for block in matcher.get_matching_blocks()
        for place in range(max(block.b, first), min(block.b + block.size, last))
    ]
    if not matches or matches[-1] - matches[0] > 2 * len(passage) + _BRIDGED_WORDS:
        return matching_words(page, passage)
    return list(range(matches[0], matches[-1] + 1))


class _Characters:
    """The characters of a page with their positions in its picture."""

    def __init__(self, page: Any, width: int, height: int) -> None:
        import pypdfium2.raw as pdfium

        textpage = page.get_textpage()
        count = min(int(textpage.count_chars()), _MOST_CHARACTERS)
        codes = [pdfium.FPDFText_GetUnicode(textpage, index) for index in range(count)]
        self._text = "".join(chr(code) if 0 < code < 0x110000 else " " for code in codes)
        boxes = (_box(pdfium, page, textpage, index, width, height) for index in range(count))
        self._boxes = list(boxes)

    def framing(self, passage: Cut) -> tuple[Rectangle, ...]:
        """Return the rectangles of the lines of a passage."""
        words = words_in(self._text)
        page = [word.form for word in words]
        before, forms, after = (
            [word.form for word in words_in(part)]
            for part in (passage.before, passage.text, passage.after)
        )
        if before or after:
            matches = words_between(page, before, forms, after)
        else:
            matches = matching_words(page, forms)
        characters = (index for place in matches for index in words[place].characters)
        return lines_of(box for index in characters if (box := self._boxes[index]) is not None)

    def words(self) -> tuple[tuple[str, Rectangle], ...]:
        """Return the words between spaces, and each Han or kana character, with positions."""
        words = []
        for match in _TOKEN.finditer(self._text):
            boxes = [box for box in self._boxes[match.start() : match.end()] if box is not None]
            if boxes:
                text = match.group().translate(_UNSEEN).encode("utf-8", "ignore").decode()
                follows = self._text[match.end() : match.end() + 1]
                words.append((text if follows.strip() else f"{text} ", _around(boxes)))
        return tuple(words)


def _around(boxes: Sequence[Rectangle]) -> Rectangle:
    """Return the smallest rectangle that contains all boxes."""
    return Rectangle(
        min(box.left for box in boxes),
        min(box.top for box in boxes),
        max(box.right for box in boxes),
        max(box.bottom for box in boxes),
    )


def _box(
    pdfium: Any, page: Any, textpage: Any, index: int, width: int, height: int
) -> Rectangle | None:
    """Return the rectangle of a character on the rendered page; ``None`` if it is empty."""
    edges = pdfium.FS_RECTF()
    if not pdfium.FPDFText_GetLooseCharBox(textpage, index, ctypes.byref(edges)):
        return None
    corners = []
    for x, y in ((edges.left, edges.top), (edges.right, edges.bottom)):
        across, down = ctypes.c_int(), ctypes.c_int()
        pdfium.FPDF_PageToDevice(
            page, 0, 0, width * 8, height * 8, 0, x, y, ctypes.byref(across), ctypes.byref(down)
        )
        corners.append((across.value / (width * 8), down.value / (height * 8)))
    (x1, y1), (x2, y2) = corners
    box = Rectangle(
        *(min(1.0, max(0.0, edge)) for edge in (min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)))
    )
    return box if box.right > box.left and box.bottom > box.top else None


def lines_of(boxes: Iterable[Rectangle]) -> tuple[Rectangle, ...]:
    """Join the boxes of characters on the same line."""
    lines: list[Rectangle] = []
    for box in boxes:
        last = lines[-1] if lines else None
        if last is not None and _same_line(last, box):
            lines[-1] = _around((last, box))
        else:
            lines.append(box)
    return tuple(lines)


def _same_line(line: Rectangle, box: Rectangle) -> bool:
    """Return whether a character continues a line."""
    overlap = min(line.bottom, box.bottom) - max(line.top, box.top)
    height = min(line.bottom - line.top, box.bottom - box.top)
    gap = max(box.left - line.right, line.left - box.right)
    if overlap > 0.5 * height and gap < _WORD_SPACE:
        return True
    # On a rotated page, lines run down the picture.
    aligned = max(abs(line.left - box.left), abs(line.right - box.right)) < _WORD_SPACE / 20
    return aligned and max(box.top - line.bottom, line.top - box.bottom) < _WORD_SPACE / 2


# -- the child -----------------------------------------------------------------------------------


def _drawn(file: Path, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    cut = Cut(*request["passage"])
    image = render_page(file, request["number"], cut, width=request["width"])
    head: dict[str, Any] = {"width": image.width, "height": image.height}
    head["pages"] = image.pages
    head["rectangles"] = [astuple(box) for box in image.rectangles]
    head["words"] = [(word, astuple(box)) for word, box in image.words]
    return head, image.png


def _sizes(file: Path) -> list[tuple[float, float]]:
    import pypdfium2

    document = pypdfium2.PdfDocument(file)
    try:
        return [document.get_page_size(index) for index in range(len(document))]
    finally:
        document.close()


def _child() -> int:
    """Carry out the request on stdin; write a line of JSON and the PNG to stdout."""
    from ragkit.reading.sandbox import confine

    request = json.loads(sys.stdin.buffer.read())
    import PIL.PngImagePlugin
    import pypdfium2

    del PIL, pypdfium2
    confine(_MEMORY_MB, int(request["parent"]))
    file = Path(request["file"])
    try:
        head, png = _drawn(file, request) if request["number"] else ({"sizes": _sizes(file)}, b"")
    except Exception as error:  # noqa: BLE001 - the parent reports any error in a sentence
        reason = error.message if isinstance(error, ReadingError) else type(error).__name__
        sys.stdout.buffer.write(json.dumps({"error": reason.rstrip(".")}).encode("ascii") + b"\n")
        return 1
    sys.stdout.buffer.write(json.dumps(head).encode("ascii") + b"\n" + png)
    return 0


if __name__ == "__main__":
    sys.exit(_child())
