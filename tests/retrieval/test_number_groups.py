"""A long number is found however it is grouped, and nothing is found for another one."""

from __future__ import annotations

import pytest
from small_library import add, find, open_library, write_files

FILES = {
    "rechnung.txt": "Rechnung 118. Auf IBAN DE89 3704 0044 0532 0130 00 überweisen.\n"
    "Tel. +49 30 1234567, Fax 030/1234568.\n",
    "mahnung.txt": "Mahnung 119. Auf IBAN DE12500105170648489890 überweisen.\n"
    "Telefon 0301234999, Sendung 00340434161094021501.\n",
    "bill.txt": "Bill 120. Pay to GB29 NWBK 6016 1331 9268 19, phone (020) 7946 0958.\n",
    "facture.txt": "Facture 121. Compte FR76 3000 6000 0112 3456 7890 189, tél. 01 23 45 67 89,"
    " +33 (0)4 78 90 12 34.\n",
    "books.md": "# Books\n\n- Faust, ISBN 978-3-15-000001-4\n- Duden, ISBN 9783411040186\n",
    "schet.txt": "Счёт 122 от 03.04.2021, телефон 8 (495) 123-45-67, ИНН 7707083893.\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    place = tmp_path_factory.mktemp("numbers")
    with open_library(place / "library") as library:
        add(library, write_files(place / "files", FILES))
        yield library


@pytest.mark.parametrize(
    ("question", "path", "meant"),
    [
        ("DE89370400440532013000", "rechnung.txt", "DE89 3704 0044 0532 0130 00"),
        ("iban de89370400440532013000", "rechnung.txt", "DE89 3704 0044 0532 0130 00"),
        ("DE12 5001 0517 0648 4898 90", "mahnung.txt", "DE12500105170648489890"),
        ("GB29NWBK60161331926819", "bill.txt", "GB29 NWBK 6016 1331 9268 19"),
        ("FR7630006000011234567890189", "facture.txt", "FR76 3000 6000 0112 3456 7890 189"),
        ("+49301234567", "rechnung.txt", "49 30 1234567"),
        ("0049 30 1234567", "rechnung.txt", "49 30 1234567"),
        ("0301234568", "rechnung.txt", "030/1234568"),
        ("+49 (0)30 1234999", "mahnung.txt", "0301234999"),
        ("+33478901234", "facture.txt", "33 (0)4 78 90 12 34"),
        ("call 02079460958 today", "bill.txt", "020) 7946 0958"),
        ("0123456789", "facture.txt", "01 23 45 67 89"),
        ("84951234567", "schet.txt", "8 (495) 123-45-67"),
        ("9783150000014", "books.md", "978-3-15-000001-4"),
        ("978-3-411-04018-6", "books.md", "9783411040186"),
        ("0034 0434 1610 9402 1501", "mahnung.txt", "00340434161094021501"),
    ],
)
def test_a_number_is_found_however_it_is_grouped(library, question, path, meant):
    answer = find(library, question, mode="keyword")
    assert answer.results[0].document.path == path
    assert [spelling.meant for spelling in answer.spelled] == [meant]
    assert not answer.results[0].weak
    assert answer.results[0].missing_terms in ((), ("today",), ("call", "today"))


@pytest.mark.parametrize(
    "question",
    [
        "DE89370400440532013001",
        "DE89 3704 0044 0532 0130 01",
        "01234567",
        "+49 30 1234560",
        "978-3-411-04018-7",
        '"DE89370400440532013000"',
        "7707083893",
        "2019 2020 2021 2022",
        "03/04/2021",
    ],
)
def test_another_number_stays_as_it_is(library, question):
    assert find(library, question, mode="keyword").spelled == ()


def test_numbers_stay_as_typed_where_nothing_is_corrected(library):
    answer = find(library, "DE89370400440532013000", mode="keyword", correct_spelling=False)
    assert answer.spelled == ()


AMOUNTS = {
    "schet.txt": "Счёт за ремонт\n\nСтоимость работ составила 1 250 рублей, срок до 5 мая.\n",
    "dogovor.txt": "Договор аренды\n\nПлата в рублях вносится до десятого числа месяца.\n",
    "devis.txt": "Devis\n\nLe toit coûte 12\u202f480 euros, la gouttière 980 euros.\n",
    "faktura.txt": "Faktura\n\nDo zapłaty 3400 zł, rata 1 z 480.\n",
    "mengen.md": "# Lager\n\n| Regal | Schrauben |\n|---|---|\n| 7 | 480 |\n\nAb 9 3 600.\n",
}


@pytest.fixture(scope="module")
def bills(tmp_path_factory):
    place = tmp_path_factory.mktemp("bills")
    with open_library(place / "library") as library:
        add(library, write_files(place / "files", AMOUNTS))
        yield library


@pytest.mark.parametrize(
    ("question", "path", "meant"),
    [
        ("1250 рублей", "schet.txt", ["1 250"]),
        ("1.250 рублей", "schet.txt", ["1 250"]),
        ("1 250 рублей", "schet.txt", []),
        ("12480 euros", "devis.txt", ["12\u202f480"]),
        ("3 400 zł", "faktura.txt", ["3400"]),
        ("3400 zł", "faktura.txt", []),
    ],
)
def test_an_amount_is_found_however_its_thousands_are_set_apart(bills, question, path, meant):
    answer = find(bills, question, mode="keyword")
    assert [spelling.meant for spelling in answer.spelled] == meant
    assert answer.results[0].document.path == path
    assert not answer.results[0].weak
    assert answer.results[0].missing_terms == ()


@pytest.mark.parametrize("question", ["1480", "7480 Schrauben", "93600", "250 рублей", "1 480"])
def test_two_numbers_side_by_side_are_not_one(bills, question):
    assert find(bills, question, mode="keyword").spelled == ()
