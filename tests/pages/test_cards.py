"""Cards: what a result says, and that a document's text is only ever text."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from pages.parts.search import cards, details, gone, long_question, passages
from pages.parts.search.passages import ExpandedContent
from ragkit.answering.excerpts import Excerpt
from ragkit.catalog.records import DocumentRecord
from ragkit.results import Contribution, DocumentRef, MatchedChunk, Passage, Result
from ragkit.retrieval.multi_query import ChunkedResult, TopicAnswer
from ragkit.retrieval.query_segmentation.topics import Topic
from ragkit.retrieval.similar import Similar, SimilarDocuments
from ragkit.surfaces.addresses import document_url
from ragkit.types import BlockKind, Level, Span, Status

HOSTILE = (
    "<script>alert(1)</script><img src=x onerror=alert(2)> ![i](http://evil/x.png) "
    '" onmouseover="alert(3) \' & \u200b\u202ertl\u202c \x00\x1b[31m'
)
TEXT = "OAuth 2.0 is used for sign-in. " + "Tokens are short-lived. " * 60
ALLOWED = {
    "article", "header", "h2", "a", "bdi", "span", "p", "div", "b", "blockquote", "details",
    "summary", "ul", "li", "footer", "button", "mark", "i", "h3", "section",
}  # fmt: skip


class _Reader(HTMLParser):
    """Collects the tags, attributes and text of HTML, and checks that tags are balanced."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.said: list[str] = []
        self.stack: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.stack.append(tag)

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        self.said.append(data)

    @property
    def text(self) -> str:
        return "".join(self.said)


def read(html: str) -> _Reader:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert reader.stack == []
    return reader


def matched(index: int, score: float = 0.86) -> MatchedChunk:
    parts = (
        Contribution("vector", 1, 0.91, 0.91, 0.5, 0.455),
        Contribution("keyword", 3, 12.4, 0.81, 0.5, 0.405),
    )
    return MatchedChunk(index, score, Level.CHUNK, parts, ("oauth", "token"))


def test_a_listed_document_has_no_score():
    plain = replace(matched(1, 0.0), contributions=(), terms=())
    html = cards.card(result(score=0.0, matched_chunks=(plain,)), 0)
    assert "rk-score" not in html
    assert "Why this result" not in html
    assert "0.00" not in read(html).text.replace("chunk", "")


def result(**changes) -> Result:
    document = DocumentRef(
        12, "handbook/security.md", "Authentication", "default", "markdown", 0, 12,
        "/home/me/handbook/security.md", "2026-03-05",
    )  # fmt: skip
    first = Passage(0, len(TEXT), TEXT, ("Handbook", "Security"), 14, ((0, 5),), (1, 4))
    return replace(
        Result(
            document,
            0.86,
            (first,),
            (matched(1), matched(2, 0.82), matched(3, 0.73)),
            context_chunks=(4,),
        ),
        **changes,
    )


def test_a_card_says_where_and_how_much():
    said = read(cards.card(result(), 0)).text
    assert "Authentication" in said
    assert "handbook/security.md › Handbook › Securityp. 14 · 2026-03-05" in said
    assert "chunks 2–5 of 12" in said
    assert "Matching chunks#2 0.86#3 0.82#4 0.73+ 1 neighbouring chunk (5)" in said


def test_headings_that_the_title_says_already_are_left_out():
    place = replace(matched(1), span=Span(0, 4), heading_path=("Authentication", "Basics", "OAuth"))
    assert cards.headings_of(result(matched_chunks=(place,))) == ("Basics", "OAuth")
    alone = replace(place, heading_path=("authentication",))
    assert cards.headings_of(result(matched_chunks=(alone,))) == ()


