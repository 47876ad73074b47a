"""Documents as HTML: exact marks, nothing lost, nothing but known tags."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pages.parts import rendering
from pages.parts.rendering import Kind
from pages.parts.rendering.allowed import safe_link
from pages.parts.rendering.canvas import Anchor, Canvas

MARKDOWN = Kind("markdown")
ALLOWED = {
    "p", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em",
    "strong", "s", "b", "sub", "sup", "a", "img", "span", "div", "table", "thead", "tbody", "tr",
    "th", "td", "br", "hr", "dl", "dt", "dd", "mark",
}  # fmt: skip
SEEN = ("href", "title", "value")
VOID = {"br", "hr", "img"}


class Drawn(HTMLParser):
    """What a browser would make of the HTML: tags, text, marked text, framed text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.values: list[tuple[str, str]] = []
        self.text = self.marked = self.framed = ""
        self._stack: list[tuple[str, str]] = []
        self.feed(html)
        self.close()
        assert not self._stack

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED, tag
        self.tags.append(tag)
        self.values += [(key, value or "") for key, value in attrs]
        if tag not in VOID:
            self._stack.append((tag, dict(attrs).get("class") or ""))

    def handle_endtag(self, tag: str) -> None:
        assert self._stack.pop()[0] == tag
        self.framed += " " if tag == "li" else ""

    def handle_data(self, data: str) -> None:
        classes = " ".join(style for _, style in self._stack).split()
        if "rk-said" in classes:
            return
        self.text += data
        if any(tag == "mark" for tag, _ in self._stack):
            self.marked += data
        if "rk-here" in classes:
            self.framed += data


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text)


def draw(
    text: str, marks: Sequence[tuple[int, int]] = (), kind: Kind = MARKDOWN, **more: object
) -> Drawn:
    return Drawn(rendering.blocks(text, (0, len(text)), marks, kind, **more))  # type: ignore[arg-type]


def spans_of(text: str, *found: str) -> list[tuple[int, int]]:
    return [(text.index(word), text.index(word) + len(word)) for word in found]


def test_markdown_is_drawn_as_what_it_means_with_its_marks():
    text = (
        "# Refunds\n\nPaid **in full** by `billing`, see [the\npolicy](https://example.com/p).\n\n"
        "1. first\n2. second\n\n| Plan | Refund |\n| --- | ---: |\n| a \\| b | 30 |\n\n"
        "```python\ndef refund(order):\n    return 30\n```\n"
    )
    html = rendering.blocks(text, (0, len(text)), spans_of(text, "full", "refund", "b |"), MARKDOWN)
    assert '<h2 class="rk-h1" dir="auto">Refunds</h2>' in html
    assert "<strong>in <mark>full</mark></strong> by <code>billing</code>" in html
    assert 'href="https://example.com/p"' in html
    assert 'rel="noopener noreferrer"' in html
    assert '<li value="2">second</li>' in html
    assert '<td>a | <mark>b</mark></td> <td class="rk-right">30</td>' in html
    assert '<span class="rk-f"><mark>refund</mark></span>' in html
    assert '<div class="rk-language">python</div>' in html


def test_the_passage_frames_whole_blocks_and_parts_of_others():
    text = "before it\n\n# Head\n\nwhole one\n\n- one\n- two\n- three\n\nafter"
    passage = (text.index("# Head"), text.index("- three"))
    drawn = draw(text, passage=passage)
    assert words(drawn.framed) == ["Head", "whole", "one", "one", "two"]
    assert drawn.values.count(("id", "rk-here")) == 1
    part = draw("a long sentence, cut in two", passage=(2, 15))
    assert part.framed == "long sentence"


def test_headings_never_skip_a_level():
    html = rendering.blocks("### a\n\n# b\n\n#### c\n", (0, 22), (), MARKDOWN)
    assert re.findall(r"<(h\d) class=\"(rk-h\d)\"", html) == [
        ("h2", "rk-h3"), ("h2", "rk-h1"), ("h3", "rk-h4"),
    ]  # fmt: skip


