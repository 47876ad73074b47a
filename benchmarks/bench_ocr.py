"""How well scanned pages are read: the words and their order, against the pages they were made of.

python benchmarks/bench_ocr.py [FILE ...] [--pages 30] [--dpi 200] [--skew 1.0] [--json]

Pages of PDFs (without FILE, of the generated reports) become pictures with noise that lie askew by
up to ``--skew`` degrees; every other page has a table. Their text is recognised by Tesseract, which
must be installed, and read in two ways: as ragkit does, and from the text layer that Tesseract
itself writes (``layer_…``), as a program gets it that reads a PDF after ``ocrmypdf``. ``words`` is
the share of the page's words that are read, ``pairs`` that of its pairs of neighbouring words, and
``rows`` that of its table rows that are the same to the letter.
"""

from __future__ import annotations

import random
import re
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pypdfium2
from common import arguments, report
from PIL import Image
from report_set import write_set

from ragkit.reading.limits import Limits
from ragkit.reading.pdf import by_pdfium
from ragkit.reading.pdf.ocr import OcrPage
from ragkit.reading.pdf.page import PageImage, render_page
from ragkit.reading.tesseract import Tesseract
from ragkit.settings import ReadingSettings

LIMITS = Limits.of(ReadingSettings(timeout_seconds=300))
LANGUAGES = ("eng",)
NOISE = 12.0
SECONDS = 300.0
TRIES = 200
_WORD = re.compile(r"\w+")


def scanned(
    page: pypdfium2.PdfPage, dpi: int, skew: float, rng: np.random.Generator
) -> Image.Image:
    """A page as a scanner sees it."""
    picture = page.render(scale=dpi / 72).to_pil().convert("L")
    picture = picture.rotate(rng.uniform(-skew, skew), Image.Resampling.BICUBIC, fillcolor=255)
    noisy = np.asarray(picture) + rng.normal(0, NOISE, (picture.height, picture.width))
    return Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8))


def drawn(
    numbers: random.Random, files: Sequence[Path], *, with_table: bool
) -> tuple[pypdfium2.PdfPage, list[str]]:
    """A page by lot, with its lines; ``with_table``: one with a table, if it is found soon."""
    for _ in range(TRIES if with_table else 1):
        data = numbers.choice(files).read_bytes()
        document = pypdfium2.PdfDocument(data)
        index = numbers.randrange(len(document))
        _, run = by_pdfium.run_of(data, LIMITS, index, index + 1)
        lines = [line.text for line in run.pages[0]]
        if any(line.startswith("| ") for line in lines):
            break
    return document[index], lines


def layer_of(program: Tesseract, picture: PageImage) -> list[str]:
    """The lines of the text layer that Tesseract writes for a picture."""
    command = [
        program.program, "-", "-", "-l", "+".join(LANGUAGES), "--dpi", str(round(picture.dpi)),
        "--psm", "1", "-c", "textonly_pdf=1", "pdf",
    ]  # fmt: skip
    done = subprocess.run(command, input=picture.png, capture_output=True, check=True)
    _, run = by_pdfium.run_of(done.stdout, LIMITS, 0, 1)
    return [line.text for line in run.pages[0]]


def shares(true: list[str], read: list[str]) -> dict[str, tuple[int, int]]:
    """Of words, pairs and rows of tables, how many are read, and how many there are."""
    counts = []
    for lines in (true, read):
        words = _WORD.findall("\n".join(lines).lower())
        pairs = Counter(pairwise(words))
        rows = Counter(" ".join(line.split()) for line in lines if line.startswith("| "))
        counts.append((Counter(words), pairs, rows))
    return {
        name: ((here & there).total(), here.total())
        for name, here, there in zip(("words", "pairs", "rows"), *counts, strict=True)
    }


def main() -> None:
    options = arguments(__doc__ or "")
    options.add_argument("files", nargs="*", type=Path)
    options.add_argument("--pages", type=int, default=30)
    options.add_argument("--dpi", type=int, default=200)
    options.add_argument("--skew", type=float, default=1.0)
    chosen = options.parse_args()
    program = Tesseract.find()
    if program is None:
        raise SystemExit("Tesseract is not installed.")
    found: dict[str, tuple[int, int]] = {}
    seconds: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        files = chosen.files
        if not files:
            write_set(Path(folder), "report")
            files = sorted(Path(folder).rglob("*.pdf"))
        numbers, rng = random.Random(7), np.random.default_rng(7)
        for number in range(chosen.pages):
            page, true = drawn(numbers, files, with_table=number % 2 == 0)
            file = Path(folder, "scan.pdf")
            scan = scanned(page, chosen.dpi, chosen.skew, rng)
            scan.save(file, resolution=chosen.dpi, quality=60)
            started = time.perf_counter()
            picture = render_page(file, 1, width=0)
            lines = program.lines(
                picture.png, round(picture.dpi), LANGUAGES, SECONDS, threading.Event()
            )
            seconds.append(time.perf_counter() - started)
            made = OcrPage.of(lines, picture.width, picture.height, picture.dpi)
            read = [line.text for line in made.reading_lines()]
            for prefix, texts in (("", read), ("layer_", layer_of(program, picture))):
                for name, (right, all_) in shares(true, texts).items():
                    before = found.get(prefix + name, (0, 0))
                    found[prefix + name] = before[0] + right, before[1] + all_
    figures = {name: right / all_ for name, (right, all_) in found.items() if all_}
    report({**figures, "seconds_a_page": sum(seconds) / len(seconds)}, chosen.json)


if __name__ == "__main__":
    main()
