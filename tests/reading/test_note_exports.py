"""Notes as Google Keep, Roam Research, Obsidian, Joplin, Logseq and Notion export them."""

from __future__ import annotations

import json

import pytest
from small_library import add, find, open_library, paths, write_files

from ragkit.errors import SkippedError
from ragkit.reading.formats import Format
from ragkit.reading.readers import read_data
from ragkit.settings import ReadingSettings
from ragkit.types import Markup

_LIMITS = ReadingSettings()


def read(content, name):
    text = content if isinstance(content, str) else json.dumps(content)
    return read_data(text.encode(), name, _LIMITS)


# -- Google Keep -----------------------------------------------------------------------------

KEEP = {
    "color": "TEAL", "isTrashed": False, "isPinned": True, "isArchived": False,
    "textContent": "The router has the address 192.168.7.1.", "title": "Router",
    "userEditedTimestampUsec": 1690859110667000, "createdTimestampUsec": 1690859100667000,
    "labels": [{"name": "home"}, {"name": "network"}],
    "annotations": [{"title": "Manual", "description": "", "url": "https://example.org/manual"}],
}  # fmt: skip


def test_a_note_of_keep_is_its_text_with_its_title_day_and_labels():
    reading = read(KEEP, "Takeout/Keep/Router.json")
    assert reading.format is Format.NOTES
    assert reading.title == "Router"
    assert reading.text == (
        "The router has the address 192.168.7.1.\n\nManual\nhttps://example.org/manual"
    )
    assert reading.metadata == {
        "date": "2023-08-01T03:05:00+00:00",
        "updated": "2023-08-01T03:05:10+00:00",
        "tags": ["home", "network"],
    }


def test_a_list_of_keep_keeps_what_is_done():
    items = [{"text": "oat milk", "isChecked": False}, {"text": "rye", "isChecked": True}]
    note = {"listContent": items, "title": "", "userEditedTimestampUsec": "1690859110667000"}
    reading = read(note, "2023-08-01T14_29_43.842+10_00.json")
    assert reading.text == "[ ] oat milk\n[x] rye"
    assert reading.title == "oat milk"
    assert reading.metadata == {"updated": "2023-08-01T03:05:10+00:00"}


def test_a_note_that_was_thrown_away_is_skipped():
    with pytest.raises(SkippedError, match="trash of Google Keep"):
        read({**KEEP, "isTrashed": True}, "Router.json")


def keep_page(inside, icons=""):
    return (
        '<?xml version="1.0" ?>\n<!DOCTYPE html><html><head><title>x</title><style></style>'
        '</head>\n<body><div class="note TEAL"><div class="heading"><div class="meta-icons">'
        f"{icons}"
        f"\n\n</div>\n1 Aug 2023, 15:03:56</div>\n{inside}</div></body></html>"
    )


def test_the_page_of_a_note_of_keep_has_the_text_of_its_json():
    page = read(
        keep_page(
            '<div class="title">Router</div>\n<div class="content">The router has the address '
            '192.168.7.1.<br />Reset &amp; wait</div>\n<div class="chips">\n'
            '<span class="chip label">'
            '<span class="label-name">home</span>\n</span><span class="chip annotation WEBLINK">'
            '<a class="annotation-link" href="https://example.org/manual">'
            '<span class="chip-icon"></span><span class="annotation-text">Manual</span></a>'
            "</span></div>"
        ),
        "Keep/Router.html",
    )
    note = {**KEEP, "textContent": "The router has the address 192.168.7.1.\nReset & wait"}
    assert page.text == read(note, "Keep/Router.json").text
    assert page.title == "Router"
    assert page.format is Format.KEEP_PAGE
    assert page.metadata == {"date": "2023-08-01", "tags": ["home"]}


def test_the_page_of_a_list_of_keep():
    page = read(
        keep_page(
            '<div class="content"><ul class="list"><li class="listitem"><span class="bullet">'
            '&#9744;</span>\n<span class="text">oat milk</span>\n</li><li class="listitem checked">'
            '<span class="bullet">&#9745;</span>\n<span class="text">rye</span></li></ul></div>'
        ),
        "a.html",
    )
    assert page.text == "[ ] oat milk\n[x] rye"
    assert page.title == "oat milk"


