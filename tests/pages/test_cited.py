"""The sentence that an address names, and its marking on the Document page."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from running import html, run
from small_library import add, write_files

from pages.parts.document.cited import CHANGED, MOVED, find
from ragkit.answering.sentences import sentences_of
from ragkit.answers import Source
from ragkit.surfaces.addresses import mark_of, source_url, span_of

TEXT = "# Refunds\n\nPaid in full. Paid within 30 days.\n\n| a | b |\n| - | - |\n| 1 | 2 |\n"
DAYS = "Paid within 30 days."


def at(sentence, text=TEXT):
    return text.index(sentence), text.index(sentence) + len(sentence)


@pytest.mark.parametrize("value", ["", "5", "9-5", "5-5", "-5-9", "5-9-12", "a-b", "1-" + "9" * 13])
def test_what_is_no_span_is_none(value):
    assert span_of(value) is None
    assert span_of("5-9") == (5, 9)


def test_a_sentence_is_marked_where_it_is_and_never_something_else():
    said, span = mark_of(DAYS), at(DAYS)
    assert find(TEXT, "markdown", span, said) == (span, "")
    assert find(TEXT, "markdown", span, "") == (span, "")
    moved = f"# News\n\nNothing.\n\n{TEXT}"
    assert find(moved, "markdown", span, said) == (at(DAYS, moved), MOVED)
    # Of several, the one that is nearest to where it was.
    twice = f"{moved}\n\n{'More of it. ' * 9}{DAYS}"
    assert find(twice, "markdown", span, said) == (at(DAYS, twice), MOVED)
    assert find(TEXT.replace("30", "45"), "markdown", span, said) == (None, CHANGED)
    assert find("Short.", "markdown", span, "") == (None, CHANGED)
    assert find(TEXT, "markdown", None, said) == (None, "")


def test_a_sentence_of_the_web_leads_to_its_page():
    assert source_url(Source("a", 0, 1, url="https://example.com/p")) == "https://example.com/p"


def test_the_document_page_marks_exactly_the_sentence_in_both_views(library, tmp_path):
    folder = tmp_path / "papers"
    folder.mkdir()
    before = "".join(f"## Part {n}\n\n{'filler words and more ' * 40}\n\n" for n in range(60))
    (folder / "refunds.md").write_text(f"{before}{TEXT}")
    library.jobs.wait(library.sources.sync(library.sources.add_folder(folder)))
    found = library.search("paid within 30 days").results[0]
    sources = [one for each in found.passages for one in sentences_of(each, found.document)]
    source = next(one for one in sources if one.text == DAYS)
    address = source_url(source, "paid days")
    query = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
    for view in ("rendered", "text"):
        said = html(run(library, "document", **query, view=view))
        marked = re.findall(r'<[^<>]*class="[^"]*rk-here[^>]*>([^<]*)<', said)
        assert marked == [DAYS]
        assert "<mark>" not in said
        assert '<div class="rk-cited">' in said
    said = html(run(library, "document", **query | {"said": mark_of("other")}))
    assert CHANGED in said
    assert "rk-here" not in said


def test_words_in_other_forms_are_marked_in_the_document(library, tmp_path):
    text = "Śmieci segregujemy do czterech pojemników. Klucze do piwnicy są u dozorcy na parterze."
    add(library, write_files(tmp_path / "house", {"dom.txt": text}))
    number = str(library.documents.list()[0].id)
    said = html(run(library, "document", id=number, find="kluczem"))
    assert "<mark>Klucze</mark> do piwnicy są" in said
    said = html(run(library, "document", id=number, find="pojemnik gdzie jest"))
    assert "<mark>pojemników</mark>" in said
    assert "<mark>są</mark>" not in said