def test_anchors_stand_before_their_sections():
    text = "# One\n\ntext\n\n# Two\n\nmore"
    html = rendering.blocks(
        text, (0, len(text)), (), MARKDOWN,
        anchors={0: Anchor("rk-section-0"), text.index("# Two"): Anchor("rk-section-1")},
    )  # fmt: skip
    assert html.index('id="rk-section-0"') < html.index("One") < html.index('id="rk-section-1"')
    assert html.index('id="rk-section-1"') < html.index("Two")


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        '<svg onload="alert(1)"><a xlink:href="javascript:alert(1)">x</a></svg>',
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1) 'title')",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](vbscript:alert)",
        "[x](//evil.example/path)",
        "[x](../../etc/passwd)",
        "![x](https://evil.example/track.png)",
        "![x](javascript:alert(1))",
        "<javascript:alert(1)>",
        '[x](https://ok.example/"onmouseover="alert(1))',
        "[a]: javascript:alert(1)\n\n[a]",
        "`<b>` & &lt;script&gt; &#60;script&#62;",
        "```<script>\nalert(1)\n```",
        "| <img src=x onerror=alert(1)> |\n| --- |\n| <script>x</script> |",
        "**x" * 50,
        "<a href='javascript:alert(1)'>x</a>",
        "<!-- <script>alert(1)</script> -->",
        "\u202ethis is reversed\u202c <\u0000b>",
        '"><img src=x onerror=alert(1)>',
        "# <iframe src='https://evil.example'></iframe>",
        "```html\n<script>alert('x')</script>\n```",
    ],
)
@pytest.mark.parametrize(
    "kind",
    [MARKDOWN, Kind("plain"), Kind("code", "html"), Kind("rst"), Kind("chat"), Kind("sheet"),
     Kind("mail"), Kind("notebook")],
    ids=lambda kind: kind.form,
)  # fmt: skip
def test_hostile_text_stays_text(hostile, kind):
    text = f"**Eve** · 2026-01-01 10:00\n{hostile}" if kind.form == "chat" else hostile
    drawn = draw(text, [(0, len(text))], kind)
    for key, value in drawn.values:
        assert not key.startswith("on")
        assert key != "src"
        if key == "href":
            assert value.startswith(("https://ok.example/", "https://evil.example"))
            assert '"' not in value
    assert set(words(text)) <= set(words(drawn.text)) | {"lt", "gt", "60", "62"}
    Drawn(rendering.snippet(text, (0, len(text)), [(0, 3)], kind))


@pytest.mark.parametrize(
    "deep",
    [">" * 10_000 + " end", "[" * 10_000 + "end", "- " * 2_000 + "end", "*" * 5_000 + "end",
     "`" * 9_999 + "end", "![" * 5_000 + "end", "<" * 10_000 + "end", "```\nnever closed\nend",
     "|" * 5_000 + "\n" + "|-" * 5_000 + "|\nend", "&" * 10_000 + "end", "~" * 3_000 + "end",
     "\\" * 9_999 + "end", "(" * 5_000 + "end" + ")" * 5_000, "# " + "#" * 9_000 + " end"],
    ids=lambda deep: repr(deep[:3]),
)  # fmt: skip
def test_deep_and_broken_markup_loses_nothing(deep):
    assert "end" in draw(deep, spans_of(deep, "end")).marked


def test_links_lead_only_to_the_web_and_to_mail():
    assert safe_link("https://example.com/a?b=c#d") == "https://example.com/a?b=c#d"
    assert safe_link("mailto:a@example.com") == "mailto:a@example.com"
    for url in ("javascript:x", "data:text/html,x", "/a", "a.md", "ftp://a", " https://a", "http:a",
                "https://a b", "https://a\nb", "file:///etc/passwd"):  # fmt: skip
        assert safe_link(url) is None


