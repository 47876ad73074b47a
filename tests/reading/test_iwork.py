"""Documents of Pages, Numbers and Keynote."""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest
from iwork_files import (
    BULLETS,
    CELL,
    HEADER,
    NUMBERS,
    block,
    box,
    cell,
    decimal,
    document,
    key,
    legacy,
    list_style,
    members,
    objects_file,
    ref,
    row,
    runs,
    style,
    table,
    text,
    varint,
    zipped,
)
from reading_files import SETTINGS, read

from ragkit.errors import ReadingError, SkippedError
from ragkit.reading.iwork.pages import read_document
from ragkit.reading.iwork.snappy import unpacked
from ragkit.reading.limits import Limits
from ragkit.reading.readers import read_file
from ragkit.reading.sniffing import sniff

BODY, TITLE, HEADING, PLAIN, LISTED, COUNTED = 2, 30, 31, 32, 33, 34
STYLES = {
    TITLE: style("text-0-paragraphstyle-Title"),
    HEADING: style("own", outline=1),
    PLAIN: style("text-2-paragraphstyle-Body"),
    LISTED: list_style(BULLETS),
    COUNTED: list_style(NUMBERS),
    35: list_style(0),
}


def pages(*, root=None, **objects):
    """A document of Pages with a body, and objects by names such as "o2"."""
    found = {int(name[1:]): each for name, each in objects.items()}
    return {1: (10000, {4: ref(BODY), **(root or {})}), **STYLES, **found}


LEASE = pages(
    o2=text(
        "Lease\nDuties\nPay * on time.\nClean\nsweep\nRepair\u2028soon\nEnd",
        f5=runs(at0=TITLE, at6=HEADING, at13=PLAIN),
        f6={1: [{1: 0, 2: 0}, {1: 34, 2: 1}, {1: 40, 2: 0}]},
        f7=runs(at0=35, at28=LISTED, at52=35),
    )
)


def test_paragraphs_headings_and_lists_of_pages_are_markdown(tmp_path):
    reading = read(tmp_path, "a.pages", document(LEASE))
    assert reading.text == (
        "# Lease\n\n## Duties\n\nPay \\* on time.\n\n- Clean\n  - sweep\n- Repair\n  soon\n\nEnd"
    )
    assert (reading.title, reading.format, reading.markup) == ("Lease", "pages", "markdown")


def test_a_document_whose_objects_are_in_an_inner_archive_is_read(tmp_path):
    reading = read(tmp_path, "a.pages", document(LEASE, inside=True))
    assert reading.text.startswith("# Lease\n\n## Duties")


def test_numbers_of_lists_are_as_they_are_printed(tmp_path):
    made = pages(
        o2=text(
            "One\nTwo\nInner\nThree\nBetween\nAnew\nGiven",
            f6={1: [{1: 0, 2: 0}, {1: 8, 2: 1}, {1: 14, 2: 0}]},
            f7=runs(at0=COUNTED, at20=35, at28=COUNTED),
        )
    )
    read_text = read(tmp_path, "a.pages", document(made)).text
    assert read_text == ("1. One\n2. Two\n  1. Inner\n3. Three\n\nBetween\n\n1. Anew\n2. Given")


def test_numbers_of_lists_begin_where_a_person_says(tmp_path):
    made = pages(
        o2=text("One\nTwo", f7=runs(at0=36), f14={1: [{1: 0, 2: 7}, {1: 4, 2: 0}]}),
        o36=list_style(NUMBERS, 13),
    )
    assert read(tmp_path, "a.pages", document(made)).text == "- (g) One\n- (h) Two"


def test_places_in_texts_count_units_of_utf_16(tmp_path):
    made = pages(
        o2=text("\U0001f600\U0001f600 a\nHead\n\U0001f600 link end",
                f5=runs(at0=PLAIN, at7=HEADING, at12=PLAIN), f11=runs(at15=40, at19=0)),
        o40=(2032, {2: "https://a.example/x"}),
    )  # fmt: skip
    assert read(tmp_path, "a.pages", document(made)).text == (
        "\U0001f600\U0001f600 a\n\n## Head\n\n\U0001f600 [link](https://a.example/x) end"
    )