def test_the_title_opens_the_chunk_of_the_excerpt():
    spans = [replace(matched(index), span=Span(100 * index, 100 * index + 100)) for index in (1, 3)]
    passage = Passage(100, 500, "x" * 400, chunks=(1, 4))
    found = result(passages=(passage,), matched_chunks=(spans[1], spans[0]), context_chunks=(2, 4))

    def opened(at):
        excerpt = Excerpt(passage, at - 100, at - 90)
        html = cards.open_link(found, "", excerpt)
        return int(re.search(r"chunk=(\d+)", html)[1]) - 1

    assert [opened(at) for at in (100, 199, 200, 299, 300, 399, 400, 480)] == [
        1, 1, 2, 2, 3, 3, 4, 4,
    ]  # fmt: skip
    assert "chunk=4" in cards.open_link(found, "")
    block = replace(spans[0], level=Level.BLOCK, span=Span(150, 160))
    found = replace(found, matched_chunks=(block,))
    assert [opened(at) for at in (100, 155, 199)] == [1, 1, 1]


def test_weak_results_after_the_last_that_is_not_are_folded():
    def folded(*weak):
        results = [result(weak=each) for each in weak]
        return cards.with_less_related(list("abcd"[: len(weak)]), results, 'a "q"')

    fold = '<details class="rk-weaker" data-fold="less related: a &quot;q&quot;"><summary>'
    assert folded(False, True, True) == f"a{fold}Less related (2)</summary>bc</details>"
    assert folded(True, False, True, True) == f"ab{fold}Less related (2)</summary>cd</details>"
    assert folded(False, True, False) == "abc"
    assert folded(True, True) == "ab"
    assert folded() == ""


def test_a_relative_score_is_not_drawn_as_a_fit():
    words = Contribution("keyword", 1, 12.4, 1.0, 1.0, 1.0)
    html = cards.card(result(matched_chunks=(replace(matched(1), contributions=(words,)),)), 0)
    assert "rk-score" not in html
    assert "keyword rank 1, 1.00 × 1.00" in read(html).text


def test_actions_of_a_card_come_before_its_details():
    html = cards.card(result(), 0)
    assert html.index("rk-quick") < html.index("rk-about")
    assert html.count('data-rk="similar"') == html.count(">Copy</button>") == 1


def document_record(number, path):
    """Return a record of a document, of which a card shows title and path."""
    return DocumentRecord(
        number, 1, 1, "default", "/files", path, Status.INDEXED, "", 9, 9, "", "", f"Of {path}",
        "markdown", "markdown", "", "", {}, (), (), 1, 9, 0.0,
    )  # fmt: skip


def test_similar_documents_are_listed_in_place():
    def card(*documents, copies=()):
        found = SimilarDocuments(documents, copies)
        return read(cards.card(result(), 0, "", ExpandedContent(similar=found)))

    assert "No similar documents." in card().text
    first, second, copy = (document_record(7, path) for path in ("a.md", "b.md", "<b>.md"))
    found = card(Similar(first, 0.72, "similar", (copy,)), Similar(second, 0.4), copies=(copy,))
    assert "The same text, or nearly, is in <b>.md" in found.text
    assert "a.md · similar, 0.72also in <b>.md" in found.text
    assert "b.md · 0.40" in found.text
    assert "No similar documents." in card(Similar(first, 0.4, "distant")).text
    assert '<section class="rk-more"' not in cards.card(result(), 0)


def test_the_matched_words_are_marked():
    html = cards.card(result(), 0)
    assert "<mark>OAuth</mark> 2.0" in html


def test_why_shows_parts_that_add_up():
    line = read(details.why_line(matched(1))).text
    assert line == (
        "#2 semantic rank 1, 0.91 × 0.50 + keyword rank 3, 0.81 × 0.50 (oauth, token) = 0.86"
    )


def test_why_names_what_is_no_index_without_a_rank():
    titled = Contribution("title", 0, 0.4, 0.8, 0.1, 0.08)
    line = read(details.why_line(replace(matched(1), contributions=(titled,)))).text
    assert line.startswith("#2 title and headings, 0.80 × 0.10 ")


def test_the_score_is_explained_where_it_stands():
    html = cards.card(result(), 0)
    assert 'title="0.86: how well the best passage fits (semantic 0.91, keyword 0.81); ' in html


