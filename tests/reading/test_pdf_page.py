"""Pages of PDFs as pictures, with the passage found on them."""

from __future__ import annotations

import gzip
import io
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from ragkit.errors import ReadingError
from ragkit.reading import wire
from ragkit.reading.pdf.page import picture_of, render_page, sizes_of
from ragkit.reading.pdf.page_words import (
    Cut,
    Rectangle,
    lines_of,
    matching_words,
    rejoined,
    words_in,
)


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    from reportlab.pdfgen.canvas import Canvas

    file = tmp_path / "paper.pdf"
    canvas = Canvas(str(file), pagesize=(600, 800))
    canvas.drawString(60, 700, "The first page is about herons.")
    canvas.showPage()
    canvas.drawString(60, 700, "A quiet opening line.")
    canvas.drawString(60, 400, "The kestrel hovers over the ridge at dawn,")
    canvas.drawString(60, 380, "and the marmots whistle twice.")
    canvas.drawString(60, 100, "A closing line about nothing.")
    canvas.showPage()
    canvas.setPageRotation(90)
    canvas.drawString(60, 400, "The kestrel hovers over the ridge.")
    canvas.showPage()
    canvas.save()
    return file


def test_a_passage_is_framed_where_it_stands(paper):
    image = render_page(
        paper, 2, Cut("The kestrel hovers over the ridge at dawn,\nand the marmots whistle twice.")
    )
    assert image.png.startswith(b"\x89PNG")
    assert image.width == 1100
    assert len(image.rectangles) == 2
    first, second = image.rectangles
    assert first.left == pytest.approx(0.1, abs=0.02)
    assert first.top == pytest.approx(1 - 412 / 800, abs=0.03)
    assert second.top > first.top
    assert second.bottom < 0.6


def test_a_passage_is_told_from_the_same_words_elsewhere_by_the_text_around_it(tmp_path):
    from reportlab.pdfgen.canvas import Canvas

    file = tmp_path / "twice.pdf"
    canvas = Canvas(str(file), pagesize=(600, 800))
    lines = ["Marmots whistle twice.", "Not in spring.", "Marmots whistle twice.", "Nor in June."]
    for row, line in enumerate(lines):
        canvas.drawString(60, 700 - 100 * row, line)
    canvas.save()
    around = "Not in spring.\n", "\nNor in June."
    [second] = render_page(file, 1, Cut("Marmots whistle twice.", *around)).rectangles
    assert second.top == pytest.approx(1 - 510 / 800, abs=0.03)
    [first] = render_page(file, 1, Cut("Marmots whistle twice.", "", "\nNot in spring.")).rectangles
    assert first.top == pytest.approx(1 - 710 / 800, abs=0.03)
    assert render_page(file, 1, Cut("Nothing of it.", "No, ", " no")).rectangles == ()


def test_a_page_of_a_compressed_pdf_is_the_same_page(paper):
    packed = paper.with_name("paper.pdf.gz")
    packed.write_bytes(gzip.compress(paper.read_bytes()))
    cut = Cut("The first page is about herons.")
    assert picture_of(packed, 1, cut) == picture_of(paper, 1, cut)
    assert sizes_of(packed) == sizes_of(paper)
    named = paper.rename(paper.with_name("named.gz"))
    assert len(sizes_of(named)) == 3


def test_a_damaged_compressed_pdf_cannot_be_drawn(tmp_path):
    file = tmp_path / "paper.pdf.gz"
    file.write_bytes(b"\x1f\x8b" + bytes(100))
    with pytest.raises(ReadingError, match=r"could not be drawn.*damaged"):
        picture_of(file, 1)


def test_a_rotated_page_is_minded(paper):
    image = render_page(paper, 3, Cut("The kestrel hovers over the ridge."))
    assert len(image.rectangles) == 1
    box = image.rectangles[0]
    assert box.bottom - box.top > 3 * (box.right - box.left)
    assert box.left == pytest.approx(0.65, abs=0.05)


