from __future__ import annotations

import io

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.constants import PageLabelStyle
from pypdf.generic import DecodedStreamObject, NameObject
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen import canvas

from ragkit.errors import ReadingError
from ragkit.reading import read_file
from ragkit.reading.pdf import by_pdfium
from ragkit.reading.pdf.contents import Line, without_dots
from ragkit.reading.pdf.paragraphs import flow
from ragkit.reading.pdf.vocabulary import Vocabulary
from ragkit.settings import ReadingSettings

SETTINGS = ReadingSettings()


def make_pdf(pages, bookmarks=(), title=""):
    """Each page is a list of lines, or "picture"; bookmarks are (page, level, title)."""
    buffer = io.BytesIO()
    sheet = canvas.Canvas(buffer)
    sheet.setTitle(title)
    sheet.setAuthor("Ann Lee")
    for number, lines in enumerate(pages):
        for page, level, name in bookmarks:
            if page == number:
                sheet.bookmarkPage(f"{number}{name}")
                sheet.addOutlineEntry(name, f"{number}{name}", level - 1)
        if lines == "picture":
            sheet.drawImage(picture(), 0, 0, 500, 700)
        else:
            for row, line in enumerate(lines):
                sheet.drawString(50, 800 - 14 * row, line)
        sheet.showPage()
    sheet.save()
    return buffer.getvalue()


def picture():
    from PIL import Image

    return ImageReader(Image.new("RGB", (20, 20), "red"))


def read(folder, data, settings=SETTINGS, name="paper.pdf"):
    path = folder / name
    path.write_bytes(data)
    return read_file(path, name, settings)


def lines_of(page):
    return [Line(line) for line in page.split("\n")]


LONG = "The quick brown fox jumps over the lazy dog and runs on"


def test_pages_tile_the_text_and_keep_their_labels(tmp_path):
    writer = PdfWriter(
        clone_from=io.BytesIO(make_pdf([["Preface words"], ["Second"], ["Third page"]]))
    )
    writer.set_page_label(0, 1, style=PageLabelStyle.LOWERCASE_ROMAN)
    writer.set_page_label(2, 2, style=PageLabelStyle.DECIMAL)
    buffer = io.BytesIO()
    writer.write(buffer)
    reading = read(tmp_path, buffer.getvalue())
    assert [(page.number, page.label) for page in reading.pages] == [(1, "i"), (2, "ii"), (3, "1")]
    assert reading.text == "Preface words\n\nSecond\n\nThird page"
    assert [page.start for page in reading.pages] == [0, 15, 23]
    assert [page.end for page in reading.pages] == [15, 23, len(reading.text)]


def test_the_outline_points_at_its_titles(tmp_path):
    pages = [
        ["1 Introduction", LONG, LONG, LONG, "Scope", LONG, LONG],
        [LONG, LONG, "2 Methods", LONG, LONG],
    ]
    marks = [
        (0, 1, "Introduction"),
        (0, 2, "Scope"),
        (1, 1, "Methods"),
        (1, 1, "Nowhere in the text"),
    ]
    reading = read(tmp_path, make_pdf(pages, marks, title="A Paper"))
    places = [
        (entry.level, entry.title, reading.text[entry.offset :][:14]) for entry in reading.outline
    ]
    assert places[:3] == [
        (1, "Introduction", "1 Introduction"),
        (2, "Scope", "Scope\n\nThe qui"),
        (1, "Methods", "2 Methods\n\nThe"),
    ]
    assert reading.outline[3].offset >= reading.pages[1].start
    assert reading.title == "A Paper"
    assert reading.metadata["author"] == "Ann Lee"
    assert len(reading.metadata["date"]) >= 10


def test_lines_are_joined_into_paragraphs():
    page = (
        "It was a long line of words that goes on and on until the mar-\n"
        "gin of the page, where a well-\n"  # short on purpose
        "known rule says that it ends.\n"
        "\n"
        "A new paragraph starts with another long line of words, and it is state-\n"
        "of-the-art prose, as every one of its readers here would say at once.\n"
        "- first item\n"
        "- second item\n"
    )
    known = Vocabulary(["state-of-the-art", "x"])
    text = flow(lines_of(page), known)
    assert "until the margin of the page" in text
    assert "it ends.\n\nA new paragraph" in text
    assert "it is state-of-the-art prose" in text
    assert "at once.\n- first item\n- second item" in text


