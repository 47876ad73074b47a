"""How pdfium and pypdf read the same PDFs: CPU a page, words in their order, rows of tables.

python benchmarks/bench_pdf.py [FILE ...]

Pages are written with known words; files that are named are timed as well, and those of
../shared/data/awkward_files where they are there. Every ratio is within one run.
"""

from __future__ import annotations

import difflib
import gc
import io
import itertools
import random
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import reportlab
from common import SAMPLE, SHARED, arguments, report
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from ragkit.reading import ReaderPool, ReadTask
from ragkit.reading.pdf import by_pdfium
from ragkit.reading.pdf.reader import read_pdf
from ragkit.settings import ReadingSettings

PAGES = 60
LARGE = 1000
LIMITS = ReadingSettings()
_WORDS = (
    "the of and in harbour crossing revenue committee characteristic internationalization lake "
    "office financial measurement report responsible council distribution environment vessel"
)
WORDS = _WORDS.split()

Draw = Callable[[Canvas, list[list[str]]], None]


def lines(rng: random.Random, width: float, font: str) -> list[list[str]]:
    """Fifty lines of words that fill so many points."""
    found = []
    for _ in range(50):
        row = [rng.choice(WORDS)]
        while stringWidth(" ".join(row), font, 10) < width - 40:
            row.append(rng.choice(WORDS))
        found.append(row)
    return found


def plain(canvas: Canvas, rows: list[list[str]]) -> None:
    for at, row in enumerate(rows):
        canvas.drawString(50, 790 - 14 * at, " ".join(row))


def kerned(canvas: Canvas, rows: list[list[str]]) -> None:
    """Each word by itself, as programs do that set text."""
    for at, row in enumerate(rows):
        left = 50.0
        for word in row:
            canvas.drawString(left, 790 - 14 * at, word)
            left += canvas.stringWidth(word) + 2.4


def across(canvas: Canvas, rows: list[list[str]]) -> None:
    """Two columns, whose lines are drawn in turn; the words' order is that of reading."""
    for at in range(25):
        canvas.drawString(50, 790 - 14 * at, " ".join(rows[at]))
        canvas.drawString(320, 790 - 14 * at, " ".join(rows[25 + at]))


def hyphenated(canvas: Canvas, rows: list[list[str]]) -> None:
    """Every line ends within a word that stands elsewhere whole."""
    for at, row in enumerate(rows):
        first = f"{row[0]} " if not at else f"{row[0][3:]} "
        ends = f" {rows[at + 1][0][:3]}-" if at + 1 < len(rows) else ""
        canvas.drawString(50, 790 - 14 * at, first + " ".join(row[1:]) + ends)


def spaced(canvas: Canvas, rows: list[list[str]]) -> None:
    for at, row in enumerate(rows):
        canvas.drawString(50, 790 - 14 * at, " ".join(row[:2]), charSpace=4)


def written(
    draw: Draw, font: str, width: float, seed: int, pages: int = PAGES
) -> tuple[bytes, list[str]]:
    """A PDF and its words in their order."""
    rng = random.Random(seed)
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=A4)
    words: list[str] = []
    for _ in range(pages):
        rows = lines(rng, width, font)
        if draw is hyphenated:
            long = [word for word in WORDS if len(word) > 5]
            rows = [[rng.choice(long), *row[1:]] for row in rows]
        canvas.setFont(font, 10)
        draw(canvas, rows)
        canvas.showPage()
        words += [word for row in rows for word in (row[:2] if draw is spaced else row)]
    canvas.save()
    return buffer.getvalue(), words


def timed(data: bytes) -> tuple[float, str, int]:
    """CPU seconds of one reading, its text, its pages."""
    started = time.process_time()
    reading = read_pdf(data, "file.pdf", LIMITS)
    return time.process_time() - started, reading.text, len(reading.pages)


def compared(name: str, data: bytes, words: list[str] | None) -> dict[str, float]:
    found: dict[str, float] = {}
    seconds, text, pages = min(timed(data) for _ in range(3))
    with mock.patch.object(by_pdfium, "contents_of", return_value=None):
        before, old, _ = min(timed(data) for _ in range(2))
    found[f"{name}: pages a CPU second"] = pages / seconds
    found[f"{name}: to pypdf"] = before / seconds
    if words is not None:
        for reader, read in (("pdfium", text), ("pypdf", old)):
            got = re.findall(r"[^\W\d_]+", read)
            # Pages are alike, so that a slice of them says what all of them would.
            matcher = difflib.SequenceMatcher(None, words[:3000], got[:3000], autojunk=False)
            share = sum(block.size for block in matcher.get_matching_blocks())
            found[f"{name}: words in order, {reader}"] = share / min(3000, len(words))
    return found


def spread(data: bytes) -> dict[str, float]:
    """Seconds by the clock that one large file takes one process, to those that it takes more."""
    seconds: dict[int, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.pdf"
        path.write_bytes(data)
        task = ReadTask(1, path, path.name, len(data))
        for _, processes in itertools.product(range(3), (1, 2, 4)):
            with ReaderPool(LIMITS.model_copy(update={"processes": processes})) as pool:
                list(pool.read([ReadTask(0, path.with_name("none.txt"), "none.txt", 0)]))
                started = time.perf_counter()
                list(pool.read([task]))
                seconds.setdefault(processes, []).append(time.perf_counter() - started)
    alone = min(seconds.pop(1))
    return {
        f"one file of {LARGE} pages: one process to {processes}": alone / min(found)
        for processes, found in seconds.items()
    }


def main() -> None:
    # As in a reading process.
    gc.freeze()
    gc.set_threshold(50_000)
    parser = arguments(__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    given = parser.parse_args()
    vera = Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"
    pdfmetrics.registerFont(TTFont("Vera", vera))
    figures: dict[str, float] = {}
    for name, draw, font, width in (
        ("plain", plain, "Times-Roman", 480),
        ("embedded font", plain, "Vera", 480),
        ("word by word", kerned, "Vera", 480),
        ("columns across", across, "Times-Roman", 230),
        ("hyphens", hyphenated, "Times-Roman", 480),
        ("spaced letters", spaced, "Times-Roman", 480),
    ):
        figures.update(compared(name, *written(draw, font, width, 7)))
    figures.update(spread(written(kerned, "Times-Roman", 480, 7, LARGE)[0]))
    shared = sorted((SHARED / "awkward_files" / "sample-files").rglob("*.pdf"))
    files = [*given.files, *SAMPLE.rglob("*.pdf"), *shared]
    for file in files:
        try:
            _, _, pages = timed(file.read_bytes())
        except Exception:  # noqa: BLE001 - scans, locked and damaged ones are not timed
            continue
        if pages > 2:
            figures.update(compared(file.name, file.read_bytes(), None))
    report(figures, given.json)


if __name__ == "__main__":
    main()
