"""The query language: what is a filter, what is text, what is an error."""

from __future__ import annotations

import time
from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragkit.errors import QueryError
from ragkit.options import Filters
from ragkit.retrieval.query import filter_syntax
from ragkit.retrieval.query.parser import (
    LONGEST_QUERY,
    Condition,
    ParsedQuery,
    format_filters,
    parse_query,
    without_quotes,
)

FIELDS = ("framework", "language", "Last Reviewed", "doc-type")
OTHER_FIELDS = [name for name in FIELDS if name != "language"]


def test_every_filter_is_taken_out_of_the_question():
    asked = (
        'refund type:pdf path:notes/ in:"Set up" after:2025-01 policy before:2025-03-01 lang:de '
        'tag:x title:"two words" source:mail document:12 collection:work framework:streamlit now'
    )
    assert parse_query(asked, FIELDS) == ParsedQuery(
        text="refund policy now",
        filters=Filters(
            types=("pdf",),
            paths=("notes/",),
            titles=("two words",),
            headings=("Set up",),
            languages=("de",),
            tags=("x",),
            sources=("mail",),
            documents=(12,),
            after="2025-01",
            before="2025-03-01",
            fields=(("framework", "streamlit"),),
        ),
        collections=("work",),
    )


@pytest.mark.parametrize(
    ("asked", "languages", "programming"),
    [
        ("lang:de", ("de",), ()),
        ("lang:German,pt-BR", ("de", "pt"), ()),
        ("lang:tlh", ("tlh",), ()),
        ("language:german", ("de",), ()),
        ("lang:Deutsch,français", ("de", "fr"), ()),
        ("lang:francais", ("fr",), ()),
        ("lang:日本語", ("ja",), ()),
        ("language:русский", ("ru",), ()),
        ("language:allemand", ("de",), ()),
        ("language:python", (), ("python",)),
        ("language:=Go", (), ("=Go",)),
        ("lang:python", (), ("python",)),
        ("lang:C++", (), ("C++",)),
    ],
)
@pytest.mark.parametrize("known", [FIELDS, ()])
def test_human_and_programming_languages_are_two_filters(asked, known, languages, programming):
    filters = parse_query(asked, known).filters
    fields = tuple(("language", one) for one in programming)
    assert filters == Filters(languages=languages, fields=fields)
    assert parse_query(format_filters(filters), known).filters == filters


def test_a_question_without_filters_stays_as_it_is():
    assert parse_query("  how  do I\nget a refund? ") == ParsedQuery(
        text="how  do I\nget a refund?"
    )


def test_commas_and_repetition_give_alternatives():
    parsed = parse_query('type:pdf,docx type:PDF,.md tag:"a, b",c collection:one,two')
    assert parsed.filters == Filters(types=("pdf", "docx", "md"), tags=("a, b", "c"))
    assert parsed.collections == ("one", "two")


def test_of_several_dates_the_one_that_leaves_more_counts():
    filters = parse_query("after:2025-03 after:2025-01 before:2024 before:2026").filters
    assert (filters.after, filters.before) == ("2025-01", "2026")


@pytest.mark.parametrize(
    ("written", "meant"),
    [("2025", "2025"), ("2025-1", "2025-01"), ("2025-1-9", "2025-01-09"), ("2024-02-29",) * 2],
)
def test_dates_come_in_iso_form(written, meant):
    assert parse_query(f"after:{written}").filters.after == meant


@pytest.mark.parametrize(
    "written", ["soon", "2025-13", "2023-02-29", "25", "01.02.2025", "0000", "9999", "9999-12-31"]
)
def test_a_bad_date_is_an_error_with_an_example(written):
    with pytest.raises(QueryError) as caught:
        parse_query(f"x before:{written}")
    assert caught.value.message == f'Invalid date: "{written}".'
    assert "before:2025-03-01" in caught.value.cure


def test_a_document_is_named_by_its_number():
    assert parse_query("document:7,8").filters.documents == (7, 8)
    with pytest.raises(QueryError, match="number of a document"):
        parse_query("document:readme")