def test_objects_are_found_whichever_file_holds_them(tmp_path):
    first, others = {1: LEASE[1]}, {at: each for at, each in LEASE.items() if at != 1}
    data = zipped({
        "Index/CalculationEngine-7.iwa": objects_file(others),
        "Index/Document.iwa": objects_file(first),
    })  # fmt: skip
    assert read(tmp_path, "a.pages", data).text.startswith("# Lease\n\n## Duties")


BESIDE = pages(
    root={3: ref(50)},
    o2=text("See\x0e it\ufffc.\nGone words stay\nNext",
            f9=runs(at7=42), f16=runs(at3=41), f22=runs(at10=43, at15=0), f23=runs(at0=44, at3=0)),
    o41=(2008, {1: {}, 2: ref(45)}),
    o42=(2003, {1: ref(60)}),
    o43=(2060, {1: 2}),
    o44=(2013, {1: ref(46)}),
    o45=text("\ufffcOn page 4."),
    o46=(3056, {1: "Who says so?", 3: ref(47), 4: [ref(48)]}),
    o47=(212, {1: "Mia"}),
    o48=(3056, {1: "I do.", 4: [ref(46)]}),
    o50=(10010, {1: [{1: 1, 4: {1: ref(52)}}, {1: 0, 4: [{1: ref(51)}]}]}),
    o51=(3008, {1: {}, 2: [ref(53), ref(51)]}),
    o52=box(55),
    o53=box(54),
    o54=text("First page", 3),
    o55=text("Second page", 3),
    o56=text("Contract 4711", HEADER),
    **{f"o{at}": each for at, each in table(
        60, "Rates 2026", [row(0, cell(3, 8, key(1)), cell(3, 8, key(2))),
                           row(1, cell(3, 8, key(3)), cell(2, 1, decimal(5)))],
        strings=("City", "Fee", "Rome")).items()},
)  # fmt: skip


def test_what_stands_beside_a_text_of_pages_follows_it(tmp_path):
    assert read(tmp_path, "a.pages", document(BESIDE)).text == (
        "See[^1] it.\n\nRates 2026\n\n| City | Fee |\n| --- | --- |\n| Rome | 5 |\n\n"
        "words stay\n\nNext\n\nFirst page\n\nSecond page\n\n[^1]: On page 4.\n\n"
        "## Header and footer\n\n- Contract 4711\n\n"
        "## Comments\n\n- Mia on “See”: Who says so?\n- Comment: I do."
    )


def test_directories_of_what_follows_are_left_out(tmp_path):
    made = pages(o2=text("Duties\t4\nRent\t5\nPay.", f11=runs(at0=40, at16=0)), o40=(2041, {}))
    assert read(tmp_path, "a.pages", document(made)).text == "Pay."


def test_long_samples_of_templates_are_left_out(tmp_path):
    sample = "Lorem ipsum dolor sit amet, ligula suspendisse nulla pretium, rhoncus"
    made = pages(
        o2=text(f"Invoice\n{sample}\nOwn words", f11=runs(at0=40, at78=0)),
        o40=(2031, {}),
    )
    assert read(tmp_path, "a.pages", document(made)).text == "Invoice\n\nOwn words"


def numbers(*tables, name="Fares"):
    """A spreadsheet with one sheet."""
    found = {at: each for made in tables for at, each in made.items()}
    drawn = [ref(at) for at, (kind, _) in found.items() if kind in (6000, 2011)]
    return {1: (1, {1: [ref(2)], 4: ref(9), 8: {}}), 2: (2, {1: name, 2: drawn}), **found}


