"""The quick answer: which sentences of the found passages answer, and when it stays silent."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest
from small_library import add, find, write_files

from ragkit.answering.evidence import evidence
from ragkit.answering.meaning import Meaning
from ragkit.answering.questions import Kind, Question
from ragkit.answering.quick import quick_answer
from ragkit.answers import Source
from ragkit.evaluation.answers import measure_answers
from ragkit.library import Library
from ragkit.models.factory import local_embedder
from ragkit.models.hashing import HashEmbedder
from ragkit.results import Answer, DocumentRef, MatchedChunk, Passage, Result
from ragkit.settings import load_settings
from ragkit.traces import Trace
from ragkit.types import Span

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "library"

FILES = {
    "harbour.md": (
        "# Harbour office\n\n"
        "The harbour office looks after moorings. Mooring fees are paid by the month. "
        "A berth of up to eight metres costs 240 euros a month.\n\n"
        "Who may use a berth? Only members of the club, and guests for three nights.\n\n"
        "## Lights\n\nThe beacon was repaired by Marta Olsen in May 2021. "
        "It had been out since the winter storm. Dr. J. Weiss paid for the lamp.\n\n"
        "Bring the following to the crane:\n\n- a signed slip\n- two fenders\n"
    ),
    "tides.md": (
        "# Tides\n\n| Port | Mean range |\n|---|---|\n| Husum | 3.4 m |\n| Büsum | 3.1 m |\n\n"
        "Results of the survey\nThe channel silted up by forty centimetres in two years.\n"
    ),
    "garten.txt": (
        "Die Tomaten brauchen im Sommer jeden Tag Wasser. Der Kompost reift neun Monate lang.\n"
        "Im Herbst wird der Zaun gestrichen.\n"
    ),
    "crane.rst": (
        "Crane\n=====\n\nIt carries four tonnes.  Use the\n:command:`slew_brake` command to halt a "
        "swinging load within two metres.\n"
    ),
    "memo.txt": "検索システムの評価は月曜日に始まります。担当者は田中さんです。\n",
    "buoy.py": "RETRY_LIMIT = 5\n\n\ndef interval(depth):\n    return 600 if depth < 3 else 900\n",
    "lease.eml": (
        "From: Olga Brandt <olga@example.org>\nTo: Sami <sami@example.org>\n"
        "Subject: Lease of the boat shed\nDate: Tue, 24 Feb 2026 10:00:00 +0100\n\n"
        "Dear Sami,\n\nthe deposit for the boat shed is 900 euros. The keys lie at the gate.\n"
    ),
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Documents of several kinds, and the built-in vectors, as a person has them."""
    place = tmp_path_factory.mktemp("quick")
    settings = load_settings(library=place / "library", reading={"processes": 1})
    with Library.open(settings, create=True) as library:
        add(library, write_files(place / "files", FILES))
        yield library


def quick(library: Library, question: str, **options: object) -> tuple[Source, ...]:
    sources = library.answers.quick(find(library, question, **options))
    for source in sources:
        stored = library.documents.get(source.document.id).text
        assert stored[source.start : source.end] == source.text
    return sources


@pytest.mark.parametrize(
    ("question", "path", "text"),
    [
        ("How much does a berth cost?", "harbour.md", "costs 240 euros a month."),
        ("Who repaired the beacon?", "harbour.md", "The beacon was repaired by Marta Olsen"),
        ("When was the beacon repaired?", "harbour.md", "in May 2021."),
        ("Who may use a berth?", "harbour.md", "Only members of the club"),
        ("Wie lange reift der Kompost?", "garten.txt", "Der Kompost reift neun Monate lang."),
        ("検索システムの評価はいつ始まりますか", "memo.txt", "月曜日に始まります。"),
        ("How much is the deposit for the boat shed?", "lease.eml", "900 euros"),
        ("What is the mean range of the tide at Husum?", "tides.md", "| Husum | 3.4 m |"),
        ("retry limit", "buoy.py", "RETRY_LIMIT = 5"),
    ],
)
def test_the_sentence_that_answers_comes_first(library, question, path, text):
    first = quick(library, question)[0]
    assert first.document is not None
    assert first.document.path == path
    assert text in first.text


def test_a_sentence_keeps_its_heading_and_a_row_the_header_of_its_table(library):
    beacon = quick(library, "Who repaired the beacon?")[0]
    assert beacon.heading_path == ("Harbour office", "Lights")
    assert beacon.header == ""
    assert quick(library, "mean range of the tide at Husum")[0].header == "| Port | Mean range |"


