"""The pure parts of the pages: markup, question text, summaries, tables, exports, dialogs."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from pages.parts.common import markup, open_in_os
from pages.parts.document import reader
from pages.parts.library import dialogs
from pages.parts.library import source_tables as tables
from pages.parts.search import summary
from ragkit.catalog.records import Counts, JobRecord, JobState, SourceRecord
from ragkit.errors import QueryError, SourceError
from ragkit.indexing.progress import Progress
from ragkit.reading.pdf_page import PageImage, Rectangle
from ragkit.results import Answer, DocumentRef, MatchedChunk, Passage, Result, Stage, Trace
from ragkit.surfaces import render
from ragkit.types import Page, Section


def answer(text: str = "The refund is due.", title: str = "Refunds") -> Answer:
    document = DocumentRef(1, "a/refund.md", title, "default", "markdown", 0, 3, "/d/refund.md")
    found = Result(
        document,
        0.5,
        (Passage(0, len(text), text, ("Top",), 2, (), (0, 1)),),
        (MatchedChunk(0, 0.5),),
    )
    trace = Trace((Stage("fusion", 2.5, 30, 22, "8 duplicates removed"),), "generation-1")
    return Answer("refund", (found,), trace)


# -- markup ------------------------------------------------------------------------------------


def test_text_is_escaped_and_control_characters_are_shown():
    assert (
        markup.text("<a href='x'>&\x00\x1b\n\t")
        == "&lt;a href=&#x27;x&#x27;&gt;&amp;\ufffd\ufffd\n\t"
    )


def test_lone_surrogates_do_not_reach_the_browser():
    markup.text("a\ud800b").encode("utf-8")


def test_names_show_characters_that_turn_or_hide_text():
    assert markup.name("a\u202eb\u200bc\n") == "a\ufffdb\ufffdc\ufffd"


def test_marks_are_merged_clipped_and_escaped():
    assert markup.marked("a<b>c", [(1, 3), (2, 4), (9, 12)]) == "a<mark>&lt;b&gt;</mark>c"
    assert markup.marked("abcdef", [(0, 6)], 2, 4) == "<mark>cd</mark>"


def test_an_excerpt_is_bounded_and_holds_the_marked_words():
    text = "nothing " * 500 + "kestrel " + "nothing " * 500
    start = text.index("kestrel")
    shown = markup.excerpt(text, [(start, start + 7)], 200)
    assert "<mark>kestrel</mark>" in shown
    assert len(shown) < 240
    assert shown.startswith("… ")
    assert shown.endswith(" …")


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 words"), (1, "1 word"), (1234, "1\u202f234 words")]
)
def test_plurals(count, said):
    assert markup.plural(count, "word") == said


# -- the question ------------------------------------------------------------------------------


def test_each_value_of_a_filter_is_a_chip():
    found = summary.chips('refund type:pdf,docx path:notes/ in:"Set up" after:2025-01', ())
    assert [chip.token for chip in found] == [
        "type:pdf", "type:docx", "path:notes/", 'in:"Set up"', "after:2025-01",
    ]  # fmt: skip


def test_a_filter_is_dropped_and_the_rest_stays():
    question = 'refund type:pdf,docx "exact phrase"'
    assert summary.without_filter(question, "type:pdf") == 'refund "exact phrase" type:docx'
    assert summary.without_filter(question, "") == 'refund "exact phrase"'


def test_toggling_a_filter_twice_gives_the_question_back():
    once = summary.toggle_filter("refund", "lang:de")
    assert once == "refund lang:de"
    assert summary.toggle_filter(once, "lang:de") == "refund"


def test_fields_of_front_matter_are_filters_too():
    assert summary.filter_token("framework", "Vue 3") == 'framework:"Vue 3"'
    assert summary.toggle_filter('x framework:"Vue 3"', 'framework:"Vue 3"', ["framework"]) == "x"


def test_a_wrong_filter_is_an_error():
    with pytest.raises(QueryError, match="colour"):
        summary.chips("colour:red")


# -- summaries ---------------------------------------------------------------------------------


def test_the_summary_counts_documents_and_chunks():
    html = summary.summary_line(answer())
    assert "1 document · 1 chunk · 2 ms" in html
    assert "30 → 22" in html
    assert "8 duplicates removed" in html


def test_nothing_found_offers_to_drop_each_filter_and_another_mode():
    chips = summary.chips("zz type:pdf lang:de")
    html = summary.nothing_found("zz <b> type:pdf lang:de", chips, "keyword")
    assert 'data-token="type:pdf"' in html
    assert "Drop all filters" in html
    assert "Try a hybrid search" in html
    assert "<b>" not in html


def test_problems_and_notices_are_escaped():
    assert "<i>" not in markup.problem("<i>", "<i>") + markup.notices(["<i>"])


@pytest.mark.parametrize(("ms", "said"), [(0.2, "under 1 ms"), (14.4, "14 ms"), (2300, "2.3 s")])
def test_times_are_said_simply(ms, said):
    assert markup.took(ms) == said


# -- tables ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "said"),
    [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (23_400_000, "23 MB"), (5 * 10**12, "5000 GB")],
)
def test_sizes(size, said):
    assert markup.size(size) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(3, "just now"), (120, "2 minutes ago"), (7200, "2 hours ago"), (200_000, "2 days ago")],
)
def test_times_ago(seconds, said):
    assert markup.ago(1000.0, 1000.0 + seconds) == said
    assert markup.ago(None) == "never"


def test_the_progress_line_says_how_far_and_how_long():
    job = JobRecord(1, "sync", {}, JobState.RUNNING, {}, "", False, 1, 0.0, 0.0, None)
    html = tables.progress_line(job, Progress("Reading", 212, 402, "a/<b>.pdf", 2), 3)
    assert "<b>Reading 212 of 402</b>" in html
    assert "a/&lt;b&gt;.pdf" in html
    assert "2 failed" in html
    assert "2 jobs after this" in html
    assert 'aria-valuenow="53"' in html


def test_status_choices_leave_out_what_is_not_there():
    found = tables.status_choices(Counts(indexed=3, failed=1))
    assert list(found) == ["All 4", "Indexed 3", "Failed 1"]


def test_removing_a_source_says_what_is_lost():
    folder = SourceRecord(1, 1, "default", "folder", "/d", "ready", "", None, 4, 1)
    assert "The library forgets 4 documents" in tables.loss(folder)
    uploads = SourceRecord(1, 1, "default", "uploads", "/d", "ready", "", None, 1, 0)
    assert "cannot be undone" in tables.loss(uploads)
    assert "1 failed" in tables.source_html(folder)


# -- exports -----------------------------------------------------------------------------------


def test_json_is_the_command_lines_own():
    assert (
        json.loads(render.export_json(answer()))["results"][0]["document"]["path"] == "a/refund.md"
    )


def test_markdown_cannot_be_broken_out_of():
    text = render.export_markdown(answer("![x](http://evil) <script>\n# not a heading", "*T*"))
    assert "## \\*T\\*" in text
    assert "!\\[x\\]" in text.replace("\\!", "!")
    assert "\\<script\\>" in text
    assert "> \\# not a heading" in text


def test_csv_cells_are_never_formulas():
    rows = list(csv.reader(io.StringIO(render.export_csv(answer("=cmd()", "@SUM")))))
    assert rows[1][2] == "'@SUM"
    assert rows[1][-1] == "'=cmd()"


# -- folders and programs ------------------------------------------------------------------------


def test_the_chooser_stays_under_its_roots(tmp_path: Path):
    home = tmp_path / "home"
    (home / "b").mkdir(parents=True)
    (home / "A").mkdir()
    (home / ".hidden").mkdir()
    (tmp_path / "secret").mkdir()
    (home / "way-out").symlink_to(tmp_path / "secret")
    roots = dialogs.roots([home])
    assert [one.name for one in dialogs.subfolders(home, roots)] == ["A", "b"]
    assert dialogs.parent(home / "b", roots) == home
    assert dialogs.parent(home, roots) is None
    assert not dialogs.inside(home / "b" / ".." / "..", roots)
    assert dialogs.subfolders(tmp_path / "gone", roots) == []


def test_programs_are_not_run(tmp_path: Path):
    assert open_in_os.would_run(Path("a/tool.SH"))
    assert not open_in_os.would_run(Path("a/notes.pdf"))
    assert open_in_os.opener("darwin", {}) == "open"
    assert open_in_os.opener("linux", {}) == ""
    with pytest.raises(SourceError, match="no longer where it was"):
        open_in_os.open_file(tmp_path / "gone.pdf")


# -- the document page ---------------------------------------------------------------------------


def test_the_window_is_bounded_and_begins_with_a_line():
    text = "line of text\n" * 20_000
    window = reader.snapped(text, reader.window_around(100_000, len(text)))
    assert window.end - window.start <= reader.WINDOW + 1000
    assert text[window.start - 1] == "\n"
    assert window.start < 100_000 < window.end


def test_the_passage_is_on_a_band_with_marks_inside():
    text = "before\n<one> two\nafter\n"
    html = reader.body(text, reader.Window(0, len(text)), (7, 17), [], [(13, 16)], "plain")
    assert (
        'class="rk-here rk-block" id="rk-here">&lt;one&gt; <mark>two</mark>\n</span>after' in html
    )


def test_outline_links_scroll_inside_the_window_and_load_outside():
    sections = [Section(0, 0, 10, 1, ("A",)), Section(1, 10, 20, 2, ("A", "<B>"))]
    html = reader.outline(sections, 7, 3, reader.Window(0, 10), "")
    assert 'data-rk="anchor"' in html
    assert 'data-rk="at"' in html
    assert "&lt;B&gt;" in html
    assert html.count("aria-current") == 1


def test_a_sheet_frames_the_passage():
    image = PageImage(b"png", 100, 200, 3, (Rectangle(0.1, 0.2, 0.5, 0.25),))
    html = reader.sheet(image, 2, "ii")
    assert "left:10.000%;top:20.000%;width:40.000%;height:5.000%" in html
    assert 'data-page="2"' in html


def test_pages_by_place():
    pages = (Page(1, "i", 0, 10), Page(2, "1", 10, 20))
    assert reader.page_of(pages, 10) == pages[1]
    assert reader.page_of((), 3) is None
    assert reader.page_name(pages[0], 2) == "page 1 of 2 (“i”)"
