"""Two sets of 20 PDFs of 60 pages that look like public reports, with questions on their pages.

python benchmarks/report_set.py FOLDER [--set choose|report] [--seed 1]

Companies are invented. The same company reports for several years in nearly the same words, a maker
has manuals for several products, and most PDF titles say nothing. ``choose`` is for choosing
settings and ``report`` for reporting what they bring: other names, other files, other questions.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from report_pages import Heading, Item, Look, Paragraph, Rows, write_pdf
from report_words import EVENT_QUESTION, Chapter, Kind, load_words

ANNUAL, CONTRACT, MANUAL, AUDIT = "annual", "contract", "manual", "audit"

SETS = ("choose", "report")
PAGES = 60
QUESTIONS = 40
MENTIONS = 0.25
"""On how many pages a document names itself."""

_FORENAMES = "Ada Bruno Carla Dario Edda Falk Greta Hugo Ines Jonas Kaja Leo Mira Nils Olga Piet"
_SURNAMES = (
    "Abelsen Borchert Castell Drummond Eklund Farrugia Gentner Halloway Iversen Jarosz Kestrel "
    "Lindqvist Marchetti Novotna Okafor Pellerin Quist Rasmund Szabo Tennant Ulrich Varga Wexley"
)
_TOWNS = (
    "Aldersund Brekke Corvik Dunmere Estery Falkirch Granmoor Holtby Isarun Jorvale Kessin Lomnic "
    "Marrowick Nestved Orlagh Pirnau Quenby Rostal Sandvar Tolmin Ulvik Venlo Westerode Ystrad"
)


@dataclass(frozen=True)
class Document:
    """A file to be written. ``called`` is what people call its subject, ``full`` what it says.

    Documents of one ``family`` say nearly the same. ``year`` is 0 where there is only one.
    """

    file: str
    title: str
    kind: str
    called: str
    full: str
    family: str
    year: int = 0

    @property
    def words(self) -> Kind:
        return load_words().kinds[self.kind]


@dataclass(frozen=True)
class Question:
    """A question with the pages that answer it, as (file, page from 1); each is enough.

    ``answer`` is what is to be read there: a sentence; of a table the row's label, the year and
    the figure.
    """

    id: str
    text: str
    kind: str
    named: bool
    places: tuple[tuple[str, int], ...]
    answer: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Found:
    """A fact with where it stands: what may be asked."""

    kind: str
    text: str
    place: tuple[str, int]
    document: Document
    answer: tuple[str, ...]


def _years(
    kind: str, called: str, full: str, family: str, files: dict[int, tuple[str, str]]
) -> Iterator[Document]:
    for year, (file, title) in files.items():
        yield Document(file, title, kind, called, full, family, year)


_FORM = "FORM AR-1 ANNUAL REPORT PURSUANT TO SECTION 13 OR 15(D) OF THE ACT"
_TEMPLATE = "Report template 2014 (A4)"

DOCUMENTS: dict[str, tuple[Document, ...]] = {
    "choose": (
        *_years(ANNUAL, "Corvane", "Corvane Logistics plc", "Corvane", {
            2018: ("Corvane_Annual_Report_2018.pdf", "0001437749-19-004277"),
            2019: ("Corvane_Annual_Report_2019.pdf", "0001437749-20-003961"),
            2020: ("Corvane_Annual_Report_2020.pdf", "0001437749-21-005112"),
            2021: ("CRV_AR21_web.pdf", "untitled"),
        }),
        *_years(ANNUAL, "Ostrel", "Ostrel Pharma SE", "Ostrel", {
            2019: ("ostrel-pharma-2019.pdf", _FORM),
            2020: ("ostrel-pharma-2020.pdf", _FORM),
            2021: ("ostrel-pharma-2021.pdf", _FORM),
        }),
        *_years(ANNUAL, "Merrowby", "Merrowby Foods Group", "Merrowby", {
            2020: ("Merrowby Foods FY2020.pdf", "Microsoft Word - AR_final_v7.doc"),
            2021: ("Merrowby Foods FY2021.pdf", "Microsoft Word - AR_final_v3.doc"),
        }),
        Document("Supply agreement Belmar Retail.pdf", "Microsoft Word - FSA master 2.docx",
                 CONTRACT, "Belmar", "Belmar Retail BV", "Halden Components AG"),
        Document("Supply agreement Quistgaard.pdf", "Microsoft Word - FSA master 2.docx",
                 CONTRACT, "Quistgaard", "Quistgaard Tools A/S", "Halden Components AG"),
        Document("scan0042.pdf", "", CONTRACT, "Tovey", "Tovey & Sons Ltd",
                 "Halden Components AG"),
        Document("HX-200_user_manual_EN.pdf", _TEMPLATE, MANUAL, "HX-200",
                 "HX-200 Panel Saw", "Brannock"),
        Document("HX-300_user_manual_EN.pdf", _TEMPLATE, MANUAL, "HX-300",
                 "HX-300 Panel Saw", "Brannock"),
        Document("HX-350S_manual.pdf", _TEMPLATE, MANUAL, "HX-350S",
                 "HX-350S Panel Saw with Scorer", "Brannock"),
        Document("BA_LM40_en_rev3.pdf", "OPERATING INSTRUCTIONS", MANUAL, "LM-40",
                 "LM-40 Edge Bander", "Brannock"),
        *_years(AUDIT, "Lunden harbour", "Port Authority of Lunden Harbour", "audit office", {
            2019: ("audit-lunden-harbour-2019.pdf", "AUDIT REPORT"),
            2020: ("audit-lunden-harbour-2020.pdf", "AUDIT REPORT"),
            2021: ("2021-118.pdf", "AUDIT REPORT"),
        }),
        *_years(AUDIT, "Askvale hospital", "Regional Trust of Askvale Hospital", "audit office", {
            2021: ("audit-askvale-hospital-2021.pdf", "AUDIT REPORT"),
        }),
    ),
    "report": (
        *_years(ANNUAL, "Tessaly", "Tessaly Energy Holdings plc", "Tessaly", {
            2017: ("tessaly_2017_10k.pdf", "0000950123-18-001190"),
            2018: ("tessaly_2018_10k.pdf", "0000950123-19-001044"),
            2019: ("tessaly_2019_10k.pdf", "0000950123-20-001327"),
        }),
        *_years(ANNUAL, "Nordlay", "Nordlay Shipping ASA", "Nordlay", {
            2020: ("Nordlay Annual Report 2020 EN.pdf", "PowerPoint Presentation"),
            2021: ("Nordlay Annual Report 2021 EN.pdf", "PowerPoint Presentation"),
            2022: ("AR_final_print.pdf", "PowerPoint Presentation"),
        }),
        *_years(ANNUAL, "Pallister", "Pallister & Croome Textiles Inc.", "Pallister", {
            2021: ("PCT-FY21.pdf", _FORM),
            2022: ("Pallister-Croome-FY22.pdf", _FORM),
        }),
        Document("Framework agreement - Vantor.pdf", "Document1", CONTRACT, "Vantor",
                 "Vantor Mobility GmbH", "Esk Castings"),
        Document("Framework agreement - Ridgeway Dairy.pdf", "Document1", CONTRACT, "Ridgeway",
                 "Ridgeway Dairy Co-operative", "Esk Castings"),
        Document("Framework agreement - Lumière.pdf", "Document1", CONTRACT, "Lumière",
                 "Lumière Optique SA", "Esk Castings"),
        Document("doc_20190311_0007.pdf", "", CONTRACT, "Okonjo", "Okonjo Instruments Ltd",
                 "Esk Castings"),
        Document("Aquila 3 manual.pdf", "Untitled-1", MANUAL, "Aquila 3",
                 "Aquila 3 Hay Baler", "Stegmann"),
        Document("Aquila 5 manual.pdf", "Untitled-1", MANUAL, "Aquila 5",
                 "Aquila 5 Hay Baler", "Stegmann"),
        Document("Corax manual.pdf", "Untitled-1", MANUAL, "Corax",
                 "Corax Wood Chipper", "Stegmann"),
        Document("10044871_EN_03.pdf", "Untitled-1", MANUAL, "Dryade",
                 "Dryade Log Splitter", "Stegmann"),
        *_years(AUDIT, "Velmont library", "City of Velmont, Library Board", "audit office", {
            2016: ("Audit Velmont Library 2016.pdf", "Audit_Muster.dot"),
            2017: ("Audit Velmont Library 2017.pdf", "Audit_Muster.dot"),
        }),
        *_years(AUDIT, "Karst university", "Technical University of Karst", "audit office", {
            2017: ("Audit Karst University 2017.pdf", "Audit_Muster.dot"),
            2018: ("r-18-031.pdf", "Audit_Muster.dot"),
        }),
    ),
}  # fmt: skip


class _Writer:
    """Writes the pages of one document, and notes where its facts stand."""

    def __init__(self, document: Document, seed: str) -> None:
        self.document = document
        self.found: list[_Found] = []
        self._seed = f"{seed}:{document.family}"
        self._own = f"{self._seed}:{document.called}:{document.year}"

    def pages(self, incident: str) -> list[list[Item]]:
        """The pages as items to be drawn; the cover first, contents second."""
        document, chapters = self.document, self.document.words.chapters
        year = [Paragraph(str(document.year))] if document.year else []
        by = [Paragraph(document.family)] if document.kind in (CONTRACT, MANUAL) else []
        cover: list[Item] = [
            Heading(document.words.cover, 1),
            Heading(document.full, 2),
            *year,
            *by,
        ]
        pages: list[list[Item]] = [cover, []]
        left = PAGES - len(pages)
        starts = []
        happens = random.Random(f"{self._own}:incident").randrange(1, len(chapters))
        for number, chapter in enumerate(chapters):
            starts.append(len(pages) + 1)
            count = left // len(chapters) + (number < left % len(chapters))
            for part in range(count):
                facts = [f for at, f in enumerate(chapter.facts) if at % count == part]
                told = incident if number == happens and part == count // 2 else ""
                pages.append(self._page(chapter, part, len(pages) + 1, facts, told))
        pages[1] = [Heading("Contents", 1)] + [
            Paragraph(f"{at + 1}  {one.title} {'.' * 20} {start}")
            for at, (one, start) in enumerate(zip(chapters, starts, strict=True))
        ]
        return pages

    def _page(self, chapter: Chapter, part: int, page: int, facts: list, told: str) -> list[Item]:
        items: list[Item] = [Heading(chapter.title, 1)] if part == 0 else []
        if part and part % 2 == 0:
            first, second = chapter.nouns[part % 8], chapter.nouns[(part + 3) % len(chapter.nouns)]
            items.append(Heading(f"{first} and {second}".capitalize(), 2))
        shared = random.Random(f"{self._seed}:{chapter.title}:{part}")
        own = random.Random(f"{self._own}:{chapter.title}:{part}")
        said = [self._fill(fact.sentence, page) for fact in facts]
        if own.random() < MENTIONS:
            said.append(self._mention(own.choice(chapter.nouns)))
        for fact in facts:
            self._note(fact.kind, fact.question, page, (self._fill(fact.sentence, page),))
        if told:
            said.append(self._fill(told, page))
            self._note("event", told, page, (said[-1],))
        paragraphs = [self._paragraph(chapter, shared, own) for _ in range(shared.randint(4, 6))]
        for sentence in said:
            sentences = paragraphs[own.randrange(len(paragraphs))]
            sentences.insert(own.randrange(len(sentences) + 1), sentence)
        items += [Paragraph(" ".join(sentences)) for sentences in paragraphs]
        if chapter.table and part == 1:
            items.insert(1, self._rows(chapter, page))
        return items

    def _mention(self, noun: str) -> str:
        """A sentence that names the document's subject, or its neighbour, for no good reason."""
        document = self.document
        return {
            ANNUAL: f"{document.full} refers to {document.year - 1} for comparisons of {noun}.",
            CONTRACT: f"{document.full} is called the Customer where {noun} are concerned.",
            MANUAL: f"For {noun} of the {document.called}, parts of other machines do not fit.",
            AUDIT: f"{document.full} was heard on {noun} early in {document.year}.",
        }[document.kind]

    def _paragraph(self, chapter: Chapter, shared: random.Random, own: random.Random) -> list[str]:
        sentences = []
        for _ in range(shared.randint(3, 5)):
            common = self._sentence(chapter, shared)
            sentences.append(self._sentence(chapter, own) if own.random() < 0.15 else common)
        return sentences

    def _sentence(self, chapter: Chapter, rng: random.Random) -> str:
        first, second = rng.sample(chapter.nouns, 2)
        text = rng.choice(self.document.words.frames).format(a=first, b=second)
        return text[0].upper() + text[1:]

    def _rows(self, chapter: Chapter, page: int) -> Rows:
        assert chapter.table is not None
        year = self.document.year
        rows = []
        for label, question in chapter.table.rows:
            if question:
                self._note("figure", question, page, (label, str(year), self._figure(label, year)))
            rows.append((label, *(self._figure(label, year - back) for back in (0, 1))))
        return Rows(chapter.table.name, ("in millions", str(year), str(year - 1)), tuple(rows))

    def _figure(self, label: str, year: int) -> str:
        """The figure of a row and year, the same in the report of the year after."""
        rng = random.Random(f"{self._seed}:{self.document.called}:{label}:{year}")
        return f"{rng.uniform(3, 4000):,.1f}"

    def _fill(self, template: str, page: int) -> str:
        rng = random.Random(f"{self._own}:{template}:{page}")
        return template.format(
            n=rng.randint(3, 97),
            m=f"{rng.uniform(0.3, 90):.1f} million",
            d=f"{rng.randint(1, 28)} {rng.choice(['January', 'April', 'June', 'October'])}",
            p=f"{rng.choice(_FORENAMES.split())} {rng.choice(_SURNAMES.split())}",
            o=rng.choice(_TOWNS.split()),
        )

    def _note(self, kind: str, text: str, page: int, answer: tuple[str, ...]) -> None:
        place = (self.document.file, page)
        self.found.append(_Found(kind, text, place, self.document, answer))