def test_a_row_far_below_the_header_of_its_table_has_it(tmp_path):
    rows = [(f"L-{n:04}", f"{n} watts", 5 + n) for n in range(3000)]
    rows[2500] = ("L-2500", "Copper lantern of the pilot", 4711)
    table = "\n".join(f"| {' | '.join(map(str, row))} |" for row in rows)
    prose = "Prices hold until May.\n\n" * 400
    files = {
        "lamps.csv": "sku,kind,price\n" + "\n".join(",".join(map(str, row)) for row in rows),
        "stock.md": (
            f"# Stock\n\n{prose}## Shelf\n\n| Code | Kind | Cost |\n|---|---|---|\n{table}\n"
        ),
    }
    settings = load_settings(library=tmp_path / "library", reading={"processes": 1})
    with Library.open(settings, create=True) as library:
        add(library, write_files(tmp_path / "files", files))
        for name, header in (
            ("lamps.csv", "| sku | kind | price |"),
            ("stock.md", "| Code | Kind | Cost |"),
        ):
            answer = find(library, f"price of the copper lantern of the pilot path:{name}")
            first = library.answers.quick(answer)[0]
            assert "Copper lantern" in first.text
            assert first.start > 40_000
            assert first.header == header


BILLS = {
    "seaview.txt": (
        "Seaview Dental Practice\n\nStatement of account\n\nInvoice no.\n\nSD-90-441\n\n"
        "Amount due\n\nGBP 88.50\n\nWe thank you for your visit.\n"
    ),
    "kraft.txt": (
        "Kraftwerk Stadtwerke GmbH\nRechnung\n\nRechnungsnummer    Kundennr.\n"
        "R-2024-0815        55321\n\nZahlbetrag         USt-IdNr.\n"
        "1.234,56 €         DE 123456789\n\nStromlieferung Januar 2024\n"
    ),
    "hotel.md": (
        "# Hotel Nanga\n\nPayment receipt of the guest\n\n"
        "| Hotel details | Rooms |\n|---|---|\n| Nanga Resort | 1 |\n"
        "| Booking ID | Payment mode |\n| IBZY2087 | Cash |\n"
    ),
}


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("what is the invoice number of Seaview?", "Invoice no.\n\nSD-90-441"),
        ("amount due to Seaview Dental", "Amount due\n\nGBP 88.50"),
        (
            "Zahlbetrag der Rechnung der Stadtwerke",
            "Zahlbetrag         USt-IdNr.\n1.234,56 €         DE 123456789",
        ),
        ("booking ID of the Nanga hotel", "| Booking ID | Payment mode |\n| IBZY2087 | Cash |"),
    ],
)
def test_a_label_is_quoted_with_the_value_below_it(tmp_path, question, text):
    settings = load_settings(library=tmp_path / "library", reading={"processes": 1})
    with Library.open(settings, create=True) as library:
        add(library, write_files(tmp_path / "files", BILLS))
        assert text in [source.text for source in quick(library, question)]


GRIDS = {
    "stays.md": (
        "Nanga Stays\n\nNote: all payments are made to Nanga Stays.\n\n"
        "Nanga Stays Private Limited\n\n"
        "| GSTIN | CIN |\n|---|---|\n| 06AABCO6063D1ZQ | U63090DL2012PTC231770 |\n\n"
        "Registered office of Nanga Stays: 4 Mill Lane, York\n"
    ),
    "cleaning.md": (
        "Bluebird Cleaning\n\n| Bill to | VAT registration number |\n|---|---|\n"
        "| Tom Archer | GB 123 4567 89 |\n| 8 Station Road | Purchase order |\n"
        "| York | PO-5561 |\n\n"
        "| Description | Hours | Amount |\n|---|---|---|\n| Office cleaning | 12 | 264.00 |\n"
        "| Window cleaning | 1 | 21.50 |\n\nWe registered for cleaning in York.\n"
    ),
}


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("GSTIN of Nanga Stays", "| 06AABCO6063D1ZQ | U63090DL2012PTC231770 |"),
        ("VAT registration number of Bluebird Cleaning", "| Tom Archer | GB 123 4567 89 |"),
    ],
)
def test_a_header_that_is_a_label_answers_with_the_value_below_it(tmp_path, question, text):
    settings = load_settings(library=tmp_path / "library", reading={"processes": 1})
    with Library.open(settings, create=True) as library:
        add(library, write_files(tmp_path / "files", GRIDS))
        assert text in [source.text for source in quick(library, question)]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("what is the invoice number of the bill of Orchid?", "| Invoice number: | 42183017 |"),
        ("service charges of Orchid", "| Service charges | $4.11 |"),
    ],
)
def test_the_first_row_of_labels_and_figures_answers(tmp_path, question, text):
    bill = (
        "Orchid Web Services\n\nThis is the bill of Orchid for your servers.\n\n"
        "| Invoice number: | 42183017 |\n|---|---|\n| Invoice date: | 3 August 2014 |\n\n"
        "Greetings from Orchid Web Services, all services are sold by Orchid.\n\n"
        "| Service charges | $4.11 |\n|---|---|\n| Credits | $0.00 |\n"
    )
    settings = load_settings(library=tmp_path / "library", reading={"processes": 1})
    with Library.open(settings, create=True) as library:
        add(library, write_files(tmp_path / "files", {"bill.md": bill}))
        assert text in [source.text for source in quick(library, question)]