def test_fields_of_front_matter_count_in_any_case_and_with_underscores():
    parsed = parse_query("FrameWork:vue last_reviewed:2024 doc-type:guide Type:pdf", FIELDS)
    assert parsed.filters == Filters(
        types=("pdf",),
        fields=(("framework", "vue"), ("Last Reviewed", "2024"), ("doc-type", "guide")),
    )


def test_an_author_is_a_sender_also_where_front_matter_names_authors():
    parsed = parse_query('refund Author:powers -author:"Bo Li"', [*FIELDS, "author"])
    assert parsed.filters == Filters(senders=("powers",))
    assert [condition.filters for condition in parsed.excluded] == [Filters(senders=("Bo Li",))]
    assert parse_query("author:powers").suggestion == "from:powers"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("refund typ:pdf", "refund type:pdf"), ("framwork:vue", "framework:vue"),
        ("until:2024 x", "before:2024 x"), ("filetype:pdf", "type:pdf"), ("file:a.md", "path:a.md"),
        ("section:intro", "in:intro"), ("titel:x", "title:x"), ("sender:Mia", "from:Mia"),
        ("colection:x", "collection:x"), ("befor:2024", "before:2024"),
        ("x -typ:pdf", "x -type:pdf"),
    ],
)  # fmt: skip
def test_a_slip_is_left_out_and_what_was_meant_is_suggested(written, meant):
    parsed = parse_query(written, FIELDS)
    assert parsed.suggestion == meant
    assert parsed.notices == (f'There is no filter "{_name_of(written)}:".',)
    assert not parsed.restricts
    assert ":" not in parsed.text


def _name_of(written: str) -> str:
    return next(word for word in written.split() if ":" in word).split(":")[0].lstrip("-")


@pytest.mark.parametrize("unknown", ["foo:bar", 'foo:"bar baz"', "foo_bar:baz", 'foo:"', "zz:b,c"])
def test_words_that_look_like_an_unknown_filter_are_searched_for_and_that_is_said(unknown):
    parsed = parse_query(f"text {unknown}")
    assert parsed.text == f"text {unknown}"
    assert "so its words were searched for" in parsed.notices[0]
    assert parsed.suggestion == ""


_MAY = Condition(filters=Filters(types=("pdf",)))


@pytest.mark.parametrize(
    ("written", "text", "excluded"),
    [
        ("laptop -onboarding", "laptop", [Condition("onboarding", exact=False)]),
        ('refund -"gift cards"', "refund", [Condition("gift cards")]),
        ("refund NOT gift", "refund", [Condition("gift", exact=False)]),
        ("drift -type:pdf", "drift", [_MAY]),
        ("drift NOT type:pdf", "drift", [_MAY]),
        ("-type:pdf", "", [_MAY]),
        ("検索 -評価", "検索", [Condition("評価", exact=False)]),
        ("a -path:x/ -tag:y", "a", [Condition(filters=Filters(paths=("x/",))),
                                    Condition(filters=Filters(tags=("y",)))]),
    ],
)  # fmt: skip
def test_what_is_excluded(written, text, excluded):
    parsed = parse_query(written)
    assert parsed.text == text
    assert parsed.excluded == tuple(excluded)
    assert parsed.filters == Filters()


@pytest.mark.parametrize(
    "prose",
    [
        "-5 °C in winter", "pip install --upgrade ragkit", "ls -la", "a - b", "-", "a well-known",
        "on 2026-03-05", "C++ or C#", "x -> y", "Wareneingang und -ausgang", "Vor- und Nachteile",
        "the buoy -which is yellow- drifts", "do NOT delete this", "DO NOT DELETE", "TRUE OR FALSE",
        "it was NOT drifting", "NOT", "OR", "Portland OR", "24\" monitor or 27\" one", "a -1 b -2",
    ],
)  # fmt: skip
def test_prose_holds_no_exclusions(prose):
    parsed = parse_query(prose)
    assert parsed.text == prose
    assert not parsed.restricts


