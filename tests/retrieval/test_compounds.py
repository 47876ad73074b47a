"""Compounds that no document has, and what is searched for them."""

from __future__ import annotations

import pytest
from small_library import add, open_library, paths, write_files

from ragkit.catalog import Catalog
from ragkit.catalog.vocabulary import Vocabulary
from ragkit.results import Spelling

FILES = {
    "vertrag.txt": "Die Miete ist am ersten Tag fällig. Die Kaution ist in drei Raten zu zahlen.\n",
    "befund.txt": "Der Befund ist ein Riss des Knorpels; der Innenmeniskusriss ist nicht frisch.\n",
    "brief.txt": "Die Kündigung des Vertrags über den Stellplatz ist uns zugegangen.\n",
    "Rezepte/kuchen.txt": "Der Apfelkuchen ist bei 175 Grad zu backen und mit Zimt zu bestreuen.\n",
    "hunde.txt": "Die Hunde sind an der Leine zu führen.\n",
    "steuer.txt": "Die Steuer ist bis zum Ende des Jahres zu zahlen.\n",
    "form.txt": "Der Rand der Springform ist mit der Butter zu fetten, der Boden ist es nicht.\n",
    "cells.txt": "The tumour is micro invasive, and the cells are photosensitive.\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compounds")
    with open_library(folder / "library") as library:
        add(library, write_files(folder / "files", FILES))
        yield library


@pytest.mark.parametrize(
    ("word", "meant", "found"),
    [
        ("Mietkaution", "Miete Kaution", "vertrag.txt"),
        ("mietkaution", "Miete Kaution", "vertrag.txt"),
        ("Stellplatzkündigung", "Stellplatz Kündigung", "brief.txt"),
        ("Vertragskündigung", "Vertrags Kündigung", "brief.txt"),
        # The folder stands before the first chunk.
        ("Apfelkuchenrezept", "Apfelkuchen Rezept", "Rezepte/kuchen.txt"),
        ("Meniskusriss", "Innenmeniskusriss", "befund.txt"),
        ("microinvasive", "micro invasive", "cells.txt"),
    ],
)
def test_a_compound_is_searched_by_what_a_chunk_has_of_it(library, word, meant, found):
    answer = library.search(word)
    assert answer.spelled == (Spelling(word, meant),)
    assert paths(answer)[0] == found
    assert not answer.nothing_close
    assert library.search(word, correct_spelling=False).nothing_close


@pytest.mark.parametrize(
    "word",
    [
        "Hundesteuer",  # No chunk has both parts.
        "Rasenmäher",
        "sensitive",  # Within a longer word only of languages that write compounds in one.
        "Innenmeniskusriss",
        "spring",  # A word of English, that the documents lack.
    ],
)
def test_a_compound_of_which_no_chunk_has_all_stays_as_it_is(library, word):
    assert library.search(word).spelled == ()


def test_longer_words_end_or_begin_with_a_word(tmp_path):
    catalog = Catalog.open(tmp_path / "catalog.sqlite", create=True)
    words = ("riss", "abriss", "meniskusriss", "risskante", "verrissen", "rissig", "x1riss")
    with catalog.connections.write() as connection:
        connection.executemany(
            "INSERT INTO vocabulary(token) VALUES (?)", [(word,) for word in words]
        )
    assert Vocabulary(catalog.connections).longer("riss", 3) == ["risskante", "meniskusriss"]
