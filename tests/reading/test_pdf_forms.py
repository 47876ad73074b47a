from __future__ import annotations

import io

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import (
    ArrayObject,
    BooleanObject,
    DecodedStreamObject,
    DictionaryObject,
    FloatObject,
    NameObject,
    NumberObject,
    TextStringObject,
)
from reportlab.pdfgen import canvas

from ragkit.errors import ReadingError
from ragkit.reading import read_file
from ragkit.reading.limits import Limits
from ragkit.reading.pdf.contents import KnownPages
from ragkit.reading.pdf.forms import readable
from ragkit.reading.pdf.page import render_page
from ragkit.reading.pdf.reader import read_pdf
from ragkit.reading.process import ReadingProcess
from ragkit.settings import ReadingSettings

SETTINGS = ReadingSettings()
PASSWORD, RADIO, BUTTON = 1 << 13, 1 << 15, 1 << 16


def pdf(value, writer=None):
    """Turn plain values into those of a PDF: "/Name" is a name, bytes are a stream."""
    if isinstance(value, DecodedStreamObject):
        return writer._add_object(value)
    if isinstance(value, dict):
        return DictionaryObject({NameObject(key): pdf(one, writer) for key, one in value.items()})
    if isinstance(value, list):
        return ArrayObject([pdf(one, writer) for one in value])
    if isinstance(value, bytes):
        stream = DecodedStreamObject()
        stream.set_data(value)
        return writer._add_object(stream) if writer else stream
    if isinstance(value, bool):
        return BooleanObject(value)
    if isinstance(value, int):
        return NumberObject(value)
    if isinstance(value, float):
        return FloatObject(value)
    if isinstance(value, str):
        return NameObject(value) if value.startswith("/") else TextStringObject(value)
    return value


def form(*fields, pages=(["A form to fill in"],), xfa=()):
    """Write a PDF; a field is a dictionary with its page as "page", and kids as "kids"."""
    buffer = io.BytesIO()
    sheet = canvas.Canvas(buffer)
    for lines in pages:
        for row, line in enumerate(lines):
            sheet.drawString(50, 800 - 14 * row, line)
        sheet.showPage()
    sheet.save()
    writer = PdfWriter(clone_from=io.BytesIO(buffer.getvalue()))
    top = [_added(writer, field, None) for field in fields]
    parts = [one for name, data in xfa for one in (name, writer._add_object(pdf(data)))]
    root = {"/Fields": top, "/NeedAppearances": True, **({"/XFA": parts} if xfa else {})}
    writer.root_object[NameObject("/AcroForm")] = writer._add_object(pdf(root))
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def _added(writer, field, parent):
    field = dict(field)
    kids, page = field.pop("kids", ()), field.pop("page", 0)
    if not kids:
        field = {"/Subtype": "/Widget", "/Rect": [50, 500, 250, 520], **field}
    entry = pdf(field, writer)
    reference = writer._add_object(entry)
    if parent is not None:
        entry[NameObject("/Parent")] = parent
    if kids:
        entry[NameObject("/Kids")] = pdf([_added(writer, kid, reference) for kid in kids])
    else:
        shown = writer.pages[page]
        shown[NameObject("/Annots")] = pdf([*shown.get("/Annots", []), reference])
    return reference


def text_field(name, value, **more):
    return {"/FT": "/Tx", "/T": name, "/V": value, **more}


def box(state, *, on, **more):
    looks = {"/N": {"/Off": b"", state: b""}}
    return {"/AP": looks, "/AS": state if on else "/Off", **more}


def read(folder, data, name="form.pdf", settings=SETTINGS):
    path = folder / name
    path.write_bytes(data)
    return read_file(path, name, settings)


def filled(folder, *fields, **more):
    """Return the lines of the form on the first page."""
    reading = read(folder, form(*fields, **more))
    words, _, lines = reading.text[: reading.pages[0].end].partition("Form fields:\n")
    assert words
    return lines.strip().split("\n") if lines else []


def test_values_that_people_filled_in_are_read_with_their_names(tmp_path):
    reading = read(
        tmp_path,
        form(
            text_field("First Name", "Alice"), text_field("Last Name", ""), text_field("n", "Bob")
        ),
    )
    assert reading.text == "A form to fill in\n\nForm fields:\nFirst Name: Alice\nn: Bob"
    assert (reading.pages[0].start, reading.pages[0].end) == (0, len(reading.text))