def test_a_header_over_several_figures_is_no_label_of_the_first(tmp_path):
    settings = load_settings(library=tmp_path / "library", reading={"processes": 1})
    with Library.open(settings, create=True) as library:
        add(library, write_files(tmp_path / "files", GRIDS))
        first = quick(library, "amount of window cleaning")[0]
    assert first.text == "| Window cleaning | 1 | 21.50 |"


def test_the_name_at_the_top_of_a_letter_is_its_heading(tmp_path):
    settings = load_settings(library=tmp_path / "library", reading={"processes": 1})
    with Library.open(settings, create=True) as library:
        add(library, write_files(tmp_path / "files", BILLS))
        first = quick(library, "amount due to Seaview Dental")[0]
    assert first.text == "Amount due\n\nGBP 88.50"
    assert first.heading_path == ("Seaview Dental Practice",)


def test_a_sentence_that_points_back_brings_the_one_before_it(library):
    texts = [source.text for source in quick(library, "What happened to the beacon in the storm?")]
    assert texts[0] == (
        "The beacon was repaired by Marta Olsen in May 2021. "
        "It had been out since the winter storm."
    )
    assert not any(text.startswith("It had been out") for text in texts)


def test_a_short_form_does_not_end_a_sentence(library):
    first = quick(library, "Who paid for the lamp?")[0]
    assert first.text == "Dr. J. Weiss paid for the lamp."


def test_a_list_comes_with_the_line_that_leads_into_it(library):
    first = quick(library, "What do I bring to the crane?")[0]
    assert first.text == "Bring the following to the crane:\n\n- a signed slip"


def test_what_a_sentence_leads_into_comes_with_it_or_stays_away(tmp_path):
    settings = load_settings(library=tmp_path / "library", reading={"processes": 1})
    files = {
        "winch.md": "The winch is braked by hand. That is done on the old quay like this:"
        "\n\n- pull the red lever\n",
        "tolls.md": "# Tolls\n\n| Lock | Barge toll |\n|---|---|\n| North | 40 euros |\n\n"
        "This is lower in the months of winter, when hardly any barges pass at all.\n",
    }
    with Library.open(settings, create=True) as library:
        add(library, write_files(tmp_path / "files", files))
        told = [one.text for one in quick(library, "How is the winch braked?")]
        assert told[0] == "The winch is braked by hand."
        told = [one.text for one in quick(library, "How is it done on the old quay?")]
        assert told[0] == (
            "The winch is braked by hand. That is done on the old quay like this:\n\n"
            "- pull the red lever"
        )
        told = [one.text for one in quick(library, "What is the toll of a barge at the lock?")]
        assert told[0] == "| North | 40 euros |"


def test_a_line_above_a_sentence_that_is_its_heading_is_left_out(library):
    first = quick(library, "How far did the channel silt up?")[0]
    assert first.text == "The channel silted up by forty centimetres in two years."
    first = quick(library, "Which command halts a swinging load?")[0]
    assert first.text.startswith("Use the\n:command:")


@pytest.mark.parametrize(
    "text",
    [
        "--without-lamps\nTake the buoys in at dusk and leave every lamp of theirs on the shore.",
        "int take_in (buoy *one) [Function]\nTake a buoy in at dusk and return zero once its lamp "
        "is out and lies on the shore.",
        'The "least lamp" of a buoy that is taken in at dusk means the\nLamp of the buoy without '
        "what belongs to the shore, such as the\ncable and the crate, or the oil that was left "
        "when the crane came.",
        "For every buoy with a lamp, write\n> buoy <- take_in(lamp, at=dusk)\n> crate <- c(crate, "
        "buoy, lamp)\nand count what is in the crate.",
        "Buoys are taken in like this:\nThe lamp of each buoy comes first, and at dusk the cable "
        "follows with the crate.",
    ],
)
def test_a_line_that_a_sentence_needs_is_no_heading_of_it(tmp_path, text):
    settings = load_settings(library=tmp_path / "library", reading={"processes": 1})
    with Library.open(settings, create=True) as library:
        add(library, write_files(tmp_path / "files", {"buoys.txt": text + "\n"}))
        assert quick(library, "taken in, buoy, lamp, dusk")[0].text == text


def test_a_sentence_that_begins_within_a_line_keeps_its_first_words(tmp_path):
    sentence = (
        "Some keepers of old, following Murray\nBuoys' arguments, take the lamps of the north quay "
        "in at dusk and leave every\nother one on the shore until the morning comes."
    )
    text = f"The harbour is small and has a quay in the north. {sentence} It is quiet.\n"
    settings = load_settings(library=tmp_path / "library", reading={"processes": 1})
    with Library.open(settings, create=True) as library:
        add(library, write_files(tmp_path / "files", {"keepers.txt": text}))
        assert quick(library, "When do keepers take the lamps in?")[0].text.startswith(sentence)


