"""XML that people read becomes text with headings; settings and data stay as they are."""

from __future__ import annotations

import pytest
from reading_files import read

from ragkit.types import Markup

DOCBOOK = """<?xml version="1.0"?>
<!DOCTYPE article PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN" "http://x.example/docbookx.dtd">
<article><articleinfo><title>The lock of Husum</title></articleinfo>
<section><title>Gates</title>
<para>The gates weigh <emphasis>nine</emphasis> tonnes&mdash;each.<footnote
><para>In use.</para></footnote> Call <ulink
url="https://x.example/">the keeper</ulink>.</para>
<itemizedlist><listitem><para>North gate</para></listitem>
<listitem><para>South gate</para></listitem></itemizedlist>
<section><title>Oil</title><para>Oil &grease; them, a &lt; b.</para>
<programlisting>oil --gate north
  --all</programlisting>
<table><title>Levels</title><tgroup cols="2"><thead><row><entry>Gate</entry><entry>Level</entry>
</row></thead><tbody><row><entry>North</entry><entry>3.4 m</entry></row></tbody></tgroup></table>
</section></section></article>
"""


def test_docbook_is_read_with_its_headings_lists_listings_and_tables(tmp_path):
    reading = read(tmp_path, "lock.xml", DOCBOOK)
    assert (reading.format, reading.markup) == ("xml-document", Markup.MARKDOWN)
    assert reading.title == "The lock of Husum"
    lines = [line for line in reading.text.split("\n") if line.strip()]
    assert lines == [
        "# The lock of Husum",
        "## Gates",
        "The gates weigh *nine* tonnes—each. (In use.) Call [the keeper](https://x.example/).",
        "- North gate",
        "- South gate",
        "### Oil",
        "Oil &grease; them, a < b.",
        "```",
        "oil --gate north",
        "  --all",
        "```",
        "**Levels**",
        "| Gate  | Level |",
        "| ----- | ----- |",
        "| North | 3.4 m |",
    ]


MALLARD = """<page xmlns="http://projectmallard.org/1.0/" type="topic" id="pair" xml:lang="en">
  <info>
    <link type="guide" xref="radio"/>
    <revision pkgversion="43" date="2022-09-10" status="final"/>
    <credit type="author"><name>Ines Vale</name><email>ines@example.org</email></credit>
    <desc>Use a wireless <gui>headset</gui>.</desc>
    <title type="sort">connect 1</title>
  </info>
  <title>Connect a headset</title>
  <comment><p>Say which window this is.</p></comment>
  <steps>
    <title>To pair it:</title>
    <item><p>Press <keyseq><key>Super</key><key>B</key></keyseq>.</p></item>
    <item><p>Choose <guiseq><gui>Devices</gui><gui>Headset</gui></guiseq>.</p></item>
  </steps>
  <note><title>Battery</title><p>Charge it first.</p></note>
  <section id="more"><title>Sounds</title>
    <terms><item><title>Loud</title><p>Turn the wheel.</p></item></terms>
  </section>
</page>
"""


def test_a_page_of_help_is_read_with_its_title_steps_and_notes(tmp_path):
    reading = read(tmp_path, "pair.page", MALLARD)
    assert (reading.format, reading.title) == ("xml-document", "Connect a headset")
    assert reading.language == "en"
    lines = [line for line in reading.text.split("\n") if line]
    assert lines == [
        "# Connect a headset",
        "Use a wireless headset.",
        "**To pair it:**",
        "- Press Super B.",
        "- Choose Devices Headset.",
        "**Battery**",
        "Charge it first.",
        "## Sounds",
        "- **Loud**",
        "  Turn the wheel.",
    ]


def test_lists_tables_and_listings_divide_the_paragraph_that_they_are_in(tmp_path):
    text = """<article><para>We sell<itemizedlist><listitem><para>red lamps</para></listitem
><listitem><para>blue lamps</para></listitem></itemizedlist>and run<programlisting>light red
  --all</programlisting></para><para>Terms<variablelist><varlistentry><term>Wick</term><listitem
><para>burns.</para></listitem></varlistentry></variablelist></para><para>Prices<informaltable
><tgroup cols="2"><tbody><row><entry><para>Red</para><para>lamp</para></entry><entry>12</entry></row
></tbody></tgroup></informaltable></para><para>See<footnote><para>One.</para><para>Two.</para
></footnote>, <keycombo><keycap>Ctrl</keycap><keycap>O</keycap></keycombo>, H<sub>2</sub>O.</para
></article>"""
    lines = [line for line in read(tmp_path, "a.xml", text).text.split("\n") if line.strip()]
    assert lines == [
        "We sell", "- red lamps", "- blue lamps", "and run", "```", "light red", "  --all", "```",
        "Terms", "Wick", "- burns.", "Prices", "| Red lamp | 12 |", "| -------- | --- |",
        "See (One. Two.), Ctrl O, H2O.",
    ]  # fmt: skip