def test_a_passage_that_is_elsewhere_is_not_framed(paper):
    assert render_page(paper, 1, Cut("Kestrels, marmots and ridges are not here")).rectangles == ()


def test_no_such_page(paper):
    with pytest.raises(ReadingError, match="There is no page 9"):
        render_page(paper, 9)


def test_the_child_process_gives_the_same(paper):
    here = render_page(paper, 2, Cut("The kestrel hovers over the ridge"), width=600)
    there = picture_of(paper, 2, Cut("The kestrel hovers over the ridge"), width=600)
    assert there.rectangles == here.rectangles
    assert (there.width, there.height, there.dpi) == (here.width, here.height, here.dpi)


def test_a_broken_file_ends_as_a_sentence(tmp_path):
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7\nnothing of the kind")
    with pytest.raises(ReadingError, match=r"Page 1 of broken\.pdf could not be drawn"):
        picture_of(broken, 1)
    with pytest.raises(ReadingError, match="no longer where it was"):
        picture_of(tmp_path / "gone.pdf", 1)


def test_a_page_of_any_size_has_a_bounded_picture(tmp_path):
    from reportlab.pdfgen.canvas import Canvas

    file = tmp_path / "banner.pdf"
    canvas = Canvas(str(file), pagesize=(20, 14_000))
    canvas.showPage()
    canvas.save()
    image = render_page(file, 1)
    assert image.width * image.height <= 12_100_000


def test_too_slow_is_a_sentence(paper):
    with pytest.raises(ReadingError, match="took too long"):
        picture_of(paper, 1, timeout=0.001)


PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 30, 20)
HUGE = 2**20
SOUND = {
    "width": 30, "height": 20, "dpi": 72.0,
    "rectangles": [[0, 0, 1, 1]], "words": [["herons", [0.1, 0.1, 0.2, 0.2]]],
}  # fmt: skip


@pytest.fixture
def taken_over(monkeypatch):
    """Let a child that a hostile file has taken over answer with what is given."""

    def answer(made):
        # A child that ended before it was asked would break the pipe to it.
        program = f"import os, sys; os.read(0, 65536); {made}"

        def started(_command, **options):
            return popen([sys.executable, "-c", program], **options)

        monkeypatch.setattr("ragkit.reading.pdf.page.subprocess.Popen", started)

    popen = subprocess.Popen
    return answer


def framed(header, data=b""):
    stream = io.BytesIO()
    wire.send(stream, header, data=data)
    return f"sys.stdout.buffer.write({stream.getvalue()!r})"


def test_a_sound_answer_is_taken(paper, taken_over):
    taken_over(framed(SOUND, PNG))
    image = picture_of(paper, 1)
    assert (image.width, image.height, image.dpi) == (30, 20, 72.0)
    assert image.words == (("herons", Rectangle(0.1, 0.1, 0.2, 0.2)),)


@pytest.mark.parametrize(
    "made",
    [
        "sys.stdout.buffer.write(b'{}\\n')",
        "sys.stdout.buffer.write(bytes(20))",
        "sys.stdout.buffer.write(bytes([255] * 20))",
        # Without a limit, this would fill the memory.
        "[sys.stdout.buffer.write(bytes([2]) * 1_000_000) for _ in iter(int, 1)]",
        framed({}),
        framed(SOUND),
        framed(SOUND, b"<svg>"),
        framed(SOUND, PNG[:20] + bytes(4)),
        framed({**SOUND, "width": 30.5}, PNG),
        framed({**SOUND, "width": -30}, PNG),
        framed({**SOUND, "height": "3"}, PNG),
        framed({**SOUND, "dpi": float("inf")}, PNG),
        framed({**SOUND, "dpi": "<b>"}, PNG),
        framed({**SOUND, "rectangles": [[0, 0, 1]]}, PNG),
        framed({**SOUND, "rectangles": 7}, PNG),
        framed({**SOUND, "words": [[3, [0, 0, 1, 1]]]}, PNG),
        framed({**SOUND, "words": [["a", [0, 0, 1, "1"]]]}, PNG),
        framed({**SOUND, "width": HUGE, "height": HUGE}, PNG[:16] + struct.pack(">II", HUGE, HUGE)),
        framed({"error": {"message": 3, "cure": "", "kind": ""}}),
        framed({"error": "It failed"}),
    ],
)  # fmt: skip
def test_what_is_no_picture_is_refused(paper, taken_over, made):
    taken_over(made)
    with pytest.raises(ReadingError) as caught:
        picture_of(paper, 1)
    assert caught.value.message == "Page 1 of paper.pdf could not be drawn."


