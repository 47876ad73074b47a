"""Numbers as workbooks show them; what is expected is what Excel and LibreOffice display."""

from __future__ import annotations

import pytest

from ragkit.reading.office.number_formats import parse

ACCOUNTING = r'_(* #,##0.00_);_(* \(#,##0.00\);_(* "-"??_);_(@_)'
PHONE = r"[<=9999999]###\-####;\(###\)\ ###\-####"
EURO = r'_-* #,##0.00\ "€"_-;\-* #,##0.00\ "€"_-;_-* "-"??\ "€"_-;_-@_-'


@pytest.mark.parametrize(
    ("code", "number", "shown"),
    [
        ("0", "12.7", "13"),
        ("0", "-3", "-3"),
        ("0", "-0.2", "0"),
        ("0.00", "0.285", "0.29"),
        ("0.00", "0.28499999999999998", "0.29"),
        ("0.0##", "1.5", "1.5"),
        ("0.0##", "2", "2.0"),
        ("#", "7", "7"),
        ("#,##0.00", "1234.5", "1,234.50"),
        ("#,##0.00", "-1234567.891", "-1,234,567.89"),
        ("00000", "42", "00042"),
        ("00000", "1234567", "1234567"),
        ("#,##0,", "1234567", "1,235"),
        ('0.0,,"M"', "12345678", "12.3M"),
        (ACCOUNTING, "5", "5.00"),
        (ACCOUNTING, "-5", "(5.00)"),
        (ACCOUNTING, "0", "-"),
        (EURO, "1234.5", "1,234.50 €"),
        (EURO, "-1234.5", "-1,234.50 €"),
        ("[$€-407] #,##0.00;[Red]-[$€-407] #,##0.00", "-2", "-€ 2.00"),
        ("#,##0.00 [$CHF]", "10", "10.00 CHF"),
        ("[$-409]#,##0", "1000", "1,000"),
        ("$#,##0.00_);($#,##0.00)", "-12", "($12.00)"),
        ('"Nr. "0000', "12", "Nr. 0012"),
        ("0.0%", "0.256", "25.6%"),
        ('+0.00%;[Red]-0.00%;"none"', "-0.0345", "-3.45%"),
        ('+0.00%;[Red]-0.00%;"none"', "0", "none"),
        ('0" °C"', "21", "21 °C"),
        ("(000) 000-0000", "5551234567", "(555) 123-4567"),
        (r"000\-00\-0000", "12345678", "012-34-5678"),
        (r"00\ 00\ 00\ 00\ 00", "123456789", "01 23 45 67 89"),
        (r"00\.00\.00\.000\.0", "123456789", "01.23.45.678.9"),
        (PHONE, "5551234", "555-1234"),
        (PHONE, "15551234567", "(1555) 123-4567"),
        ('[>=1000000]0.0,,"M";[>=1000]0.0,"K";0', "2500000", "2.5M"),
        ('[>=1000000]0.0,,"M";[>=1000]0.0,"K";0', "1500", "1.5K"),
        ('[>=1000000]0.0,,"M";[>=1000]0.0,"K";0', "7", "7"),
        ("[>100]0;0.0", "5", "5.0"),
        ('[=1]0" day";0" days"', "1", "1 day"),
        ("# ?/?", "1.2", "1 1/5"),
        ("# ?/?", "0.5", "1/2"),
        ("# ?/?", "-3", "-3"),
        (r"#\ ??/??", "25.378", "25 31/82"),
        ("??/?", "1.5", "3/2"),
        ('# ?/8" in"', "2.24", "2 2/8 in"),
        ("0.00E+00", "258963", "2.59E+05"),
        ("0.00E+00", "-0.00000012345", "-1.23E-07"),
        ("0.##E-0", "20", "2E1"),
        ("0.0E+00", "0", "0.0E+00"),
        ("General", "274.65999999999997", "274.66"),
        ("General", "-0.30000000000000004", "-0.3"),
        ("General", "1.0000000000000001E-5", "0.00001"),
        ("GENERAL", "1234567.8912345678", "1234567.89123457"),
    ],
)
def test_a_number_is_shown_as_its_format_says(code, number, shown):
    number_format = parse(code)
    assert number_format is not None
    assert number_format.shown(number) == shown


@pytest.mark.parametrize(
    "number", ["0.1", "12345678901234567", "1.2345678901234567E-20", "1.2." * 8]
)
def test_the_usual_format_says_nothing_of_other_numbers(number):
    assert parse("General") is not None
    assert parse("General").shown(number) is None


@pytest.mark.parametrize(
    "code",
    [
        "@",
        ";;;",
        "",
        "yyyy-mm-dd",
        "[h]:mm",
        "##0.0E+0",
        '#,##0.000" "###',
        "[>100]0;0.0;[Red]0",
        "0;[>5]0.0",
        "[>x]0",
        "d/m/yy",
        '"open',
        "0" * 301,
    ],
)
def test_what_is_no_plain_number_is_left_to_the_converter(code):
    assert parse(code) is None


@pytest.mark.parametrize(
    ("code", "number"),
    [
        ("0;-0;;@", "0"),
        ("#", "0"),
        ("0", "1e300"),
        ("0", "12345678901234567"),
        ("0", "nan"),
        ("0", "-"),
        (PHONE, "-5551234"),
    ],
)
def test_a_number_that_would_not_be_seen_or_be_cut_stays_as_it_is_stored(code, number):
    number_format = parse(code)
    assert number_format is not None
    assert number_format.shown(number) is None