def _look(document: Document, number: int) -> Look:
    """How a document is printed: its running lines, its columns, how its tables are drawn."""
    year = f" {document.year}" if document.year else ""
    headers = (
        f"{document.full} | {document.words.cover}{year}",
        document.words.cover,
        f"{document.words.cover}{year} – all rights reserved",
        "",
    )
    return Look(
        title=document.title,
        header=headers[number % 4],
        footer=("Table of Contents", "", "Confidential", document.family)[number % 4],
        columns=2 if number % 3 == 1 else 1,
        table_by_columns=number % 4 == 2,
        outline=number % 3 == 0,
    )


def write_set(folder: Path, name: str, seed: int = 1) -> list[Question]:
    """Write the PDFs of a set into a folder; return its questions."""
    folder.mkdir(parents=True, exist_ok=True)
    base = f"{seed}:{name}"
    rng = random.Random(base)
    incidents = [
        pair for at, pair in enumerate(load_words().incidents) if at % 2 == SETS.index(name)
    ]
    holders = rng.sample(range(len(DOCUMENTS[name])), len(incidents))
    told = dict(zip(holders, incidents, strict=True))
    found: list[_Found] = []
    for number, document in enumerate(DOCUMENTS[name]):
        writer = _Writer(document, base)
        pages = writer.pages(told.get(number, ("", ""))[0])
        write_pdf(folder / document.file, pages, _look(document, number), f"{base}:{number}")
        found += writer.found
    return _questions(found, dict(incidents), rng, SETS.index(name))