def test_values_stand_on_the_page_of_their_field(tmp_path):
    pages = (["First page"], ["Second page"], ["Third page"])
    fields = (text_field("a", "apple", page=1), text_field("b", "pear", page=2))
    reading = read(tmp_path, form(*fields, pages=pages))
    texts = [reading.text[page.start : page.end] for page in reading.pages]
    assert texts == [
        "First page\n\n",
        "Second page\n\nForm fields:\na: apple\n\n",
        "Third page\n\nForm fields:\nb: pear",
    ]


def test_a_form_without_other_text_is_read(tmp_path):
    reading = read(tmp_path, form(text_field("Name", "Carol"), pages=([],)))
    assert reading.text == "Form fields:\nName: Carol"
    with pytest.raises(ReadingError, match="contains no text"):
        read(tmp_path, form(text_field("Name", ""), pages=([],)))


def test_a_scanned_form_that_was_filled_in_is_read_and_still_warns(tmp_path):
    from PIL import Image

    picture = io.BytesIO()
    Image.new("RGB", (50, 50), "red").save(picture, "PDF")
    writer = PdfWriter(clone_from=picture)
    _added(writer, text_field("Name", "Dave"), None)
    out = io.BytesIO()
    writer.write(out)
    reading = read(tmp_path, out.getvalue())
    assert reading.text == "Form fields:\nName: Dave"
    assert "needs OCR" in reading.warnings[0]


def test_names_are_readable(tmp_path):
    address = {
        "/T": "form1[0]",
        "kids": [{"/T": "home_address[0]", "kids": [text_field("street[1]", "Main Road")]}],
    }
    described = text_field("f1_01[0]", "1999", **{"/TU": "Year of\n birth"})
    assert filled(tmp_path, address, described) == [
        "home address / street: Main Road",
        "Year of birth: 1999",
    ]
    assert readable("topmostSubform[0].Page1[0].#subform[2].Given_Name[0]") == "Page1 / Given Name"


def test_boxes_say_yes_or_their_option(tmp_path):
    assert filled(
        tmp_path,
        {"/FT": "/Btn", "/T": "agreed", "/V": "/Yes", **box("/Yes", on=True)},
        {"/FT": "/Btn", "/T": "refused", "/V": "/Off", **box("/Yes", on=False)},
        {"/FT": "/Btn", "/T": "colour", "/V": "/dark#20blue", **box("/dark blue", on=True)},
        {"/FT": "/Btn", "/T": "unlooked", "/V": "/On"},
        {"/FT": "/Btn", "/T": "send", "/Ff": BUTTON, "/V": "/Yes", **box("/Yes", on=True)},
    ) == ["agreed: yes", "colour: dark blue", "unlooked: yes"]


def test_a_radio_field_names_the_chosen_option_once(tmp_path):
    by_name = [box("/cash", on=False), box("/card", on=True)]
    by_place = [box("/0", on=False), box("/1", on=True)]
    described = [box("/0", on=True, **{"/TU": "Two nights"}), box("/1", on=False)]
    radio = {"/FT": "/Btn", "/Ff": RADIO}
    assert filled(
        tmp_path,
        {**radio, "/T": "pay", "/V": "/card", "kids": by_name},
        {**radio, "/T": "meal", "/V": "/1", "/Opt": ["meat", "no meat"], "kids": by_place},
        {**radio, "/T": "stay", "/V": "/0", "kids": described},
    ) == ["pay: card", "meal: no meat", "stay: Two nights"]


def test_a_box_marked_by_a_program_that_changed_only_the_value_is_read(tmp_path):
    kids = [box("/a", on=False), box("/b", on=False)]
    assert filled(tmp_path, {"/FT": "/Btn", "/Ff": RADIO, "/T": "x", "/V": "/b", "kids": kids}) == [
        "x: b"
    ]


def test_choices_are_read_in_the_words_of_the_list(tmp_path):
    pairs = [["de", "Germany"], ["fr", "France"], ["it", "Italy"]]
    choice = {"/FT": "/Ch", "/Opt": pairs}
    assert filled(
        tmp_path,
        {**choice, "/T": "country", "/V": "fr"},
        {**choice, "/T": "visited", "/V": ["de", "it"]},
        {"/FT": "/Ch", "/T": "size", "/V": "Large", "/Opt": ["Small", "Large"]},
        {**choice, "/T": "none", "/V": " "},
    ) == ["country: France", "visited: Germany, Italy", "size: Large"]