@pytest.mark.parametrize(
    "place", ["title", "path", "heading", "passage", "also", "more", "matched heading"]
)
def test_hostile_text_stays_text(place):
    base = result()
    hostile = {
        "title": result(document=replace(base.document, title=HOSTILE)),
        "path": result(document=replace(base.document, path=HOSTILE, file=HOSTILE)),
        "heading": result(passages=(replace(base.passages[0], heading_path=(HOSTILE,)),)),
        "passage": result(
            passages=(replace(base.passages[0], text=HOSTILE * 30, highlights=((3, 9),)),)
        ),
        "also": result(also_at=(HOSTILE,)),
        "more": result(more=(matched(9, 0.5),)),
        "matched heading": result(
            matched_chunks=(replace(matched(1), span=Span(0, 4), heading_path=(HOSTILE,)),)
        ),
    }[place]
    html = cards.card(
        hostile,
        0,
        HOSTILE,
        ExpandedContent(more={9: HOSTILE}, gaps={}, opens=HOSTILE, passages=place == "passage"),
    )
    seen = read(html)
    assert set(seen.tags) <= ALLOWED
    assert not [name for name, _ in seen.attributes if name.startswith("on")]
    links = [value for name, value in seen.attributes if name == "href"]
    assert links
    assert all(link.startswith("document?id=12") for link in links)
    assert not [name for name, _ in seen.attributes if name == "src"]
    assert "\x00" not in html
    assert "\x1b" not in html


def test_direction_tricks_in_names_are_made_visible():
    tricked = result(document=replace(result().document, title="invoice\u202efdp.exe"))
    assert "invoice\ufffdfdp.exe" in read(cards.card(tricked, 0)).text


def test_a_result_of_a_long_text_marks_the_words_that_name_its_topics():
    topics = [TopicAnswer(Topic(0, 0, 9, "tokens", ()), ((12, 0.9),))]
    html = long_question.compact_card(ChunkedResult(result(), (0,)), 0, topics)
    assert "<mark>Tokens</mark>" in html
    assert "<mark>OAuth" not in html


def test_a_document_of_a_list_has_no_bar():
    assert "rk-bar" in cards.card(result(), 0)
    listed = replace(matched(1), contributions=())
    assert "rk-bar" not in cards.card(result(matched_chunks=(listed,)), 0)


def test_one_cell_a_chunk_with_its_kind():
    bar = cards.coverage(result())
    assert bar.count("<i ") == 12
    assert "<a " not in bar
    assert bar.count("rk-hit") == 3
    assert bar.count("rk-near") == 1
    assert bar.count("rk-none") == 8
    assert 'title="chunk 2: matched, 0.86"' in bar
    assert 'aria-label="chunks 2–5 of 12"' in bar


def test_a_long_document_has_a_bounded_bar():
    long = result(document=replace(result().document, chunks=100_000))
    bar = cards.coverage(long)
    assert bar.count("<i ") <= cards.MOST_CELLS
    assert "chunks 1–1667: matched" in bar


def test_gaps_are_marked_and_open_in_place():
    base = result().passages[0]
    late = replace(base, start=9000, end=9000 + len(TEXT), chunks=(8, 9))
    gapped = result(
        passages=(base, late), gaps=((5, 7),), matched_chunks=(matched(1), matched(9, 0.4))
    )
    assert "omitted" not in cards.card(gapped, 3)
    closed = read(cards.card(gapped, 3, "", ExpandedContent(passages=True)))
    assert "… chunks 6–8 omitted … show" in closed.text
    assert ("data-first", "5") in closed.attributes
    filled = cards.card(
        gapped, 3, "", ExpandedContent(gaps={(5, 7): "what <svg>lies</svg> between"}, passages=True)
    )
    assert "what <svg>lies</svg> between" in read(filled).text
    assert "omitted" not in filled
    assert '<details class="rk-about" open>' in filled


def test_a_single_omitted_chunk_is_singular():
    assert passages.gap_words(3, 3) == "chunk 4 omitted"


def test_a_title_is_read_and_cut_in_its_own_direction():
    assert read(cards.open_link(result(), "")).attributes.count(("dir", "auto")) == 1