_SECONDS = struct.pack("<d", 86400.0 * 365 + 34200)
FORMATS = (
    {1: 257, 2: 2, 3: "EUR", 5: 1}, {1: 258, 2: 1}, {1: 261, 14: "d MMM y"}, {1: 263},
    {1: 257, 2: 253, 3: "CHF"},
)  # fmt: skip
VALUES = [
    cell(2, 1, decimal(1)),
    cell(10, 1 | 1 << 14, decimal(12345, -1), key(1)),
    cell(2, 1 | 1 << 13, decimal(256, -3), key(2)),
    cell(5, 4, _SECONDS),
    cell(5, 4 | 1 << 15, _SECONDS, key(3)),
    cell(6, 2, struct.pack("<d", 1.0)),
    cell(6, 2 | 1 << 18, struct.pack("<d", 0.0), key(4)),
    cell(7, 2, struct.pack("<d", 93784.0)),
    b"",
    cell(9, 16, key(1)),
    cell(10, 1 | 1 << 14, decimal(-5, -1), key(5)),
    cell(2, 1, decimal(30000000000000004, -17)),
]


def test_cells_of_numbers_are_written_as_they_are_shown(tmp_path):
    head = row(0, *[cell(3, 8, key(1))] * 12)
    made = numbers(
        table(10, "Table 1", [head, row(1, *VALUES)], strings=("A | B",), formats=FORMATS,
              rich={1: 30}),
        {30: (6218, {1: ref(31)}), 31: text("Two\nlines", CELL)},
    )  # fmt: skip
    reading = read(tmp_path, "a.numbers", document(made))
    assert reading.text.splitlines()[-1] == (
        "| 1 | 1,234.50 € | 25.6% | 2002-01-01 09:30 | 2002-01-01 | TRUE | [ ] | 26:03:04 |  |"
        " Two lines | -0.5 CHF | 0.3 |"
    )
    assert (reading.title, reading.format) == ("a", "numbers")
    assert [(page.number, page.label) for page in reading.pages] == [(1, "Fares")]


def test_tables_of_a_sheet_have_their_names_and_one_header(tmp_path):
    words = ("2026", "Q1", "Q2", "City", "Rome", "Oslo")
    merge = {2: {3: {1: 1, 2: {1: {1: {40: {3: {1: 1, 2: 2}, 4: {1: 0}}}}}}}}
    rows = [
        row(0, cell(3, 8, key(4)), cell(3, 8, key(1))),
        row(1, b"", cell(3, 8, key(2)), cell(3, 8, key(3))),
        row(2, cell(3, 8, key(5)), cell(2, 1, decimal(7)), cell(2, 1, decimal(8))),
        row(9, cell(3, 8, key(6)), b"", cell(2, 1, decimal(9))),
    ]
    made = numbers(
        table(10, "Sales", rows, headers=2, strings=words, f47=merge),
        table(20, "Sheet note", [row(0, cell(3, 8, key(1)))], headers=0, strings=("Alone",)),
        {30: box(31), 31: text("Beside", 3)},
    )
    assert read(tmp_path, "a.numbers", document(made)).text == (
        "## Fares\n\n### Sales\n\n| City | 2026 Q1 | 2026 Q2 |\n| --- | --- | --- |\n"
        "| Rome | 7 | 8 |\n| Oslo |  | 9 |\n\n### Sheet note\n\n| Alone |\n| --- |\n\nBeside"
    )


def test_cells_of_older_programs_are_read(tmp_path):
    def old(kind, flags, *values):
        return bytes([4, kind, 0, 0]) + struct.pack("<II", flags, 0) + b"".join(values)

    number = struct.pack("<d", 2.5)
    cells = [
        old(3, 0x12, key(9), key(1)),
        old(2, 0x26, key(9), key(1), number),
        old(5, 0x40, struct.pack("<d", 0.0)),
    ]
    line = row(0, *cells)
    made = table(10, "Tabelle 1-1", [{1: 0, 3: line[6], 4: line[7]}], headers=0, strings=("Fee",),
                 formats=({1: 257, 2: 2, 3: "USD"},))  # fmt: skip
    found = read(tmp_path, "a.numbers", document(numbers(made))).text
    assert found.splitlines()[2] == "| Fee | $2.50 | 2001-01-01 |"