def test_pasted_text_is_no_query_language():
    mail = 'Dear all,\n\n"the drift" -as agreed NOT fixed OR open -type:pdf\nRui\n'
    assert parse_query(mail).restricts is False
    long_line = 'He said "the drift is gone" -finally ' + "and went on " * 60
    assert parse_query(long_line).restricts is False


def test_phrases_restrict_and_stay_in_the_text():
    parsed = parse_query('"full refund" of the “gift card”.')
    assert parsed.required == ((Condition("full refund"),), (Condition("gift card"),))
    assert parsed.text == '"full refund" of the “gift card”.'
    assert without_quotes('"full refund" -"gift card" x') == 'full refund -"gift card" x'
    assert parse_query('"?!"').required == ()


def test_or_joins_phrases_and_filters():
    assert parse_query("type:pdf OR type:docx x").filters == Filters(types=("pdf", "docx"))
    parsed = parse_query('refund OR "money back" now')
    assert parsed.required == ((Condition("refund", exact=False), Condition("money back")),)
    assert parse_query("refund OR reimbursement").required == ()
    parsed = parse_query("type:pdf OR path:x/ y")
    assert parsed.required == ((_MAY, Condition(filters=Filters(paths=("x/",)))),)
    assert (parsed.text, parsed.filters) == ("y", Filters())


def test_what_is_asked_for_again_is_one_condition():
    refund, money = Condition("full refund"), Condition("money back")
    assert parse_query('"full refund" "money back" "full refund"').required == ((refund,), (money,))
    assert parse_query('"full refund" OR "money back" OR "full refund"').required == (
        (refund, money),
    )
    parsed = parse_query('turbine -"full refund" -"full refund"')
    assert parsed.excluded == (refund,)
    assert len(parsed.restrictions) == 2


@pytest.mark.parametrize(
    ("period", "end"),
    [
        ("2026-03", "2026-04"),
        ("2025-12", "2026-01"),
        ("2024", "2025"),
        ("2024-02-28", "2024-02-29"),
    ],
)
def test_a_date_is_a_year_a_month_or_a_day(period, end):
    assert parse_query(f"date:{period}").filters == Filters(after=period, before=end)


@pytest.mark.parametrize(
    ("asked", "parsed"),
    [
        ("after:2004/04/16", Filters(after="2004-04-16")),
        ("before:2004.04", Filters(before="2004-04")),
        ("tag:#work,müßig", Filters(tags=("work", "müßig"))),
        ("\u200ftype:pdf", Filters(types=("pdf",))),
    ],
)
def test_filters_as_other_programs_write_them(asked, parsed):
    assert parse_query(asked) == ParsedQuery(text="", filters=parsed)
    assert parse_query(f"שלום {asked}").filters == parsed


@pytest.mark.parametrize("quoted", ["«точная фраза»", "« точная фраза »", "「完全 一致」"])
def test_phrases_in_the_quotes_of_other_languages(quoted):
    phrase = Condition(quoted[1:-1].strip())
    assert parse_query(quoted).required == ((phrase,),)
    assert parse_query(f"x -{quoted}").excluded == (phrase,)
    assert parse_query(f"x OR {quoted}").required == ((Condition("x", exact=False), phrase),)


def test_a_mark_of_direction_hides_no_minus():
    parsed = parse_query("שלום \u200f-type:pdf \u200f-מילה")
    assert [condition.phrase for condition in parsed.excluded] == ["", "מילה"]
    assert parsed.text == "שלום"


def test_the_names_of_mail():
    written = "title:lease from:haruka to:rui cc:ines bcc:Jo has:attachment"
    filters = parse_query(written.replace("title", "subject")).filters
    assert filters == Filters(
        senders=("haruka",), recipients=("rui",), copies=("ines",), blind_copies=("Jo",),
        titles=("lease",), has=("attachment",),
    )  # fmt: skip
    assert format_filters(filters) == written


