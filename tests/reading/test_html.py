from __future__ import annotations

import io
import re
import time
from zipfile import ZipFile

import pytest
from office_files import epub_file
from reading_files import read

from ragkit.errors import ReadingError
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


def test_headings_by_another_name_are_headings():
    page = (
        "<title>VTK: Member List</title><div class='top'>Logo</div>"
        '<div class="header">\n <div class="headertitle"><div class="title">vtkId <b>Filter</b>'
        '<div class="ingroups">Filters</div></div></div></div><p>All.</p>'
        "<div role=heading aria-level=2>Fees <i>now</i></div><p>Two.</p>"
        '<span aria-level="3" role="heading">In May</span><div role="heading">Not told</div>'
    )
    reading = read_html(page, "a.html")
    assert reading.title == "vtkId Filter"
    headings = [line for line in reading.text.splitlines() if line.startswith("#")]
    assert headings == ["# vtkId **Filter**", "## Fees *now*", "### In May"]
    assert "Filters" in reading.text


def test_numbers_of_lines_and_paragraphs_that_link_to_themselves_are_no_text(tmp_path):
    page = (
        "<p><a href='#12'>12</a> Herons wade.</p><label><a href='#o159'>159</a></label>"
        "<h1 id=o159>The basics</h1><p>See note <a href='#n3'>3</a>.</p>"
    )
    assert read(tmp_path, "a.html", page).text == (
        "Herons wade.\n\n# The basics\n\nSee note [3](#n3)."
    )


def test_a_link_within_a_link_is_one(tmp_path):
    page = (
        "<p>See <a class=term href='g.html#acid'><em><a class=term href='g.html#acid' title=Acid>"
        "ACID</a></em></a>, <a name=x></a><a href='b.html'>B</a> and <a href='c.html'>C</a>.</p>"
    )
    assert read(tmp_path, "a.html", page).text == (
        "See *[ACID](g.html#acid)*, [B](b.html) and [C](c.html)."
    )


def test_the_title_of_a_link_is_text_unless_it_repeats_the_link():
    page = (
        "<p><a href=a.html title='4.2.&nbsp;Dual boot'>Section 4.2, “<i>Dual</i> Boot”</a> and"
        ' <a href=b.html title="Asia&amp;Pacific, 2019">figures</a></p>'
    )
    assert read_html(page, "a.html").text == (
        '[Section 4.2, “*Dual* Boot”](a.html) and [figures](b.html "Asia&Pacific, 2019")'
    )


@pytest.mark.parametrize(
    "words",
    [
        "from\n<span>next</span>",
        "from \r\n  <span><a href=x.html>next</a></span>",
        "<b>from</b>\n<font>next</font>",
        "<code>from</code>\n<tt>next</tt>",
        "<my-term>from</my-term>\n<my-term>next</my-term>",
        "<a href=x.html>from\n</a>next",
        "<a href=x.html>from </a>next",
        "from<tt>&nbsp; </tt>next",
    ],
)
@pytest.mark.parametrize("block", ["p", "li", "h2", "td"])
def test_words_at_the_end_of_a_line_and_of_the_next_stay_apart(words, block):
    text = read_html(f"<{block}>Take it {words} to it</{block}>", "a.html").text
    plain = re.sub(r"\(x.html\)|[*`#|\[\]-]", "", text)
    assert plain.split() == ["Take", "it", "from", "next", "to", "it"]


