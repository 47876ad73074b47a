"""Filters, phrases, exclusions and corrections, asked of the sample library."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from small_library import add, open_library, paths, write_files

from pages.parts.search import facets
from ragkit.errors import QueryError
from ragkit.indexes.tokenizer import fold
from ragkit.retrieval.query import scope
from ragkit.retrieval.search import AnswerCache
from ragkit.surfaces.render import answer_as_json, remarks

_DOCS = Path(__file__).resolve().parents[2] / "docs" / "query_language.md"
_EXAMPLES = re.findall(r"^\| `([^`]+)` \|", _DOCS.read_text("utf-8"), re.MULTILINE)


def names(answer) -> list[str]:
    return [path.rsplit("/", 1)[-1] for path in paths(answer)]


_OF_CONTEXTS = re.compile(r"topic:|sentiment:|has:(?!attachment)")


@pytest.mark.parametrize("example", _EXAMPLES)
def test_every_example_of_the_docs_finds_something(sample, noted_sample, example):
    answer = (noted_sample if _OF_CONTEXTS.search(example) else sample).search(example)
    assert answer.results
    order = "newest" if "latest" in example else "oldest" if "oldest" in example else ""
    told = (f"The {order} are listed first, as the question asks.",) if order else ()
    assert (answer.notices, answer.suggestion, answer.corrected) == (told, "", "")
    assert answer.total_documents >= len(set(paths(answer)))


@pytest.mark.parametrize("at_once", [1, 7, scope._AT_ONCE])
def test_a_phrase_restricts_to_documents_that_hold_it(sample, monkeypatch, at_once):
    monkeypatch.setattr(scope, "_AT_ONCE", at_once)
    sample.engine._answers = AnswerCache()
    answer = sample.search('"full refund"')
    assert names(answer)[0] == "refund-policy.md"
    assert answer.total_documents == len(answer.results) == 2
    for result in answer.results:
        text = sample.documents.get(result.document.id).text
        assert re.search(r"full\W+refund", text, re.IGNORECASE)
    assert any("full refund" in one.text for one in answer.results[0].passages)


def test_a_phrase_that_is_nowhere_says_so_and_offers_its_words(sample):
    answer = sample.search('"heron cloud rate limit" quota')
    assert answer.results == ()
    assert answer.notices == ('No document has the exact phrase "heron cloud rate limit".',)
    assert answer.suggestion == "heron cloud rate limit quota"
    assert sample.search(answer.suggestion).results


@pytest.mark.parametrize("phrase", ["予備コード", "備コー", "二段階認証"])
def test_phrases_without_spaces_are_found_inside_a_run(sample, phrase):
    assert names(sample.search(f'"{phrase}"'))[0] == "okyakusama-faq.md"
    assert sample.search(f'"{phrase[::-1]}"').results == ()


@pytest.mark.parametrize("at_once", [1, 7, scope._AT_ONCE])
def test_a_phrase_of_stop_words_is_looked_for_in_the_text(sample, monkeypatch, at_once):
    monkeypatch.setattr(scope, "_AT_ONCE", at_once)
    sample.engine._answers = AnswerCache()
    answer = sample.search('"as soon as the"', limit=50)
    expected = {
        record.path
        for record in sample.documents.list("default")
        if re.search(
            r"\bas\W+soon\W+as\W+the\b", fold(sample.documents.get(record.id).text).casefold()
        )
    }
    assert set(paths(answer)) == expected


def test_excluded_words_phrases_and_filters_are_gone_before_ranking(sample):
    with_it = sample.search("laptop", limit=50)
    without = sample.search("laptop -onboarding", limit=50)
    assert "onboarding.md" in names(with_it)
    held = {path for path in paths(with_it) if "onboarding" in path}
    assert held
    assert held.isdisjoint(paths(without))
    for result in without.results:
        assert "onboarding" not in sample.documents.get(result.document.id).text.lower()
    assert "refund-policy.md" not in names(sample.search('refund -"full refund"', limit=50))
    no_pdf = sample.search("drift -type:pdf", limit=50)
    assert no_pdf.results
    assert all(result.document.format != "pdf" for result in no_pdf.results)


def test_a_filter_alone_lists_what_it_names_newest_first(sample):
    answer = sample.search("type:md", limit=5)
    everything = sample.search("type:md", limit=100)
    assert answer.listed
    assert len(answer.results) == 5
    assert answer.total_documents == len(everything.results) > 15
    dates = [one.document.date[:10] for one in everything.results if one.document.date]
    assert dates == sorted(dates, reverse=True)
    assert all(one.passages for one in everything.results)


def test_families_dates_and_mail(sample):
    assert set(names(sample.search("type:excel"))) == {"budget-2026.xlsx", "deployments.csv"}
    assert names(sample.search("type:python")) == ["heron_client.py"]
    assert names(sample.search("from:haruka type:mail")) == ["2026-01-15-lake-biwa-pilot.eml"]
    assert names(sample.search("cc:priya")) == ["2026-01-15-lake-biwa-pilot.eml"]
    assert sample.search("bcc:priya").notices == ('No mail with a blind copy to "priya".',)
    assert names(sample.search("has:attachment")) == ["2026-02-24-lease-oberhafen.eml"]
    assert sample.search("-has:attachment type:mail").total_documents == 1
    march = sample.search("date:2026-03", limit=50)
    assert {result.document.date[:7] for result in march.results if result.document.date} >= {
        "2026-03"
    }
    assert "2026-02-10-lyon-visit.md" not in names(march)


@pytest.mark.parametrize(
    ("typed", "meant", "notice"),
    [
        ("type:pdff", "type:pdf", 'No files of type "pdff".'),
        ("path:handbok/ refund", "path:handbook/ refund", 'No files in a path with "handbok/".'),
        ("typ:pdf", "type:pdf", 'There is no filter "typ:".'),
        ("cc:prija", "cc:Priya", 'No mail with a copy to "prija".'),
        ("from:lnea", "from:Lena", 'Nothing from "lnea".'),
        ("oldr_than:1m", "older_than:1m", 'There is no filter "oldr_than:".'),
    ],
)
def test_a_slip_in_a_filter_shows_what_was_meant(sample, typed, meant, notice):
    answer = sample.search(typed)
    assert answer.corrected == meant
    assert answer.notices == (notice,)
    assert paths(answer) == paths(sample.search(meant))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("orchard tag:projectx", 'orchard tag:"project x"'),
        ('"orchard" tag:ledger,projectx', '"orchard" tag:ledger,"project x"'),
        ("type:.MDD path:budgets orchard", "type:md path:budgets orchard"),
        ("path:ledgers tag:ledgers boats", "tag:ledger boats"),
        ("source:budget cost -title:nothing", "cost -title:nothing"),
    ],
)
def test_only_the_value_of_a_filter_is_put_right(tmp_path, typed, meant):
    with open_library(tmp_path / "library") as library:
        files = {
            "orchard/budgets/a.md": "---\ntags: [project x]\n---\n# Orchard\n\nAn orchard.\n",
            "b.md": "---\ntags: [ledger]\n---\n# Harbour\n\nA ledger of boats.\n",
        }
        add(library, write_files(tmp_path / "files", files))
        answer = library.search(typed)
        assert (answer.corrected or answer.suggestion) == meant
        if answer.corrected:
            assert paths(answer) == ["orchard/budgets/a.md"]


def test_a_slip_in_a_filter_and_one_in_a_word_are_both_told(sample):
    answer = sample.search("refnd polcy type:markdwn")
    assert answer.corrected == "refund policy type:markdown"
    assert answer.understood == ("Showing results for: refund policy type:markdown",)
    assert paths(answer) == paths(sample.search("refund policy type:markdown"))


def test_a_slip_beside_words_is_left_out_and_suggested(sample):
    answer = sample.search("typ:pdf drift")
    assert paths(answer) == paths(sample.search("drift"))
    assert answer.suggestion == "type:pdf drift"
    answer = sample.search("refund type:zzz")
    assert (answer.results, answer.suggestion) == ((), "refund")
    assert answer.notices == ('No files of type "zzz".',)


@pytest.mark.parametrize(
    ("filters", "notices"),
    [
        ("type:nope", ('No files of type "nope".',)),
        ("path:zzz type:md", ('No files in a path with "zzz".',)),
        (
            "lang:xx",
            (
                'No document says that its language is "xx". There are documents in English '
                "(lang:en), Japanese (lang:ja), German (lang:de), French (lang:fr).",
            ),
        ),
        (
            "tag:none,other",
            ('No documents with the tag "none".', 'No documents with the tag "other".'),
        ),
        ("type:md", ()),
    ],
)
def test_filters_beside_the_question_that_no_document_passes_are_named(sample, filters, notices):
    answer = sample.search("refund", filters=filters)
    assert answer.notices == notices
    assert (answer.corrected, answer.suggestion) == ("", "")
    assert bool(answer.results) is (not notices)


def test_an_invalid_date_is_named(sample):
    with pytest.raises(QueryError, match='Invalid date: "2025-13-45"'):
        sample.search("refund after:2025-13-45")


def test_misspelled_words_are_corrected_when_nothing_close_is_found(sample):
    answer = sample.search("refnd polcy")
    assert answer.corrected == "refund policy"
    assert answer.query == "refnd polcy"
    assert names(answer)[0] == "refund-policy.md"
    as_typed = sample.search("refnd polcy", correct_spelling=False)
    assert as_typed.nothing_close
    assert (as_typed.corrected, as_typed.suggestion) == ("", "refund policy")


@pytest.mark.parametrize(
    "question",
    ["HRN-0399 status", "v9.9.9", "invoice number 2291", '"refnd polcy"', "KRQX", "wifi"],
)
def test_identifiers_numbers_and_quoted_words_are_never_respelled(sample, question):
    answer = sample.search(question)
    assert answer.corrected == ""
    assert answer.suggestion in ("", question.replace('"', ""))


def test_a_question_that_finds_what_it_asks_for_is_left_alone(sample):
    answer = sample.search("How do I get a refund?")
    assert (answer.corrected, answer.suggestion, answer.missing_terms) == ("", "", ())


def test_filters_on_offer_count_what_the_question_finds(sample):
    def offered(question):
        groups = facets.groups(sample, question, sample.options())
        return {group.filter: dict(group.values) for group in groups}

    answer = sample.search("refund lease", limit=50)
    assert (
        len(answer.document_ids) == answer.total_documents < len(sample.documents.list("default"))
    )
    records = sample.documents.records(answer.document_ids.tolist()).values()
    markdown = sum(record.format == "markdown" for record in records)
    assert offered("refund lease")["type"]["markdown"] == markdown
    assert offered("")["type"]["markdown"] > markdown > 3
    listed = sample.search("path:handbook/", limit=50)
    assert len(listed.document_ids) == listed.total_documents
    # Another value of a filter is another way, so its own group is counted without it.
    filtered = offered("refund lease type:eml path:mail/")
    assert filtered["type"] == {"eml": len(sample.search("refund lease path:mail/").document_ids)}
    assert filtered["path"]["mail/"] == sample.search("refund lease type:eml").total_documents
    everything, chats = offered(""), offered("type:conversation")
    assert everything["speaker"] == chats["speaker"]
    assert everything["speaker"]["Lena Osei"] == 3
    assert chats["=platform"] == {"transcript": 5, "Slack": 1, "WhatsApp": 1}
    # Numbers, and what fewer than a tenth of the documents have, are nothing to choose from.
    assert "=messages" not in chats
    assert "=updated" not in everything
    assert "speaker" not in offered("type:pdf")


def test_plain_words_are_read_as_filters_and_say_so(sample):
    answer = sample.search("mails about the lease")
    assert paths(answer) == paths(sample.search("lease type:mail"))
    (reading,) = answer.readings
    assert (reading.words, reading.filters, reading.restricts) == ("mails about", "type:mail", True)
    assert answer.query == "mails about the lease"
    assert '"mails about" read as type:mail' in list(remarks(answer))
    assert answer_as_json(answer)["readings"] == [
        {"words": "mails about", "filters": "type:mail", "restricts": True, "start": 0, "end": 11}
    ]
    words = sample.search("mails about the lease", read_filters=False)
    assert words.readings == ()
    assert len(words.results) > len(answer.results)


def test_a_name_is_read_only_of_somebody_who_wrote_or_speaks(sample):
    assert [one.filters for one in sample.search("notes from Haruka").readings] == ["from:Haruka"]
    assert sample.search("notes from Har").readings == ()
    assert sample.search("notes from Japan").readings == ()


def test_what_was_read_is_only_offered_where_nothing_close_is_left(sample):
    answer = sample.search("mails about dissolved oxygen")
    assert [one.restricts for one in answer.readings] == [False]
    assert not answer.nothing_close


def _chunks(library, question: str) -> dict[str, set[int]]:
    """The chunks that matched, by the name of their document."""
    answer = library.search(question, limit=50)
    return {
        result.document.path.rsplit("/", 1)[-1]: {one.index for one in result.matched_chunks}
        for result in answer.results
    }


def _noted(library, keep) -> dict[str, set[int]]:
    """The chunks of which a recorded context has such details, by the name of their document."""
    found: dict[str, set[int]] = {}
    for record in library.documents.list():
        for index, context in library.contexts.of_document(record.id).items():
            if keep(context.answer.details):
                found.setdefault(record.path.rsplit("/", 1)[-1], set()).add(index)
    return found


@pytest.mark.parametrize(
    ("filters", "keep"),
    [
        ("has:decision", lambda one: one.get("has_decision")),
        ("has:action", lambda one: one.get("has_action_item")),
        ("sentiment:negative", lambda one: one.get("sentiment") == "negative"),
        ("sentiment:mixed,neutral", lambda one: one.get("sentiment") in ("mixed", "neutral")),
        (
            "has:decision sentiment:mixed",
            lambda one: one.get("has_decision") and one["sentiment"] == "mixed",
        ),
        (
            "has:decision OR sentiment:negative",
            lambda one: one.get("has_decision") or one.get("sentiment") == "negative",
        ),
        (
            "has:action -has:decision",
            lambda one: one.get("has_action_item") and not one["has_decision"],
        ),
        ("topic:travel", lambda one: "travel" in one.get("topic_summary", "").casefold()),
    ],
)  # fmt: skip
def test_what_contexts_note_restricts_chunks_before_ranking(noted_sample, filters, keep):
    expected = _noted(noted_sample, keep)
    assert expected
    found = _chunks(noted_sample, f"Haruka Ines Jonas Felix plan {filters}")
    assert found
    for document, chunks in found.items():
        assert chunks <= expected[document]
    listed = noted_sample.search(filters, limit=50)
    assert {result.document.path.rsplit("/", 1)[-1] for result in listed.results} == set(expected)
    assert listed.total_documents == len(expected)
    first = {one.document.path.rsplit("/", 1)[-1]: one.matched_chunks[0].index
             for one in listed.results}  # fmt: skip
    assert first == {document: min(chunks) for document, chunks in expected.items()}


def test_an_excluded_note_leaves_the_other_chunks_of_a_document(noted_sample):
    without = _chunks(noted_sample, "the plan and the time -has:action")
    noted = _noted(noted_sample, lambda one: one.get("has_action_item"))
    assert without
    assert all(chunks.isdisjoint(noted.get(name, ())) for name, chunks in without.items())
    assert set(without) & set(noted), "documents with other chunks stay"
    both = _chunks(noted_sample, "the plan and the time type:mail OR has:decision")
    decided = _noted(noted_sample, lambda one: one.get("has_decision"))
    mails = {name for name in both if name.endswith(".eml")}
    assert mails
    assert all(chunks <= decided[name] for name, chunks in both.items() if name not in mails)


@pytest.mark.parametrize(
    ("typed", "meant", "notice"),
    [
        (
            "sentiment:negativ", "sentiment:negative",
            'There is no "sentiment:negativ", only "sentiment:positive", "sentiment:neutral", '
            '"sentiment:negative" and "sentiment:mixed".',
        ),
        (
            "has:descision", "has:decision",
            'There is no "has:descision", only "has:attachment", "has:decision" and "has:action".',
        ),
        ("sentimnt:mixed", "sentiment:mixed", 'There is no filter "sentimnt:".'),
        ("topic:promotd", "topic:promoted", 'No topic has "promotd" in it.'),
    ],
)  # fmt: skip
def test_wrong_values_of_what_contexts_note(noted_sample, typed, meant, notice):
    answer = noted_sample.search(typed)
    assert (answer.corrected, answer.notices) == (meant, (notice,))


@pytest.mark.parametrize("filters", ["has:decision", "topic:travel", "sentiment:mixed"])
def test_before_any_context_it_is_said_why_nothing_is_found(sample, filters):
    answer = sample.search(f"refund {filters}")
    assert answer.results == ()
    assert answer.notices == (f'No contexts have been written yet, and only they say "{filters}".',)
    assert answer.suggestion == "refund"
    assert sample.search(f"refund -{filters}").total_documents == (
        sample.search("refund").total_documents
    )


def test_other_words_for_the_same(noted_sample):
    assert _chunks(noted_sample, "has:todo") == _chunks(noted_sample, "has:action")
    assert sample_topics(noted_sample, "topic:travels") == sample_topics(
        noted_sample, "topic:TRAVEL"
    )


def sample_topics(library, question: str) -> list[str]:
    return paths(library.search(question))


def test_words_of_topics_are_searched(noted_sample):
    """Only the topic of one chunk says "emergency contacts"."""
    answer = noted_sample.search("emergency contacts weekend", mode="keyword")
    assert names(answer)[0] == "2026-02-27-lena-and-jonas.md"


def test_what_contexts_note_is_offered_as_filters_and_while_typing(noted_sample):
    offered = {
        group.filter: dict(group.values)
        for group in facets.groups(noted_sample, "", noted_sample.options())
    }
    decided = _noted(noted_sample, lambda one: one.get("has_decision"))
    assert offered["has"]["decision"] == len(decided)
    assert offered["sentiment"]["mixed"] == 2
    labels = [one.label for one in noted_sample.suggestions.suggest("boat has:")]
    assert labels == ["has:action", "has:decision", "has:attachment"]
    (topic,) = noted_sample.suggestions.suggest("topic:emer")
    assert topic.text == 'topic:"Emergency contacts for the weekend" '
    assert noted_sample.search(topic.text).total_documents == 1
    assert [one.label for one in noted_sample.suggestions.suggest("sentiment:ne")] == [
        "sentiment:negative", "sentiment:neutral",
    ]  # fmt: skip
    assert facets.groups(noted_sample, "topic:travel has:decision", noted_sample.options())


def test_a_question_with_an_invalid_filter_is_quoted_as_it_is_written(sample):
    results = sample.search("refund policy").results
    excerpts = sample.answers.excerpts("after:foo refund policy", results)
    assert len(excerpts) == len(results) > 0
    assert excerpts[0] is not None