def test_the_full_passages_wait_with_their_length():
    short = Passage(0, 9, "All of it", (), None, (), (0, 0))
    one = result(passages=(short,), matched_chunks=(matched(0),))
    html = cards.card(one, 0)
    assert '<div class="rk-excerpt" dir="auto">All of it</div>' in html
    assert "Show full passage (3 words)" in html
    assert "rk-passage" not in html
    opened = cards.card(one, 0, "", ExpandedContent(passages=True))
    assert "Hide full passage" in opened
    assert read(opened).text.count("All of it") == 2


def test_a_result_without_its_text_has_title_place_coverage_and_scores():
    bare = Passage(0, 9, "", (), None, (), (0, 0))
    html = cards.card(result(passages=(bare,), matched_chunks=(matched(0),)), 0)
    for shown in ("rk-title", "rk-path", "rk-coverage", "rk-score", "Why this result"):
        assert shown in html
    for left_out in ("rk-excerpt", "full passage", ">Copy<"):
        assert left_out not in html


def test_a_result_far_from_the_question_is_faded_and_names_what_it_lacks():
    far = result(weak=True, missing_terms=("invoice", "2291"))
    html = cards.card(far, 0, "", ExpandedContent(known_missing=("2291",)))
    assert '<article class="rk-card rk-weak"' in html
    assert "Missing: <s>invoice</s></span>" in html


def test_a_mark_covers_a_whole_identifier():
    value = "Send the page_token with HERON_CLIENT_ID."
    spans = ((14, 19), (31, 37))
    shown = Passage(0, len(value), value, (), None, spans, (0, 0))
    html = cards.card(result(passages=(shown,), matched_chunks=(matched(0),)), 0, "client token")
    assert "<mark>page_token</mark> with <mark>HERON_CLIENT_ID</mark>." in html


def test_the_excerpt_comes_from_the_best_chunk():
    text = "# Head\n\n" + "Nothing here. " * 100 + "## Answer\n\nThe kestrel nests in May. " * 1
    start = text.index("## Answer")
    whole = result(
        passages=(Passage(0, len(text), text, ("Head",), None, (), (0, 4)),),
        matched_chunks=(
            replace(
                matched(4),
                span=Span(start, len(text)),
                pages=(3, 4),
                heading_path=("Head", "Answer"),
            ),
        ),
    )
    html = cards.card(whole, 0)
    short = html[html.index("rk-excerpt") : html.index("rk-quick")]
    assert "The kestrel nests in May." in short
    assert "Nothing here" not in short
    assert "Head › Answer" in read(html).text
    assert "p. 3–4" in html


def test_a_megabyte_without_a_space_is_cut():
    huge = "x" * 1_000_000
    long = result(passages=(Passage(0, len(huge), huge, (), None, (), (1, 3)),))
    html = cards.card(long, 0, "", ExpandedContent(passages=True))
    assert len(html) < 60_000
    assert "cut here; open the document for the rest" in html


def test_a_vanished_file_is_said_and_not_opened():
    html = cards.card(result(missing=True), 0, "", ExpandedContent(opens="Open in its program"))
    assert "The file is no longer where it was." in html
    assert "Open in its program" not in html


def test_a_folder_that_is_gone_is_said_once(tmp_path):
    def at(number: int, path: str) -> Result:
        file = str(tmp_path.joinpath(*path.split("/")))
        document = replace(result().document, id=number, path=path, file=file)
        return replace(result(missing=True), document=document)

    (tmp_path / "there").mkdir()
    found = [at(1, "away/deep/a.md"), at(2, "away/b.md"), at(3, "there/c.md"), at(4, "d.md")]
    folders = gone.gone_folders(found)
    assert folders == dict.fromkeys((1, 2), str(tmp_path / "away"))
    said = read(gone.notice(folders)).text
    assert said.count("is not there") == 1
    assert str(tmp_path / "away") in said
    quiet = cards.card(found[0], 0, "", ExpandedContent(folder_gone=True))
    assert "no longer where it was" not in quiet
    assert gone.notice(gone.gone_folders(found[2:])) == ""
    away = [replace(one, document=replace(one.document, file="/no/such/" + one.document.path))
            for one in found]  # fmt: skip
    assert gone.gone_folders(away) == dict.fromkeys((1, 2, 3, 4), "/no/such")