@pytest.mark.parametrize("words", ["<span>from</span> next", "<code>from</code>\nnext"])
@pytest.mark.parametrize("item", ["{}:\n\n", "\n\n  {}\n", "<p>\n {}\n \n</p>\n<pre>x</pre>"])
def test_words_of_an_item_with_blank_lines_stay_apart(words, item):
    text = read_html(f"<ul><li>{item.format(words)}</li></ul>", "a.html").text
    assert re.findall(r"\w+", text)[:2] == ["from", "next"]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<pre>fn <a href=x>zip</a>(&amp;self) -&gt; <a href=y><b>Zip</b></a></pre>",
         "```\nfn zip(&self) -> Zip\n```"),
        ("<p>Call <code>f(<a href=x title=Foo>Foo</a> a)</code> now</p>", "Call `f(Foo a)` now"),
        ("<p>Call <code><a href=x>Foo</a></code> now</p>", "Call [`Foo`](x) now"),
        ("<p>Call <a href=x><code>Foo</code></a> now</p>", "Call [`Foo`](x) now"),
        ("<ul><li><pre>\n\nimport <span class=n>scala</span>\n\nval <b>x</b></pre></li></ul>",
         "- ```\n  import scala\n\n  val x\n  ```"),
        ("<p>Press <kbd><a href=x>Esc</a></kbd></p>", "Press [`Esc`](x)"),
    ],
)  # fmt: skip
def test_signs_of_links_are_no_part_of_code(source, text):
    assert read_html(source, "a.html").text == text


def test_lines_of_code_stay_lines():
    page = (
        "<pre>a = 1\n<span>b</span> = 2\n  <span>c</span> = <a href=x>3\n</a>"
        "<tt>d</tt>\n<tt>e</tt></pre>"
    )
    lines = read_html(page, "a.html").text.splitlines()[1:-1]
    assert [line.partition(" =")[0] for line in lines] == ["a", "b", "  c", "d", "e"]


@pytest.mark.parametrize("body", ["div", "span><div", "table><tr><td"])
def test_blocks_of_a_link_are_words_of_their_own(body):
    end = "".join(f"</{name}>" for name in reversed(body.split("><")))
    page = f'<a href="https://a.example/1"><{body}><h3>Deal</h3><p>Cheap</p>{end}</a><p>Last</p>'
    assert read_html(page, "a.html").text == "[Deal Cheap](https://a.example/1)\n\nLast"


def test_html_in_its_declared_encoding(tmp_path):
    page = '<html><head><meta charset="shift_jis"><title>題</title></head><p>検索</p></html>'
    reading = read(tmp_path, "a.html", page.encode("shift_jis"))
    assert (reading.title, reading.text) == ("題", "検索")


def test_deeply_nested_html_keeps_its_words(tmp_path):
    reading = read(
        tmp_path, "a.html", "<html>" + "<div>" * 20_000 + "deep words" + "</div>" * 20_000
    )
    assert reading.text == "deep words"


_SLOPPY = {
    "p": "<p>{}",
    "heading": "<h2>Part</h2><p>{}",
    "open heading": "<h2>{}",
    "list": "<p>{}<ul><li>x</ul>",
    "list of paragraphs": "<ul><li><p>{}</ul>",
    "paragraph in a division": "<div><p>{}</div>",
    "font": "<font size=2>{}<br>",
    "bold": "<p><b>{}</p>",
    "crossed": "<b><i>{}</b></i><br>",
    "font around p": "<font><p>{}</font></p>",
    "anchor": "<a name=x>{}<br>",
    "center": "<center>{}<hr>",
    "division": "<div>{}<br>",
    "span": "<span>{}<br>",
    "option": "<option>{}",
    "upper case": "<P>{}</p>",
    "space": "<p>{}</p ><div>x</div\n>",
    "cut off": "<h3>{}</h3\n<p>x</p>",
    "office": "<p>{}<o:p></p>",
    "cells": "<table><tr><td>{}<td>x</table>",
    "paragraph in a cell": "<table><tr><td><p>{}</td></tr></table>",
    "groups": "<table><colgroup><col><thead><tr><th>x<tbody><tr><td>{}</table>",
    "cells without a table": "<tr><td>{}",
    "preformatted": "<pre><b>{}</pre>",
    "less-than in a value": '<p title="a < b">{}</p>',
    "form": "<form><p>{}</p></form>",
}


