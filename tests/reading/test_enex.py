"""Exports of Evernote: notes with tags and dates, their pictures left out, damage survived."""

from __future__ import annotations

from base64 import b64encode

import pytest
from reading_files import SETTINGS

from ragkit.errors import ReadingError
from ragkit.reading.enex import read_notes
from ragkit.reading.limits import Limits

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<!DOCTYPE en-export SYSTEM "http://xml.evernote.com/pub/evernote-export4.dtd">\n'
    '<en-export export-date="20260301T100000Z" application="Evernote" version="10">'
)
LEASE = """<note><title>Crane &amp; lease</title><created>20260211T080000Z</created>
<updated>20260212T080000Z</updated><tag>harbour</tag><tag>money</tag>
<note-attributes><author>Anna</author><source-url>https://a.example/x</source-url></note-attributes>
<content><![CDATA[<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!DOCTYPE en-note SYSTEM "http://xml.evernote.com/pub/enml2.dtd"><en-note><h1>Terms</h1>
<div>The lease&nbsp;of the <b>crane</b> ends in May.</div>
<div><en-todo checked="true"/>Call Tom</div><div><en-todo/>Sign</div>
<div><en-crypt cipher="AES" hint="pet">UkM0AAAA</en-crypt></div>
<table><tr><td>A</td><td>1</td></tr><tr><td>B</td><td>2</td></tr></table>
<en-media hash="abc" type="image/png"/></en-note>]]></content>
<resource><data encoding="base64">iVBORw0KGgoAAAANSUhEUgAAAAE=</data><mime>image/png</mime>
<resource-attributes><file-name>crane.png</file-name></resource-attributes></resource></note>"""
RECIPE = (
    "<note><title>Recipe</title><content><![CDATA[<en-note>Two eggs</en-note>]]></content></note>"
)
END = "</en-export>"


def read(*parts: str):
    return read_notes("".join(parts).encode(), "notes/all.enex", Limits.of(SETTINGS))


def test_each_note_is_a_section_with_what_is_known_about_it():
    reading = read(HEAD, LEASE, RECIPE, END)
    assert reading.text == (
        "# Crane & lease\n\n"
        "2026-02-11 · tags: harbour, money · by Anna · from https://a.example/x · "
        "attached: crane.png\n\n"
        "## Terms\n\n"
        "The lease of the **crane** ends in May.\n\n"
        "[x] Call Tom\n\n[ ] Sign\n\n(encrypted)\n\n"
        "| A | 1 |\n| --- | --- |\n| B | 2 |\n\n"
        "# Recipe\n\nTwo eggs"
    )
    assert (reading.title, reading.metadata) == ("all", {})


def test_a_single_note_is_a_document_of_its_own():
    reading = read(HEAD, LEASE, END)
    assert reading.title == "Crane & lease"
    assert reading.metadata == {
        "date": "2026-02-11T08:00:00+00:00",
        "updated": "2026-02-12T08:00:00+00:00",
        "tags": ["harbour", "money"],
        "author": "Anna",
        "source": "https://a.example/x",
        "attachments": ["crane.png"],
    }


def resource(name, kind, content):
    data = f'<data encoding="base64">{b64encode(content).decode()}</data><mime>{kind}</mime>'
    named = f"<file-name>{name}</file-name>" if name else ""
    return f"<resource>{data}<resource-attributes>{named}</resource-attributes></resource>"


def test_attached_documents_follow_their_note():
    files = (
        resource("lease.csv", "text/csv", b"x,y\n1,2\n"),
        resource("", "text/plain", b"Only words."),
        resource("song.mp3", "audio/mpeg", b"ID3"),
        resource("bad.docx", "application/x", b"PK\x03\x04 nonsense"),
    )
    reading = read(HEAD, RECIPE.replace("</note>", "".join(files) + "</note>"), LEASE, END)
    assert reading.text.startswith(
        "# Recipe\n\nattached: lease.csv, song.mp3, bad.docx\n\nTwo eggs\n\n"
        "## lease.csv\n\n| x | y |\n| --- | --- |\n| 1 | 2 |\n\n"
        "## attachment.txt\n\nOnly words.\n\n# Crane & lease\n\n"
    )
    (warning,) = reading.warnings
    assert warning.startswith("The attachment bad.docx was not read: This Word document is damaged")


def test_a_damaged_note_costs_no_other():
    broken = LEASE.replace("</tag>", "<", 1)
    later = RECIPE.replace("Recipe", "Later")
    reading = read(HEAD, RECIPE, broken, later, LEASE[:200])
    assert reading.text == "# Recipe\n\nTwo eggs\n\n# Later\n\nTwo eggs"
    assert reading.warnings == ("2 damaged notes could not be read.",)


def test_characters_that_xml_forbids_cost_no_note():
    assert read(HEAD, RECIPE.replace("eggs", "eg\x0bgs"), END).text == "# Recipe\n\nTwo eggs"


@pytest.mark.parametrize("parts", [(HEAD, LEASE[:200]), ("no XML",)])
def test_an_export_whose_notes_are_all_damaged_says_so(parts):
    with pytest.raises(ReadingError, match="This export of notes is damaged"):
        read(*parts)


def test_an_export_without_notes_has_no_text():
    assert read(HEAD, END).text == ""


def test_entities_are_refused():
    with pytest.raises(ReadingError, match="XML entities"):
        read('<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]>', RECIPE)