def keynote(*slides, children=()):
    """A presentation of slides (messages) at 10, 11, …, and other objects."""
    nodes = {100 + at: (4, {2: ref(10 + at)}) for at in range(len(slides))}
    tree = {2: [ref(node) for node in nodes]}
    shown = {10 + at: (5, each) for at, each in enumerate(slides)}
    return {1: (1, {2: ref(2), 3: {}}), 2: (2, {3: tree}), **nodes, **shown, **dict(children)}


def placeholder(storage):
    return 7, {1: {1: {1: {}}, 4: ref(storage)}}


SHOW = keynote(
    {5: ref(20), 6: ref(21), 7: [ref(20), ref(21), ref(22)], 20: ref(23), 27: ref(24),
     42: [ref(25)]},
    {5: ref(26), 6: ref(21)},
    children={
        **STYLES,
        20: placeholder(120), 120: text("Ferry\nplans", f5=runs(at0=TITLE)),
        21: placeholder(121), 121: text("New pier\nby May", f7=runs(at0=LISTED),
                                        f6={1: [{1: 0, 2: 0}, {1: 9, 2: 1}]}),
        22: box(122), 122: text("Drawn"),
        23: placeholder(123), 123: text("1"),
        24: (15, {1: ref(124)}), 124: text("Speak slowly."),
        25: (5021, {1: {}, 10000: {7: {1: ["2025"], 2: ["Rome", "Oslo"],
                                       3: [{1: [{1: 1.5}, {1: 4.0}]}]}}}),
        26: placeholder(126), 126: text(""),
        27: (6, {5: ref(127)}), 127: placeholder(128), 128: text("Title text of a master"),
    }.items(),
)  # fmt: skip


def test_slides_of_keynote_are_sections_with_all_that_is_on_them(tmp_path):
    reading = read(tmp_path, "a.key", document(SHOW))
    assert reading.text == (
        "## Ferry plans\n\n- New pier\n  - by May\n\n|  | Rome | Oslo |\n| --- | --- | --- |\n"
        "| 2025 | 1.5 | 4 |\n\nDrawn\n\nNotes: Speak slowly.\n\n## Slide 2"
    )
    assert (reading.title, reading.format) == ("Ferry plans", "keynote")
    assert [page.label for page in reading.pages] == ["1", "2"]


def test_the_text_of_a_body_that_a_layout_hides_is_not_read(tmp_path):
    made = keynote({5: ref(20), 6: ref(21), 7: [ref(20)]}, children={
        20: placeholder(120), 120: text("Shown"), 21: placeholder(121), 121: text("Hidden"),
    }.items())  # fmt: skip
    assert read(tmp_path, "a.key", document(made)).text == "## Shown"


def test_slides_below_others_follow_them_and_cycles_end(tmp_path):
    made = keynote({5: ref(20)}, {5: ref(21)}, children={
        20: placeholder(120), 120: text("Above"), 21: placeholder(121), 121: text("Below"),
    }.items())  # fmt: skip
    made[2] = (2, {3: {1: ref(99)}})
    made |= {99: (4, {1: ref(100)}), 100: (4, {2: ref(10), 1: [ref(101), ref(99)]})}
    assert read(tmp_path, "a.key", document(made)).text == "## Above\n\n## Below"


