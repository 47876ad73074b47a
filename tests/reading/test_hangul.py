"""Documents of Hangul, the word processor of Korea, in both forms."""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from compound_files import compound_file
from hangul_files import (
    EQUATION,
    PACKED,
    TABLE,
    control,
    hwp_file,
    hwpx_file,
    listed,
    p,
    record,
    said,
)
from reading_files import read

from ragkit.errors import ReadingError

CELLS = (((0, 0), "배"), ((0, 1), "일수"), ((1, 0), "카누"), ((1, 1), "3"))
READ = """\
# 제1장 부두 임대

The crane lifts 20 tons[^1],\\
by *no* one but 김.

| 배 | 일수 |
| --- | --- |
| 카누 | 3 |

표 1. 임대료

In a box

x over y

[^1]: since 1893

## Header and footer

- 오버하펜 항만

## Comments

- 물어보기"""
READ = READ.replace("\\\n", "\n").replace("*no*", "\\*no\\*")


BOX = record(76, 2) + listed(3, said("In a box", 3))


def table():
    inside = record(TABLE, 2, bytes(20))
    inside += b"".join(listed(2, said(text, 2), at) for at, text in CELLS)
    return control("tbl ", 1, inside)


def number(kind, value, level=1):
    return control("atno", level, data=struct.pack("<IH", kind, value))


def body():
    note = said("since 1893\x12", 3, controls=[number(1, 1, level=4)])
    formula = record(EQUATION, 2, struct.pack("<IH", 0, 8) + "x over y".encode("utf-16-le"))
    return b"".join(
        (
            said("\x02제1장 부두\t임대\x10", 0, 1, [
                control("secd", 1),
                control("head", 1, listed(2, said("오버하펜 항만", 2))),
            ]),
            said("The crane lifts 20 tons\x11,\nby *no* one but 김.\x0f", 0, 0, [
                control("fn  ", 1, listed(2, note)),
                control("tcmt", 1, listed(2, said("물어보기", 2))),
            ]),
            said("\x0b", 0, 0, [table()]),
            said("표 \x12. 임대료", 0, 0, [number(4, 1)]),
            said("\x0b", 0, 0, [control("gso ", 1, BOX)]),
            said("\x0b", 0, 0, [control("eqed", 1, formula)]),
        )
    )  # fmt: skip


def pages():
    row = "<hp:tr>{}</hp:tr>"
    cell = '<hp:tc><hp:subList>{}</hp:subList><hp:cellAddr colAddr="{}" rowAddr="{}"/></hp:tc>'
    cells = [cell.format(p(text), column, line) for (line, column), text in CELLS]
    rows = row.format("".join(cells[:2])) + row.format("".join(cells[2:]))
    head = (
        f"<hp:ctrl><hp:header><hp:subList>{p('오버하펜 항만')}</hp:subList></hp:header></hp:ctrl>"
    )
    note = "since 1893<hp:unknown/>"
    own = '<hp:ctrl><hp:autoNum num="1" numType="FOOTNOTE"/></hp:ctrl>'
    foot = f"<hp:ctrl><hp:footNote><hp:subList>{p(note, own)}</hp:subList></hp:footNote></hp:ctrl>"
    hidden = f"<hp:ctrl><hp:hiddenComment>{p('물어보기')}</hp:hiddenComment></hp:ctrl>"
    one = '<hp:ctrl><hp:autoNum num="1" numType="TABLE"/></hp:ctrl>'
    return "".join(
        (
            p("<hp:secPr><hp:x/></hp:secPr>", "제1장 부두<hp:tab width='4'/>임대", head, style=1),
            p("The crane lifts 20 tons", foot, ",<hp:lineBreak/>by *no* one but 김.", hidden),
            p(f"<hp:tbl>{rows}</hp:tbl>"),
            p("표 ", one, ". 임대료"),
            p(f"<hp:rect><hp:drawText>{p('In a box')}</hp:drawText></hp:rect>"),
            p("<hp:equation><hp:script>x over y</hp:script></hp:equation>"),
        )
    )