TEI = (
    '<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><div><head>First letter</head>'
    "<p><persName>Anna</persName> went to <placeName>Kiel</placeName>.</p></div></body></text>"
    "</TEI>"
)
TTML = (
    '<tt xmlns="http://www.w3.org/ns/ttml"><body><div><p begin="0s">The ferry<br/>leaves.</p>'
    '<p begin="2s">Bring a <span>coat</span>.</p></div></body></tt>'
)
PLAIN = (
    "<doc><!-- none --><p>A berth of eight metres costs two hundred and forty euros.</p>"
    "<p>Guests may stay for three nights without any fee.</p></doc>"
)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.xml", TEI, "# First letter\n\nAnna went to Kiel."),
        ("a.ttml", TTML, "The ferry\nleaves.\n\nBring a coat."),
        (
            "b.xml",
            PLAIN,
            "A berth of eight metres costs two hundred and forty euros.\n\n"
            "Guests may stay for three nights without any fee.",
        ),
    ],
)
def test_other_running_text_is_read_too(tmp_path, name, text, expected):
    assert read(tmp_path, name, text).text == expected


RSS = """<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>Harbour news</title>
<description>From the quay</description>
<item><title>The crane &amp; the ferry</title><link>https://x.example/1</link>
<dc:creator>Anna Berg</dc:creator><pubDate>Tue, 24 Feb 2026 10:00:00 GMT</pubDate>
<category>cranes</category><description>The crane carries four tonnes.</description>
<content:encoded><![CDATA[<h1>Crane</h1><p>The crane carries <b>four</b> tonnes. It was
oiled.</p>]]></content:encoded></item>
<item><title>Storm</title><description>It blew &lt;i&gt;hard&lt;/i&gt;.</description></item>
</channel></rss>"""


def test_each_item_of_a_feed_is_a_section(tmp_path):
    reading = read(tmp_path, "news.rss", RSS)
    assert reading.title == "Harbour news"
    assert reading.text == (
        "# Harbour news\n\nFrom the quay\n\n## The crane & the ferry\n\n"
        "Tue, 24 Feb 2026 10:00:00 GMT · Anna Berg · https://x.example/1 · cranes\n\n"
        "#### Crane\n\nThe crane carries **four** tonnes. It was\noiled.\n\n"
        "## Storm\n\nIt blew *hard*."
    )


ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>Notes</title><entry>
<title>Tides</title><author><name>Ben</name></author><updated>2026-03-01</updated>
<link href="https://x.example/2"/><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">
<p>High at <em>nine</em>.</p></div></content></entry></feed>"""


def test_an_entry_of_atom_is_one_too(tmp_path):
    assert read(tmp_path, "a.xml", ATOM).text == (
        "# Notes\n\n## Tides\n\n2026-03-01 · Ben · https://x.example/2\n\nHigh at *nine*."
    )


POM = (
    "<project><modelVersion>4.0.0</modelVersion><artifactId>lamp</artifactId><description>A small"
    " program that counts all the lamps of a harbour</description><dependencies><dependency>"
    "<groupId>org.example.harbour</groupId><artifactId>lighting-services</artifactId>"
    "<version>1.2.3</version></dependency></dependencies></project>"
)
STRINGS = (
    '<resources><string name="error_no_connection_to_the_server_of_the_harbour">There is no'
    " connection to the server, so please try it again</string></resources>"
)


@pytest.mark.parametrize(
    "text",
    [
        POM,
        STRINGS,
        '<manifest package="a.b"><application name="c"/></manifest>',
        '<rdf:RDF xmlns:rdf="http://r.example/"><rdf:Description>a b</rdf:Description></rdf:RDF>',
        '<!DOCTYPE doc [<!ENTITY a "ha ha ha ha ha ha ha ha">]><doc><p>&a;&a;</p></doc>',
        '<!DOCTYPE doc [<!ENTITY x SYSTEM "file:///etc/hosts">]><doc><p>&x;</p></doc>',
        PLAIN.replace("</doc>", ""),
        "<article>" + "<section>" * 300 + PLAIN + "</section>" * 300 + "</article>",
        "<article>" + "<p/>" * 400_000 + "</article>",
    ],
    ids=["pom", "strings", "manifest", "rdf", "laughs", "file", "cut", "deep", "large"],
)
def test_settings_data_and_hostile_files_stay_code(tmp_path, text):
    reading = read(tmp_path, "a.xml", text)
    assert (reading.format, reading.text) == ("code", text)