def test_long_values_dates_and_streams_are_read(tmp_path):
    assert filled(
        tmp_path,
        text_field("Remark", "first line\r\rsecond line"),
        text_field("Signed on", "D:20240229120000+01'00'"),
        {"/FT": "/Tx", "/T": "Letter", "/V": b"words of a stream"},
        text_field("Name", "Zo\u00eb \u5c71\u7530"),
    ) == [
        "Remark: first line", "second line", "Signed on: 2024-02-29", "Letter: words of a stream",
        "Name: Zo\u00eb \u5c71\u7530",
    ]  # fmt: skip


def test_what_only_the_appearance_shows_is_read(tmp_path):
    look = pdf(b"/Tx BMC q BT /F1 10 Tf 2 5 Td (abc potato) Tj ET Q EMC")
    look[NameObject("/Resources")] = pdf(
        {"/Font": {"/F1": {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}}}
    )
    look[NameObject("/Subtype")] = NameObject("/Form")
    look[NameObject("/BBox")] = pdf([0, 0, 200, 20])
    assert filled(tmp_path, {"/FT": "/Tx", "/T": "Text", "/AP": {"/N": look}}) == [
        "Text: abc potato"
    ]


def test_hidden_fields_and_passwords_are_left_out(tmp_path):
    assert filled(
        tmp_path,
        text_field("hidden", "secret1", **{"/F": 2}),
        text_field("no view", "secret2", **{"/F": 32}),
        text_field("no room", "secret3", **{"/Rect": [0, 0, 0, 0]}),
        text_field("password", "secret4", **{"/Ff": PASSWORD}),
        {"/FT": "/Tx", "/Ff": PASSWORD, "/T": "group", "kids": [{"/T": "pin", "/V": "secret5"}]},
        text_field("printed", "open", **{"/F": 4}),
    ) == ["printed: open"]


def test_a_value_that_the_page_draws_is_not_doubled(tmp_path):
    # The line stands at (50, 800).
    there, elsewhere = [45, 790, 300, 815], [45, 500, 300, 520]
    pages = (["Alice"],)
    assert filled(tmp_path, text_field("a", "Alice", **{"/Rect": there}), pages=pages) == []
    assert filled(tmp_path, text_field("a", "Alice", **{"/Rect": elsewhere}), pages=pages) == [
        "a: Alice"
    ]
    assert filled(tmp_path, text_field("a", "Bob", **{"/Rect": there}), pages=pages) == ["a: Bob"]


def test_a_field_shown_twice_on_a_page_is_written_once(tmp_path):
    twice = text_field("n", "Eve", kids=[{}, {"/Rect": [50, 300, 250, 320]}, {"page": 1}])
    reading = read(tmp_path, form(twice, pages=(["One"], ["Two"])))
    assert reading.text == "One\n\nForm fields:\nn: Eve\n\nTwo\n\nForm fields:\nn: Eve"


def test_a_broken_field_costs_no_other(tmp_path):
    data = form(
        text_field("a", "apple"),
        text_field("bad", "x", **{"/Rect": ["left", 1, 2, 3]}),
        {"/FT": "/Btn", "/T": "odd", "/V": 3, "/AP": 7},
        text_field("loop", "round"),
        text_field("z", "pear"),
    )
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
    annotations = writer.pages[0]["/Annots"]
    loop = annotations[3].get_object()
    loop[NameObject("/Parent")] = annotations[3]
    annotations.append(NumberObject(5))
    out = io.BytesIO()
    writer.write(out)
    assert read(tmp_path, out.getvalue()).text.endswith(
        "Form fields:\na: apple\nloop: round\nz: pear"
    )


def test_values_count_as_text(tmp_path):
    with pytest.raises(ReadingError, match="text"):
        read(
            tmp_path,
            form(text_field("big", "word " * 300_000)),
            settings=ReadingSettings(max_text_mb=1.0),
        )


def test_a_form_without_fields_does_not_open_the_slow_reader(monkeypatch):
    opened = []
    monkeypatch.setattr("ragkit.reading.pdf.by_pypdf.opened", opened.append)
    assert read_pdf(form(), "a.pdf", Limits.of(SETTINGS)).text == "A form to fill in"
    assert opened == []


