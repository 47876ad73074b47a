from __future__ import annotations

import pytest

from ragkit.indexing.names import folder_tokens, name_tokens


@pytest.mark.parametrize(
    ("path", "tokens"),
    [
        ("a/Acme_AnnualReport.pdf", {"acm", "annual", "report", "acme_annualreport"}),
        ("report2019.pdf", {"report", "2019", "report2019"}),
        ("3M_2018_10K.pdf", {"3m", "2018", "10k"}),
        ("0001193125-22-123456.txt", {"0001193125-22-123456"}),
        ("switch_page.md", {"switch_page", "switch", "page"}),
        ("Q3 (final).xlsx", {"q3", "final"}),
        ("docs/notes.v2.md", {"note"}),
        ("東京.txt", {"東京"}),
    ],
)
def test_a_files_name_is_split_into_words(path, tokens):
    found = name_tokens(path, {})
    assert tokens <= set(found)
    assert not {"pdf", "md", "txt", "m", "3"} & set(found)
    assert len(found) == len(set(found))


def test_aliases_are_names_too():
    assert name_tokens("a.md", {"aliases": ["Big Ben", "clock"]}) == ["big", "ben", "clock"]
    assert name_tokens("b1.md", {"linkTitle": "Set-up"})[-2:] == ["set", "up"]


def test_folders_come_nearest_first_and_are_bounded():
    assert folder_tokens("Taxes/2023/acme_bills/scan.pdf") == [
        "acm",
        "bill",
        "acme_bills",
        "2023",
        "tax",
    ]
    deep = "/".join(f"word{chr(97 + i)}x" for i in range(20))
    assert folder_tokens(f"{deep}/a.txt")[0] == "wordtx"
    assert len(folder_tokens(f"{deep}/a.txt")) == 12
    assert (
        len(name_tokens("-".join("abcdefghijklmnopqrstuvwxyz"[i : i + 2] for i in range(25)), {}))
        <= 20
    )
    assert folder_tokens("a.txt") == []
