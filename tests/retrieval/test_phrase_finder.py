"""Verifying phrases in texts as they are written."""

import pytest

from ragkit.retrieval.query.scope import phrase_finder


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("cell death", "Programmed Cell Death."),
        ("cell death", "cell-death"),
        ("cell death", "cell\u00ad death of “naïve” cells"),
        ("cell death", "the céll death"),
        ("cafe", "CAFÉ"),
        ("Café au lait", "cafe au lait"),
        ("file", "the ﬁle"),
        ("c++", "in C++."),
        ("R1中文", "R1中\n文"),
        ("(a)", "clause(a)"),
        ("10 K", "10 \u212a"),  # KELVIN SIGN
    ],
)
def test_a_phrase_is_found_in_any_case_with_any_accents(phrase, text):
    assert phrase_finder(phrase)(text)


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("cell death", "cell deaths"),
        ("cell death", "subcell death"),
        ("cell death", "cell of death"),
        # Only where they are folded do these go on, or follow a letter.
        ("cell death", "cell death\u00ads"),
        ("cell death", "cell deathé"),
        ("cell death", "é\u0301cell death"),
        ("cell death", "b\u0301cell death"),
        ("R1中文", "AR1中文"),
    ],
)
def test_a_phrase_is_not_found_in_part_of_a_word(phrase, text):
    assert not phrase_finder(phrase)(text)