@pytest.mark.parametrize(
    "question",
    [
        "path:harbour.md",
        "zeppelin xylophone quartz",
        "How many people work for the coast guard of Chile?",
        "Does the moon orbit Saturn?",
        "",
        "???",
    ],
)
def test_it_says_nothing_where_nothing_answers(library, question):
    assert quick(library, question) == ()


INVOICES = {
    f"invoice {number}.md": (
        f"# Invoice 2023-{number}\n\nThank you for your order. Payment of the invoice is due "
        f"within 30 days. Questions about a payment of an invoice are answered at the office.\n\n"
        f"| Item | Amount |\n|---|---|\n| Ropes | {number},90 EUR |\n| Paint | {number},35 EUR |\n"
    )
    for number in range(1200, 1216)
}


@pytest.fixture(scope="module")
def invoices(tmp_path_factory):
    place = tmp_path_factory.mktemp("invoices")
    with Library.open(load_settings(library=place / "library"), create=True) as library:
        add(library, write_files(place / "files", INVOICES))
        yield library


@pytest.mark.parametrize(
    ("question", "path", "text"),
    [
        ("payment of an invoice of 1207,35", "invoice 1207.md", "| Paint | 1207,35 EUR |"),
        ("payment of the invoice of 1.209,90 euros", "invoice 1209.md", "| Ropes | 1209,90 EUR |"),
    ],
)
def test_the_sentence_with_the_figure_comes_first(invoices, question, path, text):
    first = quick(invoices, question)[0]
    assert first.document is not None
    assert (first.document.path, first.text) == (path, text)


@pytest.mark.parametrize("question", ["payment of an invoice of 1207,36", "invoice 2023-1299"])
def test_another_figure_is_no_answer(invoices, question):
    assert quick(invoices, question.replace("1207,36", "1207,35").replace("1299", "1207"))
    assert quick(invoices, question) == ()


def test_a_number_in_groups_is_the_same(tmp_path):
    row = "The invoice of the ropes for the harbour is over 12 500 euros."
    with Library.open(load_settings(library=tmp_path / "library"), create=True) as library:
        add(library, write_files(tmp_path / "files", {"bill.txt": row}))
        assert quick(library, "invoice of the ropes over 12500 euros")[0].text == row


def test_other_settings_of_the_search_answer_too(library):
    for options in ({"mode": "keyword"}, {"mode": "vector"}, {"expansion": "document"}):
        first = quick(library, "How much does a berth cost?", **options)[0]
        assert "240 euros" in first.text, options


def test_no_sentence_comes_twice_and_there_are_three_at_most(tmp_path):
    settings = load_settings(library=tmp_path / "library", reading={"processes": 1})
    text = "The lock gate opens at seven. "
    files = {f"{name}.txt": text + f"Note {name} ends here." for name in "abcdef"}
    with Library.open(settings, create=True) as library:
        add(library, write_files(tmp_path / "files", files))
        texts = [one.text for one in quick(library, "When does the lock gate open?")]
    assert texts[0] == text.strip()
    assert len(texts) == len(set(texts)) <= 3


@pytest.mark.parametrize(
    "sentence",
    [
        "The lock gate {} opens at seven. ",
        "The lock gate {} opens\nat seven, on\nSundays later. ",
        "| Gate {} | opens at seven |\n",
        "The gate {} opens at seven\n",
        "水门{}在七点就打开。",
    ],
)
def test_where_reading_stops_no_sentence_is_cut(sentence):
    kind = "code" if sentence.endswith("seven\n") else "text"
    document = DocumentRef(1, "a.txt", "A", "default", kind, 0, 1, "/a.txt")
    text = "".join(sentence.format(number) for number in range(1000, 2700))
    result = Result(document, 1.0, (Passage(0, len(text), text),), ())
    question = Question("When does the lock gate open?")
    found = evidence(question, [result], Meaning(local_embedder()))
    assert len(found.sentences) > 200
    assert {len(one.text) for one in found.sentences} == {len(sentence.format(1000).strip())}


def test_of_sentences_that_say_nearly_the_same_only_the_best_is_shown(tmp_path):
    settings = load_settings(library=tmp_path / "library", reading={"processes": 1})
    files = {
        "a.txt": "The lock gate at the old pier opens at seven on every working day.",
        "b.txt": "The lock gate at the old pier opens at seven on each working day.",
        "c.txt": "The lock gate at the old pier opens at 9 on each working day.",
    }
    with Library.open(settings, create=True) as library:
        add(library, write_files(tmp_path / "files", files))
        found = [one.document.path for one in quick(library, "When does the lock gate open?")]
    assert len(found) == 2
    assert "c.txt" in found