def test_the_builder_refuses_what_is_not_on_its_list():
    canvas = Canvas("text", (0, 4))
    for tag, values in (
        ("script", {}), ("p", {"onclick": "x"}), ("p", {"style": "x"}),
        ("a", {"href": "javascript:x"}), ("img", {"src": "https://a/b.png"}),
    ):  # fmt: skip
        with pytest.raises((LookupError, ValueError)):
            canvas.open(tag, **values)
    assert canvas.html() == ""


FORMS = ["markdown", "plain", "rst", "chat", "sheet", "mail", "notebook", "code"]
PIECES = st.sampled_from(
    ["word", "two", " ", "\n", "\n\n", "# ", "- ", "1. ", "> ", "**", "*", "_", "`", "```\n", "~~",
     "[a](b)", "[", "](https://x.y)", "![", "|", "| --- |\n", "| a | b |\n", "&amp;", "&", "\\",
     "<b>", "<", "    ", "\t", "<https://q.r>", "  \n", "---\n", "===\n", "é", "漢字", "[r]: /u\n",
     "\\|", "<br>"]
)  # fmt: skip


@settings(max_examples=120, deadline=None)
@given(st.lists(PIECES, max_size=40), st.sampled_from(FORMS), st.data())
def test_any_text_keeps_its_words_and_marks(pieces, form, data):
    text = "".join(pieces)
    found = [match.span() for match in re.finditer(r"word|two|漢字", text)]
    marks = [span for span in found if data.draw(st.booleans())]
    drawn = draw(text, marks, Kind(form, "python"))
    assert words(drawn.marked) == words(" ".join(text[a:b] for a, b in marks)) or "".join(
        words(drawn.marked)
    ) == "".join(text[a:b] for a, b in marks)
    shown = "".join(words(drawn.text))
    for start, end in found:
        assert text[start:end] in shown
    assert sum(shown.count(word) for word in ("word", "two", "漢字")) >= len(found)


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=200), st.integers(0, 200), st.integers(0, 200))
def test_any_characters_at_all(text, first, last):
    span = (min(first, last), max(first, last))
    for form in FORMS:
        Drawn(rendering.blocks(text, span, [span], Kind(form, "python"), passage=span))
        Drawn(rendering.snippet(text, span, [span], Kind(form, "python")))


# -- snippets --------------------------------------------------------------------------------------


def snippet(text: str, found: str, kind: Kind = MARKDOWN) -> str:
    at = text.index(found)
    html = rendering.snippet(text, (max(0, at - 30), at + 60), spans_of(text, found), kind)
    return re.sub(r'<span class="rk-said">(.*?)</span>', r"\1", html)


def test_a_wide_row_shows_the_columns_whose_names_are_asked_for():
    header = (
        "| " + " | ".join(["Town", "Year", *(f"{n} to {n + 9}" for n in range(0, 200, 10))]) + " |"
    )
    row = "| Kiel | 2024 | " + " | ".join(f"{n} %" for n in range(20)) + " |"
    place, named = (0, len(row)), spans_of(header, "150 to 159")
    html = rendering.row_snippet(row, place, spans_of(row, "18 %"), MARKDOWN, header, named)
    assert re.sub("</?span[^>]*>", "", html) == (
        "Town: Kiel · Year: 2024 · 0 to 9: 0 % · 10 to 19: 1 % · 20 to 29: 2 % · 30 to 39: 3 %"
        " · 150 to 159: 15 % · 180 to 189: <mark>18 %</mark>"
    )
    rule = "|" + " --- |" * 22
    text = f"{header}\n{rule}\n{row}"
    marks = [*spans_of(text, "150 to 159"), *spans_of(text, "18 %")]
    start = text.index(row)
    assert rendering.snippet(text, (start, len(text)), marks, MARKDOWN) == html


def test_a_snippet_is_clean_and_keeps_code_and_stress():
    text = "# T\n\nSee [the **long** policy](https://example.com) or run `make it` &amp; wait.\n"
    assert rendering.snippet(text, (5, len(text)), spans_of(text, "long"), MARKDOWN) == (
        "See the <strong><mark>long</mark></strong> policy or run <code>make it</code> &amp; wait."
    )


