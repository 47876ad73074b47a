"""Sentences end where a reader would say so, not at every full stop."""

from __future__ import annotations

import pytest

from ragkit.chunking.units import text_units


@pytest.mark.parametrize(
    "sentences",
    [
        ["See [berg99, p. 3].", "It costs more."],
        ["Vgl. S. 12 und Abb. 3 im Text.", "Danach folgt mehr."],
        ["Die Sitzung am 3. März 2026 fällt aus.", "Eine neue folgt."],
        ["Der 2. Weltkrieg endete 1945.", "Danach war Frieden."],
        ["Im 19. Jahrhundert wuchs die Stadt.", "Sie hat 5 Brücken."],
        ["Nach § 3 Abs. 2 Satz 1 und Art. 5 GG gilt das.", "Sonst nicht."],
        ["Bd. 3, Kap. 4, Anm. 17 und vol. 2 gehören dazu.", "Ende."],
        ["He replaced a valve (part no. VX-2231) and charged 185.50 EUR.", "It holds."],
        ["Siehe Rechnung Nr. RE-2024/17 vom 3. Mai.", "Sie ist bezahlt."],
        ["Our ref. KB7 is on inv. A-1002.", "VX-2231 was sent."],
        ["She said it was Monday.", "A4 paper is needed."],
        ["He lives at No. 5 Main St. near Ch. 7.", "Then he went home."],
        ["We meet on Fri. 5 March.", "Bring tea."],
        ["Kiel, 24. Dez. 2025.", "Liebe Anna, wir kommen."],
        ["La Sra. García vive en la Av. 5 de Mayo.", "Es bonita."],
        ["Es kostet 3 Mio. Euro.", "Das ist viel."],
        ["It takes 5 g of vitamin D.", "3 days later stop."],
        ["The war ended in 1945.", "Then there was peace."],
        ["Danach kamen 3.", "Alle blieben."],
        ["We saw option A.", "Five people chose it."],
        ["Is that so?", "No, 5 people came."],
    ],
    ids=lambda sentences: sentences[0],
)
def test_a_sentence_ends_where_a_reader_would_say_so(sentences):
    text = " ".join(sentences)
    assert [text[unit.start : unit.end] for unit in text_units(text, code=False)] == sentences
