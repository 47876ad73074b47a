"""A program that speaks the command line of Tesseract and recognises what it is told to; scans.

It takes a PNG on its standard input, as the real one does, and answers in hOCR. Which text it
"sees" is written in its folder, by the width of the picture in hundreds of pixels.
"""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

_PROGRAM = """#!{python}
import json, os, pathlib, struct, sys, time
folder = pathlib.Path({folder!r})
orders = json.loads((folder / "orders.json").read_text("utf-8"))
if "--list-langs" in sys.argv:
    print("List of available languages (2):", *orders["languages"], sep="\\n")
    sys.exit(0)
time.sleep(orders["seconds_before"])
png = sys.stdin.buffer.read()
assert png[:8] == b"\\x89PNG\\r\\n\\x1a\\n"
assert sys.argv[1:3] == ["-", "-"] and sys.argv[-1] == "hocr"
width, _ = struct.unpack(">II", png[16:24])
with (folder / "calls.txt").open("a") as calls:
    calls.write(" ".join(sys.argv[3:]) + "\\n")
(folder / "environment.txt").write_text("\\n".join(sorted(os.environ)))
time.sleep(orders["seconds"])
while time.process_time() < orders["computing"]:
    pass
sys.stdout.buffer.write(orders["pages"].get(str(round(width, -2)), orders["empty"]).encode())
sys.exit(orders["status"])
"""


def hocr(lines: Sequence[str], confidence: int = 95, *, size: int = 40, top: int = 300) -> str:
    """Return what Tesseract says of a page with these lines: words of 20 pixels a letter."""
    spans = []
    for row, line in enumerate(lines):
        foot, left, words = top + row * size * 3 // 2, 200, []
        for word in line.split():
            right = left + 20 * len(word)
            words.append(
                f"<span class='ocrx_word' title='bbox {left} {foot - size} {right} {foot}; "
                f"x_wconf {confidence}'>{escape(word)}</span>"
            )
            left = right + 20
        spans.append(
            f"<span class='ocr_line' title=\"bbox 200 {foot - size} {left - 20} {foot}; "
            f'baseline 0 -8; x_size {size}; x_descenders 8; x_ascenders 10">'
            f"{''.join(words)}</span>"
        )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html PUBLIC '
        '"-//W3C//DTD XHTML 1.0 Transitional//EN"\n    "http://www.w3.org/TR/xhtml1/DTD/x.dtd">\n'
        '<html xmlns="http://www.w3.org/1999/xhtml"><body><div class="ocr_page">'
        f"{''.join(spans)}</div></body></html>"
    )


class TesseractStandIn:
    """The program in a folder of its own; ``pages`` are hOCR by the width, in full hundreds."""

    def __init__(self, folder: Path, pages: Mapping[int, str]) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        program = folder / "tesseract"
        program.write_text(_PROGRAM.format(python=sys.executable, folder=str(folder)), "utf-8")
        program.chmod(0o700)
        self._orders = {
            "languages": ["eng", "osd"],
            "pages": {str(width): text for width, text in pages.items()},
            "empty": hocr([]),
            "seconds_before": 0.0,
            "seconds": 0.0,
            "computing": 0.0,
            "status": 0,
        }
        self.order()

    def order(self, **orders: object) -> None:
        """Change ``languages``, ``status``, ``computing`` (seconds of processor time), ``seconds``,
        or ``seconds_before`` it reads.
        """
        self._orders.update(orders)
        (self.folder / "orders.json").write_text(json.dumps(self._orders), "utf-8")

    @property
    def calls(self) -> list[str]:
        """The arguments of each call, without those that name its input and output."""
        file = self.folder / "calls.txt"
        return file.read_text().splitlines() if file.exists() else []

    @property
    def path(self) -> str:
        """A search path with which it is found."""
        return os.pathsep.join((str(self.folder), os.environ["PATH"]))


def scanned_pdf(*pages: str, widths: Sequence[float] = ()) -> bytes:
    """Return a PDF of pages with text, or with a picture where that is empty.

    Pages are 600 points wide if no ``widths`` are given: at 200 dpi, 1,667 pixels.
    """
    from PIL import Image
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    buffer = io.BytesIO()
    sheet = Canvas(buffer)
    for text, width in zip(pages, widths or [600.0] * len(pages), strict=True):
        sheet.setPageSize((width, 800))
        if text:
            sheet.drawString(60, 700, text)
        else:
            sheet.drawImage(ImageReader(Image.new("L", (60, 80), 200)), 0, 0, width, 800)
        sheet.showPage()
    sheet.save()
    return buffer.getvalue()