def test_documents_are_known_by_what_they_hold(tmp_path):
    for name, made in (("pages", LEASE), ("keynote", SHOW), ("numbers", numbers({}))):
        for inside in (False, True):
            assert sniff("a.zip", document(made, inside=inside)) == name
            assert sniff("a.pages", document(made, inside=inside)) == name
    assert sniff("a", legacy("sl:document", "")) == "pages"
    assert sniff("a.key", legacy("ls:document", "", "index.xml.gz")) == "numbers"
    assert sniff("x.zip", legacy("key:presentation", "", "x.key/index.apxl.gz")) == "keynote"
    several = {f"{at}.pages/Index/Document.iwa": objects_file(LEASE) for at in range(2)}
    with pytest.raises(SkippedError, match="Archives are not read"):
        sniff("a.zip", zipped(several))
    assert sniff("a.key", b"-----BEGIN PRIVATE KEY-----\nMIIE") == "text"
    with pytest.raises(SkippedError, match="Programs and binary files"):
        sniff("a.key", bytes(range(256)) * 9)
    with pytest.raises(SkippedError, match="Archives are not read"):
        sniff("a.zip", zipped({"index.xml": "<site/>"}))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.pages", zipped({"Index/Document.iwa": b"x" * 99}), "This Pages document is damaged"),
        ("a.pages", zipped({"notes.txt": b"x" * 99}), "This Pages document is damaged"),
        ("a.key", document(SHOW)[:-300], "This Keynote presentation is damaged"),
        ("a.numbers", b"PK\x03\x04" + b"x" * 99, "This Numbers spreadsheet is damaged"),
        ("a.pages", b"\x00\x01" * 99, "The name ends in .pages, but the content is something else"),
        ("a.key", document(keynote()), "This Keynote presentation contains no text"),
        ("a.pages", zipped({"Index.zip": b"PK\x03\x04"}), "This Pages document is damaged"),
        ("a.pages", zipped({".iwph": b"hint", "Index/Document.iwa": b"\x00\xff"}),
         "This Pages document is locked with a password"),
        ("a.key", zipped({".iwpv2": b"x", "Index.zip": b"x"}), "presentation is locked"),
        ("a.pages", zipped({"index.xml": "<sl:document"}), "This Pages document is damaged"),
        ("a.pages", zipped({"index.xml": '<!DOCTYPE a [<!ENTITY b "c">]><a/>'}), "XML entities"),
        ("a.numbers", document(LEASE | {1: (3, {})}), "This Numbers spreadsheet is damaged"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_read_say_why(tmp_path, name, data, message):
    with pytest.raises(ReadingError, match=message):
        read(tmp_path, name, data)


def test_a_decompression_bomb_is_refused():
    repeated = 1 << 15
    packed = varint(1 + 64 * repeated) + b"\x00a" + b"\xfe\x01\x00" * repeated
    data = zipped({"Index/Document.iwa": block(packed) * 3})
    with pytest.raises(ReadingError, match="unpacks to far more than its size"):
        read_document(data, "a.pages", Limits(9, 999, max_file_mb=1, max_text_mb=1))


@pytest.mark.parametrize(
    ("name", "made"), [("a.pages", BESIDE), ("a.key", SHOW), ("a.numbers", numbers({}))]
)
def test_cut_and_changed_objects_raise_only_errors_of_reading(tmp_path, name, made):
    whole = objects_file(made)
    for place in range(0, len(whole), 50):
        changed = whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :]
        for data in (whole[:place], changed):
            with suppress(ReadingError):
                read(tmp_path, name, zipped({"Index/Document.iwa": data}))


def test_objects_that_refer_to_themselves_are_read_once(tmp_path):
    made = pages(
        root={3: ref(50)},
        o2=text("Body\ufffc", f9=runs(at4=42), f16=runs(at1=41), f5=runs(at0=70)),
        o41=(2008, {2: ref(2)}),
        o42=(2003, {1: ref(51)}),
        o50=(10010, {1: {1: 0, 4: [{1: ref(51)}, {1: ref(51)}]}}),
        o51=(3008, {1: {10: ref(51)}, 2: [ref(51), ref(52)]}),
        o52=box(2),
        o70=style("own", parent=71),
        o71=style("more", parent=70),
    )
    found = read(tmp_path, "a.pages", document(made)).text
    assert found == "B[^1]dy\n\n[^1]:"