def test_further_matches_are_offered_and_shown():
    more = result(more=(matched(8, 0.4), matched(9, 0.3)))
    assert "+2 more in this document" in cards.card(more, 0)
    opened = cards.card(more, 0, "", ExpandedContent(more={8: "herons", 9: "nine"}))
    assert "Hide 2 more" in opened
    assert read(opened).text.count("herons") == 1


def test_a_result_without_passages_or_chunks_is_no_error():
    bare = result(passages=(), matched_chunks=(), context_chunks=())
    assert "Authentication" in cards.card(bare, 0)


def test_document_links_carry_the_question():
    assert document_url(3, 4, "a&b") == "document?id=3&chunk=5&find=a%26b"


def test_a_table_that_was_found_by_itself_is_framed_in_its_passage():
    value = "Before it.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nAfter it.\n"
    table = Span(value.index("| a"), value.index("\n\nAfter"))
    best = replace(matched(1), level=Level.BLOCK, block=BlockKind.TABLE, span=table)
    shown = Passage(0, len(value), value, (), None, (), (1, 1))
    found = result(passages=(shown,), matched_chunks=(best,), context_chunks=())
    html = cards.card(found, 0, "", ExpandedContent(passages=True))
    assert "The framed table matched by itself." in read(html).text
    assert "Table in #2" in read(html).text
    assert html.count("rk-here") == 1
    assert 'id="rk-here"' not in html, "several cards may have one"
    framed = html[html.index("rk-here") :]
    assert framed.index("<table") < framed.index("After it.")
    assert "how well the best table, list or code fits" in html


def test_the_score_of_a_whole_document_stands_beside_those_of_its_chunks():
    whole = replace(matched(0, 0.61), level=Level.DOCUMENT)
    part = replace(matched(3, 0.7), part_of=Level.DOCUMENT)
    html = cards.card(result(score=0.61, wholes=(whole,), matched_chunks=(part,)), 0)
    said = read(html).text
    assert "0.61: how well the whole document fits" in html
    assert "Matching chunks#4 0.70" in said
    assert "Whole document semantic rank 1, 0.91 × 0.50" in said
    assert "The score of the whole document orders the results" in said


def test_a_shortened_chunk_says_so_and_leads_to_all_of_it():
    first = Passage(0, 6, "First.", (), None, (), (1, 1))
    short = Passage(9, 16, "Middle.", (), None, ((0, 6),), (2, 2), shortens=Span(7, 90))
    found = result(passages=(first, short), context_chunks=(2,))
    html = cards.card(found, 0, "a&b", ExpandedContent(passages=True))
    assert "… chunk 3 shortened … see all of it" in read(html).text
    assert 'href="document?id=12&amp;chunk=3&amp;find=a%26b"' in html
    assert html.count("rk-shortened") == 1
    assert "<mark>Middle</mark>." in html


@pytest.mark.parametrize(
    ("markup", "shown"), [("markdown", "IBAN: ES67"), ("plain", "**IBAN**: ES67")]
)
def test_a_mail_that_was_a_page_is_quoted_without_its_marks(markup, shown):
    text = "From: Ann <ann@a.example>\n\nDear all,\n\n**IBAN**: ES67\n"
    document = DocumentRef(
        12, "mails/pay.eml", "Payment", "default", "eml", 0, 1, "/pay.eml", markup=markup
    )
    found = result(
        document=document,
        passages=(Passage(0, len(text), text, (), None, (), (0, 0)),),
        matched_chunks=(replace(matched(0), span=Span(0, len(text)), terms=("iban",)),),
        context_chunks=(),
    )
    excerpt = Excerpt(found.passages[0], text.index("**IBAN"), len(text) - 1)
    assert read(passages.excerpt_html(found, "iban", excerpt)).text == shown
