"""What Word draws of fields that have no result."""

from __future__ import annotations

import pytest
from compound_files import word_file
from reading_files import read

from ragkit.reading.fields import drawn_by_field

READING = r' EQ \* jc2 \* "Font:MS Mincho" \* hps10 \o\ad(\s\up 9(かんじ),漢字)'


@pytest.mark.parametrize(
    ("code", "drawn"),
    [
        (READING, "漢字(かんじ)"),
        (r"eq \o(\s\up 10(ㄓㄨㄥ);中)", "中(ㄓㄨㄥ)"),
        (r" EQ \f(a + b,2) ", "a + b/2"),
        (r" EQ \r(3,x) \s\do5(max)", "3 x max"),
        (r" EQ \b\bc\{(\a\al\co2(1,0,0,1))", "{ 1 0 0 1"),
        (r' eq \o\ac(○,7) \* MERGEFORMAT "x"', "○ 7"),
        (r" SEQ Figure \* ARABIC ", ""),
        (r' HYPERLINK "https://example.org" ', ""),
        (" EQ " + "(" * 3000, ""),
        ("", ""),
    ],
)
def test_words_with_their_reading_and_formulas_are_drawn(code, drawn):
    assert drawn_by_field(code) == drawn


def test_a_word_document_has_the_words_that_have_a_reading(tmp_path):
    code = READING.replace("かんじ", "kanji").replace("漢字", "Zeichen")
    data = word_file(f"Viele \x13{code}\x15 und \x13{code}\x14\x15.\r")
    assert read(tmp_path, "a.doc", data).text == "Viele Zeichen(kanji) und Zeichen(kanji)."


def test_a_rich_text_file_has_the_words_that_have_a_reading(tmp_path):
    letters = "".join(f"\\u{ord(letter)}?" for letter in "かんじ")
    word = "".join(f"\\u{ord(letter)}?" for letter in "漢字")
    code = f"EQ \\\\* jc2 \\\\o\\\\ad(\\\\s\\\\up 9({letters}),{word})"
    field = f"{{\\field{{\\*\\fldinst {{{code}}}}}{{\\fldrslt }}}}"
    data = f"{{\\rtf1 One {field} word.\\par}}".encode()
    assert read(tmp_path, "a.rtf", data).text == "One 漢字(かんじ) word."