@pytest.mark.parametrize("count", [2, 5, 40, 300])
@pytest.mark.parametrize("piece", _SLOPPY.values(), ids=_SLOPPY)
def test_elements_that_do_not_end_in_their_order_lose_no_word(piece, count):
    words = [f"word{number}" for number in range(count)]
    text = read_html("".join(map(piece.format, words)), "a.html").text
    assert re.findall(r"word\d+", text) == words


@pytest.mark.parametrize(
    ("opening", "end"),
    [
        ("<div>", "</div>"),
        ("<blockquote>", "</blockquote>"),
        ("<ul><li>", "</li></ul>"),
        ("<font color=red><b>", "</b></font>"),
        ("<table><tr><td>", "</td></tr></table>"),
        ("<div><span><blockquote><div>", "</div></blockquote></span></div>"),
    ],
)
def test_what_nests_deeply_is_read_in_its_order(opening, end):
    words = [f"word{number}" for number in range(400)]
    inner = "".join(f"{opening} {word}" for word in words[:200])
    outer = "".join(f"{end} {word}" for word in words[200:])
    text = read_html(f"<p>Before</p>{inner}{outer}<p>After</p>", "a.html").text
    assert re.findall(r"\w+", text) == ["Before", *words, "After"]


@pytest.mark.parametrize("tag", ['<a title="', "<a ", "</a "])
def test_tags_that_do_not_end_are_text_and_cost_no_time(tag):
    started = time.process_time()
    text = read_html(f"<p>Before</p>{tag * 60_000}<p>After</p>", "a.html").text
    # With all of them the converter takes a minute and more.
    assert time.process_time() - started < 20
    assert text == f"Before\n\n{(tag * 60_000).strip()}\n\nAfter"


def test_the_form_of_sloppy_pages_is_that_of_browsers():
    page = (
        "<h2>Fares<p>Per <b>day<p>Second<TABLE><tr><th>Boat<th>Fee<tr><td>Canoe<td>3</TABLE>"
        "<ul><li>one<li>two<ul><li>inner</ul></ul><dl><dt>Term<dd>Meaning</dl><h3>End</h3>"
    )
    assert read_html(page, "a.html").text == (
        "## Fares\n\nPer **day**\n\nSecond\n\n"
        "| Boat  | Fee |\n| ----- | --- |\n| Canoe | 3   |\n\n"
        "- one\n- two\n  * inner\n\nTerm\nMeaning\n\n### End"
    )


def test_a_table_that_only_arranges_a_sloppy_page_is_none():
    page = (
        "<table><tr><td><h1>Fares</h1><p>Boats<td><pre>a\n b</pre><ul><li>one<li>two</ul></table>"
    )
    assert read_html(page, "a.html").text == "# Fares\n\nBoats\n\n```\na\n b\n```\n\n- one\n- two"


def test_a_long_thread_of_replies_keeps_its_quotes():
    thread = "<div>word0</div>"
    for number in range(1, 40):
        thread = (
            f"<div dir=ltr><div>word{number}</div><br><div class=gmail_quote><div>Ann wrote:</div>"
            f"<blockquote>{thread}</blockquote></div></div>"
        )
    text = read_html(thread, "a.html").text
    assert re.findall(r"word\d+", text) == [f"word{number}" for number in range(39, -1, -1)]
    assert "\n> word38\n" in text
    assert "\n> > > > > word34\n" in text


def test_a_page_that_is_a_form_is_read():
    page = "<form id=aspnetForm><h1>Fares</h1><p>Canoes cost <b>3</b> a day.</p></form>"
    assert read_html(page, "a.html").text == "# Fares\n\nCanoes cost **3** a day."


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
        "<nav class=site>",
        '<div class="nav-panel">',
        '<div id="nav-path" class="navpath">',
        '<div id="titlearea">',
        '<ul class="tablist">',
        '<div class="chlinkprevnexttop">',
    ],
)
def test_menus_of_a_site_are_left_out(opening):
    end = f"</{opening[1:4].strip().lower()}>"
    menu = f"{opening}<div><a href='/a'>Fares</a></div><div>Dogs</div>{end}"
    page = f"{menu}<h1>Ferries</h1><p>Tickets are sold on board.</p>{menu}<p>End.</p>"
    assert read_html(page, "a.html").text == "# Ferries\n\nTickets are sold on board.\n\nEnd."