def test_a_title_in_contents_is_no_answer(tmp_path):
    settings = load_settings(library=tmp_path / "library", reading={"processes": 1})
    guide = (
        "Guide\n=====\n\n* Going on a long trip\n* Paying fees\n\nGoing on a long trip\n"
        "--------------------\n\nMembers tell the harbour office where they go.\n\n"
        "Paying fees\n-----------\n\nFees are due in May.\n"
    )
    with Library.open(settings, create=True) as library:
        add(library, write_files(tmp_path / "files", {"guide.txt": guide}))
        asked = "whom do members tell before going on a long trip?"
        texts = [one.text for one in quick(library, asked)]
    assert texts[:1] == ["Members tell the harbour office where they go."]
    assert "Going on a long trip" not in texts


def test_no_sentence_is_of_a_document_that_fits_far_less_than_the_best(tmp_path):
    settings = load_settings(library=tmp_path / "library", reading={"processes": 1})
    files = {
        "lab.md": "# Notebook\n\n## Sample B7\n\nThe film of sample B7 cracked when it cooled.\n",
        "licence.txt": "Files of the suite: testing/samples/sample1.cc, testing/samples/sample7.cc "
        "and why crack (d) of section 7.\nNo warranty is given if a sample should crack.\n",
    }
    with Library.open(settings, create=True) as library:
        add(library, write_files(tmp_path / "files", files))
        question = "why did sample B7 crack"
        assert [one.document.path for one in quick(library, question)] == ["lab.md"]
        missing = {one.document.path: one.missing_terms for one in library.search(question).results}
    # Neither a 7 nor a b of something else is that sample.
    assert missing == {"lab.md": (), "licence.txt": ("B7",)}


# -- without a library ----------------------------------------------------------------------------


def _answer(
    text: str, *, chunk: Span | None = None, start: int = 0, title: str = "a", pages: int = 0
) -> Answer:
    document = DocumentRef(1, "a.txt", title, "default", "text", pages, 1, "a.txt")
    matched = MatchedChunk(0, 0.9, span=chunk or Span(start, start + len(text)))
    passage = Passage(start, start + len(text), text)
    result = Result(document, 0.9, (passage,), (matched,), fit=0.8)
    return Answer("?", (result,), Trace())


def _quick(question, answer, meaning):
    return quick_answer(answer, evidence(Question(question), answer.results, meaning))


def test_of_a_huge_passage_only_the_part_at_the_best_chunk_is_read():
    filler = "Nothing of interest stands in this line of the log. " * 40_000
    needle = "The anchor chain weighs 412 kilograms. "
    text = filler + needle + filler
    at = len(filler)
    answer = _answer(text, chunk=Span(at + 7, at + 7 + len(needle)), start=7)
    started = time.process_time()
    first = _quick("How heavy is the anchor chain?", answer, Meaning(local_embedder()))[0]
    assert time.process_time() - started < 1
    assert first.text == needle.strip()
    assert first.start == at + 7


def test_no_results_and_passages_without_sentences_have_no_answer():
    meaning = Meaning(HashEmbedder())
    assert _quick("why?", Answer("why?", (), Trace()), meaning) == ()
    assert _quick("why?", _answer("\n\n---\n"), meaning) == ()


def test_what_no_sentence_has_answered_yet_counts_for_the_next_one():
    text = (
        "The crane lifts four tonnes at the north quay. "
        "At the north quay the crane lifts boats of four tonnes. "
        "The crane of the north quay lifts at most four tonnes in winter. "
        "The crane lifts masts at the north quay. "
        "A diver looks after the chains."
    )
    question = "How much does the crane lift at the north quay, and who looks after the chains?"
    shown = _quick(question, _answer(text), Meaning(local_embedder()))
    of_the_crane, of_the_diver = sorted(shown[:2], key=lambda one: "diver" in one.text)
    assert "crane lifts" in of_the_crane.text
    assert of_the_diver.text == "A diver looks after the chains."


@pytest.mark.parametrize(
    "heading",
    [
        "§ 4 Kaution",
        "§ 4a Kaution und Miete",
        "Artikel 4: Kaution",
        "Art. 4 Kaution",
        "§ 4",
        "§4. Kaution",
    ],
)
def test_the_heading_of_a_clause_answers_nothing(heading):
    clause = "Der Mieter leistet eine Kaution von drei Grundmieten, also 2.535,00 Euro."
    text = f"{heading}\n\n{clause}\n\nDie Miete ist im Voraus zu zahlen."
    shown = _quick("Kaution Miete", _answer(text, pages=3), Meaning(local_embedder()))
    assert [one.text for one in shown][:1] == [clause]
    assert heading not in [one.text for one in shown]


@pytest.mark.parametrize(
    "sentence", ["§ 4 regelt die Kaution.", "Section 4 covers the deposit.", "Artikel 4711 Kaution"]
)
def test_a_sentence_that_names_a_clause_may_answer(sentence):
    shown = _quick("Kaution deposit", _answer(sentence, pages=3), Meaning(local_embedder()))
    assert [one.text for one in shown] == [sentence]


