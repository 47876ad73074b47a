"""E-books in FictionBook as Markdown, also damaged ones and those in old encodings."""

from __future__ import annotations

import time

import pytest

from ragkit.reading import read_file
from ragkit.reading.fb2 import read_book
from ragkit.settings import ReadingSettings

BOOK = """<?xml version="1.0" encoding="windows-1251"?>
<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"
 xmlns:l="http://www.w3.org/1999/xlink">
<description><title-info><genre>prose</genre>
<author><first-name>Лев</first-name><last-name>Толстой</last-name></author>
<author><nickname>Друг</nickname></author>
<book-title>Война и мир</book-title><annotation><p>Роман о &lt;войне&gt;.</p></annotation>
<date value="1869-01-01">1869</date><lang>ru</lang></title-info>
<document-info><author><nickname>scanner</nickname></author></document-info></description>
<body><title><p>Война и мир</p></title>
<epigraph><p>Слова</p><text-author>Автор</text-author></epigraph>
<section><title><p>Том 1</p><p>Начало</p></title>
<section><title><p>I</p></title>
<p>— Eh bien.<a l:href="#n1" type="note">[1]</a> <emphasis>Курсив</emphasis>
<a l:href="https://x.example/a">сайт</a></p><empty-line/><subtitle>* * *</subtitle>
<poem><stanza><v>Строка один</v><v>Строка два</v></stanza></poem><image l:href="#i.jpg"/>
</section></section></body>
<body name="notes"><section id="n1"><title><p>1</p></title><p>Ну что.</p></section></body>
<binary id="i.jpg" content-type="image/jpeg">AAAA</binary></FictionBook>"""

AS_MARKDOWN = """# Война и мир

Роман о <войне>.

> Слова
>
> — Автор

## Том 1. Начало

### I

— Eh bien.[1] *Курсив* [сайт](https://x.example/a)
> Строка один
> Строка два

## Notes

## 1

Ну что."""


def test_a_book_is_read_in_the_encoding_that_it_declares(tmp_path):
    path = tmp_path / "book.fb2"
    path.write_bytes(BOOK.encode("windows-1251"))
    reading = read_file(path, "book.fb2", ReadingSettings())
    assert reading.text == AS_MARKDOWN
    assert (reading.title, reading.language) == ("Война и мир", "ru")
    assert reading.metadata == {"author": "Лев Толстой, Друг", "date": "1869"}


def test_a_damaged_book_loses_no_words():
    damaged = BOOK.replace("</section></section>", "").replace("<p>Ну", "<p><emphasis>Ну & ")
    text = read_book(damaged, "book.fb2").text
    for word in ("Слова", "Начало", "bien", "Курсив", "Строка два", "Ну"):
        assert word in text


def test_a_book_without_any_description_has_the_name_of_its_file():
    reading = read_book("<FictionBook><body><section><p>Words.</p></section></body>", "Tales.fb2")
    assert (reading.title, reading.text) == ("Tales", "Words.")


@pytest.mark.parametrize(
    "piece",
    [
        "<section>",
        "</section>",
        "<title>",
        "<p>",
        "<a href='#'>",
        "<author>",
        "<",
        "<binary>",
        "<poem><v>",
    ],
)
def test_hostile_books_take_no_more_time_than_their_length_asks(piece):
    start = time.process_time()
    text = read_book("<FictionBook><body><p>Kept</p>" + piece * 30_000, "a.fb2").text
    assert "Kept" in text
    assert time.process_time() - start < 10
