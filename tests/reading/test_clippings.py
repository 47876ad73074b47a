"""Clippings of a Kindle."""

from __future__ import annotations

import pytest

from ragkit.reading.formats import Format
from ragkit.reading.readers import read_data
from ragkit.settings import ReadingSettings
from ragkit.types import Markup

_LIMITS = ReadingSettings()


def entry(book, about, text):
    return f"{book}\r\n{about}\r\n\r\n{text}\r\n==========\r\n"


def read(*entries, name="My Clippings.txt"):
    return read_data(("\ufeff" + "".join(entries)).encode(), name, _LIMITS)


def test_each_book_is_a_section_and_each_highlight_a_quotation():
    reading = read(
        entry(
            "The Lean Startup (Eric Ries)",
            "- Your Highlight on page 27 | Location 403-404 | Added on Monday, April 3, 2023",
            "Validated learning is backed up by data.",
        ),
        entry(
            "Walden (Thoreau, Henry David)",
            "- Your Highlight on Location 12-13 | Added on Tuesday, April 4, 2023 9:00:00 PM",
            "Simplify, simplify.",
        ),
        entry(
            "The Lean Startup (Eric Ries)",
            "- Your Note on page 27 | Location 404 | Added on Monday, April 3, 2023 7:15:40 AM",
            "compare with Deming",
        ),
        entry(
            "Walden (Thoreau, Henry David)",
            "- Your Bookmark on Location 80 | Added on Tuesday, April 4, 2023 9:10:00 PM",
            "",
        ),
    )
    assert reading.format is Format.CLIPPINGS
    assert reading.markup is Markup.MARKDOWN
    assert reading.title == "My Clippings"
    assert reading.text == (
        "## The Lean Startup (Eric Ries)\n\n"
        "> Validated learning is backed up by data.\n"
        "> (page 27, 2023-04-03)\n\n"
        "compare with Deming\n"
        "(note, page 27, 2023-04-03)\n\n"
        "## Walden (Thoreau, Henry David)\n\n"
        "> Simplify, simplify.\n"
        "> (location 12-13, 2023-04-04)"
    )


@pytest.mark.parametrize(
    ("about", "where"),
    [
        ("- Your Highlight on Location 8866-8867 | Added on Monday, February 2, 2015 9:42:48 AM",
         "location 8866-8867, 2015-02-02"),
        ("-  La tua evidenziazione alla posizione 3-4 | Aggiunto in data mercoledì 4 maggio 2016"
         " 17:36:35", "location 3-4, 2016-05-04"),
        ("- Votre surlignement à lʼemplacement 144-146 | Ajouté le samedi 26 décembre 2015"
         " 11:21:23", "location 144-146, 2015-12-26"),
        ("- Ihre Markierung auf Seite 9 | bei Position 130-131 | Hinzugefügt am Sonntag, 27."
         " Dezember 2015 08:18:36", "page 9, 2015-12-27"),
        ("– Ваш выделенный отрывок на странице 8 | Место 243–245 | Добавлено: пятница, 26 февраля"
         " 2016 г. в 11:00:57", "page 8, Добавлено: пятница, 26 февраля 2016 г. в 11:00:57"),
        ("- 27ページ|位置No. 409-412のハイライト |作成日: 2016年2月26日金曜日 11:49:27",
         "page 27, 2016-02-26"),
        ("- Seu destaque ou posição 2025-2026 | Adicionado: sábado, 26 de dezembro de 2015"
         " 11:39:48", "location 2025-2026, 2015-12-26"),
        ("- 您在第 3 页（位置 #77-78）的标注 | 添加于 2016年2月26日星期五 上午10:56:04",
         "page 3, 2016-02-26"),
        ("- 您在位置 #63-64的标注 | 添加于 2017年5月23日星期二 下午9:05:10",
         "location 63-64, 2017-05-23"),
        ("- La subrayado en la página 17 | posición 253-255 | Añadido el jueves, 30 de noviembre"
         " de 2017 7:51:21", "page 17, 2017-11-30"),
        ("- Uw markering op pagina 5 | Locatie 60-61 | Toegevoegd op maandag 3 april 2023 07:15:02",
         "page 5, 2023-04-03"),
    ],
)  # fmt: skip
def test_places_and_days_are_understood_in_the_languages_of_kindles(about, where):
    assert read(entry("Book (Writer)", about, "Words.")).text.endswith(f"> Words.\n> ({where})")


@pytest.mark.parametrize(
    "about",
    [
        "- Ihre Notiz auf Seite 9 | Position 131 | Hinzugefügt am Sonntag, 27. Dezember 2015",
        "- 您在位置 #1336 的笔记 | 添加于 2017年5月24日星期三 下午4:20:21",
        "- Votre note sur la page 4 | Ajouté le samedi 26 décembre 2015 11:21:23",
    ],
)
def test_notes_of_the_reader_are_no_quotations(about):
    assert "\n\nmy thought\n(note, " in read(entry("Book (Writer)", about, "my thought")).text


def test_a_highlight_that_was_drawn_anew_is_there_once():
    about = (
        "- Your Highlight on page 2 | Location 20-21 | Added on Monday, April 3, 2023 7:15:02 AM"
    )
    longer = "the quick brown fox jumps over"
    for texts in (["brown fox", longer], [longer, "brown fox"], [longer, longer]):
        text = read(*(entry("Book (Writer)", about, text) for text in texts)).text
        assert text.count("fox") == 1
        assert longer in text


def test_a_note_that_repeats_words_of_the_passage_is_kept_and_starts_no_section():
    at = "on page 2 | Location 20 | Added on Monday, April 3, 2023 7:15:02 AM"
    text = read(
        entry("Book (Writer)", f"- Your Note {at}", "habit"),
        entry("Book (Writer)", f"- Your Highlight {at}", "a habit is a thing"),
        entry("Book (Writer)", f"- Your Note {at}", "habit"),
        entry("Book (Writer)", f"- Your Note {at}", "# 1 of 3"),
    ).text
    assert text.count("\nhabit\n(note") == 2
    assert "> a habit is a thing" in text
    assert "\n\\# 1 of 3\n" in text


def test_other_texts_with_such_lines_stay_texts():
    text = "Groceries\n- milk 2 | bread\n\nlater\n----------\n"
    assert read_data(text.encode(), "list.txt", _LIMITS).format is Format.TEXT
    ruled = "Title\n==========\n- a 1 | b\n"
    assert read_data(ruled.encode(), "rst.txt", _LIMITS).format is Format.TEXT
