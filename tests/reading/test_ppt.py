"""Presentations from before 2007: one of LibreOffice, and the parts that PowerPoint writes."""

from __future__ import annotations

import lzma
from pathlib import Path

from compound_files import slides_file

from ragkit.reading import read_file
from ragkit.reading.limits import Limits
from ragkit.settings import ReadingSettings

TITLE, LIST, OTHER = 0, 1, 4


def read(folder, data):
    path = folder / "a.ppt"
    path.write_bytes(data)
    return read_file(path, path.name, Limits.of(ReadingSettings()))


def test_a_presentation_has_its_slides_tables_and_notes(tmp_path):
    packed = Path(__file__).with_name("pier.ppt.xz").read_bytes()
    reading = read(tmp_path, lzma.decompress(packed))
    assert reading.title == "New pier"
    assert (
        reading.text
        == """\
## New pier

Oak 橋 planks

Two cranes

Notes: Ask Mia first.

## Costs

| Part | Euro | Note |
| --- | --- | --- |
| Planks | 900 |  |
| Cranes |  | two, hired |

Without taxes"""
    )
    assert [(page.number, reading.text[page.start :][:7]) for page in reading.pages] == [
        (1, "## New "),
        (2, "## Cost"),
    ]


FERRY = [(TITLE, "Ferry\vplans"), (LIST, "Nine 時\rTen\r\r"), (OTHER, "*")]
PIER = [(TITLE, "Pier"), (OTHER, "By June\rBy May")]


def test_slides_are_in_the_order_in_which_they_are_shown(tmp_path):
    assert read(tmp_path, slides_file(FERRY, PIER, order=[1, 0])).text == (
        "## Pier\n\nBy June\n\nBy May\n\n## Ferry plans\n\n- Nine 時\n- Ten"
    )


def test_comments_follow_their_slide(tmp_path):
    text = read(tmp_path, slides_file(PIER, comment=("Ann", "Why so late?"))).text
    assert text == "## Pier\n\nBy June\n\nBy May\n\nAnn: Why so late?"


def test_without_a_sound_directory_all_slides_are_read(tmp_path):
    text = read(tmp_path, slides_file(FERRY, PIER, directory=False)).text
    assert "## Ferry plans\n\n- Nine 時\n- Ten" in text
    assert "Pier\n\nBy June\n\nBy May" in text


def test_a_title_that_is_too_long_for_a_heading_is_text(tmp_path):
    data = slides_file([(TITLE, "word " * 100)])
    assert read(tmp_path, data).text == "## Slide 1\n\n" + ("word " * 100).strip()