@pytest.mark.parametrize("flags", [0, PACKED])
def test_a_document_has_its_headings_tables_notes_boxes_and_comments(tmp_path, flags):
    reading = read(tmp_path, "a.hwp", hwp_file(body(), flags=flags))
    assert reading.text == READ
    assert (reading.title, reading.format) == ("제1장 부두 임대", "hwp")


def test_a_document_of_the_newer_form_is_read_alike(tmp_path):
    reading = read(tmp_path, "a.hwpx", hwpx_file(pages()))
    assert reading.text == READ
    assert (reading.title, reading.format) == ("제1장 부두 임대", "hwpx")
    assert reading.metadata == {"author": "김안나", "date": "2024-05-01"}
    assert read(tmp_path, "b.hwpx", hwpx_file(pages(), title="임대 계약서")).title == "임대 계약서"


def test_what_is_deleted_in_a_tracked_change_is_not_read(tmp_path):
    def mark(kind, number):
        return f'<hp:{kind} Id="{number}" TcId="{number}"/>'

    rows = f"<hp:tr><hp:tc>{p('gone cell')}</hp:tc></hp:tr>"
    body = (
        p(f"The rent is {mark('deleteBegin', 2)}900{mark('deleteEnd', 2)} EUR"),
        p(f"Now {mark('insertBegin', 1)}1,200{mark('insertEnd', 1)} a month."),
        p(f"Kept {mark('deleteBegin', 3)}and gone", f"<hp:tbl>{rows}</hp:tbl>"),
        p(f"gone{mark('deleteEnd', 3)}to the end."),
        p(f"An end{mark('deleteEnd', 4)} before its start{mark('deleteBegin', 4)} hides nothing."),
        p(f"Nor does one {mark('deleteBegin', 5)}without an end."),
    )
    assert read(tmp_path, "a.hwpx", hwpx_file("".join(body))).text == (
        "The rent is EUR\n\nNow 1,200 a month.\n\nKept\n\nto the end.\n\n"
        "An end before its start hides nothing.\n\nNor does one without an end."
    )


def test_sections_stand_in_their_order(tmp_path):
    texts = [f"Section {number} of it." for number in range(12)]
    old = hwp_file(*(said(text) for text in texts))
    new = hwpx_file(*(p(text) for text in texts))
    for name, data in (("a.hwp", old), ("a.hwpx", new)):
        assert read(tmp_path, name, data).text == "\n\n".join(texts)


def test_a_table_in_a_cell_and_a_caption_lose_no_text(tmp_path):
    inner = control("tbl ", 3, record(TABLE, 4, bytes(20)) + listed(4, said("deep", 4)))
    cells = listed(2, said("\x0b", 2, controls=[inner])) + listed(2, said("flat", 2), (0, 1))
    caption = listed(2, said("Caption", 2))
    whole = control("tbl ", 1, caption + record(TABLE, 2, bytes(20)) + cells)
    text = read(tmp_path, "a.hwp", hwp_file(said("\x0b", controls=[whole]))).text
    assert text == "Caption\n\n| deep | flat |\n| --- | --- |"


@pytest.mark.parametrize(
    ("name", "data", "said_why"),
    [
        ("a.hwp", hwp_file(body(), flags=PACKED | 2), "is locked with a password"),
        ("a.hwp", hwp_file(body(), flags=PACKED | 4), "is locked with a password"),
        ("a.hwp", hwp_file(said("")), "contains no text"),
        ("a.hwp", compound_file({"FileHeader": b"x", "BodyText/Section0": b"x"}), "is damaged"),
        ("a.hwp", b"HWP Document File V3.00 \x1a\x01\x02", "a version of Hangul before 5.0"),
        ("a.hwpx", hwpx_file(), "is damaged"),
        ("a.hwpx", hwpx_file("<hp:p>"), "is damaged"),
        ("a.hwpx", hwpx_file(p("")), "contains no text"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path, name, data, said_why):
    with pytest.raises(ReadingError, match=said_why):
        read(tmp_path, name, data)


def test_a_document_that_is_damaged_is_read_or_says_so(tmp_path):
    whole = bytearray(hwp_file(body(), flags=0))
    for at in range(512, len(whole), 13):
        data = bytes(whole[:at]) + b"\xff" + bytes(whole[at + 1 :])
        with suppress(ReadingError):
            assert read(tmp_path, "a.hwp", data).text
