"""The pure parts of the pages: markup, question text, summaries, tables, exports, dialogs."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from pages.parts.common import markup
from pages.parts.document import reader
from pages.parts.library import (
    collection_dialogs,
    embedder_choice,
    folder_chooser,
    upload_tray,
)
from pages.parts.library import source_tables as tables
from pages.parts.search import summary, trace_view
from ragkit.catalog.records import (
    CollectionContents,
    Counts,
    DocumentRecord,
    JobRecord,
    JobState,
    SourceRecord,
)
from ragkit.errors import QueryError, SourceError
from ragkit.formatting import byte_size, escape_markdown, page_range, plural
from ragkit.indexing.progress import Progress
from ragkit.library.uploads import UploadLine, UploadState
from ragkit.options import Mode, SearchOptions
from ragkit.results import Answer, DocumentRef, MatchedChunk, Passage, Result
from ragkit.surfaces import render_exports
from ragkit.surfaces.render import plain
from ragkit.traces import Metrics, Spread, Stage, Trace
from ragkit.types import Level, Section, Status


def answer(text: str = "The refund is due.", title: str = "Refunds") -> Answer:
    document = DocumentRef(1, "a/refund.md", title, "default", "markdown", 0, 3, "/d/refund.md")
    found = Result(
        document,
        0.5,
        (Passage(0, len(text), text, ("Top",), 2, (), (0, 1)),),
        (MatchedChunk(0, 0.5),),
    )
    metrics = Metrics(
        Spread(1520, 0.0, 0.25, 0.5, 0.7, 0.9), None, {"vector": 1500, "both": 20}, {"context": 7}
    )
    trace = Trace(
        (Stage("fusion", 2.5, 30, 22, "8 duplicates removed"),), "generation-1", lambda: metrics
    )
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
    # Persian parts its words, and families are joined.
    for written in ("\u0646\u0627\u0645\u0647\u200c\u0647\u0627", "\U0001f469\u200d\U0001f467"):
        assert markup.name(written) == escape_markdown(written) == plain(written) == written


def test_a_name_that_is_cut_ends_in_an_ellipsis():
    assert markup.name("Kapitän & Mütze", 9) == "Kapitän…"
    assert markup.name("Kapitän", 7) == "Kapitän"


def test_two_files_never_style_the_same_class_by_its_name_alone():
    styled: dict[str, str] = {}
    for file in sorted(Path(markup.__file__).parents[1].glob("*/*.css")):
        for selectors in re.findall(r"([^{}]+)\{", file.read_text(encoding="utf-8")):
            for name in re.findall(r"^\.(rk-[\w-]+),?$", selectors, re.M):
                assert styled.setdefault(name, file.name) == file.name, name


def test_marks_are_merged_clipped_and_escaped():
    assert markup.marked("a<b>c", [(1, 3), (2, 4), (9, 12)]) == "a<mark>&lt;b&gt;</mark>c"
    assert markup.marked("abcdef", [(0, 6)], 2, 4) == "<mark>cd</mark>"


def test_an_excerpt_is_a_bounded_beginning():
    shown = markup.excerpt("<kestrel> " + "nothing " * 500, 200)
    assert shown.startswith("&lt;kestrel&gt; nothing")
    assert len(shown) < 240
    assert shown.endswith("nothing …")
    assert markup.excerpt("kestrel", 200) == "kestrel"


@pytest.mark.parametrize(("count", "said"), [(0, "0 words"), (1, "1 word"), (1234, "1,234 words")])
def test_plurals(count, said):
    assert plural(count, "word") == said


# -- the question ------------------------------------------------------------------------------


def test_each_value_of_a_filter_is_a_chip():
    found = summary.chips('refund type:pdf,docx path:notes/ in:"Set up" after:2025-01', ())
    assert [chip.token for chip in found] == [
        "type:pdf", "type:docx", "path:notes/", 'in:"Set up"', "after:2025-01",
    ]  # fmt: skip


def test_a_filter_is_dropped_and_the_rest_stays():
    question = 'refund type:pdf,docx "exact phrase"'
    assert summary.without_filter(question, "type:pdf") == 'refund type:docx "exact phrase"'
    assert summary.without_filter(question, "") == 'refund "exact phrase"'


def test_toggling_a_filter_twice_gives_the_question_back():
    once = summary.toggle_filter("refund", "lang:de")
    assert once == "refund lang:de"
    assert summary.toggle_filter(once, "lang:de") == "refund"


def test_fields_of_front_matter_are_filters_too():
    assert summary.toggle_filter('x framework:"Vue 3"', 'framework:"Vue 3"', ["framework"]) == "x"


def test_removing_a_filter_keeps_phrases_and_excluded_words():
    question = '"full refund" -gift type:pdf,md in:"Set up" OR money'
    assert summary.without_filter(question, "type:pdf") == (
        '"full refund" -gift type:md in:"Set up" OR money'
    )
    assert summary.without_filter(question, 'in:"Set up"') == (
        '"full refund" -gift type:pdf,md money'
    )
    assert summary.without_filter("a type:pdf OR type:md b", "type:md") == "a type:pdf b"
    assert summary.without_filter(question, "") == '"full refund" -gift money'


def test_what_is_excluded_is_a_chip_too():
    question = 'a -gift NOT lease -"full refund" -type:pdf,md NOT path:x/ date:2026-03 b type:md'
    tokens = [chip.token for chip in summary.chips(question)]
    assert tokens == [
        "-gift", "-lease", '-"full refund"', "-type:pdf", "-type:md", "-path:x/", "date:2026-03",
        "type:md",
    ]  # fmt: skip
    left = {token: summary.without_filter(question, token) for token in tokens}
    assert left["-lease"] == question.replace("NOT lease ", "")
    assert left["-type:md"] == question.replace("-type:pdf,md", "-type:pdf")
    assert left["-path:x/"] == question.replace("NOT path:x/ ", "")
    assert left['-"full refund"'] == question.replace('-"full refund" ', "")
    for token in tokens:
        assert [chip.token for chip in summary.chips(left[token])] == [
            one for one in tokens if one != token
        ]


@pytest.mark.parametrize(
    ("token", "left"),
    [("type:pdf", 'x path:notes/ OR tag:y "a b" OR c -dog'),
     ("path:notes/", 'x type:pdf OR tag:y "a b" OR c -dog'),
     ("tag:y", 'x type:pdf OR path:notes/ "a b" OR c -dog'), ("", 'x "a b" OR c -dog')],
)  # fmt: skip
def test_an_or_goes_with_its_filter(token, left):
    question = 'x type:pdf OR path:notes/ OR tag:y "a b" OR c -dog'
    tokens = [chip.token for chip in summary.chips(question)]
    assert tokens == ["type:pdf", "path:notes/", "tag:y", "-dog"]
    assert summary.without_filter(question, token) == left


def test_a_wrong_filter_is_an_error():
    with pytest.raises(QueryError, match="2025-13-45"):
        summary.chips("after:2025-13-45")


# -- summaries ---------------------------------------------------------------------------------


def test_the_summary_counts_documents_among_those_that_match():
    html = summary.summary_line(answer())
    assert "1 document · 2 ms" in html
    many = summary.summary_line(replace(answer(), total_documents=1840))
    assert "1 of 1,840 documents · 2 ms" in many
    assert "30 → 22" in html
    assert "8 duplicates removed" in html


def test_details_show_scores_and_what_found_the_candidates():
    html = summary.summary_line(answer())
    assert "1,520 · scores 0.00–0.90, median 0.50" in html
    assert "--low:0.000;--lower:0.250;--median:0.500;--upper:0.700;--high:0.900" in html
    assert "<dt>Shown</dt>" not in html
    assert "both indexes 20</span>" in html
    assert "semantic only 1,500</span>" in html
    assert "AI context 7</span>" in html
    assert {*trace_view.LEVELS} == {*Level}
    assert "keyword only" not in html
    plain = replace(answer(), trace=Trace((Stage("filters", 1.0, 3, 3),)))
    assert "rk-metrics" not in summary.summary_line(plain)


def test_what_is_said_of_an_answer_above_its_cards():
    far = replace(answer(), nothing_close=True, missing_terms=("2291", "<b>"))
    html = summary.head(far, SearchOptions())
    assert "<b>Nothing here is close.</b>" in html
    assert "Not in your documents: <s>2291</s>, <s>&lt;b&gt;</s>." in html
    meant = summary.head(replace(answer(), query="refnd", corrected="refund"), SearchOptions())
    assert "Showing results for " in meant
    assert "Search for refnd" in meant
    offered = summary.head(replace(answer(), suggestion="type:pdf refund"), SearchOptions())
    assert 'data-question="type:pdf refund"' in offered
    assert "Did you mean " in offered
    several = replace(answer(), query="Who & when? <b>?", questions=2)
    each = '<a class="rk-link" href="conversation?text=Who+%26+when%3F+%3Cb%3E%3F" target="_self">'
    assert f"2 questions, searched as one. {each}Search each separately</a>" in summary.head(
        several, SearchOptions()
    )
    phrase = replace(answer(), query='"not there"', suggestion="not there")
    assert ">Search without quotes</button>" in summary.head(phrase, SearchOptions())


def test_a_filter_that_nothing_passes_is_offered_to_be_dropped_once():
    none = replace(answer(), query="refund path:nowhere/", suggestion="refund", results=())
    chips = summary.chips(none.query)
    html = summary.nothing_found(none, chips, SearchOptions())
    assert html.count("<button") == 1
    assert "Search without path:nowhere/" in html
    html = summary.nothing_found(replace(none, suggestion="refunds"), chips, SearchOptions())
    assert "Search for refunds</button>" in html


def test_why_nothing_was_found_is_said_once_and_offers_no_written_answer():
    notice = 'No document has the exact phrase "full refunds".'
    none = replace(
        answer(), query='"full refunds"', suggestion="full refunds", results=(), notices=(notice,)
    )
    head = summary.head(none, SearchOptions(), "tools")
    assert "Details" in head
    assert "exact phrase" not in head
    assert "tools" not in head
    html = summary.nothing_found(none, (), SearchOptions())
    assert html.count("exact phrase") == 1
    assert "Try other" not in html
    assert "Search without quotes</button>" in html


def test_more_results_are_offered_while_there_are_some():
    many = replace(answer(), results=answer().results * 10, total_documents=184)
    assert 'data-value="20"' in summary.more(many, SearchOptions(limit=10))
    assert summary.more(many, SearchOptions(limit=50)) == ""
    assert summary.more(replace(many, total_documents=1), SearchOptions(limit=10)) == ""


def test_nothing_found_offers_to_drop_each_filter_and_another_mode():
    chips = summary.chips("zz type:pdf lang:de")
    none = replace(answer(), query="zz <b> type:pdf lang:de", results=())
    html = summary.nothing_found(none, chips, SearchOptions(mode=Mode.KEYWORD))
    assert 'data-token="type:pdf"' in html
    assert "Search without filters" in html
    assert "Try a hybrid search" in html
    assert "zz &lt;b&gt;" in html
    assert "with these filters" in html


def test_nothing_found_names_the_minimum_that_no_match_reaches():
    none = replace(answer(), results=(), total_documents=115)
    html = summary.nothing_found(none, (), SearchOptions(min_similarity=0.6))
    assert "No match reaches the minimum similarity of 0.6." in html
    assert "Try other" not in html
    assert 'data-name="min_similarity"' in html
    assert 'data-value="0"' in html
    assert "Search without a minimum similarity</button>" in html
    assert "minimum score of 0.9" in summary.nothing_found(none, (), SearchOptions(min_score=0.9))
    # Where nothing matched at all, the minimum is not why.
    html = summary.nothing_found(
        replace(none, total_documents=0), (), SearchOptions(min_similarity=0.6)
    )
    assert "minimum" not in html
    assert "Try other or fewer words." in html


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
    assert byte_size(size) == said


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
    assert re.search(r'<b>Reading <span class="rk-figure"[^>]*>212 of 402</span></b>', html)
    assert "a/&lt;b&gt;.pdf" in html
    assert "2 failed" in html
    assert "2 jobs after this" in html
    assert 'aria-valuenow="53"' in html


def test_status_choices_leave_out_what_is_not_there():
    found = tables.status_choices(Counts(indexed=3, failed=1))
    assert found == {"all": "All 4", "indexed": "Indexed 3", "failed": "Failed 1"}


def test_a_file_that_waits_to_be_read_has_nothing_to_be_done_again():
    record = DocumentRecord(
        7, 1, 1, "default", "/files", "a/b.md", Status.PENDING, "", 9, 9, "", "", "",
        "markdown", "markdown", "", "", {}, (), (), 0, 9, 0.0,
    )  # fmt: skip
    assert "reindex" not in tables.documents_table([record], ())
    assert 'data-rk="remove"' in tables.documents_table([record], (1,))
    for status, again in ((Status.INDEXED, "Re-index"), (Status.FAILED, "Retry")):
        assert f">{again}<" in tables.documents_table([replace(record, status=status)], ())


def test_a_path_may_break_after_each_folder():
    folder = SourceRecord(1, 1, "default", "folder", "/home/<me>/d", "ready", "", None, 4, 1)
    assert "<bdi>/<wbr>home/<wbr>&lt;me&gt;/<wbr>d</bdi>" in tables.source_html(folder)


def test_removing_a_source_says_what_is_lost():
    folder = SourceRecord(1, 1, "default", "folder", "/d", "ready", "", None, 4, 1)
    assert "4 documents will be removed from the index." in tables.loss(folder)
    uploads = SourceRecord(1, 1, "default", "uploads", "/d", "ready", "", None, 1, 0)
    assert "cannot be undone" in tables.loss(uploads)
    assert "1 failed" in tables.source_html(folder)


# -- exports -----------------------------------------------------------------------------------


def test_json_is_the_command_lines_own():
    assert (
        json.loads(render_exports.export_json(answer()))["results"][0]["document"]["path"]
        == "a/refund.md"
    )


def test_markdown_cannot_be_broken_out_of():
    text = render_exports.export_markdown(
        answer("![x](http://evil) <script>\n# not a heading", "*T*")
    )
    assert "## \\*T\\*" in text
    assert "!\\[x\\]" in text.replace("\\!", "!")
    assert "\\<script\\>" in text
    assert "> \\# not a heading" in text


def test_csv_cells_are_never_formulas():
    rows = list(csv.reader(io.StringIO(render_exports.export_csv(answer("=cmd()", "@SUM")))))
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
    (home / "A/one.txt").write_text("1")
    roots = folder_chooser.roots([home])
    found = folder_chooser.subfolders(home, roots)
    assert [each.label for each in found] == ["A · 1 file", "b · 0 files"]
    assert folder_chooser.trail(home / "b", roots) == [home, home / "b"]
    assert folder_chooser.parent(home, roots) is None
    assert not folder_chooser.inside(home / "b" / ".." / "..", roots)
    assert folder_chooser.subfolders(tmp_path / "gone", roots) == []
    assert folder_chooser.recent([str(home / "b/c"), "/elsewhere/x"], roots) == [home / "b"]


def test_without_allowed_folders_the_chooser_reaches_what_may_be_added(tmp_path, monkeypatch):
    home = tmp_path / "users/me"
    (home / "notes").mkdir(parents=True)
    (home / "notes/one.txt").write_text("1")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr(folder_chooser, "volumes", list)
    roots = folder_chooser.roots(())
    assert roots == (home.resolve(), Path("/"))
    assert folder_chooser.label_of(roots[1]) == "Computer"
    assert folder_chooser.parent(home, roots) == home.parent
    assert folder_chooser.trail(home, roots)[0] == Path("/")
    shown = {each.path for each in folder_chooser.subfolders(Path("/"), roots)}
    assert tmp_path.parents[-2] in shown
    assert not shown & {Path("/etc"), Path("/proc"), Path("/sys"), Path("/dev"), Path("/boot")}
    # It holds those of the system; there are others in it.
    assert not folder_chooser.may_add(Path("/"), roots)
    assert folder_chooser.may_open(Path("/"), roots)
    (home / "system").symlink_to("/etc")
    assert [each.label for each in folder_chooser.subfolders(home, roots)] == ["notes · 1 file"]


@pytest.mark.parametrize(
    ("typed", "begins"),
    [("{home}/notes", "notes"), ("{home}/notes/one.txt", "notes"), ("~/notes", "notes"),
     ("{home}/gone", None), ("/etc", None), ("notes", None), ("", None)],
)  # fmt: skip
def test_the_chooser_begins_at_what_is_typed(tmp_path, monkeypatch, typed, begins):
    home = tmp_path.resolve()
    (home / "notes").mkdir()
    (home / "notes/one.txt").write_text("1")
    monkeypatch.setenv("HOME", str(home))
    state = {}
    monkeypatch.setattr(folder_chooser.st, "session_state", state)
    folder_chooser.begin_at(typed.format(home=home), folder_chooser.roots(()))
    assert state.get("browse_at") == (str(home / begins) if begins else None)


def test_a_typed_folder_is_a_whole_path(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    assert folder_chooser.typed_folder(' "/data/my notes" ') == Path("/data/my notes")
    assert folder_chooser.typed_folder("~/notes") == Path("/home/me/notes")
    for typed in ("docs", "./docs", "../x", "~nobody-at-all/x"):
        with pytest.raises(SourceError, match="Type the whole path, like /home/me/notes"):
            folder_chooser.typed_folder(typed)


def test_the_tray_has_a_line_for_each_file_with_the_reason_in_full():
    lines = [
        UploadLine("<b>.md", UploadState.INDEXED, 7),
        UploadLine("a.zip › scan.png", UploadState.SKIPPED, 0, "Pictures are not read. Use OCR."),
        UploadLine("copy.md", UploadState.KNOWN, 7, "notes/<i>.md"),
        UploadLine("locked.pdf", UploadState.FAILED, 9, "It is locked. Remove the password."),
    ]
    html = upload_tray.tray(lines)
    assert "<b>4 files</b> · 1 indexed · 1 already in the library · 1 skipped · 1 failed" in html
    assert "Skipped: Pictures are not read. Use OCR." in html
    assert html.index("locked.pdf") < html.index("scan.png") < html.index("&lt;b&gt;.md")
    assert 'href="document?id=7&amp;chunk=1"' in html
    assert "notes/&lt;i&gt;.md" in html
    assert "<i>" not in html


def test_what_goes_with_a_collection_is_said():
    html = collection_dialogs.loss("<W>", CollectionContents(12, 3, 4, 2, 0, 1))
    assert "&lt;W&gt;" in html
    assert (
        "will be deleted with its 12 documents, 3 folders, 2 ratings and 1 edited context." in html
    )
    assert "4 uploaded files will be deleted from disk, too. Files of its folders stay" in html
    assert "You can undo this for 15 seconds; after that it is final." in html
    one = collection_dialogs.loss("A", CollectionContents(1, 0, 0, 0, 0, 0))
    assert "will be deleted with its 1 document.</p>" in one
    assert "upload" not in one
    empty = collection_dialogs.loss("A", CollectionContents(0, 0, 0, 0, 0, 0))
    assert "<b><bdi>A</bdi></b> will be deleted.</p>" in empty


# -- the document page ---------------------------------------------------------------------------


def test_the_window_is_bounded_and_begins_with_a_line():
    text = "line of text\n" * 20_000
    window = reader.snapped(text, reader.window_around(100_000, reader.Window(0, len(text))))
    assert window.end - window.start <= reader.WINDOW + 1000
    assert text[window.start - 1] == "\n"
    assert window.start < 100_000 < window.end


def test_the_window_begins_with_a_section_or_else_a_block():
    text = "# One\n\n" + "a line\n\n" * 4000 + "# Two\n\n" + "more of it\n\n" * 4000
    two = text.index("# Two")
    sections = [Section(0, 0, two, 1, ("One",)), Section(1, two, len(text), 1, ("Two",))]
    near = reader.snapped(text, reader.Window(two + 500, two + 20_000), sections)
    assert near.start == two
    far = reader.snapped(text, reader.Window(two + 30_003, two + 40_003), sections)
    assert text[far.start : far.start + 4] == "more"
    assert text[far.end : far.end + 2] == "\n\n"


def test_outline_links_scroll_inside_the_window_and_load_outside():
    sections = [Section(0, 0, 10, 1, ("A",)), Section(1, 10, 20, 2, ("A", "<B>"))]
    html = reader.outline(sections, 7, 3, reader.Window(0, 10), "")
    assert 'data-rk="anchor"' in html
    assert 'href="document?id=7&amp;at=10">' in html
    assert "&lt;B&gt;" in html
    assert html.count("aria-current") == 1


def test_the_window_has_few_rows_of_a_long_table():
    text = "intro\n\n| A |\n| - |\n" + "| 1 |\n" * 800 + "\nafter"
    place = text.index("| 1 |") + 6 * 400
    window = reader.with_fewer_rows(text, reader.Window(0, len(text)), place)
    assert text[window.start : window.end].count("\n") == reader.ROWS * 4 // 3
    assert window.start == place - 6 * (reader.ROWS // 3)
    start = reader.with_fewer_rows(text, reader.Window(0, len(text)), 0)
    assert (start.start, text[: start.end].count("|")) == (0, 2 * reader.ROWS)
    whole = reader.with_fewer_rows(text, reader.Window(0, len(text)), 0, after=9)
    assert whole == reader.Window(0, len(text))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("wordllama", "WordLlama"),
        ("ollama:nomic-embed-text:latest", "nomic-embed-text (Ollama)"),
        ("folder:/drive/models/e5-small", "e5-small (folder)"),
        ("folder:/hub/models--who--bge-m3/snapshots/0f1e2d", "bge-m3 (folder)"),
    ],
)
def test_an_embedder_is_called_as_people_know_it(name, shown):
    assert embedder_choice.label(name) == shown


@pytest.mark.parametrize(
    ("pages", "format_", "said"),
    [
        ((14, 15), "pdf", "p. 14–15"),
        ((1, 1), "", "p. 1"),
        ((1, 3), "xlsx", "sheets 1–3"),
        ((2, 2), "pptx", "slide 2"),
    ],
)
def test_pages_are_called_what_their_format_calls_them(pages, format_, said):
    assert page_range(*pages, format_) == said


def test_work_of_one_step_has_no_figure():
    assert markup.figure(1, 0, 1, 5.0) == ""
    assert "0 of 2" in markup.figure(1, 0, 2, None)
