"""E-books of Mobipocket and Kindles, and texts for PalmDOC."""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from palm_files import AS_IT_IS, HUFFMAN, PALMDOC, book, database, huffman
from reading_files import read

from ragkit.errors import ReadingError
from ragkit.reading.palm import HuffmanCodes

BODY = (
    "<h1>The crane</h1><p>The crane lifts the rope, the tar and 20 tons. “Heave!” cried Müller."
    "</p><ul><li>rope</li><li>tar</li></ul>"
)
PAGE = f"<html><head><guide><x>Not read</x></guide></head><body>{BODY}</body></html>"
READ = (
    "# The crane\n\nThe crane lifts the rope, the tar and 20 tons. “Heave!” cried Müller.\n\n"
    "- rope\n- tar"
)


@pytest.mark.parametrize(
    "how",
    [
        {"packing": AS_IT_IS},
        {"packing": PALMDOC},
        {"packing": HUFFMAN},
        {"packing": PALMDOC, "encoding": 1252},
        {"packing": PALMDOC, "trailing": True},
        {"packing": AS_IT_IS, "trailing": True},
    ],
)
def test_a_book_is_read_however_it_is_packed(tmp_path, how):
    assert read(tmp_path, "a.mobi", database(book(PAGE, **how))).text == READ


@pytest.mark.parametrize("packing", [AS_IT_IS, PALMDOC])
def test_a_long_book_is_whole(tmp_path, packing):
    chapters = "".join(f"<p>Chapter {number} of the harbour.</p>" for number in range(900))
    text = read(tmp_path, "a.azw", database(book(chapters, packing=packing))).text
    assert text.split("\n\n") == [f"Chapter {number} of the harbour." for number in range(900)]


def test_a_book_says_what_it_is(tmp_path):
    about = (
        (100, "Ann Müller".encode()), (100, b"Bo Li"), (101, b"Quay Press"), (105, b"cranes"),
        (105, b"harbours"), (106, b"2024-05-01"), (503, b"Cranes of Oberhafen"), (524, b"de-CH"),
    )  # fmt: skip
    reading = read(tmp_path, "a.mobi", database(book(PAGE, about=about, name="Working title")))
    assert (reading.title, reading.language, reading.format) == (
        "Cranes of Oberhafen",
        "de",
        "mobi",
    )
    assert reading.metadata == {
        "author": "Ann Müller, Bo Li", "date": "2024-05-01", "tags": ["cranes", "harbours"],
        "publisher": "Quay Press",
    }  # fmt: skip
    assert read(tmp_path, "b.mobi", database(book(PAGE, name="Long title"))).title == "Long title"


def test_chapters_pictures_and_links_within_a_book(tmp_path):
    text = (
        '<p><font size="7"><b>Chapter <i>One</i></b></font></p><p>A <b>word</b>.</p>'
        '<mbp:pagebreak></mbp:pagebreak><p width="0pt"><font size="4"><b>A section</b></font></p>'
        '<p>See <a filepos=0000000109>One</a> or <a href="https://example.org/x">the rules</a>.</p>'
        '<img recindex="00001"/><img alt="A crane" recindex="00002">'
        '<p><font size="2"><b>small</b></font></p><p><font size="7"><b>big</b></font> words</p>'
    )
    assert read(tmp_path, "a.mobi", database(book(text))).text == (
        "# Chapter *One*\n\nA **word**.\n\n### A section\n\n"
        "See One or [the rules](https://example.org/x).\n\nA crane\n\n**small**\n\n**big** words"
    )


def test_of_two_forms_of_a_book_the_newer_one_is_read(tmp_path):
    style = "p { color: red }"
    part = '<?xml version="1.0"?><!DOCTYPE html><html><head><title>x</title></head><body></body>'
    text = f'{part}</html>{BODY}{part}</html><p>Go <a href="kindle:pos:fid:0001:off:00">on</a>.</p>'
    end = len(text.encode())
    flows = b"FDST" + struct.pack(">II4I", 12, 2, 0, end, end, end + len(style))
    newer = book(text + style, version=8, flows=2, more=(flows,))
    older = book(
        "<p>The older form.</p>", about=((121, struct.pack(">I", 3)),), more=(b"BOUNDARY",)
    )
    assert len(older) == 3
    assert read(tmp_path, "a.azw3", database([*older, *newer])).text == f"{READ}\n\nGo on."


def test_a_text_for_palmdoc_is_read_as_it_is(tmp_path):
    head = struct.pack(">HHIHHI", AS_IT_IS, 0, 30, 1, 4096, 77)
    data = database([head, "* Müller\n\n  lifts 20 tons.".encode("cp1252")], b"TEXtREAd")
    reading = read(tmp_path, "a.prc", data)
    assert (reading.text, reading.title) == ("* Müller\n\n  lifts 20 tons.", "A Book")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (database(book(PAGE, locked=2)), "protected against copying"),
        (database(book(PAGE, packing=99)), "is damaged"),
        (database(book(PAGE, packing=HUFFMAN))[:700], "is damaged"),
        (database([b"\0"]), "is damaged"),
        (database([]), "is damaged"),
        (database(book("")), "contains no text"),
        (b"<p>no book</p>", "the content is something else"),
    ],
)
def test_what_is_no_book_says_why(tmp_path, data, said):
    with pytest.raises(ReadingError, match=said):
        read(tmp_path, "a.mobi", data)


@pytest.mark.parametrize("packing", [AS_IT_IS, PALMDOC, HUFFMAN])
def test_a_book_that_breaks_off_is_read_as_far_as_it_goes_or_says_so(tmp_path, packing):
    data = database(book(BODY * 3, packing=packing, about=((100, b"Ann"),)))
    for size in range(80, len(data), 23):
        text = ""
        with suppress(ReadingError):
            text = read(tmp_path, "a.mobi", data[:size]).text
        assert READ.startswith(text[:9])


def test_codes_that_stand_for_themselves_end():
    codes, phrases, whole = huffman(b"the")
    assert HuffmanCodes(codes, [phrases], 99).unpacked(whole) == b"the"
    codes, phrases, whole = huffman(b"the", loops=True)
    with pytest.raises(ReadingError, match="is damaged"):
        HuffmanCodes(codes, [phrases], 99).unpacked(whole)
    codes, phrases, whole = huffman(b"the " * 30)
    with pytest.raises(ReadingError, match="is damaged"):
        HuffmanCodes(codes, [phrases], 99).unpacked(whole)