@pytest.mark.parametrize(
    ("age", "day"),
    [("3d", "2024-02-28"), ("2W", "2024-02-17"), ("1m", "2024-02-02"), ("1y", "2023-03-02"),
     ("27m", "2021-12-02"), ("0d", "2024-03-02")],
)  # fmt: skip
def test_an_age_is_a_day_before_today(monkeypatch, age, day):
    monkeypatch.setattr(filter_syntax, "date", _on(2024, 3, 2))
    assert parse_query(f"older_than:{age}").filters == Filters(before=day)
    assert parse_query(f"x newer_than:{age}").filters == Filters(after=day)


def test_a_month_before_its_last_day_is_the_last_day(monkeypatch):
    monkeypatch.setattr(filter_syntax, "date", _on(2024, 3, 31))
    assert parse_query("newer_than:1m").filters == Filters(after="2024-02-29")


def _on(*day: int) -> type[date]:
    """A calendar on which it is always that day."""

    class Then(date):
        @classmethod
        def today(cls):
            return date(*day)

    return Then


@pytest.mark.parametrize("asked", ["older_than:soon", "newer_than:3", "newer_than:5h"])
def test_an_age_without_a_unit_is_refused_with_a_cure(asked):
    with pytest.raises(QueryError, match="Invalid age") as raised:
        parse_query(asked)
    assert asked.partition(":")[0] + ":3d" in raised.value.cure


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("older:2w", "older_than:2w"), ("newer:1y", "newer_than:1y"), ("older:2025", "before:2025"),
     ("oldr_than:3d", "older_than:3d"), ("newerthan:3d", "newer_than:3d")],
)  # fmt: skip
def test_an_age_is_told_from_a_date(typed, meant):
    parsed = parse_query(f"{typed} x")
    assert (parsed.suggestion, parsed.text) == (f"{meant} x", "x")


@pytest.mark.parametrize(
    "ordinary",
    [
        "note: buy milk", "12:30", "at 9:15am", "http://x.org/a:b", "https://a.b", "mailto:a@b.c",
        "std::vector", "path::join", r"C:\x", "c:/temp", "localhost:8501", "python:3.11",
        "doi:10.1000/182", "urn:isbn:0451450523", "Matthew 5:3", "TODO:fix", "re:", ":wq", "a:b",
        "x[1:n]", "f(path:str)", "lambda:f(x)", "color:red;", "{key:value}", "std::map<int,int>",
        "key:$value", "Größe:groß", "見出し:本文", "host:80/path", '"type:pdf"', '"how typ:pdf"',
        "javascript:alert(1)", "type:", "type: pdf", "why:?", ":", "::", "a:",
        "data:image/png;base64,xx", "git@github.com:a/b", "averyverylongwordindeed:x", "in://x",
    ],
)  # fmt: skip
def test_ordinary_text_with_colons_is_never_an_error(ordinary):
    parsed = parse_query(ordinary)
    assert parsed.text == ordinary
    assert parsed.notices == ()
    assert parsed.filters == Filters()
    assert parsed.collections == ()


def test_pasted_text_raises_no_errors_but_its_filters_count():
    pasted = "Traceback\nerror:unknown before:lunch type:pdf"
    parsed = parse_query(pasted)
    assert parsed.text == "Traceback\nerror:unknown before:lunch"
    assert parsed.filters == Filters(types=("pdf",))
    long = "word " * 120 + "foo:bar"
    assert parse_query(long).text == long


@pytest.mark.parametrize("quotes", ['"', '""', '"""', '5" pipe', 'say "hi', '" "', "“", "'"])
def test_lone_quotes_are_harmless(quotes):
    parsed = parse_query(quotes)
    assert parsed.text == quotes
    assert parsed.filters == Filters()


def test_an_open_quote_in_a_filter_ends_with_the_word():
    parsed = parse_query('title:"two words')
    assert (parsed.text, parsed.filters) == ("words", Filters(titles=("two",)))


