"""Captions of meetings and films: speakers, parts of five minutes, repeats, and nothing lost."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ragkit.reading.conversations.captions import read_captions

MEETING = """WEBVTT - a meeting

NOTE Made by a program

STYLE
::cue { color: red }

3f2a-0
00:00:01.000 --> 00:00:04.500 align:start
<v Anna Berg>Good morning, let us begin with the budget
for the <i>harbour</i> &amp; the quay.</v>

3f2a-1
00:00:04.600 --> 00:00:09.000
<v.loud Tom Lind>The crane is dearer.</v>

00:05:01.000 --> 00:05:03.000
<v Tom Lind>We could lease it.</v> <v Anna Berg>Let us.</v>
"""
FILM = """1
00:00:01,000 --> 00:00:04,500
<i>The boat left</i> at
<font color="#fff">dawn.</font>

2
00:00:05,000 --> 00:00:06,000
{\\an8}- Where to?
- North.

3
00:00:30,000 --> 00:00:31,000
5 < 6

and a line after an empty one.

4
01:10:00,000 --> 01:10:02,000
At 9: nothing.
"""


def test_captions_of_a_meeting_are_a_conversation():
    reading = read_captions(MEETING, "meetings/budget.vtt")
    assert reading.format == "conversation"
    assert [(span.author, reading.text[span.start : span.end]) for span in reading.messages] == [
        (
            "Anna Berg",
            "**Anna Berg**\nGood morning, let us begin with the budget for the harbour & the quay.",
        ),
        ("Tom Lind", "**Tom Lind**\nThe crane is dearer."),
        ("Tom Lind", "**Tom Lind**\nWe could lease it."),
        ("Anna Berg", "**Anna Berg**\nLet us."),
    ]
    assert [entry.title for entry in reading.outline] == ["0:00:00", "0:05:00"]
    assert reading.metadata["participants"] == ["Anna Berg", "Tom Lind"]
    assert "Made by" not in reading.text
    assert "color" not in reading.text


def test_captions_of_a_film_are_paragraphs():
    reading = read_captions(FILM, "film.srt")
    assert reading.text == (
        "## 0:00:00\n\n"
        "The boat left at dawn.\n- Where to?\n- North.\n\n"
        "5 < 6 and a line after an empty one.\n\n"
        "## 1:10:00\n\n"
        "At 9: nothing.\n"
    )
    assert (reading.format, reading.markup, reading.title) == ("captions", "markdown", "film")


def test_words_that_begin_remarks_may_be_spoken():
    said = "00:00:01.000 --> 00:00:02.000\nSTYLE matters.\n\nNOTE a remark\nof two lines\n\n"
    later = "00:00:02.000 --> 00:00:03.000\nNOTE: it is late.\n"
    text = read_captions(f"WEBVTT\n\n{said}{later}", "talk.vtt").text
    assert text == "## 0:00:00\n\nSTYLE matters. NOTE: it is late.\n"


def test_rolling_captions_say_each_line_once():
    said = ["so today we look", "at the crane", "which is old"]
    shown = [said[0], *("\n".join(pair) for pair in pairwise(said)), said[2]]
    cues = [
        f"00:00:0{row}.000 --> 00:00:0{row + 1}.000\n{text.replace('today', '<c>today</c>')}"
        for row, text in enumerate(shown)
    ]
    reading = read_captions("WEBVTT\nKind: captions\n\n" + "\n\n".join(cues), "talk.vtt")
    assert reading.text == "## 0:00:00\n\nso today we look at the crane which is old\n"


def test_the_same_word_said_twice_stays():
    cues = [
        f"00:00:0{row}.000 --> 00:00:0{row + 1}.000\n{text}" for row, text in enumerate("yesno")
    ]
    cues[3] = cues[3].replace("n", "s")
    reading = read_captions("WEBVTT\n\n" + "\n\n".join(cues), "talk.vtt")
    assert reading.text == "## 0:00:00\n\ny e s s o\n"


@pytest.mark.parametrize("later", ["Anna Berg: And the quay?", "And the quay?"])
def test_names_before_colons_are_speakers(later):
    said = ["Anna Berg: Good morning.", "Tom: Hello.", "Tom: The crane\nis late.", later]
    cues = [
        f"{row + 1}\n00:00:{row:02},000 --> 00:00:{row + 1:02},000\n{text}"
        for row, text in enumerate([*said, "Tom: No."])
    ]
    reading = read_captions("\n\n".join(cues), "zoom.vtt")
    third = "Anna Berg" if later.startswith("Anna") else "Tom"
    assert reading.metadata["participants"] == ["Anna Berg", "Tom"]
    assert "**Tom**\nHello. The crane is late." in reading.text
    assert [span.author for span in reading.messages][:2] == ["Anna Berg", "Tom"]
    assert reading.text.count("And the quay?") == 1
    span = next(s for s in reading.messages if "quay" in reading.text[s.start : s.end])
    assert span.author == third


def test_a_file_without_captions_stays_as_it_is():
    assert read_captions("WEBVTT\n\nnothing yet", "a.vtt").text == "WEBVTT\n\nnothing yet"


def test_times_may_be_written_with_fewer_digits():
    # As Teams writes the transcript of a meeting.
    reading = read_captions(
        """WEBVTT

6e2b1f0c-0d3a-4c1e-9a7b-2f5d8e1c4a90/12-0
0:0:0.0 --> 0:0:3.540
<v Jane Doe>Good morning everyone.</v>

6e2b1f0c-0d3a-4c1e-9a7b-2f5d8e1c4a90/17-0
0:0:3.540 --> 0:0:7.23
<v John Smith>Morning, let's get started.</v>

6e2b1f0c-0d3a-4c1e-9a7b-2f5d8e1c4a90/25-0
1:5:5 --> 1:5:9
<v Jane Doe>Thanks for joining.</v>
""",
        "standup.vtt",
    )
    assert [(span.author, reading.text[span.start : span.end]) for span in reading.messages] == [
        ("Jane Doe", "**Jane Doe**\nGood morning everyone."),
        ("John Smith", "**John Smith**\nMorning, let's get started."),
        ("Jane Doe", "**Jane Doe**\nThanks for joining."),
    ]
    assert "## 1:05:00" in reading.text