def test_a_hyphen_that_the_word_has_elsewhere_stays():
    page = (
        "This is a rather long line that ends with a word that is well-\n"
        "known to all of the readers of this page.\n"
        "Third line of the page, long enough to count here."
    )
    assert "well-known to all" in flow(lines_of(page), Vocabulary(["a well-known fact"]))
    assert "wellknown to all" in flow(lines_of(page), Vocabulary([]))


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("All of it is at https://github.", "com/acme/ferries, and the rest"),
        ("(see https://acme.example/", "package=ferries) for what is there"),
        ("All of it is at http://acme.example/rw-FAQ.", "html for those who"),
        ("All of it is at https://acme.example/Data_", "Format. The rest is"),
        ("All of it is at https://acme.example/boats/", "lapack/ and in the office"),
        ("All of it is at https://acme.example/a?x=", "17 in the first row"),
    ],
)
def test_an_address_that_a_line_ends_is_whole(line, after):
    assert f"{line}{after}" in flow(lines_of(f"{line}\n{after}\n{LONG}\n"), Vocabulary([]))


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("All of it is at https://acme.example/", "and in the office of the"),
        ("All of it is at https://acme.example.", "The office has the rest of"),
        ("All of it is at https://acme.example.", "we keep the rest of it"),
        ("All of it (https://acme.example/).", "1.7 A section with a number"),
        ("All of it: https://acme.example/", "4.1.3 A section with a number"),
        ("All of it is here and/or there/", "and/or at another place that"),
    ],
)
def test_what_follows_an_address_stays_apart(line, after):
    assert f"{line}{after}" not in flow(lines_of(f"{line}\n{after}\n{LONG}\n"), Vocabulary([]))


@pytest.mark.parametrize("known", [True, False])
def test_a_word_of_the_document_is_whole_though_a_gap_or_a_cell_breaks_it(known):
    known_words = Vocabulary(["Environments are measurements."] if known else [])
    lines = [
        Line("2 New environ-", 50, 700, 150, 718),
        Line("ments of the lake", 50, 670, 180, 688),
        Line("| Depth | all measure- ments by short- and long-range sonar |", 50, 600, 400, 610),
    ]
    text = flow(lines, known_words)
    if known:
        assert text.startswith("2 New environments of the lake")
        assert "| all measurements by short- and long-range sonar |" in text
    else:
        assert "environ-\n" in text
        assert "| all measure- ments by short- and" in text


@pytest.mark.parametrize(
    ("known", "joined"),
    [
        (["역할을 할 수 있습니다."], "여러 역할을 할 수 있습니다"),
        (["여기서 할수 있는 것"], "여러 역할을 할수 있습니다"),
    ],
)
def test_a_line_of_korean_ends_with_a_word_unless_the_document_has_the_whole(known, joined):
    line = "데스크톱 공학용 워크스테이션과 고성능 네트워크 서버까지 여러 역할을 할"
    page = (
        f"{line}\n수 있습니다. 기술적으로 우수하면서 자유로운 시스템은 데비안이 처음이고\n{line}\n"
    )
    assert joined in flow(lines_of(page), Vocabulary([*page.split("\n"), *known]))


def test_east_asian_lines_are_joined_without_a_space():
    page = (
        "これは長い行であり、次の行に続いています。検索のための文章を書い\n"
        "ています。これも長い行であり、次の行に続くものとして書かれています\n"
        "が、ここで終わります。"
    )
    assert "書いています。" in flow(lines_of(page), Vocabulary([]))


def test_a_lone_page_number_is_dropped():
    lines = [LONG] * 5
    assert flow([*map(Line, lines), Line("17")], Vocabulary([])).endswith("runs on")
    assert flow(lines_of("17\n18\n19"), Vocabulary([])) == "17\n18\n19"


def test_dots_are_one_sign_where_pypdf_reads():
    line = "1.1 Fares . . . . . . . . 12"
    assert without_dots(line) == "1.1 Fares \u2026 12"
    assert without_dots("Sails................. 3") == "Sails \u2026 3"
    assert without_dots("Wait... for it") == "Wait... for it"
    text = flow(
        lines_of("1.1 Fares \u2026 12\n1.2 Dogs \u2026 A-3\n1.3 Sails \u2026 iv\n"), Vocabulary([])
    )
    assert text == "1.1 Fares \u2026 12\n1.2 Dogs \u2026 A-3\n1.3 Sails \u2026 iv\n"