def test_the_page_of_a_note_that_was_thrown_away_is_skipped():
    icons = '<span class="trashed" title="Note trashed"></span>'
    with pytest.raises(SkippedError, match="trash of Google Keep"):
        read(keep_page('<div class="content">old</div>', icons), "a.html")


# -- Obsidian --------------------------------------------------------------------------------


def test_cards_of_a_canvas_are_read_from_the_top_down():
    card = {"width": 250, "height": 60}
    canvas = {
        "nodes": [
            {"id": "b", "type": "file", "file": "Trip.md", "x": 300, "y": 0, **card},
            {"id": "c", "type": "link", "url": "https://example.org", "x": 0, "y": 900, **card},
            {"id": "a", "type": "text", "text": "# Kitchen\nOak fronts", "x": 0, "y": 0, **card},
            {"id": "g", "type": "group", "label": "House", "x": -20, "y": -20, **card},
        ],
        "edges": [
            {"id": "e", "fromNode": "a", "toNode": "b", "label": "pays for"},
            {"id": "f", "fromNode": "a", "toNode": "c"},
        ],
    }
    reading = read(canvas, "Plan.canvas")
    assert reading.title == "Plan"
    assert reading.markup is Markup.MARKDOWN
    assert reading.text == (
        "House\n\n# Kitchen\nOak fronts\n\nTrip.md\n\nhttps://example.org\n\n"
        "- Kitchen → pays for → Trip.md"
    )


# -- Roam Research ---------------------------------------------------------------------------


def test_pages_of_roam_are_nested_lists_with_the_blocks_that_they_refer_to():
    plan = {"string": "{{[[TODO]]}} write the plan", "uid": "abcdef123"}
    met = {"string": "Met [[Ana]]", "uid": "abcdef124", "children": [plan]}
    later = {"string": "See ((abcdef123)) and ((unknown99))", "uid": "abcdef125"}
    pages = [
        {"title": "April 3rd, 2023", "children": [met]},
        {"title": "Ana", "children": [later, {"string": "two\nlines", "uid": "abcdef126"}]},
    ]
    reading = read(pages, "backup.json")
    assert reading.title == "backup"
    assert reading.text == (
        "# April 3rd, 2023\n\n- Met [[Ana]]\n  - [ ] write the plan\n\n"
        "# Ana\n\n- See [ ] write the plan and ((unknown99))\n- two\n  lines"
    )


@pytest.mark.parametrize(
    "value",
    [
        {"nodes": [{"id": 1, "string": "a"}], "edges": []},
        [{"title": "a", "children": [{"string": "b"}]}],
        {"string": "a", "nodes": []},
        {"nodes": [{"type": "text", "text": "no place"}]},
    ],
)
def test_other_json_is_no_note(value):
    assert read(value, "graph.json").format in (Format.JSON, Format.RECORDS)


# -- Joplin ----------------------------------------------------------------------------------


def joplin(title, body, kind=1, **changed):
    known = {
        "id": "4a2c1b0e9d8f4c3fa1b2c3d4e5f60718", "parent_id": "f" * 32,
        "created_time": "2023-02-01T10:00:00.000Z", "is_conflict": "0", "author": "",
        "source_url": "", "is_todo": "0", "todo_completed": "0", "markup_language": "1",
        "user_created_time": "2023-02-01T10:00:00.000Z",
        "user_updated_time": "2023-02-02T10:00:00.000Z",
        "encryption_cipher_text": "", "encryption_applied": "0", "deleted_time": "0",
        **changed, "type_": str(kind),
    }  # fmt: skip
    foot = "\n".join(f"{key}: {value}" for key, value in known.items())
    return "\n\n".join(filter(None, (title, body, foot)))


def test_a_note_of_joplin_is_its_text_without_what_joplin_keeps_below():
    body = (
        "First offer: 14,300.\n\nid: not this\n\n![photo.jpg](:/0f1e2d3c4b5a69788796a5b4c3d2e1f0)"
    )
    text = joplin("Heat pump", body, source_url="https://example.org/pumps")
    reading = read(text, "4a2c1b0e9d8f4c3fa1b2c3d4e5f60718.md")
    assert reading.format is Format.JOPLIN
    assert reading.title == "Heat pump"
    assert reading.text == "First offer: 14,300.\n\nid: not this\n\nphoto.jpg"
    assert reading.metadata == {
        "date": "2023-02-01T10:00:00+00:00",
        "updated": "2023-02-02T10:00:00+00:00",
        "source": "https://example.org/pumps",
    }


