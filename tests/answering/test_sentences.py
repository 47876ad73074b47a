"""The sentences of a passage, each under the headings that it stands under."""

from __future__ import annotations

from ragkit.answering.sentences import sentences_of
from ragkit.results import DocumentRef, Passage

TEXT = "It rained.\n\n## Decisions\n\nWe pay. We wait.\n\n### Later\n\nWe ask.\n\n# Other\n\nWe go."


def test_a_sentence_is_a_span_under_the_headings_before_it():
    document = DocumentRef(1, "a.md", "A", "default", "markdown", 0, 1, "/a.md")
    headings = (
        (100, ("Review", "What happened")),
        (100 + TEXT.index("## D"), ("Review", "Decisions")),
        (100 + TEXT.index("### L"), ("Review", "Decisions", "Later")),
        (100 + TEXT.index("# O"), ("Other",)),
    )
    passage = Passage(100, 100 + len(TEXT), TEXT, ("Review",), headings=headings)
    found = list(sentences_of(passage, document))
    assert [(one.text, one.heading_path) for one in found] == [
        ("It rained.", ("Review", "What happened")),
        ("We pay.", ("Review", "Decisions")),
        ("We wait.", ("Review", "Decisions")),
        ("We ask.", ("Review", "Decisions", "Later")),
        ("We go.", ("Other",)),
    ]
    assert all(TEXT[one.start - 100 : one.end - 100] == one.text for one in found)


def test_a_sentence_is_on_the_page_where_it_starts():
    document = DocumentRef(1, "a.pdf", "A", "default", "pdf", 4, 1, "/a.pdf")
    text = "First one. Second one. Third one."
    passage = Passage(50, 50 + len(text), text, page=2, later_pages=((61, 3), (75, 4)))
    found = {one.text: one.page for one in sentences_of(passage, document)}
    assert found == {"First one.": 2, "Second one.": 3, "Third one.": 3}


def test_a_sentence_stands_under_the_headings_of_its_chunk_where_text_has_no_marks():
    document = DocumentRef(1, "a.pdf", "A", "default", "pdf", 4, 1, "/a.pdf")
    text = "We saw drift.\n5 Conclusion\nIt can be removed."
    headings = ((50, ("4 Results",)), (64, ("5 Conclusion",)))
    passage = Passage(50, 50 + len(text), text, ("5 Conclusion",), headings=headings)
    found = {one.text: one.heading_path for one in sentences_of(passage, document)}
    assert found == {
        "We saw drift.": ("4 Results",),
        "5 Conclusion\nIt can be removed.": ("5 Conclusion",),
    }


def test_a_row_cut_out_of_a_table_is_not_put_under_another_row():
    document = DocumentRef(1, "a.csv", "A", "default", "csv", 0, 1, "/a.csv")
    cut = "| 5 March | Ana | 7.00 |\n| 6 March | Ben | 9.00 |"
    whole = f"| Day | Payer | Amount |\n| --- | --- | --- |\n{cut}"
    assert [one.header for one in sentences_of(Passage(0, len(cut), cut), document)] == ["", ""]
    found = [one.header for one in sentences_of(Passage(0, len(whole), whole), document)]
    assert found == ["", "| Day | Payer | Amount |", "| Day | Payer | Amount |"]


def test_a_row_cut_out_of_a_table_has_the_header_that_its_passage_knows():
    document = DocumentRef(1, "a.csv", "A", "default", "csv", 0, 1, "/a.csv")
    text = "| 5 March | 7.00 |\n\n| Port | Range |\n| --- | --- |\n| Husum | 3.4 |"
    passage = Passage(900, 900 + len(text), text, header="| Day | Amount |")
    found = [one.header for one in sentences_of(passage, document)]
    assert found == ["| Day | Amount |", "", "| Port | Range |"]


def test_each_line_of_a_log_is_a_sentence():
    document = DocumentRef(1, "a.log", "A", "default", "text", 0, 1, "/a.log")
    lines = [
        "2026-02-27T12:54:00Z WARN pump 54: pressure 18 kPa, below the limit",
        "[28/02/2026 12:55] WARN pump 55: pressure 25 kPa, below the limit",
        "Mar  1 12:55:07 host pump[56]: pressure 32 kPa, below the limit",
    ]
    text = "\n".join(lines)
    assert [one.text for one in sentences_of(Passage(0, len(text), text), document)] == lines