def test_a_snippet_of_a_table_is_the_matched_row_with_its_header():
    text = "| Plan | Refund | Note |\n| --- | --- | --- |\n| Pro | None | |\n"
    text += "| Standard, yearly | Full | |\n"
    assert snippet(text, "yearly") == "Plan: Standard, <mark>yearly</mark> · Refund: Full"
    assert snippet(text, "yearly", Kind("sheet")) == snippet(text, "yearly")
    assert snippet(text, "yearly", Kind("plain")) == snippet(text, "yearly")


def test_a_snippet_of_a_long_table_shows_the_header_from_far_above():
    text = "Before.\n\n| Plan | Refund |\n| --- | --- |\n" + "| Basic | none |\n" * 3000
    text += "| Wombat | full |\n" + "| Basic | none |\n" * 100 + "\nAfter.\n"
    at = text.index("Wombat")
    html = rendering.snippet(text, (at - 20, at + 20), spans_of(text, "Wombat"), MARKDOWN)
    assert re.sub(r"<.*?>", "", html) == "Plan: Wombat · Refund: full"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("<h5>Overview of <code>pages</code></h5>", "Overview of pages"),
        ('<p align="center" class=wide>Fares</p>', "Fares"),
        ("press <kbd>Esc</kbd>, H<sub>2</sub>O", "press Esc, H2O"),
        ('<abbr title="days past">DP</abbr>', '<abbr title="days past">DP'),
        ("<svg>x</svg> <script>y</script>", "<svg>x</svg> <script>y</script>"),
        ("3 <b and c> d", "3 <b and c> d"),
        ("`<b>` and <bold>", "<b> and <bold>"),
    ],
)
def test_tags_that_only_shape_a_text_are_not_shown(written, shown):
    drawn = draw(written)
    assert " ".join(drawn.text.split()) == shown
    assert " ".join(draw(written, kind=Kind("plain")).text.split()) == written


def test_a_table_in_plain_text_is_a_grid_and_other_bars_are_text():
    text = "Costs\n\n| In millions | 2021 |\n| --- | --- |\n| *Revenue* | 4 |\n\n| x | is positive"
    drawn = draw(text, kind=Kind("plain"))
    assert [drawn.tags.count(tag) for tag in ("table", "th", "td", "em")] == [1, 2, 2, 0]
    assert "*Revenue*" in drawn.text
    assert "| x | is positive" in drawn.text


def test_underlined_titles_of_plain_text_are_headings():
    text = (
        "Rules\n=====\n\nBe *slow*.\n\n======\nCranes\n======\n\nOld ones\n--------\nLift slowly.\n"
    )
    html = rendering.blocks(text, (0, len(text)), spans_of(text, "Cranes"), Kind("plain"))
    assert '<h2 class="rk-h1" dir="auto">Rules</h2>' in html
    assert '<h3 class="rk-h2" dir="auto"><mark>Cranes</mark></h3>' in html
    assert '<h4 class="rk-h3" dir="auto">Old ones</h4>' in html
    assert ">Lift slowly.</p>" in html
    assert ">Be *slow*.</p>" in html
    assert Drawn(html).text.count("=") == 0


def test_a_line_of_plain_text_at_which_a_section_begins_is_a_heading_of_its_level():
    text = "Scope of it\n\n1. Boats\n\nThey float.\n\n2. Cranes\nof all kinds\n\n"
    text += "2.1. Old\n--------\n\nx\n"
    places = {"Scope": 1, "1. B": 1, "2. C": 1, "2.1.": 2}
    anchors = {text.index(at): Anchor(f"a{at[0]}", level) for at, level in places.items()}
    html = rendering.blocks(text, (0, len(text)), (), Kind("plain"), anchors=anchors)
    assert re.findall(r"<h\d class=\"(.*?)\"[^>]*>(.*?)</h\d>", html) == [
        ("rk-h1", "1. Boats"),
        ("rk-h2", "2.1. Old"),
    ]
    assert 'id="a1"></span><h2 class="rk-h1"' in html


