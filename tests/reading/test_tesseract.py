"""Tesseract is found, asked and understood."""

from __future__ import annotations

import io
import random
import threading
import time
from xml.etree.ElementTree import ParseError

import pytest
from PIL import Image, ImageDraw, ImageFont
from tesseract_stand_in import TesseractStandIn, hocr

from ragkit.errors import PassingError, ReadingError
from ragkit.reading import tesseract
from ragkit.reading.tesseract import Tesseract, lines_in


def png(width=800, height=1100, text=""):
    image = Image.new("L", (width, height), 255)
    if text:
        ImageDraw.Draw(image).text((60, 60), text, fill=0, font=ImageFont.load_default(40))
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def ask(program, picture, seconds=60.0, stopping=None):
    stopping = stopping or threading.Event()
    return program.lines(picture, 300, ("eng",), seconds, stopping)


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    made = TesseractStandIn(tmp_path / "bin", {800: hocr(["The ferry leaves at nine."])})
    monkeypatch.setenv("PATH", made.path)
    return made


def test_words_and_lines_are_read_from_hocr():
    said = hocr(["Two <words>"]).replace("baseline 0 -8", "baseline -0.031 -12.5")
    [line] = lines_in(said.encode())
    assert [(word.text, word.left, word.right, word.confidence) for word in line.words] == [
        ("Two", 200, 260, 95),
        ("<words>", 280, 420, 95),
    ]
    assert (line.baseline, line.slope, line.size, line.descent) == (287.5, -0.031, 40, 8)
    assert line.turned == 0


def test_a_line_on_its_side_has_no_baseline():
    said = hocr(["Aside"]).replace("baseline 0 -8", "textangle 270")
    [line] = lines_in(said.encode())
    assert (line.turned, line.size, line.words[0].text) == (270, 0, "Aside")


def test_pictures_and_empty_words_are_no_lines():
    photo = "<span class='ocr_photo' title='bbox 0 0 9 9'></span>"
    word = "<span class='ocrx_word' title='bbox 0 0 9 9'> </span>"
    empty = f"<span class='ocr_line' title='bbox 0 0 9 9'>{word}</span>"
    said = hocr([]).replace("</div>", f"{photo}{empty}</div>")
    assert lines_in(said.encode()) == []


@pytest.mark.parametrize(
    "said", [b"", b"<html", b"no text at all", b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>']
)
def test_what_is_no_hocr_is_refused(said):
    with pytest.raises((ParseError, ValueError)):
        lines_in(said)


def test_the_program_is_found_and_asked(stand_in):
    program = Tesseract.find()
    assert program is not None
    assert program.languages == ("eng", "osd")
    [line] = ask(program, png())
    assert " ".join(word.text for word in line.words) == "The ferry leaves at nine."
    assert ask(program, png(width=500)) == []
    assert stand_in.calls == ["-l eng --dpi 300 --psm 1 hocr"] * 2


def test_the_program_gets_no_keys_from_the_environment(stand_in, monkeypatch):
    monkeypatch.setenv("RAGKIT_WEB__KEY", "secret")
    monkeypatch.setenv("TESSDATA_PREFIX", "/data")
    ask(Tesseract.find(), png())
    given = (stand_in.folder / "environment.txt").read_text().splitlines()
    assert "RAGKIT_WEB__KEY" not in given
    assert {"OMP_THREAD_LIMIT", "PATH", "TESSDATA_PREFIX"} <= set(given)


def test_without_data_on_scripts_pages_are_taken_as_upright(stand_in):
    stand_in.order(languages=["eng"])
    ask(Tesseract.find(), png())
    assert stand_in.calls == ["-l eng --dpi 300 --psm 3 hocr"]


def test_a_program_without_languages_or_none_at_all_is_not_found(stand_in, monkeypatch):
    stand_in.order(languages=["osd"])
    assert Tesseract.find() is None
    monkeypatch.setenv("PATH", str(stand_in.folder.parent))
    monkeypatch.setattr(tesseract, "_PLACES", ())
    assert Tesseract.find() is None


@pytest.mark.parametrize(
    ("installed", "wanted", "chosen"),
    [
        (("deu", "eng", "osd"), (), ("deu", "eng")),
        (("deu", "eng", "osd"), ("deu",), ("deu",)),
        (("deu", "eng"), ("fra",), ()),
        (("ara", "deu", "eng", "fra", "ita", "script/Latin"), (), ("deu", "eng")),
        (("ara", "ces", "fra", "ita", "spa"), (), ("ara",)),
    ],
)
def test_the_languages_are_those_wanted_or_installed_or_the_persons_own(
    monkeypatch, installed, wanted, chosen
):
    monkeypatch.setenv("LC_ALL", "de_AT.UTF-8")
    assert Tesseract("tesseract", installed).chosen(wanted) == chosen


def test_a_failure_says_so(stand_in):
    stand_in.order(status=1)
    with pytest.raises(ReadingError, match="Tesseract failed on this page"):
        ask(Tesseract.find(), png())


def test_a_page_that_needs_too_much_computing_is_given_up(stand_in, monkeypatch):
    # On a loaded machine, a program of the lowest priority waits long for its second.
    monkeypatch.setattr(tesseract, "wall_seconds", lambda seconds: 600 * seconds)
    stand_in.order(computing=60.0)
    with pytest.raises(ReadingError, match="took too long") as caught:
        ask(Tesseract.find(), png(), seconds=1.0)
    assert type(caught.value) is ReadingError


def test_a_page_that_waits_for_a_busy_machine_is_tried_again(stand_in, monkeypatch):
    monkeypatch.setattr(tesseract, "wall_seconds", lambda seconds: seconds)
    stand_in.order(seconds=60.0)
    with pytest.raises(PassingError, match="too busy"):
        ask(Tesseract.find(), png(), seconds=1.0)


def test_a_program_that_is_slow_to_start_gets_the_whole_picture(stand_in, monkeypatch):
    monkeypatch.setattr(tesseract, "_WATCH_SECONDS", 0.05)
    stand_in.order(seconds_before=0.5)
    noise = random.Random(3).randbytes(800 * 1100)
    picture = io.BytesIO()
    Image.frombytes("L", (800, 1100), noise).save(picture, "PNG")
    assert len(picture.getvalue()) > 500_000
    [line] = ask(Tesseract.find(), picture.getvalue(), seconds=30)
    assert line.words[0].text == "The"


def test_the_worker_need_not_wait_for_a_page_when_it_stops(stand_in):
    stand_in.order(seconds=60.0)
    stopping = threading.Event()
    threading.Timer(0.3, stopping.set).start()
    started = time.monotonic()
    with pytest.raises(PassingError, match="interrupted"):
        ask(Tesseract.find(), png(), stopping=stopping)
    assert time.monotonic() - started < 30


def test_a_program_that_cannot_be_started_is_a_passing_error(tmp_path):
    with pytest.raises(PassingError, match="could not be started"):
        ask(Tesseract(str(tmp_path / "missing"), ("eng",)), png())


@pytest.mark.skipif(Tesseract.find() is None, reason="Tesseract is not installed")
def test_the_real_program_reads_a_picture():
    program = Tesseract.find()
    lines = ask(program, png(text="The kestrel hovers\nover the ridge."))
    said = [" ".join(word.text for word in line.words) for line in lines]
    assert said == ["The kestrel hovers", "over the ridge."]
    assert all(line.size > 0 and line.words[0].confidence > 60 for line in lines)