def _questions(
    found: list[_Found], incidents: dict[str, str], rng: random.Random, half: int
) -> list[Question]:
    """Choose what is asked: what happened once, and of every kind some facts of named documents."""
    questions = [
        Question(f"q{number}", EVENT_QUESTION[number % 2].format(incidents[one.text]), "event",
                 False, (one.place,), one.answer)
        for number, one in enumerate(one for one in found if one.text in incidents)
    ]  # fmt: skip
    texts = sorted({one.text for one in found if one.text not in incidents})
    asked = [text for at, text in enumerate(texts) if at % 2 == half]
    rng.shuffle(asked)
    while len(questions) < QUESTIONS:
        for kind in ("figure", "clause", "figure", "procedure", "person", "risk", "event"):
            text = next((one for one in asked if _kind_of(found, one) == kind), None)
            if text is None or len(questions) == QUESTIONS:
                continue
            asked.remove(text)
            one = rng.choice([one for one in found if one.text == text])
            filled = text.format(c=one.document.called, y=one.document.year)
            places = _places(found, one)
            questions.append(Question(f"q{len(questions)}", filled, kind, True, places, one.answer))
    return questions


def _kind_of(found: list[_Found], text: str) -> str:
    return next(one.kind for one in found if one.text == text)


def _places(found: list[_Found], asked: _Found) -> tuple[tuple[str, int], ...]:
    """The page of a fact; the figures of a table stand in the report of the next year as well."""
    tables = {
        question for chapter in asked.document.words.chapters if chapter.table
        for _, question in chapter.table.rows
    }  # fmt: skip
    years = (asked.document.year, asked.document.year + 1)[: 1 + (asked.text in tables)]
    return tuple(
        one.place
        for one in found
        if one.text == asked.text
        and one.document.called == asked.document.called
        and one.document.year in years
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", choices=SETS, default=SETS[0], dest="name")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    for question in write_set(given.folder, given.name, given.seed):
        print(json.dumps(asdict(question), ensure_ascii=False))


if __name__ == "__main__":
    main()
