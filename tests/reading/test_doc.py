"""Word documents from before 2007: one that LibreOffice wrote, and texts of several versions."""

from __future__ import annotations

import lzma
import struct
from pathlib import Path

import pytest
from compound_files import old_word_file, word_file
from reading_files import LEASE, NUMBERED

from ragkit.reading import read_file
from ragkit.reading.limits import Limits
from ragkit.settings import ReadingSettings


def read(path):
    return read_file(path, path.name, Limits.of(ReadingSettings()))


def text_of(folder, data):
    path = folder / "a.doc"
    path.write_bytes(data)
    return read(path).text


def test_a_document_has_its_headings_tables_lists_notes_and_comments():
    # In the file, "forty" before "fifty" is deleted, and the deletion tracked.
    reading = read(Path(__file__).with_name("lease.doc"))
    assert reading.title == "Lease of the pier"
    assert reading.text == LEASE


def test_headings_and_items_have_the_numbers_that_are_printed(tmp_path):
    packed = Path(__file__).with_name("numbers.doc.xz").read_bytes()
    path = tmp_path / "numbers.doc"
    path.write_bytes(lzma.decompress(packed))
    reading = read(path)
    assert reading.title == "Scope"
    assert (
        reading.text
        == f"""\
{NUMBERED}
- Point

Text

5. Goes on"""
    )


@pytest.mark.parametrize(
    ("text", "encoding", "how"),
    [
        ("Договор об аренде причала и лодок на весь год", "cp1251", {}),
        ("Договор об аренде", "cp1251", {"language": 0x419}),
        ("Úmluva o nájmu přístaviště", "cp1250", {"language": 0x405}),
        ("桟橋の契約", "cp932", {"language": 0x411}),
        ("L’été, le loyer est de 3 €", "cp1252", {}),
        ("Le loyer de l’été", "mac_roman", {"machine": 1}),
    ],
)
def test_word_95_wrote_in_the_code_page_of_a_language(tmp_path, text, encoding, how):
    data = old_word_file(f"{text}\r".encode(encoding), **how)
    assert text_of(tmp_path, data) == text


@pytest.mark.parametrize(
    ("text", "encoding", "kind"),
    [
        ("桟橋の契約: “ﾎﾞｰﾄ” 3", "cp932", 0xA697),
        ("부두 임대 계약: “배” 3", "cp949", 0xA698),
        ("码头租约：“船” 3", "cp936", 0xA699),
        ("碼頭租約：“船” 3", "cp950", 0xA699),
    ],
)
def test_word_95_wrote_two_bytes_a_character_in_east_asia(tmp_path, text, encoding, kind):
    units = []
    for letter in f"{text}\r":
        high, low = (0x10, *letter.encode("cp1252")) if letter in "“”" else (0, 0)
        units.append((high << 8 | low) or int.from_bytes(letter.encode(encoding), "big"))
    stored = struct.pack(f"<{len(units)}H", *units)
    data = old_word_file(stored, kind=kind, flags=0x1000, count=len(units))
    assert text_of(tmp_path, data) == text


def test_the_cells_of_word_95_are_a_table_again(tmp_path):
    rows = b"Boats\rBoat\aDay\a\aCanoe\a3\a\aEnd.\r"
    assert text_of(tmp_path, old_word_file(rows)) == (
        "Boats\n\n| Boat | Day |\n| --- | --- |\n| Canoe | 3 |\n\nEnd."
    )


def test_fields_are_their_results_and_links_their_titles_with_targets(tmp_path):
    text = (
        "Page \x13 PAGE \x143\x15 of \x13 NUMPAGES \\* \x13 X \x14y\x15 \x149\x15."
        '\x13 XE "pier" \x15\r'
        'Ask \x13 HYPERLINK "mailto:rui@example.org" \x14Rui\x15 or '
        '\x13 HYPERLINK "mailto:mia@example.org" \x14mia@example.org\x15.\r'
        "A \x13 that no one ends\r"
    )
    assert text_of(tmp_path, word_file(text)) == (
        "Page 3 of 9.\n\nAsk [Rui](mailto:rui@example.org) or mia@example.org.\n\n"
        "A that no one ends"
    )


def test_what_would_be_markdown_is_text(tmp_path):
    assert text_of(tmp_path, word_file("# 5\r> a < b\rfile_name\r")) == (
        "\\# 5\n\n\\> a < b\n\nfile_name"
    )