@pytest.mark.parametrize(
    "page",
    [
        "<div role=navigation><ul><li>Fares</li><li>Dogs</li></ul></div>",  # Nothing else.
        "<nav><ul><li>Fares</li><li>Dogs</li></ul></nav>",
        "<div class=navheader><p>Fares and dogs</p>",  # It has no end.
        '<div class="navheader-like"><p>Fares</p></div><p>Dogs</p>',
        "<p>Fares: class=navheader</p><p>Dogs</p>",
    ],
)
def test_what_may_be_no_menu_stays(page):
    text = read_html(page, "a.html").text
    assert "Fares" in text
    assert "ogs" in text


TERMINALS = "<h2>Windows</h2><p>The windows terminal is fast.</p><p>See [1].</p>"


@pytest.mark.parametrize(
    "links",
    [
        # Texinfo, LaTeX2HTML with pictures and words, a book of Axiom, and pages by hand.
        "Next: <a href=b rel=next>Maps (2)</a>, Previous: <a href=a>Sums, Products</a>, Up: "
        '<a href=c>All</a> &nbsp; [<a href=d title="Table of contents">Contents</a>]'
        "[<a href=e>Index</a>]",
        "<a href=b><img alt=next src=n.png></a><a href=c><img alt=up src=u.png></a><br>"
        "<b> Next:</b> <a href=b>Graph-menu</a> <b> Up:</b> <a href=c>Terminals</a>",
        "<a href=d>Book Contents</a><a href=a>Previous Section 8.0 Problem Solving</a>"
        "<a href=b>Next Section 8.2 Factorization</a> <a href=e>Book Index</a>",
        "<a href=a>&lt; Zurück</a> | <a href=b>Weiter &gt;</a>",
        "<a href=a>前へ</a> <a href=d>目次</a> <a href=b>次へ</a>",
        "<a href=b>Next page</a>",
        "Next: <a href=b>Questions about arrows</a>.",
    ],
)
def test_links_to_the_pages_beside_it_are_no_text_of_a_page(links):
    alone = read_html(TERMINALS, "a.html").text
    assert alone.startswith("## Windows")
    page = f"<p>{links}</p><hr>{TERMINALS}<hr><p>{links}</p>"
    assert read_html(page, "a.html").text == alone


@pytest.mark.parametrize(
    "line",
    [
        "Next: we go to <a href=b>Skye</a> and <a href=c>Mull</a>.",
        "<a href=b>Next steps</a>",
        "See <a href=b>Previous reports</a> and <a href=c>Contents</a>.",
        "<a href=b>Tickets</a> <a href=c>Next ferry</a>",
        "Next: contents, index",
    ],
)
def test_links_that_say_something_stay_where_a_page_ends(line):
    text = read_html(f"{TERMINALS}<p>{line}</p>", "a.html").text
    assert text.startswith(f"{read_html(TERMINALS, 'a.html').text}\n\n")
    said = re.findall(r"\w+", re.sub("<[^>]*>", " ", line))
    assert [word for word in said if word not in text.partition("[1]")[2]] == []


def test_links_between_pages_stay_in_the_middle_and_where_there_is_nothing_else():
    links = "<p>Next: <a href=b>Maps</a>, Up: <a href=c>All</a></p>"
    middle = "".join(f"<p>Line {number}.</p>" for number in range(9))
    assert "Maps" in read_html(f"{middle}{links}{middle}", "a.html").text
    assert "Maps" in read_html(links, "a.html").text


