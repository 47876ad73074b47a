"""Renders a page of a PDF as a picture, with the positions of its words and of a passage.

PDFs may be hostile and their renderer is native code, so ``picture_of`` and ``sizes_of`` work in a
confined child process, which calls ``render_page``.
"""

from __future__ import annotations

import io
import math
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any, TypeVar

from ragkit.errors import ReadingError
from ragkit.reading import wire
from ragkit.reading.child_clock import ChildClock, kill_group
from ragkit.reading.limits import Limits
from ragkit.reading.pdf.page_words import (
    MOST_CHARACTERS,
    NO_PASSAGE,
    Cut,
    PlacedCharacters,
    PlacedWords,
    Rectangle,
)
from ragkit.reading.pdf.pictures import pictures_on
from ragkit.reading.zip_container import gunzipped, is_gzip

_MOST_PIXELS = 12_000_000
_COARSEST, _FINEST = 200.0, 300.0
"""Pixels per inch: coarser scans are recognised better if enlarged, finer ones no better."""
_TIMEOUT_SECONDS = 20.0
_MEMORY_MB, _MOST_MB = 1500, 500
_MOST_BYTES = 4 * _MOST_PIXELS
"""How long a picture, or the words of a page, may be: three bytes a pixel, and room to spare."""
_PNG_START = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
_CURE = "Read its text instead."

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class PageImage:
    """A page as a PNG. ``rectangles`` frame the lines of the passage, if it was found.

    ``words`` are the page's words in order with their positions; a word that is followed by a space
    ends with it. ``dpi`` says how many pixels an inch of the page has.
    """

    png: bytes
    width: int
    height: int
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
    return _asked(file, request, f"Page {number} of {file.name}", _image, timeout)


def sizes_of(file: Path) -> tuple[tuple[float, float], ...]:
    """Return the width and height in points of every page as shown, from a child process.

    Raises:
        ReadingError: the file is missing, cannot be read, or takes too long.
    """
    return _asked(file, {"number": 0}, file.name, _page_sizes)


def _asked(
    file: Path,
    request: dict[str, Any],
    what: str,
    unpack: Callable[[dict[str, Any], bytes], _Answer],
    timeout: float = 0.0,
) -> _Answer:
    """Send a request to a child process, and return its answer once it has been checked."""
    if not file.is_file():
        raise ReadingError(f"{file.name} is no longer where it was.", "Sync its folder.")
    failed = f"{what} could not be drawn"
    clock = ChildClock()
    with _started() as child:
        clock.start(timeout or _TIMEOUT_SECONDS, child)
        try:
            assert child.stdin is not None  # noqa: S101 - for the type checker
            assert child.stdout is not None  # noqa: S101
            wire.send(child.stdin, {**request, "file": str(file), "parent": os.getpid()})
            header, _, data = wire.receive(child.stdout, 0, _MOST_BYTES, _MOST_BYTES)
            if "error" in header:
                reason = wire.unpack_error(header["error"]).message
                raise ReadingError(f"{failed}: {reason}.", _CURE)
            return unpack(header, data)
        except (OSError, ValueError, LookupError, TypeError, wire.BrokenFrameError) as error:
            # It has ended, or a hostile file makes it send something else than an answer.
            if clock.rang:
                shown = what[:1].lower() + what[1:] if request["number"] else what
                raise ReadingError(f"Drawing {shown} took too long.", _CURE) from error
            raise ReadingError(f"{failed}.", _CURE) from error
        finally:
            clock.end()