@pytest.mark.parametrize(
    "sizes", [None, 3, [3], [[1]], [[1, 2, 3]], [["a", "b"]], [[1, float("nan")]]]
)
def test_sizes_that_are_none_are_refused(paper, taken_over, sizes):
    taken_over(framed({"sizes": sizes}))
    with pytest.raises(ReadingError, match=r"paper\.pdf could not be drawn"):
        sizes_of(paper)


def test_sizes_are_those_of_every_page(paper):
    assert sizes_of(paper) == ((600, 800), (600, 800), (600, 800))


def test_words_are_compared_without_case_hyphens_and_ligatures():
    assert [word.form for word in words_in("The ﬁne co\xadop, Ａ－1")] == [
        "the",
        "fine",
        "coop",
        "a",
        "1",
    ]
    assert [word.form for word in words_in("海の音")] == ["海", "の", "音"]


def test_small_differences_are_bridged_and_strays_left_out():
    page = ["of", "the", "a", "b", "c", "d", "x", "e", "f", "g", "h", "the", "of", "z"]
    passage = ["a", "b", "c", "d", "e", "f", "g", "h"]
    assert [page[i] for i in matching_words(page, passage)] == list("abcdxefgh")
    assert matching_words([], ["a"]) == []


def test_words_that_the_page_parts_are_those_of_the_passage():
    page = words_in("Chin a Ocea n, t f tpc l i en t a shop")
    known = {"china", "ocean", "tftpclient", "a"}
    assert [word.form for word in rejoined(page, known)] == [
        "china", "ocean", "tftpclient", "a", "shop",
    ]  # fmt: skip
    assert rejoined(page, known)[0].characters == (0, 1, 2, 3, 5)
    assert rejoined(page, set()) == page


def test_boxes_of_one_line_are_joined():
    boxes = [
        Rectangle(0.1, 0.1, 0.12, 0.12),
        Rectangle(0.12, 0.1, 0.14, 0.12),
        Rectangle(0.1, 0.2, 0.12, 0.22),
    ]
    assert lines_of(boxes) == (Rectangle(0.1, 0.1, 0.14, 0.12), Rectangle(0.1, 0.2, 0.12, 0.22))


@pytest.mark.parametrize(("pixels", "dpi"), [(100, 200), (250, 250), (900, 300)])
def test_a_scan_is_drawn_as_fine_as_it_is_within_limits(tmp_path, pixels, dpi):
    from PIL import Image
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    file = tmp_path / "scan.pdf"
    canvas = Canvas(str(file), pagesize=(144, 216))
    canvas.drawImage(ImageReader(Image.new("L", (9, 9))), 0, 0, 10, 10)
    canvas.drawImage(ImageReader(Image.new("L", (2 * pixels, 3 * pixels))), 0, 0, 144, 216)
    canvas.showPage()
    canvas.showPage()
    canvas.save()
    image = render_page(file, 1, width=0)
    assert (image.width, image.height) == pytest.approx((2 * dpi, 3 * dpi), abs=1)
    assert image.dpi == pytest.approx(dpi)
    assert render_page(file, 2, width=0).dpi == 300
    assert render_page(file, 1, width=288).dpi == 144
