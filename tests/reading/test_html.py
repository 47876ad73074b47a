from __future__ import annotations

import time

import pytest
from reading_files import read

from ragkit.reading.html import read_html


def test_html_becomes_markdown_without_scripts(tmp_path):
    reading = read(
        tmp_path,
        "a.html",
        '<!doctype html><html lang="de"><head><title>Shop &amp; Hilfe</title>'
        '<meta name="author" content="Kim"><style>p{}</style></head><body><script>evil()</script>'
        "<h1>Refunds</h1><p>Within <b>14</b> days.</p>"
        "<table><tr><th>Land</th><th>Tage</th></tr><tr><td>DE</td><td>14</td></tr></table>"
        "<ul><li>One</li><li>Two</li></ul></body></html>",
    )
    assert (reading.title, reading.language, reading.metadata) == (
        "Shop & Hilfe",
        "de",
        {"author": "Kim"},
    )
    assert reading.text.startswith("# Refunds\n\nWithin **14** days.")
    assert "| DE" in reading.text
    assert "- One\n- Two" in reading.text
    assert "evil" not in reading.text
    assert "p{}" not in reading.text


def test_headings_of_documentation_are_their_words_alone(tmp_path):
    page = (
        "<h2 id=a>Traits<a class=anchor href='#a'>§</a></h2><details><summary><section>"
        "<a href='#b'>§</a><h4>fn zip&lt;U&gt;() -&gt; Zip<div class=where>where U: Copy</div></h4>"
        "</section></summary><p>Zips.</p></details><details><summary>More</summary><p>Text</p>"
        "</details><h3>Notes<a href='#n'>&para;</a></h3>"
    )
    assert read(tmp_path, "a.html", page).text == (
        "## Traits\n\n#### fn zip<U>() -> Zip where U: Copy\n\nZips.\n\n**More**\n\nText\n\n"
        "### Notes"
    )


def test_html_in_its_declared_encoding(tmp_path):
    page = '<html><head><meta charset="shift_jis"><title>題</title></head><p>検索</p></html>'
    reading = read(tmp_path, "a.html", page.encode("shift_jis"))
    assert (reading.title, reading.text) == ("題", "検索")


def test_deeply_nested_html_keeps_its_words(tmp_path):
    reading = read(
        tmp_path, "a.html", "<html>" + "<div>" * 20_000 + "deep words" + "</div>" * 20_000
    )
    assert reading.text == "deep words"


def test_scripts_and_styles_are_not_seen_but_one_without_an_end_hides_nothing():
    page = (
        "<p>One</p><script>document.write('<script>no</' + 'script>')</script><STYLE>p{}</Style >"
        "<svg><title>no</title></svg><!-- no <!-- no --><p>Two</p><script>let <p>Three</p><!-- "
    )
    text = read_html(page, "a.html").text
    assert [word for word in ("One", "Two", "Three", "no", "write", "p{}") if word in text] == [
        "One",
        "Two",
        "Three",
    ]


@pytest.mark.parametrize(
    "opening",
    [
        '<div role="navigation">',
        "<div id='m' role=navigation aria-label=\"menu\">",
        '<DIV CLASS="navheader">',
        "<div class=navfooter>",
        '<div class="box sphinxsidebar wide">',
        '<div class="topNav"><a name="top"></a>',
    ],
)
def test_menus_of_a_site_are_left_out(opening):
    menu = f"{opening}<div><a href='/a'>Fares</a></div><div>Dogs</div></div>"
    page = f"{menu}<h1>Ferries</h1><p>Tickets are sold on board.</p>{menu}<p>End.</p>"
    assert read_html(page, "a.html").text == "# Ferries\n\nTickets are sold on board.\n\nEnd."


@pytest.mark.parametrize(
    "page",
    [
        "<div role=navigation><ul><li>Fares</li><li>Dogs</li></ul></div>",  # Nothing else.
        "<div class=navheader><p>Fares and dogs</p>",  # It has no end.
        '<div class="navheader-like"><p>Fares</p></div><p>Dogs</p>',
        "<p>Fares: class=navheader</p><p>Dogs</p>",
    ],
)
def test_what_may_be_no_menu_stays(page):
    text = read_html(page, "a.html").text
    assert "Fares" in text
    assert "ogs" in text


_PIECES = ["<script>", "<math>", "<code>", r"\(", "$a_", r"\[x", "<title><svg>", "<!--"]
_MENUS = ["<div class=navheader>", "<div class=navheader></p>"]


@pytest.mark.parametrize("piece", [*_PIECES, *_MENUS])
def test_hostile_pages_take_no_more_time_than_their_length_asks(piece):
    start = time.process_time()
    assert "Kept" in read_html("<p>Kept</p>" + piece * 20_000, "a.html").text
    assert time.process_time() - start < 5


def test_a_page_with_a_title_alone_is_found_by_it(tmp_path):
    head = "<title>Lake levels</title><meta name=description content='Since 1990.'>"
    reading = read(tmp_path, "a.html", f"<html><head>{head}</head><body><div id=app></div></body>")
    assert (reading.title, reading.text) == ("Lake levels", "# Lake levels\n\nSince 1990.")


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (
            "<math display='block'><msup><mi>x</mi><mn>2</mn></msup>"
            '<annotation encoding="application/x-tex">x^2\n + y_1</annotation></math>',
            "$x^2 + y_1$",
        ),
        (r'<math alttext="a_1 &lt; \sum b"><mi>S</mi></math>', r"$a_1 < \sum b$"),
        ("<math><mi>a</mi><mo>=</mo><mn>12</mn></math>", "a=12"),
        ("<math><annotation-xml><apply/></annotation-xml><mi>a</mi></math>", "a"),
        (r'<math alttext="\{a\}"><mi>S</mi></math>', r"$\{a\}$"),
        (r"<span class='math'>\(x_1 &lt; \{y\}\)</span>", r"$x_1 < \{y\}$"),
        (r"\[ a^2 = \left\{ b \\ c \right\} \]", r"$$a^2 = \left\{ b \\ c \right\}$$"),
        (r"$$\alpha_1 \\ \beta$$", r"$$\alpha_1 \\ \beta$$"),
        (r"<script type='math/tex'>x_1</script>", "$x_1$"),
        (r"<script type='math/tex; mode=display'>x * y * z</script>", "$$x * y * z$$"),
        ("the price of $5 to $6", "the price of $5 to $6"),
        (r"<code>\(a_1\)</code>", r"`\(a_1\)`"),
        ("\ufdd47\ufdd5", "7"),
    ],
)
def test_a_formula_is_its_tex_or_its_signs(formula, text):
    page = f"<html><body><p>Where {formula} holds.</p></body></html>"
    assert read_html(page, "a.html").text == f"Where {text} holds."
