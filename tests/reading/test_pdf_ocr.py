"""The recognised text of scanned pages: its lines in order, its files, and the PDF with it."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from reading_files import SETTINGS
from tesseract_stand_in import scanned_pdf

from ragkit.errors import ReadingError
from ragkit.reading import readers
from ragkit.reading.limits import Limits
from ragkit.reading.pdf import ocr, ocr_files
from ragkit.reading.pdf.contents import KnownPages
from ragkit.reading.pdf.ocr import OcrPage, RecognisedLine, Word
from ragkit.reading.pdf.ocr_files import OcrFile, unpacked
from ragkit.reading.pdf.page import render_page
from ragkit.reading.pdf.page_words import Cut, Rectangle

WIDTH, HEIGHT = 600.0, 800.0


def line(text, left, foot, *, size=10.0, confidence=95, slope=0.0, step=6.0):
    """A line of words from ``left`` on whose letters stand on ``foot``, in points from the top."""
    words, at = [], left
    for word in text.split(" "):
        right = at + step * len(word)
        fall = slope * (at - left)
        words.append(Word(word, at, foot - size + fall, right, foot + fall, confidence))
        at = right + step
    return RecognisedLine(tuple(words), foot, slope, size, 2.0)


def page(*lines):
    return OcrPage(WIDTH, HEIGHT, lines)


def texts(made):
    return [each.text for each in made.reading_lines()]


def test_lines_are_placed_from_the_bottom_of_the_page():
    [placed] = page(line("The ferry leaves at nine.", 60, 100)).reading_lines()
    assert placed[:5] == ("The ferry leaves at nine.", 60, 698, 60 + 6 * 25, 708)


def test_pixels_become_points():
    [given] = page(line("The ferry", 60, 100)).lines
    made = OcrPage.of([given], 1200, 1600, 144)
    assert (made.width, made.height) == (600, 800)
    [scaled] = made.lines
    assert scaled.words[1][1:5] == (42, 45, 57, 50)
    assert (scaled.baseline, scaled.size, scaled.descent) == (50, 5, 1)


@pytest.mark.parametrize("degrees", [-3, 0, 2])
def test_a_page_that_lay_askew_has_whole_lines_in_order(degrees):
    slope = math.tan(math.radians(degrees))

    def part(text, left, foot):
        return line(text, left, foot + slope * left, slope=slope)

    made = page(
        part("The ferry to the island", 60, 100),
        part("leaves at nine in summer,", 60, 112),
        # The program has taken the ends of these lines for a column of their own.
        part("from the old pier", 204, 100),
        part("and at ten otherwise.", 216, 112),
    )
    assert texts(made) == [
        "The ferry to the island from the old pier",
        "leaves at nine in summer, and at ten otherwise.",
    ]
    said = [word for word, _ in made.words()]
    assert " ".join(said) == " ".join(texts(made))
    at = dict(made.words())["otherwise."]
    assert at[0] == pytest.approx((216 + 6 * 11) / WIDTH)


def test_parts_of_a_line_from_right_to_left_stay_in_their_order():
    def part(words, right):
        placed, at = [], right
        for word in words:
            placed.append(Word(word, at - 30, 90, at, 100))
            at -= 36
        return RecognisedLine(tuple(placed), 100, 0.0, 10, 2)

    made = page(part(["ينشر", "كريم"], 500), part(["الكتاب", "كل", "عام"], 428))
    assert texts(made) == ["ينشر كريم الكتاب كل عام"]


def test_rows_of_a_table_stay_rows():
    made = page(
        line("Year", 60, 100), line("Boats", 240, 100), line("Fares", 420, 100),
        line("2023", 60, 114), line("41", 240, 114), line("1,204", 420, 114),
        line("2024", 60, 128), line("44", 240, 128), line("1,377", 420, 128),
    )  # fmt: skip
    assert "| 2024 | 44 | 1,377 |" in texts(made)
    said = " ".join(word for word, _ in made.words())
    assert said == "Year Boats Fares 2023 41 1,204 2024 44 1,377"


@pytest.mark.parametrize("across", [False, True])
def test_columns_are_read_one_after_another(across):
    left = [line(f"left line {n} of prose that goes on", 50, 100 + 12 * n) for n in range(8)]
    right = [line(f"right line {n} of prose that goes on", 330, 100 + 12 * n) for n in range(8)]
    lines = [*left, *right]
    if across:
        # The program has taken both columns for one.
        lines = [
            replace(first, words=(*first.words, *second.words))
            for first, second in zip(left, right, strict=True)
        ]
    made = page(*lines)
    assert [text[:6] for text in texts(made)] == ["left l"] * 8 + ["right "] * 8
    assert " ".join(word for word, _ in made.words()) == " ".join(texts(made))


def test_dirt_and_drawings_are_no_text():
    dirt = [line("ee ~~ oi a", 60, 130 + 12 * n, confidence=25) for n in range(3)]
    made = page(line("The ferry leaves.", 60, 100), *dirt)
    assert texts(made) == ["The ferry leaves."]
    assert [word for word, _ in made.words()] == ["The", "ferry", "leaves."]


def test_of_a_page_of_text_unsure_lines_are_kept():
    unsure = line("Sm4ll print", 60, 130, confidence=25)
    few = line("The ferry leaves at nine.", 60, 100)
    many = line("from the old pier, and waits for nobody who comes late", 60, 112)
    assert texts(page(few, unsure)) == ["The ferry leaves at nine."]
    assert texts(page(few, many, unsure))[-1] == "Sm4ll print"


def test_han_and_kana_are_written_without_spaces():
    made = page(line("検 索 シ ス テ ム of 2024", 60, 100))
    assert texts(made) == ["検索システム of 2024"]


def test_bullets_are_bullets():
    assert texts(page(line("© Sweep the planks", 60, 100), line("° Lock it", 60, 112))) == [
        "• Sweep the planks",
        "• Lock it",
    ]
    assert texts(page(line("© 2024", 60, 100))) == ["• 2024"]


@pytest.mark.parametrize("turned", [90, 180, 270])
def test_a_page_that_lay_on_its_side_is_read_upright(turned):
    upright = [line("The ferry leaves", 60, 100), line("at nine.", 60, 112)]

    def turn(word):
        """The word on the scan, of the page turned against the clock."""
        if turned == 90:
            edges = word.top, WIDTH - word.right, word.bottom, WIDTH - word.left
        elif turned == 180:
            edges = (
                WIDTH - word.right, HEIGHT - word.bottom, WIDTH - word.left, HEIGHT - word.top,
            )  # fmt: skip
        else:
            edges = HEIGHT - word.bottom, word.left, HEIGHT - word.top, word.right
        return Word(word.text, *edges, word.confidence)

    lines = [RecognisedLine(tuple(map(turn, each.words)), turned=turned) for each in upright]
    size = (WIDTH, HEIGHT) if turned == 180 else (HEIGHT, WIDTH)
    read = OcrPage(*size, tuple(lines)).reading_lines()
    assert [each.text for each in read] == ["The ferry leaves", "at nine."]
    assert [(each.left, each.bottom, each.top) for each in read] == [
        (60, 700, 710),
        (60, 688, 698),
    ]


def test_a_page_survives_its_file(tmp_path):
    made = page(line("naïve “quotes”", 60, 100, slope=0.02), line("down", 60, 130))
    turned = replace(made, lines=(replace(made.lines[0], turned=90),))
    file = OcrFile.of(tmp_path / "ocr", "ab12", ("deu", "eng"))
    file.begin([3, 5])
    file.add(3, made)
    assert OcrFile.of(tmp_path / "ocr", "ab12", ("deu", "eng")).missing == [5]
    assert ocr_files.recognised(tmp_path / "ocr", "ab12") == b""
    file.add(5, turned)
    assert not file.is_whole
    file.finish()
    assert file.is_whole
    assert unpacked(ocr_files.recognised(tmp_path / "ocr", "ab12")) == (
        [3, 5],
        {3: made, 5: turned},
    )
    data = ocr_files.recognised(tmp_path / "ocr", "ab12")
    assert [ocr_files.page_of(data, index) for index in (3, 5, 0)] == [made, turned, None]
    assert (file.path.stat().st_mode & 0o77, file.path.parent.stat().st_mode & 0o77) == (0, 0)


def test_files_are_by_content_and_language(tmp_path):
    for content, languages in (("ab", ("eng",)), ("ab", ("script/Latin",)), ("abc", ("eng",))):
        file = OcrFile.of(tmp_path / "ocr", content, languages)
        assert (file.wanted, file.is_whole) == (None, False)
        file.begin([])
        file.finish()
    names = {path.name for path in ocr_files.kept(tmp_path / "ocr")}
    assert names == {"ab.eng.jsonl", "ab.script-Latin.jsonl", "abc.eng.jsonl"}
    assert sorted(ocr_files.kept(tmp_path / "ocr").values()) == ["ab", "ab", "abc"]
    assert ocr_files.recognised(tmp_path / "ocr", "") == b""
    assert ocr_files.kept(tmp_path / "missing") == {}


@pytest.mark.parametrize("torn", [b'[1, [600, 800, [[[["half', b"\xff\xfe\x00", b"[]", b"{}", b"7"])
def test_after_a_torn_line_the_page_is_done_again(tmp_path, torn):
    file = OcrFile.of(tmp_path / "ocr", "ab", ("eng",))
    file.begin([0, 1])
    file.add(0, page(line("First", 60, 100)))
    with (tmp_path / "ocr" / "ab.eng.part").open("ab") as stream:
        stream.write(torn)
    again = OcrFile.of(tmp_path / "ocr", "ab", ("eng",))
    assert again.missing == [1]
    again.add(1, page(line("Second", 60, 100)))
    whole = OcrFile.of(tmp_path / "ocr", "ab", ("eng",))
    assert [texts(whole.pages[index]) for index in (0, 1)] == [["First"], ["Second"]]


# -- the PDF ---------------------------------------------------------------------------------


def recognised(tmp_path, pages):
    file = OcrFile.of(tmp_path / "ocr", "ab", ("eng",))
    file.begin(list(pages))
    for index, made in pages.items():
        file.add(index, made)
    file.finish()
    return KnownPages((), file.path.read_bytes())


def read(data, known=None):
    return readers.read_data(data, "letter.pdf", Limits.of(SETTINGS), known)


LETTER = page(
    line("HARBOUR OFFICE", 60, 80, size=24),
    line("The ferry leaves from the old pier at nine in summer.", 60, 120),
    line("It waits for nobody.", 60, 132),
)


def test_recognised_text_is_the_text_of_a_scanned_page(tmp_path):
    reading = read(scanned_pdf("", ""), recognised(tmp_path, {0: LETTER, 1: page()}))
    assert "The ferry leaves from the old pier at nine in summer." in reading.text
    assert [(each.number, reading.text[each.start : each.end]) for each in reading.pages] == [
        (1, reading.text),
        (2, ""),
    ]
    assert reading.title == "HARBOUR OFFICE"
    assert reading.warnings == ("Page 1 was read by OCR and may have errors.",)


def test_only_scanned_pages_get_recognised_text(tmp_path):
    other = page(line("The lantern of the pier is lit at dusk.", 60, 100))
    known = recognised(tmp_path, {0: LETTER, 1: LETTER, 2: other})
    reading = read(scanned_pdf("A page of words of its own", "", "", ""), known)
    first, second, third, fourth = (reading.text[p.start : p.end] for p in reading.pages)
    assert first.strip() == "A page of words of its own"
    assert "old pier" in second
    assert third.strip() == "The lantern of the pier is lit at dusk."
    assert fourth == ""
    assert reading.warnings == (
        "Pages 2–3 were read by OCR and may have errors.",
        "Page 4 holds a picture, not text, and needs OCR.",
    )


def test_a_scan_without_any_text_says_what_was_tried(tmp_path):
    with pytest.raises(ReadingError, match="No text was recognised in the pictures") as caught:
        read(scanned_pdf("", ""), recognised(tmp_path, {0: page(), 1: page(line("i", 60, 100))}))
    assert "reading.ocr_languages" in caught.value.cure


@pytest.mark.parametrize("data", [b"", b"\n[0]\n", b"no json", b'\n["x"]\n[0,[1,2,[[3]]]]\n'])
def test_a_file_that_says_nothing_leaves_the_scan_as_it_was(data):
    with pytest.raises(ReadingError, match="holds pictures of pages, not text") as caught:
        read(scanned_pdf(""), KnownPages((), data))
    assert "Tesseract" in caught.value.cure


def test_a_page_that_is_nonsense_in_the_file_is_still_to_be_recognised():
    nonsense = b'\n[0, 1]\n[0,[600,800,[[[["a","b","c","d","e"]],1,2,3,4,5]]]]\n'
    made = page(line("The lantern of the pier is lit at dusk.", 60, 100))
    data = nonsense + f"[1,{json.dumps(made.pack())}]\n".encode()
    reading = read(scanned_pdf("", ""), KnownPages((), data))
    assert reading.text.strip() == "The lantern of the pier is lit at dusk."
    assert reading.warnings == (
        "Page 2 was read by OCR and may have errors.",
        "Page 1 holds a picture, not text, and needs OCR.",
    )


def test_a_line_of_a_newspaper_is_compared_with_those_about_as_high_alone(monkeypatch):
    compared = []

    def continues(line, part, known=ocr._continues):
        compared.append(part)
        return known(line, part)

    monkeypatch.setattr(ocr, "_continues", continues)
    columns = [line("Nine herons nest", 120 * at, 100 + 3 * row, size=2.0, step=2.0)
               for at in range(10) for row in range(240)]  # fmt: skip
    shown = " ".join(texts(page(*columns)))
    assert shown.count("herons") == 2400
    # Of the 2.9 million pairs: at most the ten columns of a row, and of those beside it.
    assert len(compared) < 2400 * 30


# -- its picture -----------------------------------------------------------------------------


def test_a_passage_is_framed_on_a_scanned_page(tmp_path):
    path = tmp_path / "letter.pdf"
    path.write_bytes(scanned_pdf(""))
    words = tuple((word, Rectangle(*edges)) for word, edges in LETTER.words())
    image = render_page(path, 1, Cut("It waits for nobody."), words, width=600)
    assert [word for word, _ in image.words][-4:] == ["It ", "waits ", "for ", "nobody. "]
    [frame] = image.rectangles
    # A frame ends with the last letter, before the full stop.
    assert (frame.left, frame.right) == pytest.approx((60 / 600, 174 / 600))
    assert (frame.top, frame.bottom) == pytest.approx((122 / 800, 132 / 800))
    assert render_page(path, 1, Cut("It waits for nobody."), width=600).rectangles == ()