def test_signs_of_permanent_links_and_empty_frames_are_not_read():
    page = (
        '<h2 class="memtitle"><span class="permalink"><a href="#a06">&#9670;&nbsp;</a></span>'
        'dqrt01()</h2><iframe src="javascript:void(0)" frameborder="0" name="Search"></iframe>'
        "<p>It tests a factorization.</p>"
    )
    assert read_html(page, "a.html").text == "## dqrt01()\n\nIt tests a factorization."


_PIECES = ["[x [a](", "<script>", "<math>", "<code>", r"\(", "$a_", r"\[x", "<title><svg>", "<!--"]
_MENUS = ["<div class=navheader>", "<div class=navheader></p>", "<nav>"]
_NESTED = ["<td><p><span>", "<p><b><i>", "<li><div></b>", "</p x", "<table><h2>"]


@pytest.mark.parametrize("piece", [*_PIECES, *_MENUS, *_NESTED])
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


def encryption(*parts, algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"):
    entries = "".join(
        f'<e:EncryptedData><e:EncryptionMethod Algorithm="{algorithm}"/><e:CipherData>'
        f'<e:CipherReference URI="{part}"/></e:CipherData></e:EncryptedData>'
        for part in parts
    )
    return (
        '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" '
        f'xmlns:e="http://www.w3.org/2001/04/xmlenc#">{entries}</encryption>'
    )


def test_a_book_that_is_protected_is_refused(tmp_path):
    parts = encryption("OEBPS/one%20a.xhtml", "OEBPS/two.xhtml")
    with pytest.raises(ReadingError, match="protected against copying") as caught:
        read(tmp_path, "a.epub", epub_file(**{"META-INF/encryption.xml": parts}))
    assert caught.value.cure


def test_a_book_with_one_encrypted_chapter_or_font_is_read_without_it(tmp_path):
    parts = encryption("OEBPS/two.xhtml")
    reading = read(tmp_path, "a.epub", epub_file(**{"META-INF/encryption.xml": parts}))
    assert reading.text == "# Calm\n\nThe *sea*."
    assert "1 chapters" in reading.warnings[0]
    fonts = encryption("OEBPS/a.otf", algorithm="http://www.idpf.org/2008/embedding")
    reading = read(tmp_path, "b.epub", epub_file(**{"META-INF/encryption.xml": fonts}))
    assert reading.text.endswith("- rope")
    assert reading.warnings == ()


@pytest.mark.parametrize("kind", ["text/x-oeb1-document", "application/x-dtbook+xml", "text/html"])
def test_chapters_of_older_books_are_read(tmp_path, kind):
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata/><manifest>'
        f'<item id="a" href="one%20a.xhtml" media-type="{kind}"/>'
        '<item id="b" href="cover.jpg" media-type="image/jpeg"/></manifest>'
        '<spine><itemref idref="b"/><itemref idref="a"/></spine></package>'
    )
    reading = read(tmp_path, "a.epub", epub_file(**{"OEBPS/content.opf": package}))
    assert reading.text == "# Calm\n\nThe *sea*."


@pytest.mark.parametrize("more", [(), ("__MACOSX/._The Sea",), ("The Sea/",)])
def test_a_book_that_lies_in_a_folder_of_its_file_is_read(tmp_path, more):
    packed = io.BytesIO()
    with ZipFile(io.BytesIO(epub_file())) as book, ZipFile(packed, "w") as archive:
        for name in more:
            archive.writestr(name, b"")
        for name in book.namelist():
            archive.writestr(f"The Sea/{name}", book.read(name))
    reading = read(tmp_path, "sea.epub", packed.getvalue())
    assert (reading.title, reading.text) == (
        "The Sea", "# Calm\n\nThe *sea*.\n\n# Storm\n\n- rope",
    )  # fmt: skip
    with ZipFile(packed, "a") as archive:
        archive.writestr("beside.txt", b"")
    with pytest.raises(ReadingError, match="damaged"):
        read(tmp_path, "sea.epub", packed.getvalue())