TEMPLATE = b"""<template xmlns="http://www.xfa.org/schema/xfa-template/3.3/"><subform name="form1">
<field name="Pin"><ui><passwordEdit/></ui></field><field name="Trace" presence="hidden"/>
<field name="Given_Name"><ui><textEdit/></ui></field></subform></template>"""
DATASETS = b"""<xfa:datasets xmlns:xfa="http://www.xfa.org/schema/xfa-data/1.0/"><xfa:data><form1>
<Given_Name>Frank</Given_Name><Pin>1234</Pin><Trace>t</Trace><Home><City>Lyon</City><Zip/></Home>
</form1></xfa:data></xfa:datasets>"""


def test_values_of_an_xml_form_are_read(tmp_path):
    packets = (("template", TEMPLATE), ("datasets", DATASETS))
    assert filled(tmp_path, xfa=packets) == ["Given Name: Frank", "Home / City: Lyon"]
    # A form of both kinds holds the same values twice.
    assert filled(tmp_path, text_field("Given_Name", "Frank"), xfa=packets) == ["Given Name: Frank"]


def test_an_xml_form_with_entities_is_not_read(tmp_path):
    hostile = b'<!DOCTYPE a [<!ENTITY b "bomb">]>' + DATASETS.replace(b"Frank", b"&b;")
    assert filled(tmp_path, xfa=(("template", TEMPLATE), ("datasets", hostile))) == []


def test_the_picture_of_a_page_shows_what_was_filled_in(tmp_path):
    pictures = []
    for value in ("", "Grace Hopper"):
        path = tmp_path / "form.pdf"
        look = {"/DA": "/Helv 12 Tf 0 g"}
        path.write_bytes(form(text_field("Name", value, **look)))
        pictures.append(render_page(path, 1).png)
    assert pictures[0] != pictures[1]


def drawing_itself(*, page):
    """A PDF whose form object draws itself three times each: its page does, or a field."""
    font = b"/Resources << /Font << /F 6 0 R >> /XObject << /X 5 0 R >> >>"
    words = b"BT /F 12 Tf 50 700 Td (The herons nest in the tall reeds.) Tj ET"
    shown = b"BT /F 12 Tf 50 600 Td (Nine eggs.) Tj ET /X Do /X Do /X Do"
    drawn = words + b" /X Do" * page
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [7 0 R] >> >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R %s %s >>"
        % (font, b"/Annots [7 0 R]"),
        b"<< /Length %d >> stream\n%s\nendstream" % (len(drawn), drawn),
        b"<< /Subtype /Form /BBox [0 0 600 800] %s /Length %d >> stream\n%s\nendstream"
        % (font, len(shown), shown),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Subtype /Widget /FT /Tx /T (nest) /Rect [50 600 90 620] /AP << /N 5 0 R >> >>",
    )
    data, table = b"%PDF-1.7\n", b"0000000000 65535 f \n"
    for number, content in enumerate(objects, 1):
        table += b"%010d 00000 n \n" % len(data)
        data += b"%d 0 obj %s endobj\n" % (number, content)
    trailer = b"trailer << /Size 8 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % len(data)
    return data + b"xref\n0 8\n" + table + trailer


def test_a_page_that_draws_itself_without_end_keeps_its_text(tmp_path):
    file = tmp_path / "nest.pdf"
    file.write_bytes(drawing_itself(page=True))
    process = ReadingProcess(Limits(20, memory_mb=400, max_file_mb=1, max_text_mb=1))
    try:
        read = process.read(file, file.name)
        assert read.reading.text == "The herons nest in the tall reeds.\nNine eggs."
        (warning,) = read.reading.warnings
        assert warning.startswith("The text was read in a simpler way, without its form: ")
        file.write_bytes(drawing_itself(page=False))
        again = process.read(file, file.name).reading
        assert again.text.startswith("The herons nest in the tall reeds.")
        assert not again.warnings
        file.write_bytes(b"%PDF-1.7 and nothing else")
        assert "damaged" in process.read(file, file.name).message
    finally:
        process.close()


def test_a_form_that_is_read_without_end_costs_its_values_only():
    known = KnownPages(is_hard=True)
    data = form({"page": 0, "/FT": "/Tx", "/T": "town", "/V": "Ghent"})
    assert "town: Ghent" in read_pdf(data, "form.pdf", Limits.of(SETTINGS)).text
    assert read_pdf(data, "form.pdf", Limits.of(SETTINGS), known).text == "A form to fill in"
