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
        ["Unter Rechnungsnr. 12 und Kundennr.\n47774 steht es.", "Mehr nicht."],
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
        ["Die Höhe darf max. äußerstenfalls 1,20 m betragen.", "Über 2 m nie."],
        ["Er sagte: „Ich komme.“", "Dann ging er."],
        ["Er kam.", "»Bleib hier.«", "So sprach sie."],
        ["Il dit : « Je viens. »", "Puis il partit."],
        ["La clé est chez M. Lefèvre, c.-à-d. à côté.", "MM. Roux et Blanc l'ont vue."],
        ["Umowę podpisano 3 maja 2020 r. świadkiem był on.", "Garaż jest przy ul. Śliwkowej 7."],
        ["Filtr č. 3 má záruku, tzn. že vydrží.", "Žádný jiný ne."],
        ["Il Sig. Rossi e il Dott. Verdi firmano.", "È tutto."],
        ["Подписан в 2021 г. между А. С. Ёлкиной и ООО.", "Это 35 000 руб. в месяц, т. е. много."],
        ["Адрес: г. Санкт-Петербург, ул. Пушкина, д. 10, кв. 5.", "Построен в 2019 г.", "Он нов."],
        ["Мед зібрали 14 серпня 2022 р. і залили.", "Їжаки прийшли до с. Яблунівка."],
        ["هل يجوز التأجير؟", "لا يجوز ذلك إلا بموافقة المالك."],
        ["کیا یہ سچ ہے؟", "یہ سچ ہے۔", "ختم۔"],
        ["Πόσο κόστισε το σκάφος;", "Κόστισε 85.000 ευρώ, δηλ. έξι μισθούς."],
        ["[7.1. Was ist das?](a.html#b)", "[7.2. Wie geht es?](a.html#c)", "[7.3. Ende](d.html)"],
        ["[**Zurück**14.2. Die Brandmauer](a.html) steht hier.", "Er kam [am Abend.", "Ja]."],
        ['[Do they\ndrift? ›](a.html "Why. To\nthe next") In lakes.', "Yes."],
        ['Siehe [Abschnitt 8.5, „Kernel“](ch8.html "8.5. Einen Kernel bauen").', "Dann weiter."],
        ["Monte-les (p. ex. /usr), par ex. FAT32.", "Puis, p. ex. NTFS.", "C'est tout."],
        ["Use uno (p. ej. Debian).", "O, por ej. Ubuntu.", "Nada más."],
        ["Ne usi uno (p. es. Debian).", "Basta."],
        ["Kies er een (bijv. Debian).", "Klaar."],
        ["Wybierz jeden, np. Debian.", "Zvolte např. Debian.", "Valitse esim. Debian."],
        ["Vælg f.eks. Debian.", "Välj t.ex. Debian.", "Örn. Debian.", "Напр. Debian."],
        ["[Lies das Handbuch.](https://a.org/b)", "Dann fang an [3].", "Es ist leicht."],
        ["We chose α; Then β.", "It works."],
        ["เปิดเมื่อวันที่ ๑๒ มีนาคม พ.ศ. ๒๕๖๔ ราคา ๔๕ บาท"],
    ],
    ids=lambda sentences: sentences[0],
)
def test_a_sentence_ends_where_a_reader_would_say_so(sentences):
    text = " ".join(sentences)
    assert [text[unit.start : unit.end] for unit in text_units(text, code=False)] == sentences