def test_a_passage_cut_out_of_a_table_is_drawn_as_rows():
    text = "| Wombat | *full* |\n| Basic | none |\n\nAfter."
    assert snippet(text[:-8], "Wombat") == "<mark>Wombat</mark> · <em>full</em>"
    html = rendering.blocks(text, (0, len(text)), (), MARKDOWN)
    assert "<td>Wombat</td> <td><em>full</em></td>" in html
    assert "<thead>" not in html
    assert ">After.</p>" in html


def test_a_line_that_begins_with_a_bar_is_code_within_code():
    text = "```text\n" + "| not a row\n" * 20 + "```\n\nAfter *it*.\n"
    start = text.index("| not") + 120
    html = rendering.blocks(text, (start, len(text)), (), MARKDOWN, since=0)
    assert html.count('class="rk-line"') == 10
    assert "After <em>it</em>." in html


def test_a_snippet_of_code_is_code():
    text = "import os\n\n\ndef login(user):\n    return user\n"
    assert snippet(text, "login", Kind("code", "python")).startswith("<code>import os")
    fenced = "Text.\n\n```python\ndef login(user):\n    return user\n```\n"
    assert "<code>def <mark>login</mark>(user):" in snippet(fenced, "login")


# -- kinds -----------------------------------------------------------------------------------------


def test_a_sheet_is_a_grid_whose_cells_are_no_markdown():
    text = "## Budget\n\n| Line | 2026 |\n| --- | --- |\n| Travel *new* | 1200 |\n"
    text += "| Rent \\| heat | 40470 |"
    html = rendering.blocks(text, (0, len(text)), spans_of(text, "40470"), Kind("sheet"))
    assert '<h2 class="rk-h2" dir="auto">Budget</h2>' in html
    assert '<th scope="col">Line</th> <th scope="col" class="rk-right">2026</th>' in html
    assert "<td>Travel *new*</td>" in html
    assert '<td>Rent | heat</td> <td class="rk-right"><mark>40470</mark></td>' in html


def test_lines_above_a_table_of_a_sheet_have_no_backslashes():
    text = "## Staff\n\n\\#1 \\*Staff\\* in %\n\n| Town | 2026 |\n| --- | --- |\n| Ulm | 1 |"
    html = rendering.blocks(text, (0, len(text)), spans_of(text, "in %"), Kind("sheet"))
    assert "#1 *Staff* <mark>in %</mark></p>" in re.sub(r"</?span[^>]*>", "", html)


def test_rows_further_down_are_drawn_under_the_header_of_their_sheet():
    head = "## Budget\n\n| Line | 2026 |\n| --- | --- |\n"
    text = head + "| Travel | 1200 |\n" * 50
    start = len(head) + 18 * 20
    html = rendering.blocks(text, (start, start + 18 * 3), (), Kind("sheet"), since=0)
    assert '<th scope="col">Line</th>' in html
    assert html.count("<tr>") == 4


def test_the_rest_of_a_code_block_is_code():
    text = "```python\n" + "value = 1\n" * 20 + "```\n\nAfter *it*.\n"
    start = text.index("value") + 50
    html = rendering.blocks(text, (start, len(text)), (), MARKDOWN, since=0)
    assert html.count('class="rk-line"') == 15
    assert '<p dir="auto">After <em>it</em>.</p>' in html


def test_a_mail_shows_its_headers_as_a_table_and_dims_quotations():
    text = (
        "From: A <a@b.c>\nTo: D\n\nDear D,\n\n> you wrote this\n> yesterday\n\nAttachments: x.pdf"
    )
    html = rendering.blocks(text, (0, len(text)), spans_of(text, "yesterday"), Kind("mail"))
    assert '<dt>From</dt> <dd dir="auto"> A &lt;a@b.c&gt;</dd>' in html
    assert "<dt>Attachments</dt>" in html
    assert '<blockquote class="rk-quoted" dir="auto">you wrote this' in html
    assert "<mark>yesterday</mark>" in html