def test_lines_of_a_title_on_its_page_answer_nothing():
    text = "TR-26-01 i\nDrift of Oxygen Sensors in\n\nSmall Lakes\n\nSensors drift by 4 % a month."
    asked, title = (
        "How much do oxygen sensors drift in small lakes?",
        "Drift of Oxygen Sensors in Small Lakes",
    )
    meaning = Meaning(local_embedder())
    paged = _quick(asked, _answer(text, title=title, pages=3), meaning)
    assert [one.text for one in paged] == ["Sensors drift by 4 % a month."]
    assert len(_quick(asked, _answer(text, title=title), meaning)) > 1


@pytest.mark.parametrize(
    "heading",
    [
        "2.3 How oxygen sensors drift in lakes",
        "B How oxygen sensors drift in lakes.",
        "How oxygen sensors\ndrift in lakes",
    ],
)
def test_a_heading_on_a_page_answers_nothing(heading):
    text = f"{heading}\n\nSensors drift by 4 % a month."
    answer = _answer(text)
    (result,) = answer.results
    passage = replace(result.passages[0], heading_path=("A", "How “oxygen” sensors drift in lakes"))
    answer = replace(answer, results=(replace(result, passages=(passage,)),))
    asked = "How do oxygen sensors drift in lakes?"
    found = _quick(asked, answer, Meaning(local_embedder()))
    assert [one.text for one in found] == ["Sensors drift by 4 % a month."]


@pytest.mark.parametrize(
    "menu",
    [
        '[‹ How sensors drift in\nsmall lakes](h.md "Go to\nprevious page") [up](u.md)',
        "| [How sensors drift](a.html) | [Lakes](b.html) | Oxygen | [Next](c.html#f(x)) |",
        "- [How oxygen sensors drift in small lakes](a.html)",
        "[Lakes](a.html) > [Sensors](b.html) > [How oxygen sensors drift](c.html)",
        "![[How oxygen sensors drift]]\n![[lakes/small.png|300]]",
        "- [[How oxygen sensors drift in small lakes|Lakes]]",
    ],
)
def test_links_alone_answer_nothing(menu):
    answer = _answer(f"{menu}\n\nSee [how they drift](a.html): by 4 % a month in small lakes.")
    asked = "How do oxygen sensors drift in small lakes?"
    found = _quick(asked, answer, Meaning(local_embedder()))
    assert [one.text[:9] for one in found] == ["See [how "]


def test_terms_below_each_other_answer_nothing_and_what_a_headword_leads_to_does():
    terms = "\n\n".join(
        f"   {term}" for term in ("bollard", "bug", "bug fix", "coil", "dock", "fid")
    )
    entry = "   :bug: n.\n\n   [old] An unwanted property of a program.\n\n   See dock."
    answer = _answer(f"{terms}\n\n{entry}")
    found = _quick("What is a bug?", answer, Meaning(local_embedder()))
    assert found[0].text.split() == entry.split()[:9]
    alone = _quick(
        "What is a bug?", _answer(f"Old bugs\n\nBug\n\n{terms}"), Meaning(local_embedder())
    )
    assert "Bug" not in [one.text for one in alone]


def test_a_sentence_that_two_others_need_is_quoted_once():
    first = (
        "Some shells feature a syntax that is a mix between command substitution and piping, "
        "called process substitution."
    )
    second = (
        "It is used to send the output of a command into the calling command, much like command "
        "substitution, but with the difference that the output is not sent through arguments but "
        "through a named pipe, with the filename of the pipe sent to the calling program."
    )
    last = "Combined with a regular command substitution, psub provides the same functionality."
    answer = _answer(f"{first} {second}\n\n{last}\n")
    found = _quick("command substitution syntax", answer, Meaning(local_embedder()))
    assert [one.text for one in found] == [f"{first} {second}", last]


def test_a_sentence_that_another_needs_is_not_quoted_again_from_elsewhere():
    rule = "Every boat must carry a copy of its licence in the cabin."
    text = (
        f"Boats and a copy of their licence. {rule} Boats without a copy of a licence stay ashore."
        f"\n\nWhat else there is.\n\n{rule} This is often meant to list the crew, too."
    )
    asked = "Must every boat carry a copy of its licence with the crew?"
    texts = [one.text for one in _quick(asked, _answer(text), Meaning(local_embedder()))]
    assert "\n".join(texts).count(rule) == 1


def test_a_line_that_names_notes_may_answer():
    answer = _answer("Some other sentence on lakes.\n\nSensors: [[Oxygen sensor]], [[Turbidity]]\n")
    found = _quick("Which sensors are in the lakes?", answer, Meaning(local_embedder()))
    assert "Sensors: [[Oxygen sensor]], [[Turbidity]]" in [one.text for one in found]


