"""What has the exact figure of a question comes before what has its common words."""

from __future__ import annotations

import pytest
from small_library import add, find, open_library, paths, write_files

from ragkit.options import Mode

LETTER = """# Payments and invoices

Your payment number {0}: payments of this account are due within {0} days of the invoice. Payments
that are late cost a fee, and an error in a payment is the payer's. The VAT number of the account
is on each invoice, and every payment needs the invoice number.
"""
ROWS = [
    *(f"2024-04-{day:02},Bakery {day},Bread and rolls,-{day}.35" for day in range(5, 30)),
    "2024-04-03,Harbour Ltd,Ropes and paint,-39.90",
    "2024-04-04,Town hall,DE123456789,-1250.00",
    *(f"2024-05-{day:02},Chandler {day},Shackles and tar,-{day}.85" for day in range(5, 30)),
]
LOG = [f"Line {number} of the log: the disk was mounted and nothing else." for number in range(40)]
FILES = {
    **{f"letter {number}.md": LETTER.format(number) for number in range(10, 30)},
    "account.csv": "\n".join(["Day,Name,Purpose,Amount", *ROWS]),
    "service.txt": "\n".join([*LOG, "Writing ended with 0x80070005.", *LOG]),
    "orders.txt": "\n".join([*LOG, "Ropes were ordered as B20417-9.", *LOG]),
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    place = tmp_path_factory.mktemp("figures")
    with open_library(place / "library") as library:
        add(library, write_files(place / "files", FILES))
        yield library


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("payments of 39,90 for an invoice", "account.csv"),
        ("payments of 39.90 for an invoice", "account.csv"),
        ("invoice payment of 1.250,00", "account.csv"),
        ("payment of the invoice on 03.04.2024", "account.csv"),
        ("is DE123456789 the VAT number on the invoice", "account.csv"),
        ("error 0x80070005 in the payment of an invoice", "service.txt"),
        ("payment of invoice number B20417-9 is late", "orders.txt"),
    ],
)
def test_what_has_the_figure_comes_first(library, question, path):
    answer = find(library, question)
    assert paths(answer)[0] == path
    assert not answer.results[0].weak


@pytest.mark.parametrize(
    "question",
    ["payments of 39,90 for an invoice", "payment of the invoice on 03.04.2024"],
)
def test_without_the_gain_common_words_do(library, question):
    assert paths(find(library, question))[0] == "account.csv"
    assert paths(find(library, question, figure_weight=0))[0] != "account.csv"


def test_a_few_candidates_by_words_are_enough(library):
    answer = find(library, "payments of 39,90 for an invoice", candidates=1, limit=1)
    assert paths(answer) == ["account.csv"]


def test_the_gain_is_a_part_of_the_score(library):
    best = find(library, "39,90").results[0].matched_chunks[0]
    parts = {part.index: part for part in best.contributions}
    assert (parts["figure"].raw, parts["figure"].rank, parts["figure"].weight) == (1.0, 0, 0.5)
    assert best.score == pytest.approx(sum(part.value for part in best.contributions))
    with_words = find(library, "payments of 39,90").results[0].matched_chunks[0]
    assert 0.5 < {part.index: part.raw for part in with_words.contributions}["figure"] < 1.0


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("payments of 39,91", {}),
        ("payments within 12 days", {}),
        ("payments of 2024", {}),
        ("payments of 2024-04", {}),
        ("payments on 3 April 2024", {}),
        ("Bread and rolls of the bakery, ropes, paint, shackles and tar for 39,90", {}),
        ("payments of 39,90", {"mode": Mode.KEYWORD}),
    ],
)
def test_another_figure_a_count_a_period_and_an_aside_gain_nothing(library, question, options):
    for result in find(library, question, **options).results:
        assert "figure" not in {part.index for part in result.matched_chunks[0].contributions}