def test_a_block_of_a_snippet_does_not_run_on_into_the_next():
    text = "## Returns\n\n- three because of *drift*\n\nNotes: Do not hide them.\n\nWe know why."
    assert rendering.snippet(text, (0, len(text)), (), MARKDOWN) == (
        "Returns · three because of <em>drift</em> · Notes: Do not hide them. We know why."
    )


def test_a_snippet_of_a_mails_head_keeps_its_lines_apart():
    text = "From: A\nTo: D\nDate: Tue\n\nDear D"
    assert rendering.snippet(text, (0, 23), (), Kind("mail")) == "From: A · To: D · Date: Tue"


def test_the_lines_of_a_log_are_not_joined():
    text = "\n".join(f"2026-02-27 12:5{n}:00 pump {n}: the pressure is low" for n in "123")
    assert '<p class="rk-broken"' in rendering.blocks(text, (0, len(text)), (), Kind("plain"))


def test_messages_are_bubbles_with_speaker_and_time():
    text = (
        "# Move\n\n**Lena Osei** · 2026-03-30 08:42\nTwelve *pieces*\n\n"
        "*2026-03-30 08:50*\nLena left\n\n**Sami** · 2026-03-30 08:47 · in reply to Lena Osei\nOk\n"
    )
    html = rendering.blocks(text, (0, len(text)), spans_of(text, "pieces"), Kind("chat"))
    assert html.count('role="group"') == 3
    assert '<b>Lena Osei</b><span class="rk-when"> · 2026-03-30 08:42</span>' in html
    assert '<p dir="auto">Twelve <em><mark>pieces</mark></em></p>' in html
    assert "in reply to Lena Osei" in html
    assert 'class="rk-event"' in html


def test_code_has_numbers_and_colours_by_its_language():
    text = "fn main() {\n    // hi\n}\n"
    kind = rendering.kind_of("code", "src/a.rs")
    assert kind == Kind("code", "rust")
    html = rendering.blocks(text, (12, len(text)), (), kind)
    assert (
        '<span class="rk-line" data-line="2">    <span class="rk-c">// hi</span>\n</span>' in html
    )


def test_tasks_have_boxes():
    text = "- [ ] send *it*\n- [x] call\n  - [X] pay\n- [y] no\n- [ ]no\n\n3. [x] last\n\n[ ] no"
    html = rendering.blocks(text, (0, len(text)), (), MARKDOWN)
    plain = re.sub(r"<[^>]+>", "", html)
    assert "☐ send it" in plain
    assert "☑ call" in plain
    assert "☑ pay" in plain
    assert "☑ last" in plain
    assert "[y] no" in plain
    assert plain.count("[ ]") == 2
    assert html.count('class="rk-task"') == 3
    assert snippet(text, "call").startswith("☐ send") or "☑ <mark>call</mark>" in snippet(
        text, "call"
    )


@pytest.mark.parametrize(
    ("values", "right"),
    [
        (["1,234.50 €", "- €", "-2.00 €"], True),
        (["$12.00", "$(1,500.00)", "$-", ""], True),
        (["CHF 10", "10.00 CHF"], True),
        (["25.6%", "0.00%"], True),
        (["12 kg", "3 m²"], True),
        (["-", "-"], False),
        (["3 days", "12"], False),
        (["B7", "12"], False),
    ],
)
def test_columns_of_numbers_and_sums_are_set_flush_right(values, right):
    text = "| Item | Value |\n| --- | --- |\n" + "".join(f"| a | {value} |\n" for value in values)
    html = rendering.blocks(text, (0, len(text)), (), MARKDOWN)
    assert ('class="rk-right"' in html) is right


