"""Words that no document has, and what is searched for them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from small_library import add, open_library, paths, sync, write_files

from pages.parts.search import summary
from ragkit.catalog import Catalog
from ragkit.catalog.vocabulary import Vocabulary
from ragkit.options import SearchOptions
from ragkit.results import Spelling
from ragkit.retrieval.query.spelling import nearest_word, respelled_text
from ragkit.surfaces.render import answer_as_json, remarks


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("reciept for travel costs", "receipt for travel costs"),
        ("Refnd for a faulty buoy", "Refund for a faulty buoy"),
        ("how is drfit compensated", "how is drift compensated"),
        ('"full refund" for a custommer', '"full refund" for a customer'),
        ("type:md refunds of a custommer", "type:md refunds of a customer"),
    ],
)
def test_an_unknown_word_is_searched_by_the_nearest_also_beside_others(sample, question, meant):
    answer = sample.search(question)
    assert (answer.query, answer.corrected) == (question, meant)
    right = sample.search(meant)
    assert paths(answer) == paths(right)
    assert [one.score for one in answer.results] == [one.score for one in right.results]
    assert answer.missing_terms == right.missing_terms


@pytest.mark.parametrize(
    "question",
    [
        "refund of an iPhnoe", "refund REFNDD", "refund polcy2", "refund_polcy refunds",
        '"refnd" policy', "path:refnd/ refund", "refund for wehre",
        "refund of destruction", "refund a@refnd.com", "refund by Karni",
    ],
)  # fmt: skip
def test_names_identifiers_and_words_of_a_language_are_left_alone(sample, question):
    assert sample.search(question).spelled == ()


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        ("plumm", "plum"), ("bruod", "brood"), ("hosues", "houses"), ("housng", "housing"),
        ("compensaton", "compensation"), ("planing", ""), ("plumbers", ""), ("zertifikat", ""),
    ],
)  # fmt: skip
def test_the_same_letters_are_nearer_and_a_slip_may_lie_in_an_ending(tmp_path, typo, meant):
    texts = [
        "A plum tart.", "A plumb line.", "The plumb line again.", "Broad beans.", "Beans: broad.",
        "A brood of ducks.", "Housing for all.", "The houses.", "Compensation is paid.", "A plane.",
        "Ein Sertifika.",
    ]  # fmt: skip
    files = {f"{number}.txt": f"{one}\n" for number, one in enumerate(texts)}
    with open_library(tmp_path / "library") as library:
        add(library, write_files(tmp_path / "files", files))
        found = library.search(f"{typo} for sale").spelled
    assert found == ((Spelling(typo, meant),) if meant else ())


def test_a_word_that_only_removed_documents_had_is_unknown(tmp_path):
    files = {"a.txt": "An old receipt.\n", "b.txt": "A reciept of before.\n"}
    with open_library(tmp_path / "library") as library:
        add(library, write_files(tmp_path / "files", files))
        assert library.search("reciept for sale").spelled == ()
        (tmp_path / "files" / "b.txt").unlink()
        sync(library)
        answer = library.search("reciept for sale")
        assert answer.spelled == (Spelling("reciept", "receipt"),)
        assert paths(answer) == ["a.txt"]


def test_a_word_of_another_collection_is_unknown(tmp_path):
    with open_library(tmp_path / "library") as library:
        add(library, write_files(tmp_path / "one", {"a.txt": "An old receipt.\n"}))
        add(library, write_files(tmp_path / "two", {"b.txt": "A reciept of before.\n"}), "two")
        assert library.search("reciept for sale").spelled == (Spelling("reciept", "receipt"),)
        assert library.search("reciept for sale", collections=("two",)).spelled == ()


def test_it_is_said_and_can_be_switched_off(sample):
    answer = sample.search("reciept for travel costs")
    assert answer.spelled == (Spelling("reciept", "receipt"),)
    assert "Also searched: receipt for reciept" in list(remarks(answer))
    assert answer_as_json(answer)["spelled"] == [{"word": "reciept", "meant": "receipt"}]
    html = summary.head(answer, SearchOptions())
    assert "Also searched: <b>receipt</b> for reciept." in html
    assert "Search for reciept for travel costs" in html
    typed = sample.search("reciept for travel costs", correct_spelling=False)
    assert (typed.spelled, typed.corrected) == ((), "")
    assert typed.missing_terms == ("reciept",)
    assert "reciept" not in answer.missing_terms


def test_words_in_quotes_and_parts_of_others_stay_as_they_are():
    meant = [Spelling("polcy", "policy")]
    assert respelled_text('"polcy" my-polcy polcy_x polcy polcy', meant) == (
        '"polcy" my-polcy polcy_x policy polcy'
    )


def test_forms_of_a_word_are_looked_up_in_one_order():
    # Of many near words the first count: the order must not be that of a set.
    asked = []
    entries = SimpleNamespace(
        words_near=lambda form, most: asked.append((form, most)) or [], token_ids=lambda _tokens: {}
    )
    assert nearest_word(SimpleNamespace(entries=entries), [], "buzzdily") == ""
    assert asked[:2] == [("buzzdili", 1), ("buzzdily", 1)]
    assert asked[2:] == [(begin, 1) for begin in ("buzzdil", "buzzdi", "buzzd", "buzz")]


def test_near_words_are_those_with_so_few_edits(tmp_path):
    catalog = Catalog.open(tmp_path / "catalog.sqlite", create=True)
    words = ["receipt", "receiver", "recipe", "deceit", "rcpt", "größe", "x1y2z3"]
    rng = np.random.default_rng(3)
    words += ["".join(rng.choice(list("abcdeé"), 6)) for _ in range(300)]
    with catalog.connections.write() as connection:
        connection.executemany(
            "INSERT OR IGNORE INTO vocabulary(token) VALUES (?)", [(word,) for word in words]
        )
    vocabulary = Vocabulary(catalog.connections)
    assert vocabulary.near("reciept", 1) == [("receipt", 1)]
    assert vocabulary.near("größen", 1) == [("größe", 1)]
    assert vocabulary.near("zzzzzzz", 2) == []
    from rapidfuzz.distance import OSA

    for word in ("abcdea", "éabcd", "dcbae"):
        expected = {one for one in words if one.isalpha() and OSA.distance(one, word) <= 2}
        assert {one for one, _ in vocabulary.near(word, 2)} == expected
    with catalog.connections.write() as connection:
        connection.execute("INSERT INTO vocabulary(token) VALUES ('recieptt')")
    assert vocabulary.near("reciept", 1) == [("receipt", 1), ("recieptt", 1)]
    catalog.close()


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("kochen", ""),  # the text has "Wochen"
        ("Schrauben", ""),  # "schreiben"
        ("perro", ""),  # "pero"
        ("cuánto", ""),  # "cuento"
        ("грипп", ""),  # "группа"
        ("Kündigug", "Kündigung"),
        ("Kündiugng", "Kündigung"),
        ("kundigug", "kündigung"),
        ("besenrien", "besenrein"),
        ("Strassenreinigug", "Straßenreinigung"),
        ("Straßenreinigug", "Straßenreinigung"),
        ("Muessiggang", "Müßiggang"),
        ("housnig", "housing"),
    ],
)
def test_words_of_another_language_are_corrected_only_where_that_is_sure(tmp_path, question, meant):
    files = {
        "miete.md": "Die Kündigung der Wohnung ist drei Wochen vorher zu schreiben. Die Wohnung "
        "wird besenrein übergeben, und der Vermieter muss die Schlüssel erhalten. "
        "Die Straßenreinigung duldet keinen Müßiggang.\n",
        "cuento.md": "El cuento de la casa es largo, pero los niños quieren escucharlo todas las "
        "noches antes de dormir en sus camas.\n",
        "groups.md": "Эта группа людей собирается каждый вечер в старом доме у реки "
        "и поёт песни о море.\n",
        "house.md": "The housing of the pump is made of steel and must be painted every two years "
        "against the salt of the sea.\n",
    }
    with open_library(tmp_path / "library") as library:
        add(library, write_files(tmp_path / "files", files))
        found = {each.path: each.language for each in library.documents.list()}
        assert found == {"miete.md": "de", "cuento.md": "es", "groups.md": "ru", "house.md": "en"}
        assert library.search(question).corrected == meant