def test_tasks_and_web_pages_of_joplin():
    task = read(joplin("Call Ana", "at noon", is_todo="1", todo_completed="1675245600000"), "a.md")
    assert task.text == "[x] Call Ana\n\nat noon"
    page = read(joplin("Page", "<p>A <b>bold</b> word</p>", markup_language="2"), "a.md")
    assert page.text == "A **bold** word"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (joplin("House", "", kind=2), "no note"),
        (joplin("", "", kind=6), "no note"),
        (joplin("Old", "text", deleted_time="1675245600000"), "trash of Joplin"),
        (joplin("", "", encryption_applied="1", encryption_cipher_text="JED01" + "0" * 9000),
         "encrypted"),
    ],
)  # fmt: skip
def test_what_is_no_note_of_joplin_is_skipped_and_says_why(text, reason):
    with pytest.raises(SkippedError, match=reason):
        read(text, "1111.md")


# -- Logseq and Notion -----------------------------------------------------------------------


def test_numbers_of_blocks_of_logseq_are_left_out():
    text = (
        "- ## Standup\n  collapsed:: true\n\t- met Ana\n"
        "\t  id:: 6423f0aa-1111-2222-3333-444455556666\n\t  owner:: Rui\n"
    )
    assert read(text, "journals/2023_04_03.md").text == (
        "- ## Standup\n\t- met Ana\n\t  owner:: Rui\n"
    )


def test_pages_of_notion_have_their_own_names_and_properties():
    number = "3f2504e04f8941d39a0c0305e82c3301"
    text = "# Reading list\n\nCreated: July 3, 2022 10:14 AM\nTags: books, todo\n\nPiranesi"
    reading = read(text, f"Export/Reading list {number}.md")
    assert reading.text == text
    assert reading.metadata["tags"] == ["books", "todo"]
    assert reading.metadata["date"] == "2022-07-03"
    assert read(text, "Reading list.md").metadata == {}
    assert read("Name,Due\na,b\n", f"Tasks {number}.csv").title == "Tasks"
    assert read("Name,Due\na,b\n", f"Tasks {number}_all.csv").title == "Tasks"
    assert read("words", f"{number}.md").title == number


def test_lines_of_tags_are_tags():
    note = "# Shortbread\n#recipes #dessert\n\nButter.\n\n#baking/sweet\n"
    assert read(note, "a.md").metadata == {"tags": ["recipes", "dessert", "baking/sweet"]}
    assert read(note, "a.md").text == note
    front = "---\ntags: [food, recipes]\n---\n" + note
    assert read(front, "a.md").metadata["tags"] == ["food", "recipes", "dessert", "baking/sweet"]


@pytest.mark.parametrize(
    "note",
    ["#Introduction\n\ntext", "```\n#include\n```\n", "see #harbour there", "##\n", "#1234\n",
     "# harbour\n", "    \n#\n"],
)  # fmt: skip
def test_what_may_be_no_tag_is_none(note):
    assert "tags" not in read(f"{note}\n\nwords", "a.md").metadata


def test_notes_of_every_program_are_notes_to_the_filter(tmp_path):
    clipping = "Book (Writer)\n- Your Highlight on page 2 | Added on Monday\n\nrudder\n==========\n"
    files = {
        "keep.json": json.dumps({**KEEP, "textContent": "a rudder of oak"}),
        "keep page.html": keep_page('<div class="content">a rudder of steel</div>'),
        "joplin.md": joplin("Boat", "rudder"),
        "My Clippings.txt": clipping,
        "plan.csv": "part,price\nrudder,3\n",
    }
    write_files(tmp_path / "files", files)
    with open_library(tmp_path / "library") as library:
        add(library, tmp_path / "files")
        found = paths(find(library, "rudder type:notes"))
        assert sorted(found) == ["My Clippings.txt", "joplin.md", "keep page.html", "keep.json"]
        assert paths(find(library, "rudder type:kindle")) == ["My Clippings.txt"]
