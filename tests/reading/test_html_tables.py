from __future__ import annotations

import pytest

from ragkit.reading.html import read_html

_RECEIPT = """<table width=100% role="presentation"><tr><td align=center>
<table role=presentation width=600><tbody>
<tr><td><img src="logo.png"></td></tr>
<tr><td><h1>Thank you, Ines</h1><p>Your order 4711 is on its way.</p><p>It arrives on Friday.</p>
</td></tr>
<tr><td><table class="items"><tr><th>Item</th><th>Price</th></tr>
<tr><td>Teapot</td><td>&euro;39.00</td></tr><tr><td>Cups</td><td>&euro;12.00</td></tr></table></td></tr>
<tr><td><table role="presentation"><tr><td><p>Total</p></td>
<td width=20>&nbsp;</td>
<td><p>&euro;51.00</p></td></tr></table></td></tr>
<tr><td height="20" style="font-size:20px">&nbsp;</td></tr>
<tr><td><table><tr><td><a href="https://shop.example/o/4711">Track your order</a></td></tr></table>
</td></tr></tbody></table></td></tr></table>"""


@pytest.mark.parametrize("end", ["", "<p>Bye"], ids=["in order", "not closed"])
def test_a_table_that_only_lays_out_is_read_as_what_it_holds(end):
    assert read_html(_RECEIPT + end, "a.html").text.removesuffix("\n\nBye") == (
        "![](logo.png)\n\n# Thank you, Ines\n\nYour order 4711 is on its way.\n\n"
        "It arrives on Friday.\n\n"
        "| Item   | Price  |\n| ------ | ------ |\n| Teapot | €39.00 |\n| Cups   | €12.00 |\n\n"
        "Total €51.00\n\n[Track your order](https://shop.example/o/4711)"
    )


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        (("<p>Stream TV</p><p>In May</p>", "<p>14,99 €</p>"), "Stream TV In May 14,99 €"),
        (("<p>Track it</p>", "<p>Call us</p>"), "Track it Call us"),
        (("<p>To</p><p>Ines</p>", "<p>By</p><p>Visa</p>"), "To\n\nInes\n\nBy\n\nVisa"),
        (("<p>Ines</p><p>Porto</p>", "<p>We thank you</p>"), "Ines\n\nPorto\n\nWe thank you"),
        (
            ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr></table>", "9"),
            "| a | b |\n| --- | --- |\n| c | d |\n\n9",
        ),
    ],
)  # fmt: skip
def test_a_short_row_is_one_line_unless_its_cells_are_lists(cells, text):
    row = "".join(f"<td>{cell}</td>" for cell in cells)
    page = f"<table role=presentation><tr>{row}</tr></table>"
    assert read_html(page, "a.html").text == text


@pytest.mark.parametrize(
    "table",
    [
        "<table><tr><td>Tea</td><td>9</td></tr><tr><td>Milk</td><td>1</td></tr></table>",
        "<table><tr><td><p>Tea</p></td><td><p>9</p></td></tr>"
        "<tr><td><p>Milk</p></td><td><p>1</p></td></tr></table>",
        "<table role=presentation><tr><td>Tea</td><td>9</td></tr>"
        "<tr><td>Milk</td><td>1</td></tr></table>",
        "<table><tr><td><p>flags</p></td><td><p>What it does</p></td></tr></table>",
        "<table><tr><th>Name</th></tr><tr><td>Tea</td></tr></table>",
    ],
)
def test_a_table_of_data_stays_a_table(table):
    assert read_html(table, "a.html").text.count("|") >= 5


@pytest.mark.parametrize("end", ["", "<p>It may be lost.</p>"])
def test_a_note_with_a_picture_beside_it_is_no_table(end):
    page = (
        '<table border="0" summary="Note"><tr><td rowspan="2"><img alt="[Note]" src="n.png"></td>'
        f"<th>Note</th></tr><tr><td><p>Save your work.</p>{end}</td></tr></table>"
    )
    assert read_html(page, "a.html").text == "**Note**\n\nSave your work." + (
        "\n\nIt may be lost." if end else ""
    )


def test_columns_beside_each_other_are_read_one_after_the_other():
    page = (
        "<table><tr><td><p>Long days.</p><p>Short nights.</p></td>"
        "<td><p>Cold winters.</p><p>Warm stoves.</p></td></tr></table>"
    )
    assert read_html(page, "a.html").text == (
        "Long days.\n\nShort nights.\n\nCold winters.\n\nWarm stoves."
    )


@pytest.mark.parametrize(
    "style",
    [
        "display:none;overflow:hidden;opacity:0;max-height:0;max-width:0",
        "color:#fff; DISPLAY: NONE !important",
        "mso-hide:all",
        "max-height:0px;overflow:hidden;font-size:1px",
        "font-size:1px;line-height:1px;max-height:0;opacity:0",
    ],
)
@pytest.mark.parametrize("name", ["div", "span", "table"])
def test_what_a_mail_shows_only_in_lists_is_not_read(name, style):
    cell = "<tr><td>{}</td></tr>" if name == "table" else "{}"
    hidden = cell.format("Log in now<i>" + "&#8204;&#160;&#65279;&#847;" * 150 + "</i>")
    page = f'<{name} style="{style}">{hidden}</{name}><h1>Login</h1><p>The code is <b>4711</b>.</p>'
    assert read_html(page, "a.html").text == "# Login\n\nThe code is **4711**."


@pytest.mark.parametrize("style", ["max-height:0.5em;opacity:0", "opacity:0", "font-size:0px"])
def test_what_pages_show_later_is_read(style):
    page = f'<div style="{style}">Early <p style="font-size:9px">Late</p></div><p>Last</p>'
    assert read_html(page, "a.html").text == "Early\n\nLate\n\nLast"


def test_a_page_that_is_hidden_until_it_is_loaded_is_read():
    page = '<div style="display:none"><h1>Login</h1><p>The code is 4711.</p></div>'
    assert "The code is 4711." in read_html(page, "a.html").text
