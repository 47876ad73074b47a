"""Tags of HTML and of components in Markdown: drawn as what they mean, or as they are written."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_rendering import MARKDOWN, draw, spans_of

from pages.parts import rendering


def html_of(text: str) -> str:
    """Return the HTML of a Markdown text, without the frame around it."""
    html = rendering.blocks(text, (0, len(text)), (), MARKDOWN)
    inner = html.removeprefix('<div class="rk-text rk-rendered">').removesuffix("</div>")
    return " ".join(re.sub(r' (?:dir|rel|target|title)="[^"]*"', "", inner).split())


@pytest.mark.parametrize(
    ("written", "html"),
    [
        ("<b>in <i>full</i></b>", "<strong>in <em>full</em></strong>"),
        ("<kbd>Esc</kbd>, H<sub>2</sub>O", "<code>Esc</code>, H<sub>2</sub>O"),
        ("<h1 align=center>Heron</h1>\n<p>A probe.</p>", "<strong>Heron</strong><br> A probe."),
        ("<details open><summary>More</summary>depth</details>", "<strong>More</strong><br>depth"),
        ('<a href="https://a.example">the *site*</a>',
         '<a href="https://a.example">the <em>site</em></a>'),
        ('<a href="notes.md">notes</a>', '<span class="rk-nolink">notes</span>'),
        ('<a href="javascript:alert(1)">no</a>', '<span class="rk-nolink">no</span>'),
        ('<a name="top"></a>Fares', "Fares"),
        ("<table><tr><th>Plan</th><td>Fee</td></tr><tr><td>A</td><td>3</td></tr></table>",
         "Plan Fee <br>A 3 <br>"),
        ("Fares<!-- of\nlast year -->.", "Fares."),
        ("one<br/>two <BR> three<br>", "one<br>two <br> three"),
    ],
)  # fmt: skip
def test_tags_of_html_are_drawn_as_what_they_mean(written, html):
    assert html_of(written) == f"<p>{html}</p>"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("<b>x</i>y</b>", "xy"),
        ("*a <b>x* *y</b> z*", "a x y z"),
        ("if a <b and c> d </b> e", "if a <b and c> d e"),
        ('see *<a href="https://a.example">x*</a>', 'see <a href="https://a.example">x'),
        ('[x <a href="https://b.example">y</a>](https://a.example)',
         'x <a href="https://b.example">y'),
    ],
)  # fmt: skip
def test_tags_that_cross_others_enclose_nothing(written, shown):
    assert " ".join(draw(written).text.split()) == shown


def told(text: str) -> str:
    """Return what a person reads, with what the page says of pictures."""
    return re.sub(r"<.*?>", "", html_of(text))


def test_a_link_around_a_picture_keeps_both():
    text = '<a href="https://a.example"><img src="https://b.example/x.svg" alt="build"></a>'
    assert ("href", "https://a.example") in draw(text).values
    assert told(text) == "build (picture at b.example, not loaded)"


def test_a_picture_is_shown_with_its_caption_or_said_not_to_be():
    picture = {"a.png": "data:image/png;base64,AAAA"}.get
    drawn = draw('<img src="a.png" alt="A heron" width="20">', picture=picture)
    assert drawn.tags.count("img") == 1
    assert drawn.text.strip() == "A heron"
    assert told('<img src="b.png">') == "Picture not shown"
    both = '<Image src="/b.png" alt="screenshot" caption="The two decorators." />'
    assert told(both) == "The two decorators. (picture not shown)"


@pytest.mark.parametrize(
    ("written", "html"),
    [
        ("<Note>\n\nMind the gap.\n\n</Note>",
         "<p><strong>Note</strong> </p> <p>Mind the gap.</p> <p></p>"),
        ("<Tip>Use *two*.</Tip>", "<p><strong>Tip</strong> Use <em>two</em>.</p>"),
        ('<Warning title="Tides">Wait.</Warning>', "<p><strong>Tides</strong> Wait.</p>"),
        ('<Collapse title="See the code" expanded={false}>\n\nx\n\n</Collapse>',
         "<p><strong>See the code</strong> </p> <p>x</p> <p></p>"),
        ('<Grid>\n<Card href="/a" size="half">One</Card>\n<Card href="/b">Two</Card>\n</Grid>',
         "<p> One<br> Two<br> </p>"),
        ('<Tile icon="book" title="Examples" text="Explore." />',
         "<p><strong>Examples</strong> <span>Explore.</span> </p>"),
        ("<Box style={{ maxWidth: '90%' }}>x</Box>", "<p>x</p>"),
    ],
)  # fmt: skip
def test_components_are_drawn_with_their_words(written, html):
    assert html_of(written) == html


@pytest.mark.parametrize(
    "written",
    [
        "Write to <YOUR NAME> or <TOKEN>.",
        "A List<String> of <Item> is sorted.",
        '<YouTube videoId="92jUAX" />',
        '<svg width="3">',
        '<abbr title="days past">DP',
    ],
)
def test_what_is_no_such_tag_is_shown_as_it_is_written(written):
    assert " ".join(draw(written).text.split()) == written


def test_a_word_that_is_found_in_a_tag_is_shown_and_marked():
    text = '<Collapse title="See the code">\n\nRun <b class="wombat">it</b>.\n\n</Collapse>'
    drawn = draw(text, spans_of(text, "code", "wombat"))
    assert drawn.marked == "codewombat"


def test_a_snippet_has_the_words_of_tags():
    text = '<Card href="/deploy" bold="Concepts.">Learn <b>how</b>.</Card><br>\nThen go on.'
    html = rendering.snippet(text, (0, len(text)), spans_of(text, "Concepts"), MARKDOWN)
    assert " ".join(html.split()) == (
        "<strong><mark>Concepts</mark>.</strong> Learn <strong>how</strong>. Then go on."
    )


PARTS = ("<b>", "</b>", "<a href='https://a.example'>", "</a>", "<Note>", "</Note>", "*", "**",
         "<br/>", "[x](y)", "<img src=z alt='q'>", "\n", "\n\n", " word ", "`", "<i", ">", "| ",
         '<Card title="t">', "</Card>", "> ", "- ", "==", "<h1>", "</h1>")  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PARTS), max_size=20))
def test_whatever_the_tags_every_other_word_stays(parts):
    text = "".join(parts)
    drawn = draw(text)
    assert drawn.text.count("word") == text.count("word")