@contextmanager
def _started() -> Iterator[subprocess.Popen[bytes]]:
    """Start a child process, and kill it after the block."""
    child = subprocess.Popen(
        [sys.executable, "-m", "ragkit.reading.pdf.page"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield child
    finally:
        kill_group(child)
        with suppress(OSError):
            child.communicate()


def _image(header: dict[str, Any], png: bytes) -> PageImage:
    """Build a picture from the child's answer; raise ``ValueError`` if it is none."""
    width, height = _whole(header["width"]), _whole(header["height"])
    # Rounding up adds at most a row and a column of pixels.
    if width * height > _MOST_PIXELS + width + height:
        raise ValueError
    if png[: len(_PNG_START)] != _PNG_START or png[16:24] != struct.pack(">II", width, height):
        raise ValueError
    rectangles = tuple(Rectangle(*_numbers(edges, 4)) for edges in header["rectangles"])
    words = [(word, Rectangle(*_numbers(edges, 4))) for word, edges in header["words"]]
    if not all(isinstance(word, str) for word, _ in words):
        raise ValueError
    (dpi,) = _numbers([header["dpi"]], 1)
    return PageImage(png, width, height, dpi, rectangles, tuple(words))


def _page_sizes(header: dict[str, Any], _data: bytes) -> tuple[tuple[float, float], ...]:
    sizes = (_numbers(size, 2) for size in header["sizes"])
    return tuple((across, down) for across, down in sizes)


def _whole(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise ValueError
    return value


def _numbers(values: Any, count: int) -> list[float]:
    """Return so many finite numbers; raise ``ValueError`` if they are something else."""
    numbers = [float(value) for value in values if isinstance(value, (int, float))]
    if len(values) != count or len(numbers) != count or not all(map(math.isfinite, numbers)):
        raise ValueError
    return numbers


def render_page(
    file: Path, number: int, passage: Cut = NO_PASSAGE, recognised: PlacedWords = (), *,
    width: int = 1100,
) -> PageImage:  # fmt: skip
    """Render page ``number`` (from 1), at most ``width`` pixels wide, and find a passage on it.

    The other arguments are those of ``picture_of``.

    Raises:
        ReadingError: there is no such page.
    """
    document = _opened(file)
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
            PlacedCharacters.of_words(recognised) if recognised
            else PlacedCharacters.of_page(page, bitmap.width, bitmap.height)
        )  # fmt: skip
        rectangles = text.framing(passage) if passage.text.strip() else ()
        return PageImage(
            out.getvalue(), bitmap.width, bitmap.height, scale * 72, rectangles, text.words()
        )
    finally:
        document.close()


def _opened(file: Path) -> Any:
    """Open a PDF, which may be in a gzip file."""
    import pypdfium2

    with file.open("rb") as stream:
        is_packed = is_gzip(file.name, stream.read(2))
    if not is_packed:
        return pypdfium2.PdfDocument(file)
    limits = Limits(_TIMEOUT_SECONDS, _MEMORY_MB, _MOST_MB, _MOST_MB)
    return pypdfium2.PdfDocument(gunzipped(file.read_bytes(), limits))


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
    head: dict[str, Any] = {"width": image.width, "height": image.height, "dpi": image.dpi}
    head["rectangles"] = [astuple(box) for box in image.rectangles]
    head["words"] = [(word, astuple(box)) for word, box in image.words]
    return head, image.png


def _sizes(file: Path) -> list[tuple[float, float]]:
    document = _opened(file)
    try:
        return [document.get_page_size(index) for index in range(len(document))]
    finally:
        document.close()


def _child() -> None:
    """Carry out the request on stdin, and answer it on stdout."""
    from ragkit.reading.sandbox import confine

    request, _, _ = wire.receive(sys.stdin.buffer, 0)
    import PIL.PngImagePlugin
    import pypdfium2

    del PIL, pypdfium2
    confine(_MEMORY_MB, int(request["parent"]))
    file = Path(request["file"])
    try:
        head, png = _drawn(file, request) if request["number"] else ({"sizes": _sizes(file)}, b"")
    except Exception as error:  # noqa: BLE001 - the parent reports any error in a sentence
        reason = error.message if isinstance(error, ReadingError) else type(error).__name__
        head, png = {"error": wire.pack_error(ReadingError(reason.rstrip(".")))}, b""
    wire.send(sys.stdout.buffer, head, data=png)


if __name__ == "__main__":
    _child()