def test_a_packed_file_may_repeat_what_it_has_unpacked():
    packed = varint(12) + b"\x08abc" + b"\x11\x03" + b"\x02\x02\x00"
    assert unpacked(block(packed), 99) == b"abcabcabcabc"[:11] + b"a"


LEGACY_TEXT = """<sf:text-storage sf:kind="body"><sf:attachments><sf:attachment sfa:ID="a1">
<sf:tabular-info><sf:tabular-model sf:name="Rates of 2026" sf:num-header-rows="1"><sf:grid>
<sf:datasource><sf:t sf:ct="0"><sf:ct sfa:s="City"/></sf:t><sf:t><sf:ct sfa:s="Fee"/></sf:t>
<sf:t sf:ct="255"><sf:ct sfa:s="Rome"/></sf:t><sf:f><sf:fo sf:fs="=1+1"/><sf:r><sf:rn sf:v="1200">
<sf:cf><sf:number-format sf:format-string="#,##0.00"/></sf:cf></sf:rn></sf:r></sf:f>
<sf:d sf:ct="255" sf:cell-date="2026-03-01T00:00:00+0100"/><sf:cb sf:v="true"/>
</sf:datasource></sf:grid></sf:tabular-model></sf:tabular-info></sf:attachment></sf:attachments>
<sf:footnotes><sf:text-storage><sf:text-body><sf:p><sf:footnote-mark/>On page 4.</sf:p>
</sf:text-body></sf:text-storage></sf:footnotes><sf:text-body><sf:section><sf:layout>
<sf:p sf:style="s1">Lease<sf:br/></sf:p><sf:p sf:style="s2">Pay<sf:footnote/> <sf:link
 href="http://a.example">here</sf:link>.<sf:attachment-ref sfa:IDREF="a1"/><sf:br/></sf:p>
<sf:p sf:style="s3" sf:list-level="1">Clean</sf:p><sf:p sf:style="s3" sf:list-level="2">sweep</sf:p>
<sf:p sf:style="s2"><sf:ghost-text>Lorem ipsum dolor sit amet, ligula suspendisse nulla pretium,
 rhoncus</sf:ghost-text><sf:br/></sf:p></sf:layout></sf:section></sf:text-body></sf:text-storage>"""
LEGACY_STYLES = """<sl:stylesheet><sf:styles><sf:paragraphstyle sf:name="Title" sf:ident="s0"/>
<sf:paragraphstyle sf:ident="s1" sf:parent-ident="s0"/><sf:liststyle sfa:ID="l1"><sf:property-map>
<sf:listLabelTypes><sf:array><sf:list-label-typeinfo sf:type="text"><sf:text-label
 sf:type="decimal" sf:format="%L." sf:first="1"/></sf:list-label-typeinfo><sf:list-label-typeinfo
 sf:type="text"><sf:text-label sf:type="bullet" sf:format="*"/></sf:list-label-typeinfo></sf:array>
</sf:listLabelTypes></sf:property-map></sf:liststyle><sf:paragraphstyle sf:ident="s3">
<sf:property-map><sf:listStyle><sf:liststyle-ref sfa:IDREF="l1"/></sf:listStyle></sf:property-map>
</sf:paragraphstyle></sf:styles></sl:stylesheet>"""
LEGACY_ABOUT = """<sf:metadata><sf:title><sf:string sfa:string="Lease of 2026"/></sf:title>
<sf:authors><sf:array><sf:string sfa:string="Mia"/></sf:array></sf:authors></sf:metadata>"""
LEGACY_GRID = LEGACY_TEXT[LEGACY_TEXT.index("<sf:tabular-info") : LEGACY_TEXT.index("</sf:attach")]