def test_footnotes_are_numbers_above_the_line():
    text = "It costs 5 %[^1], says Tom[^b].\n\n[^1]: Prices of *2025*.\n[^b]: ibid.\n\n[^2]: ibid."
    drawn = draw(text, spans_of(text, "Tom[^b]"))
    assert drawn.text.split("\n") == [
        "It costs 5 %1, says Tom[^b].",
        "1 Prices of 2025.",
        "b ibid.",
        "2 ibid.",
        "",
    ]
    assert drawn.tags.count("sup") == 5
    assert drawn.marked == "Tom[^b]"
    assert "a" not in drawn.tags
    assert snippet("It costs 5 %[^1] more.", "costs") == (
        "It <mark>costs</mark> 5 %<sup>1</sup> more."
    )


@pytest.mark.parametrize("text", ["`[^1]`", "\\[^1]", "[^a b]", "[^]", f"x[^{'y' * 50}]"])
def test_what_only_looks_like_a_footnote_stays(text):
    drawn = draw(text)
    assert drawn.text.strip() == text.strip("`").removeprefix("\\")
    assert "sup" not in drawn.tags


def test_links_that_are_defined_elsewhere_are_their_text():
    text = "Of the [Streams API][] see [`pipe`][s] and grid[x][y], ![pic][p].\n\n[s]: https://a.b\n"
    html = rendering.blocks(text, (0, len(text)), (), Kind("markdown"))
    assert 'Of the <span class="rk-nolink">Streams API</span> see <a href="https://a.b"' in html
    assert "and grid[x][y], ![pic][p]." in html


def test_directives_are_drawn_as_what_they_mean():
    text = (
        ".. _refunds:\n\n.. note:: Only *paid* orders.\n   All of them.\n\n   * one\n   * two\n\n"
        "After :meth:`~shop.Order.pay`.\n\n.. code-block:: python\n   :linenos:\n\n"
        "   refund(order)\n\n   again()\n\n"
        ".. seealso::\n\n   Loans::\n\n       lend()\n\n   And gifts.\n\n.. toctree::\n   gifts\n"
    )
    html = rendering.blocks(text, (0, len(text)), (), Kind("rst"))
    assert "_refunds" not in html
    assert '<div class="rk-note"><b>Note</b><p dir="auto">Only <em>paid</em> orders.' in html
    assert '<div class="rk-note"><ul class="rk-list"><li dir="auto">one' in html
    assert '<p dir="auto">After <code>pay</code>.</p>' in html
    assert '<div class="rk-language">python</div>' in html
    assert "code-block" not in html
    assert "linenos" not in html
    assert html.count("rk-listing") == 2
    assert '<div class="rk-note"><b>See also</b></div>' in html
    assert '<div class="rk-note"><p dir="auto">And gifts.</p>' in html
    assert ".. toctree::" in html


@pytest.mark.parametrize("folder", ["sample_data"])
def test_the_sample_is_drawn_whole(folder):
    from ragkit.reading.limits import Limits
    from ragkit.reading.readers import read_file

    root = Path(__file__).parents[2] / folder / "library"
    seen = set()
    for path in sorted(root.rglob("*")):
        if not path.is_file():
            continue
        reading = read_file(path, path.name, Limits(30, 2000, 50, 50))
        text = reading.text
        kind = rendering.kind_of(reading.format, path.name, reading.markup)
        seen.add(kind.form)
        found = [match.span() for match in re.finditer(r"\b(?:the|data|and|Kolk)\b", text)]
        drawn = draw(text, found, kind, passage=(len(text) // 3, len(text) // 2))
        assert drawn.marked == "".join(text[start:end] for start, end in found), path
        unseen = {"python", "text"} if kind.form == "notebook" else set()
        # The cross of a task is drawn as one in its box.
        unseen |= {"x"} if re.search(r"^- \[x\] ", text, re.M) else set()
        links = " ".join(value for key, value in drawn.values if key in SEEN)
        assert set(words(text)) - set(words(drawn.text)) - set(words(links)) <= unseen, path
        assert "rk-verbatim" not in "".join(
            value for key, value in drawn.values if key == "class"
        ) or (kind.form == "rst"), path
        assert ("id", "rk-here") in drawn.values, path
    assert seen == {"markdown", "chat", "sheet", "mail", "notebook", "code", "rst", "plain"}