def test_contents_answer_nothing():
    text = (
        "Oxygen sensors in lakes 2\n\nDrift of oxygen sensors 2\n\n"
        "1 How oxygen sensors drift in small lakes … 3\n2 Drift of oxygen sensors . . . . . . 17\n"
        "Oxygen sensors that drift 18\n\nSensors drift by 4 % a month.\n"
    )
    asked = "How much do oxygen sensors drift in small lakes?"
    found = _quick(asked, _answer(text), Meaning(local_embedder()))
    assert [one.text for one in found] == ["Sensors drift by 4 % a month."]


def test_words_are_embedded_once():
    asked = []

    class Counting(HashEmbedder):
        def embed_passages(self, texts):
            asked.extend(texts)
            return super().embed_passages(texts)

    meaning = Meaning(Counting())
    answer = _answer("The quay is long. The crane is tall.")
    evidence(Question("how tall is the crane"), answer.results, meaning)
    assert "crane" in asked
    asked.clear()
    evidence(Question("how long is the quay"), answer.results, meaning)
    assert "crane" not in asked


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("How many berths are there?", Kind.AMOUNT),
        ("What is the maximum number of boats?", Kind.AMOUNT),
        ("whats the price of a ticket", Kind.AMOUNT),
        ("What is a number plate?", Kind.OTHER),
        ("Wie viele Liegeplätze gibt es?", Kind.AMOUNT),
        ("Wie groß ist die Halle?", Kind.AMOUNT),
        ("什么时候开始？", Kind.TIME),
        ("On which day does it start?", Kind.TIME),
        ("Qui a réparé le phare ?", Kind.WHO),
        ("Quantos cães são permitidos?", Kind.AMOUNT),
        ("Quem é o síndico?", Kind.WHO),
        ("Hoeveel is de bijdrage?", Kind.AMOUNT),
        ("Wanneer was de vergadering?", Kind.TIME),
        ("Сколько стоит аренда?", Kind.AMOUNT),
        ("Кому передали ключи?", Kind.WHO),
        ("Коли зібрали мед?", Kind.TIME),
        ("Πόσες μέρες κάνει;", Kind.AMOUNT),
        ("ΠΟΙΟΣ ΑΓΟΡΑΣΕ ΤΟ ΣΚΑΦΟΣ;", Kind.WHO),
        ("كم قيمة الإيجار؟", Kind.AMOUNT),
        ("متى وُقّع العقد؟", Kind.TIME),
        ("회장은 누구입니까?", Kind.WHO),
        ("Whose boat is it?", Kind.WHO),
        ("Hur många båtar får ligga här?", Kind.AMOUNT),
        ("Hvor mye koster det?", Kind.AMOUNT),
        ("Hvornår åbner havnen?", Kind.TIME),
        ("Kuinka monta venettä mahtuu?", Kind.AMOUNT),
        ("Hány hajó fér el?", Kind.AMOUNT),
        ("Mikor nyit a kikötő?", Kind.TIME),
        ("Ile łodzi się zmieści?", Kind.AMOUNT),
        ("Île de Ré, port principal", Kind.OTHER),
        ("Kdo opravil maják?", Kind.WHO),
        ("Czy port jest otwarty?", Kind.YES_NO),
        ("Onko satama auki?", Kind.YES_NO),
        ("Kaç tekne sığar?", Kind.AMOUNT),
        ("Quelle taille fait le quai ?", Kind.AMOUNT),
        ("¿De qué tamaño es el muelle?", Kind.AMOUNT),
        ("Hoe lang is de kade?", Kind.AMOUNT),
        ("Berapa harga tiket?", Kind.AMOUNT),
        ("Cine a reparat farul?", Kind.WHO),
        ("何台のディスクが必要ですか", Kind.AMOUNT),
        ("港はどこにありますか", Kind.OTHER),
        ("港は開いていますか", Kind.YES_NO),
        ("Was liegt im Hafen?", Kind.OTHER),
        ("was ist der Unterschied zwischen Boot und Schiff", Kind.OTHER),
        (f"Was schützt gegen Rost am Kran {'und bei dem Boot von mir ' * 20}?", Kind.OTHER),
        ("Was the harbour open?", Kind.YES_NO),
        ("Is the harbour open?", Kind.YES_NO),
        ("Darf ich hier parken?", Kind.YES_NO),
        ("how to moor a boat", Kind.OTHER),
        ("isolation valve", Kind.OTHER),
    ],
)
def test_the_kind_of_a_question(text, kind):
    assert Question(text).kind is kind


def test_function_words_of_other_languages_are_no_words_of_a_question():
    assert list(Question("Wo ist der Schlüssel der Scheune?").words) == ["schlussel", "scheun"]
    assert list(Question("Gdzie jest klucz w domu?").words) == ["klucz", "domu"]
    assert list(Question("Hogyan és hol van?").words) == ["hogyan", "es", "hol", "van"]
    assert list(Question("Does the key die on der Spree?").words) == ["key", "die", "der", "spree"]