@pytest.mark.parametrize("member", ["index.xml", "index.xml.gz", "a.pages/index.xml"])
def test_documents_of_pages_before_2013_are_read(tmp_path, member):
    inside = f"{LEGACY_ABOUT}{LEGACY_STYLES}<sf:headers><sf:header><sf:text-storage><sf:text-body>"
    inside += "<sf:p>Contract 4711</sf:p></sf:text-body></sf:text-storage></sf:header></sf:headers>"
    reading = read(tmp_path, "a.pages", legacy("sl:document", inside + LEGACY_TEXT, member))
    assert reading.text == (
        "# Lease\n\nPay[^1] [here](http://a.example).\n\nRates of 2026\n\n| City | Fee |\n"
        "| --- | --- |\n| Rome | 1,200.00 |\n| 2026-03-01 | TRUE |\n\n1. Clean\n  - sweep\n\n"
        "[^1]: On page 4.\n\n## Header and footer\n\n- Contract 4711"
    )
    assert (reading.title, reading.metadata) == ("Lease", {"author": "Mia"})


def test_the_parts_of_documents_that_are_folders_have_the_names_of_these(tmp_path):
    folder = tmp_path / "Fares.pages"
    folder.mkdir()
    parts = members(legacy("sl:document", LEGACY_TEXT, "index.xml.gz")) | members(
        document(LEASE, inside=True)
    )
    for name in ("index.xml.gz", "Index.zip"):
        path = folder / name
        path.write_bytes(parts[name])
        reading = read_file(path, f"a/Fares.pages/{name}", Limits.of(SETTINGS))
        assert reading.format == "pages"
        assert reading.title == ("Lease" if name == "Index.zip" else "Fares")


def test_spreadsheets_of_numbers_before_2013_are_read(tmp_path):
    sheet = f'<ls:workspace ls:workspace-name="Fares"><sf:drawables>{LEGACY_GRID}</sf:drawables>'
    inside = f"<ls:workspace-array>{sheet}</ls:workspace></ls:workspace-array>"
    reading = read(tmp_path, "a.numbers", legacy("ls:document", inside))
    assert reading.text == (
        "## Fares\n\n### Rates of 2026\n\n| City | Fee |\n| --- | --- |\n| Rome | 1,200.00 |\n"
        "| 2026-03-01 | TRUE |"
    )


def test_presentations_of_keynote_before_2013_are_read(tmp_path):
    def storage(words):
        paragraphs = "".join(f"<sf:p>{word}<sf:br/></sf:p>" for word in words)
        body = f"<sf:text-body><sf:layout>{paragraphs}</sf:layout></sf:text-body>"
        return f"<key:text><sf:text-storage>{body}</sf:text-storage></key:text>"

    shown = "<sf:title-placeholder-ref/><sf:drawable-shape>" + storage(["Drawn"])
    slide = (
        f"<key:slide><key:title-placeholder>{storage(['Ferry', 'plans'])}</key:title-placeholder>"
        f"<key:body-placeholder>{storage(['Unseen'])}</key:body-placeholder><key:page><sf:layers>"
        f"<sf:layer><sf:drawables>{shown}</sf:drawable-shape></sf:drawables></sf:layer></sf:layers>"
        f"</key:page><key:notes>{storage(['Slowly.'])}</key:notes></key:slide>"
    )
    inside = f"<key:theme-list>{slide}</key:theme-list><key:slide-list>{slide}</key:slide-list>"
    reading = read(tmp_path, "a.key", legacy("key:presentation", inside, "index.apxl.gz"))
    assert reading.text == "## Ferry plans\n\nDrawn\n\nNotes: Slowly."


def test_presentations_of_the_first_keynote_are_read(tmp_path):
    data = (
        '<presentation version="36"><slide-list><slide><drawables><title/><plugin:table><content>'
        "=2+3</content></plugin:table></drawables><bullets><bullet level='0'><content>Ferry"
        "</content></bullet><bullet level='1'><content>Pier</content></bullet><bullet level='2'>"
        "<content>by May</content></bullet></bullets><notes>Slowly.</notes></slide></slide-list>"
        "</presentation>"
    )
    reading = read(tmp_path, "a.key", zipped({"presentation.apxl": data}))
    assert reading.text == "## Ferry\n\n- Pier\n  - by May\n\n=2+3\n\nNotes: Slowly."