def test_an_empty_value_asks_for_nothing():
    parsed = parse_query('x title:"" tag:"  " y')
    assert (parsed.text, parsed.filters) == ("x y", Filters())


def test_what_stands_in_quotes_stays_in_the_text():
    parsed = parse_query('find "exactly this" and “that too”, "exactly this"!')
    assert parsed.filters == Filters()
    assert parsed.text == 'find "exactly this" and “that too”, "exactly this"!'


def test_typographic_quotes_hold_values_too():
    assert parse_query("title:“two words” in:„Erste Schritte“").filters == Filters(
        titles=("two words",), headings=("Erste Schritte",)
    )


def test_a_quote_within_quotes_is_doubled():
    assert parse_query('title:"the ""big"" one"').filters.titles == ('the "big" one',)


def test_known_filters_take_paths_and_addresses():
    parsed = parse_query(r"path:C:\docs\a source:https://a.b/c")
    assert parsed.filters == Filters(paths=(r"C:\docs\a",), sources=("https://a.b/c",))


def test_empty_questions():
    for asked in ("", " \n\t"):
        assert parse_query(asked) == ParsedQuery(text="")


def test_a_long_question_is_cut_and_says_so():
    assert parse_query("x" * LONGEST_QUERY).cut is False
    parsed = parse_query("x" * (LONGEST_QUERY + 1))
    assert parsed.cut is True
    assert len(parsed.text) == LONGEST_QUERY


@pytest.mark.parametrize(
    "unit",
    ['"', 'type:"', ' type:"a', "a:", " a:b,,", "x", ' "a', "title:“", " ", '""', "\x00", "“"],
)
def test_a_megabyte_is_read_quickly(unit):
    asked = unit * (1_000_000 // len(unit))
    started = time.perf_counter()
    parsed = parse_query(asked)
    assert time.perf_counter() - started < 60
    assert parsed.cut is True


def test_filters_are_written_as_they_would_be_typed():
    filters = Filters(
        types=("pdf", "md"), headings=("Set up",), after="2025-01", fields=(("Last Reviewed", "x"),)
    )
    assert format_filters(filters, ("work",)) == (
        'type:pdf,md in:"Set up" after:2025-01 collection:work Last_Reviewed:x'
    )
    assert format_filters(Filters()) == ""


values = st.text(min_size=1, max_size=20).map(str.strip).filter(bool)
several = st.lists(values, max_size=3, unique=True).map(tuple)
spoken = st.lists(st.sampled_from(["de", "ja", "pt", "tlh"]), unique=True).map(tuple)
codes = st.lists(st.sampled_from(["pdf", "md", "c++", "pt-br"]), unique=True).map(tuple)
dates = st.sampled_from(["", "2025", "2025-01", "2025-01-31"])


@given(
    st.builds(
        Filters, types=codes, paths=several, titles=several, headings=several, languages=spoken,
        tags=several, sources=several, after=dates, before=dates,
        documents=st.lists(st.integers(0, 10**9), unique=True, max_size=3).map(tuple),
        fields=st.lists(st.tuples(st.sampled_from(OTHER_FIELDS), values), unique=True, max_size=3)
        .map(lambda pairs: tuple(sorted(pairs, key=lambda pair: FIELDS.index(pair[0])))),
    ),
    several,
)  # fmt: skip
@example(Filters(tags=("#", "##x")), ())
def test_written_filters_are_read_back(filters, collections):
    parsed = parse_query(format_filters(filters, collections), FIELDS)
    assert parsed == ParsedQuery(text="", filters=filters, collections=collections)


@given(st.text(max_size=200))
def test_any_text_is_parsed_or_refused_with_a_cure(asked):
    pasted = parse_query(f"x\n{asked}", FIELDS)
    assert pasted == parse_query(f"x\n{asked}", FIELDS)
    try:
        parsed = parse_query(asked, FIELDS)
    except QueryError as error:
        complaint = str(error)
    else:
        complaint = ""
        assert len(parsed.text) <= len(asked)
    assert not complaint or complaint.endswith((".", "instead."))
