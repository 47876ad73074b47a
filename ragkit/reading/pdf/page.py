"""Renders a page of a PDF as a picture, with the positions of its words and of a passage.

PDFs may be hostile and their renderer is native code, so ``picture_of`` and ``sizes_of`` work in a
confined child process, which calls ``render_page``.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from ragkit.errors import ReadingError
from ragkit.reading.pdf.page_words import (
    MOST_CHARACTERS,
    NO_PASSAGE,
    Characters,
    Cut,
    PlacedWords,
    Rectangle,
)
from ragkit.reading.pdf.pictures import pictures_on

_MOST_PIXELS = 12_000_000
_COARSEST, _FINEST = 200.0, 300.0
"""Pixels per inch: coarser scans are recognised better if enlarged, finer ones no better."""
_TIMEOUT_SECONDS = 20.0
_MEMORY_MB = 1500
_CURE = "Read its text instead."


@dataclass(frozen=True, slots=True)
class PageImage:
    """A page as a PNG. ``rectangles`` frame the lines of the passage, if it was found.

    ``words`` are the page's words in order with their positions; a word that is followed by a space
    ends with it. ``dpi`` says how many pixels an inch of the page has.
    """

    png: bytes
    width: int
    height: int
    pages: int
    dpi: float
    rectangles: tuple[Rectangle, ...] = ()
    words: PlacedWords = ()


def picture_of(
    file: Path, number: int, passage: Cut = NO_PASSAGE, recognised: PlacedWords = (), *,
    width: int = 1100, timeout: float = 0.0,
) -> PageImage:  # fmt: skip
    """Render page ``number`` (from 1) in a confined child process.

    ``recognised`` are the words of a page that is a picture. With a ``width`` of 0, the page is as
    fine as its scan, between 200 and 300 dpi.

    Raises:
        ReadingError: the file is missing, cannot be rendered, or takes too long.
    """
    parts = [part[:MOST_CHARACTERS] for part in astuple(passage)]
    request = {
        "number": number, "passage": parts, "width": width,
        "recognised": [(word, astuple(box)) for word, box in recognised],
    }  # fmt: skip
    answer, png = _asked(file, request, f"Page {number} of {file.name}", timeout)
    if not png:
        raise ReadingError(f"Page {number} of {file.name} could not be drawn.", _CURE)
    rectangles = tuple(Rectangle(*edges) for edges in answer.pop("rectangles"))
    words = tuple((word, Rectangle(*edges)) for word, edges in answer.pop("words"))
    return PageImage(png, **answer, rectangles=rectangles, words=words)


def sizes_of(file: Path) -> tuple[tuple[float, float], ...]:
    """Return the width and height in points of every page as shown, from a child process.

    Raises:
        ReadingError: the file is missing, cannot be read, or takes too long.
    """
    answer, _ = _asked(file, {"number": 0}, file.name)
    return tuple((float(across), float(down)) for across, down in answer["sizes"])


def _asked(
    file: Path, request: dict[str, Any], what: str, timeout: float = 0.0
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


def render_page(
    file: Path, number: int, passage: Cut = NO_PASSAGE, recognised: PlacedWords = (), *,
    width: int = 1100,
) -> PageImage:  # fmt: skip
    """Render page ``number`` (from 1), at most ``width`` pixels wide, and find a passage on it.

    The other arguments are those of ``picture_of``.

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
        scale = width / max(across, 1.0) if width else _scan_dpi(page) / 72
        scale = min(scale, (_MOST_PIXELS / max(across * down, 1.0)) ** 0.5)
        bitmap = page.render(scale=scale)
        out = io.BytesIO()
        bitmap.to_pil().convert("RGB").save(out, "PNG")
        text = (
            Characters.of_words(recognised) if recognised
            else Characters.of_page(page, bitmap.width, bitmap.height)
        )  # fmt: skip
        rectangles = text.framing(passage) if passage.text.strip() else ()
        return PageImage(
            out.getvalue(), bitmap.width, bitmap.height, total, scale * 72, rectangles, text.words()
        )
    finally:
        document.close()


def _scan_dpi(page: Any) -> float:
    """Return the resolution of the largest picture on a page, within that of good scans."""
    largest, dpi = 0.0, _FINEST
    for picture, area in pictures_on(page):
        if area > largest:
            wide, high = picture.get_px_size()
            largest, dpi = area, 72 * (wide * high / area) ** 0.5
    return min(max(dpi, _COARSEST), _FINEST)


# -- the child -----------------------------------------------------------------------------------


def _drawn(file: Path, request: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    cut = Cut(*request["passage"])
    recognised = tuple((word, Rectangle(*edges)) for word, edges in request["recognised"])
    image = render_page(file, request["number"], cut, recognised, width=request["width"])
    head: dict[str, Any] = {"width": image.width, "height": image.height}
    head["pages"], head["dpi"] = image.pages, image.dpi
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