def test_what_the_question_says_itself_is_no_answer_to_it():
    question = Question("How many people came in 2021?")
    assert question.is_met_by("There were 300 of them.")
    assert not question.is_met_by("In 2021 people came.")
    assert not Question("Who is Marta?").is_met_by("We asked Marta.")
    assert Question("Combien de bateaux y a-t-il ?").is_met_by("Il y en a quatre.")
    assert not Question("Avons-nous quatre bateaux, combien ?").is_met_by("Nous en avons quatre.")
    assert Question("Ile łodzi jest w porcie?").is_met_by("Są dwie.")
    assert not Question("How many boats?").is_met_by("Il y en a quatre.")
    assert Question("会長は誰？").is_met_by("田中太郎さんが会長です。")
    assert Question("Кто передал ключи?").is_met_by("Ключи передала Алёна.")
    assert not Question("Кто передал ключи?").is_met_by("Ключи передала соседка.")


# -- other languages, of which the built-in vectors know little ---


_MANUAL = {
    "zellen.md": """# Zellen

Sie können die Größe einer Zelle ändern, indem Sie ihren Rand mit der Maus ziehen. Wählen Sie die
Zelle vorher aus.
""",
    "druck.md": """# Drucken

Wählen Sie im Menü Datei den Befehl Drucken. Sie können einzelne Seiten drucken oder das ganze
Dokument. Das Programm merkt sich den Drucker, den Sie zuletzt benutzt haben.
""",
    "feuille.md": """# Cellules

Vous pouvez changer la taille d'une cellule en tirant son bord avec la souris. Choisissez la cellule
avant.
""",
    "celdas.md": """# Celdas

Puede cambiar el tamaño de una celda si arrastra su borde con el ratón. Seleccione antes la celda.
""",
    "imprimir.md": """# Imprimir

Elija la orden Imprimir en el menú Archivo. Puede imprimir páginas sueltas o todo el documento.
""",
}


@pytest.fixture(scope="module")
def manual(tmp_path_factory):
    place = tmp_path_factory.mktemp("manual")
    with Library.open(load_settings(library=place / "library"), create=True) as library:
        add(library, write_files(place / "files", _MANUAL))
        yield library


@pytest.mark.parametrize(
    "question",
    [
        "Wie komme ich in das Menü des BIOS?",
        "Welche Programme können eine Festplatte einteilen?",
        "Verliere ich mein Dokument, wenn ich das Programm neu installiere?",
        "¿Cómo entro en el menú de la BIOS?",
        "¿De qué tamaño debe ser el disco duro?",
    ],
)
def test_texts_that_are_alike_by_their_language_alone_are_no_answer(manual, question):
    assert quick(manual, question) == ()


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Wie ändere ich die Größe einer Zelle?", "Sie können die Größe einer Zelle ändern"),
        (
            "Comment changer la taille d'une cellule ?",
            "Vous pouvez changer la taille d'une cellule",
        ),
        ("¿Cómo puedo imprimir páginas sueltas?", "Puede imprimir páginas sueltas"),
    ],
)
def test_questions_of_other_languages_are_answered_by_their_words(manual, question, text):
    assert quick(manual, question)[0].text.startswith(text)


# -- the sample library ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    place = tmp_path_factory.mktemp("sample")
    with Library.open(load_settings(library=place / "library"), create=True) as library:
        add(library, SAMPLE)
        yield library


@pytest.mark.parametrize(
    ("question", "path", "text"),
    [
        ("how long may a customer return a buoy?", "handbook/refund-policy.md", "30 days"),
        ("until when can a customer return a buoy?", "handbook/refund-policy.md", "30 days"),
        ("How much is the monthly rent of hall 4?", "mail/2026-02-24", "3,480 euros"),
        ("赤野井湾で酸素が下がったのはいつですか", "notes/biwako-memo.md", "七月二十八日"),
        ("À quelle hauteur le camion est-il limité ?", "notes/note-fourn", "3,60 m"),
    ],
)
def test_questions_to_the_sample_library(sample, question, path, text):
    first = quick(sample, question)[0]
    assert first.document.path.startswith(path)
    assert text in first.text


def test_hand_written_questions_are_answered_or_met_with_silence(sample):
    place = Path(__file__).with_name("sample_questions.jsonl")
    texts = [json.loads(line)["text"] for line in place.read_text("utf-8").splitlines()]
    sample.judgments.import_file("default", place)
    experiment = sample.experiment("default", "sample_questions")
    assert len(experiment.answers) == len(texts) == 38
    figures = measure_answers(
        "sample",
        experiment.answers,
        lambda question, _filters: sample.search(question),
        sample.answers.quick,
        experiment.text_of,
    ).quick
    # As measured when the weights had been chosen, on other questions; docs/measurements.md.
    assert figures.first.count >= 16
    assert figures.three.count >= 21
    assert figures.silent.count <= 3
    assert figures.refused.count >= 7
    assert figures.exact.value == 1.0