@pytest.mark.parametrize(
    ("end", "start", "between"),
    [
        ("was sold on the north", "quay in the morning.", "north\nquay"),
        ("was sold in the spring,", "as it had been before.", "spring,\nas it"),
        ("was sold on the quay.", "quay is a word, too.", "quay.\n\nquay"),
        ("was sold on the north", "Quay Road in the morning.", "north\n\nQuay"),
        ("was sold on the north", "a) quay in the morning.", "north\n\na) quay"),
        ("was sold on the north", "", "north"),
    ],
)
def test_a_sentence_runs_on_from_page_to_page(tmp_path, end, start, between):
    pages = [[LONG, LONG, f"And so it {end}"], [start, LONG, LONG] if start else ["", ""]]
    reading = read(tmp_path, make_pdf(pages))
    assert between in reading.text
    assert reading.pages[0].end == reading.pages[1].start
    assert reading.text[reading.pages[1].start :].startswith(start)


@pytest.mark.parametrize("known", [True, False])
def test_a_word_that_runs_on_is_whole_on_its_first_page(tmp_path, known):
    pages = [[LONG, LONG, "All that is about measure-"], ["ments, or so, of depth.", LONG]]
    pages.append([f"Depths are {'measurements' if known else 'unknown'}.", LONG])
    reading = read(tmp_path, make_pdf(pages))
    assert ("about measurements,\nor so, of depth." in reading.text) is known
    assert ("about measure-\nments, or so" in reading.text) is not known
    assert [page.number for page in reading.pages] == [1, 2, 3]


def test_a_scanned_pdf_asks_for_ocr(tmp_path):
    with pytest.raises(ReadingError, match="holds pictures of pages, not text") as caught:
        read(tmp_path, make_pdf(["picture", "picture"]))
    assert "Tesseract" in caught.value.cure


def test_scanned_pages_among_others_are_a_warning(tmp_path):
    reading = read(
        tmp_path,
        make_pdf([["Plenty of words here"], "picture", "picture", ["More words"], "picture"]),
    )
    assert reading.warnings == ("Pages 2–3, 5 hold pictures, not text, and need OCR.",)
    assert len(reading.pages) == 5


def test_an_empty_pdf_says_that_it_holds_no_text(tmp_path):
    with pytest.raises(ReadingError, match="This PDF contains no text"):
        read(tmp_path, make_pdf([[]]))


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-256"])
def test_a_locked_pdf_says_so_and_a_protected_one_is_read(tmp_path, algorithm):
    for user_password, readable in (("secret", False), ("", True)):
        writer = PdfWriter(clone_from=io.BytesIO(make_pdf([["Confidential words here"]])))
        writer.encrypt(user_password, "owner", algorithm=algorithm)
        buffer = io.BytesIO()
        writer.write(buffer)
        if readable:
            assert read(tmp_path, buffer.getvalue()).text == "Confidential words here"
        else:
            with pytest.raises(ReadingError, match="locked with a password"):
                read(tmp_path, buffer.getvalue())


@pytest.mark.parametrize("cut", [9, 100, 0.5, 0.9])
def test_damaged_pdfs_say_so(tmp_path, cut, capsys):
    whole = make_pdf([[LONG] * 20] * 3)
    data = whole[: cut if isinstance(cut, int) else int(len(whole) * cut)]
    with pytest.raises(ReadingError, match="damaged") as caught:
        read(tmp_path, data)
    assert caught.value.cure
    assert capsys.readouterr().err == ""


def test_too_much_text_is_refused_page_by_page(tmp_path):
    with pytest.raises(ReadingError, match=r"more than 0\.01 MB of text"):
        read(tmp_path, make_pdf([[LONG] * 40] * 8), ReadingSettings(max_text_mb=0.01))


def test_a_file_with_something_before_it_is_read(tmp_path):
    assert read(tmp_path, b"x" * 3000 + make_pdf([["Some words"]])).text == "Some words"


def test_what_pdfium_cannot_open_is_read_by_pypdf(tmp_path, monkeypatch):
    monkeypatch.setattr(by_pdfium, "contents_of", lambda *_: None)
    marks = [(1, 1, "Second page")]
    reading = read(tmp_path, make_pdf([["First page"], ["Second page"]], marks, title="A Paper"))
    assert reading.text == "First page\n\nSecond page"
    assert [page.label for page in reading.pages] == ["1", "2"]
    assert (reading.title, reading.outline[0].offset) == ("A Paper", 12)
    assert reading.metadata["author"] == "Ann Lee"


