"""Outlines as headings and lists."""

from __future__ import annotations

import time

import pytest

from ragkit.reading.formats import Format
from ragkit.reading.opml import read_outline

OUTLINE = """<?xml version="1.0"?><opml version="2.0"><head><title>Plans &amp; ideas</title></head>
<body><outline text="Garden" _note="In spring&#10;and fall">
<outline text="Plant &lt;b&gt;beans&lt;/b&gt;"><outline text="Runner"/></outline>
<outline text='Water > all' /></outline>
<outline text="Feeds"><outline type="rss" text="News" xmlUrl="https://n.example/rss"
 htmlUrl="https://n.example"/></outline><outline text="Loose" _note="a note"/></body></opml>"""


def test_an_outline_is_headings_and_lists():
    reading = read_outline(OUTLINE, "plans.opml")
    assert reading.text == (
        "## Garden\n\nIn spring\nand fall\n\n- Plant beans\n  - Runner\n- Water > all\n\n"
        "## Feeds\n\n- News <https://n.example>\n- Loose\n  a note"
    )
    assert (reading.title, reading.format) == ("Plans & ideas", Format.OPML)


def test_a_file_without_outlines_is_code():
    assert read_outline("<opml><body/></opml>", "a.opml").format is Format.CODE


@pytest.mark.parametrize(
    "piece", ["<outline text='a'>", "</outline>", "<outline ", "<outline a='", "<title>"]
)
def test_hostile_outlines_take_no_more_time_than_their_length_asks(piece):
    start = time.process_time()
    text = read_outline("<outline text='Kept'/>" + piece * 30_000, "a.opml").text
    assert "Kept" in text
    assert time.process_time() - start < 10