def test_both_readers_find_the_same_in_a_plain_file(tmp_path, monkeypatch):
    data = make_pdf([[LONG, LONG, "Fin."], [LONG]], [(1, 1, "Fin")], title="A Paper")
    first = read(tmp_path, data)
    monkeypatch.setattr(by_pdfium, "contents_of", lambda *_: None)
    assert read(tmp_path, data) == first


def arabic(drawn):
    """Write a page of signs of one or more letters, each drawn by itself at (place, sign)."""
    codes = {letter: chr(65 + at) for at, letter in enumerate(sorted({one for _, one in drawn}))}
    buffer = io.BytesIO()
    sheet = canvas.Canvas(buffer)
    for place, letter in drawn:
        sheet.drawString(place, 700, codes[letter])
    sheet.save()
    mapped = "".join(
        f"<{ord(code):02x}> <{one.encode('utf-16-be').hex()}>\n" for one, code in codes.items()
    )
    spaces = "1 begincodespacerange\n<00> <ff>\nendcodespacerange"
    cmap = DecodedStreamObject()
    cmap.set_data(f"{spaces}\n{len(codes)} beginbfchar\n{mapped}endbfchar".encode())
    writer = PdfWriter(clone_from=io.BytesIO(buffer.getvalue()))
    for font in writer.pages[0]["/Resources"]["/Font"].values():
        font.get_object()[NameObject("/ToUnicode")] = writer._add_object(cmap)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def test_arabic_words_are_read_from_their_first_letter(tmp_path):
    word = "\u0643\u0627\u0646\u062a"
    places = [(200 - 7 * at, letter) for at, letter in enumerate(word)]
    # Programs draw a word from its first letter, at the right, or from the left.
    assert read(tmp_path, arabic(places)).text == word
    assert read(tmp_path, arabic(places[::-1])).text == word
    # Lam and alef are one sign.
    signs = ["\u0645", "\u0644\u0627", "\u0633"]
    places = [(200 + 7 * at, sign) for at, sign in enumerate(signs)]
    assert read(tmp_path, arabic(places)).text == "\u0633\u0644\u0627\u0645"


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("D:20240229120000+01'00'", "2024-02-29T12:00:00+01:00"),
        ("D:20240229120000Z", "2024-02-29T12:00:00+00:00"),
        ("D:20230410074654Z07'46'", "2023-04-10T07:46:54+00:00"),
        ("D:2024", "2024-01-01T00:00:00"),
        ("20241340", ""),
        ("yesterday", ""),
    ],
)
def test_dates_are_read(tmp_path, written, date):
    writer = PdfWriter(clone_from=io.BytesIO(make_pdf([["Some words"]])))
    writer.add_metadata({"/CreationDate": written, "/ModDate": ""})
    buffer = io.BytesIO()
    writer.write(buffer)
    assert read(tmp_path, buffer.getvalue()).metadata.get("date", "") == date


def test_a_small_picture_does_not_make_a_page_a_scan(tmp_path):
    buffer = io.BytesIO()
    sheet = canvas.Canvas(buffer)
    sheet.drawString(50, 700, "Hello")
    sheet.drawImage(picture(), 300, 300, 40, 40)
    sheet.save()
    assert read(tmp_path, buffer.getvalue()).text == "Hello"


def test_the_helper_makes_what_it_claims():
    assert len(PdfReader(io.BytesIO(make_pdf([["a"], ["b"]]))).pages) == 2


@pytest.mark.parametrize("bookmarks", [0, 3])
def test_a_large_initial_does_not_make_its_line_the_title(tmp_path, bookmarks):
    buffer = io.BytesIO()
    sheet = canvas.Canvas(buffer, pagesize=(600, 800))
    for page in range(3):
        sheet.setFont("Helvetica", 20)
        sheet.drawString(60, 740, f"Rules of the harbour, part {page + 1}")
        sheet.setFont("Helvetica", 44)
        sheet.drawString(60, 680, "W")
        sheet.setFont("Helvetica", 10)
        sheet.drawString(104, 680, "hoever comes in by night shows a light at the mast.")
        for row in range(20):
            sheet.drawString(60, 660 - 12 * row, f"Rule {row} of {page} is kept by all who moor.")
        if page < bookmarks:
            sheet.bookmarkPage(str(page))
            sheet.addOutlineEntry(f"Part {page + 1}", str(page), 0)
        sheet.showPage()
    sheet.save()
    path = tmp_path / "zz1.pdf"
    path.write_bytes(buffer.getvalue())
    assert read_file(path, path.name, SETTINGS).title == "Rules of the harbour, part 1"
