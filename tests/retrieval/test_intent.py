"""Plain words that are read as filters: only where they can hardly mean anything else."""

from __future__ import annotations

import pytest
from intent_reading import Known, asked
from small_library import add, open_library, write_files

from ragkit.options import Filters
from ragkit.retrieval.query.intent_details import LibraryValues
from ragkit.retrieval.query.parser import parse_query


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("PDFs about refunds", "refunds type:pdf"),
        ("find all spreadsheets with budgets", "budgets type:excel"),
        ("which slides mention churn", "which mention churn type:powerpoint"),
        ("what is in the slides on churn", "what is in the churn type:powerpoint"),
        ("mails from Anna", "type:mail from:Anna"),
        ("emails from anna since 2024 on rent", "rent type:mail from:anna after:2024"),
        ("Anna's mails about rent", "rent from:Anna type:mail"),
        ("lease from Anna Berg", 'lease from:"Anna Berg"'),
        ("mails with attachments from Anna", "type:mail has:attachment from:Anna"),
        ("everything from Anna", "from:Anna"),
        ("notes from March 2025", "notes date:2025-03"),
        ("notes from 12 March 2025", "notes date:2025-03-12"),
        ("documents written in March 2025 on buoys", "buoys date:2025-03"),
        ("invoices until March 2025", "invoices before:2025-04"),
        ("notes from March", "notes date:2026-03"),
        ("notes from December", "notes date:2025-12"),
        ("what did we decide last week", "what did we decide after:2026-11-16"),
        ("news since yesterday", "news after:2026-11-22"),
        ("mails from today about rain", "rain type:mail after:2026-11-23"),
        ("decisions this month", "decisions after:2026-11"),
        ("travel in the handbook", "travel path:handbook/"),
        ("hotels in the travel handbook", 'hotels title:"travel handbook"'),
        ("python files with frames", "frames type:python"),
        ("PDFs über Rückgabe", "Rückgabe type:pdf"),
        ("Mails von Anna aus dem März 2025", "type:mail from:Anna date:2025-03"),
        ("was wurde gestern beschlossen", "was wurde beschlossen after:2026-11-22"),
        ("Notizen von Anna seit letzter Woche", "Notizen from:Anna after:2026-11-16"),
        ("les PDF sur le remboursement", "le remboursement type:pdf"),
        ("courriels d'Anna la semaine dernière", "type:mail from:Anna after:2026-11-16"),
        ("correos de Anna sobre el contrato", "el contrato type:mail from:Anna"),
        ("documentos del año pasado", "after:2025"),
        ("mails with attachments about rent", "rent type:mail has:attachment"),
        ("Mails von Anna über Miete", "Miete type:mail from:Anna"),
        ("mails d'Anna sur le loyer", "le loyer type:mail from:Anna"),
        ("mail di Anna sul contratto", "contratto type:mail from:Anna"),
        ("e-mails van Anna sinds 2024", "type:mail from:Anna after:2024"),
        ("письма от Anna", "type:mail from:Anna"),
    ],
)
def test_what_plainly_asks_for_documents_is_a_filter(question, meant):
    assert asked(question) == (meant, [])


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("messages from david howells about caches", 'messages caches from:"david howells"'),
        ("messages from david about caches", "messages caches from:david"),
        ("mails from the times about rain", 'rain type:mail from:"the times"'),
        ("mails from David Howells about rain", 'rain type:mail from:"David Howells"'),
    ],
)
def test_a_sender_has_the_longest_known_name(question, meant):
    assert asked(question) == (meant, [])


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("mails from last summer", "type:mail after:2026-06 before:2026-09"),
        ("letter from last spring", "letter after:2026-03 before:2026-06"),
        # Autumn is not over on 23 November.
        ("mails from last autumn about rent", "rent type:mail after:2025-09 before:2025-12"),
        ("mails from last winter", "type:mail after:2025-12 before:2026-03"),
        ("mails since last winter", "type:mail after:2025-12"),
        ("letters from the spring", "letters from the spring"),
        ("notes from spring 2025", "notes after:2025-03 before:2025-06"),
        ("Mails vom letzten Sommer über Miete", "Miete type:mail after:2026-06 before:2026-09"),
        ("Briefe aus dem Frühjahr 2025", "Briefe after:2025-03 before:2025-06"),
        ("Briefe vom Winter 2024", "Briefe after:2024-12 before:2025-03"),
        ("courriels de l'été dernier", "type:mail after:2026-06 before:2026-09"),
        ("correos del verano pasado", "type:mail after:2026-06 before:2026-09"),
    ],
)
def test_a_season_is_a_time(question, meant):
    assert asked(question) == (meant, [])


def test_a_season_that_may_be_content_is_only_offered():
    of_summer = ["after:2026-06 before:2026-09"]
    assert asked("what did we do last summer") == ("what did we do last summer", of_summer)
    assert asked("Spring 2025 release notes") == ("Spring 2025 release notes", [])
    assert asked("the summer 2019 report") == ("the summer 2019 report", [])


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("in the FreedomBox folder: how to update", "how to update path:FreedomBox/"),
        ("what is in the FreedomBox folder about chroot", "what is about chroot path:FreedomBox/"),
        ("notes in folder FreedomBox", "notes path:FreedomBox/"),
        ("rent from the 2024 folder", "rent path:2024/"),
        ("in the home directory: shells", "shells path:home/"),
        ("im Ordner Sicherheit: Was ist ein Honeypot?", "Was ist ein Honeypot? path:Sicherheit/"),
        ("Fallen im Verzeichnis Sicherheit", "Fallen path:Sicherheit/"),
        ("dans le dossier Sicherheit : le loyer", "le loyer path:Sicherheit/"),
        ("pannes dans le répertoire Sicherheit", "pannes path:Sicherheit/"),
        ("averías en la carpeta Sicherheit", "averías path:Sicherheit/"),
        ("guasti nella cartella Sicherheit", "guasti path:Sicherheit/"),
        ("storingen in de map Sicherheit", "storingen path:Sicherheit/"),
        ("ошибки в папке Sicherheit", "ошибки path:Sicherheit/"),
    ],
)
def test_a_folder_may_be_called_one(question, meant):
    assert asked(question) == (meant, [])


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("CSV files about rain", "rain type:csv"),
        ("odt files", "type:odt"),
        ("XML file about rain", "rain type:xml"),
        ("html pages about Kronstadt", "Kronstadt type:html"),
        ("text files about lists", "lists type:text"),
        ("python scripts", "type:python"),
        ("bash scripts about loops", "loops type:shell"),
        ("python scripts from 2008", "type:python date:2008"),
        ("which csv files mention rain", "which mention rain type:csv"),
        ("OpenDocument files about rain", "rain type:odt,ods,odp,odg"),
        ("iWork files about rain", "rain type:pages,numbers,keynote"),
        ("Keynote files", "type:keynote"),
        ("key files about rain", "key files about rain"),
        ("e-books about electronics", "electronics type:book"),
        ("EPUB über Elektronik", "Elektronik type:epub"),
        ("CSV-Dateien über Regen", "Regen type:csv"),
        ("fichiers CSV sur la pluie", "la pluie type:csv"),
        ("archivos XML sobre la lluvia", "la lluvia type:xml"),
        ("file CSV sulla pioggia", "pioggia type:csv"),
        ("PDF-bestanden over regen", "regen type:pdf"),
        ("файлы CSV о дожде", "дожде type:csv"),
    ],
)
def test_a_type_may_be_any_format_or_suffix(question, meant):
    assert asked(question) == (meant, [])


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("documents in Japanese about encryption", "encryption lang:ja"),
        ("Japanese documents about packaging", "packaging lang:ja"),
        ("German documents about chroot", "chroot lang:de"),
        ("French PDFs", "lang:fr type:pdf"),
        ("latest French PDFs about rain", "rain lang:fr type:pdf"),
        ("mails in Polish from Anna", "type:mail lang:pl from:Anna"),
        ("PDFs auf Französisch über Rückgabe", "Rückgabe type:pdf lang:fr"),
        ("Dokumente auf Deutsch über LILO", "LILO lang:de"),
        ("deutsche Dokumente über LILO", "LILO lang:de"),
        ("documents en anglais sur la pluie", "la pluie lang:en"),
        ("documentos en español sobre copias", "copias lang:es"),
        ("documenti in tedesco sulla pioggia", "pioggia lang:de"),
        ("documenten in het Frans", "lang:fr"),
        ("документы на русском об aptitude", "aptitude lang:ru"),
        ("документы на немецком языке", "lang:de"),
        ("articles in German about rain", "articles rain lang:de"),
    ],
)
def test_a_language_of_documents_is_a_filter(question, meant):
    assert asked(question) == (meant, [])


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        (
            "mails between June and August 2010 about cifs",
            "cifs type:mail after:2010-06 before:2010-09",
        ),
        ("mails from November 2009 to March 2010", "type:mail after:2009-11 before:2010-04"),
        ("mails between November and March 2010", "type:mail after:2009-11 before:2010-04"),
        ("mails between June and August", "type:mail after:2026-06 before:2026-09"),
        ("notes from 2009 to 2011 about rain", "notes rain after:2009 before:2012"),
        ("mails between June 3 and June 9, 2010", "type:mail after:2010-06-03 before:2010-06-10"),
        ("mails between 2010-06-03 and 2010-08", "type:mail after:2010-06-03 before:2010-09"),
        ("Mails zwischen Juni und August 2010", "type:mail after:2010-06 before:2010-09"),
        ("Mails von Juni bis August 2010", "type:mail after:2010-06 before:2010-09"),
        ("mails entre juin et août 2010", "type:mail after:2010-06 before:2010-09"),
        ("correos entre junio y agosto de 2010", "type:mail after:2010-06 before:2010-09"),
        ("mail tra giugno e agosto 2010", "type:mail after:2010-06 before:2010-09"),
        ("mails tussen juni en augustus 2010", "type:mail after:2010-06 before:2010-09"),
    ],
)
def test_a_span_of_time_has_two_ends(question, meant):
    assert asked(question) == (meant, [])


def test_a_span_that_ends_before_it_begins_is_words():
    assert asked("mails between 2011 and 2009") == ("mails between 2011 and 2009", [])


@pytest.mark.parametrize(
    ("question", "offered"),
    [
        ("what happened between June and August 2010?", ["after:2010-06 before:2010-09"]),
        ("how do python scripts import modules", ["type:python"]),
        ("how do I delete files in the code folder", ["path:code/"]),
        ("a shell in the home directory", ["path:home/"]),
        ("articles in German", ["lang:de"]),
        ("French documents of 1789", ["lang:fr"]),
        ("python modules", ["type:python"]),
        ("what happened in March 2025?", ["date:2025-03"]),
        ("contracts since 2024", ["after:2024"]),
        ("what did we get from Anna?", ["from:Anna"]),
        ("python example", ["type:python"]),
        ("the CSS file of a page", ["type:css"]),
        ("is it still spoken today", ["after:2026-11-23"]),
        ("bug in the code", ["path:code/"]),
        ("notes about last month", ["after:2026-10"]),
    ],
)
def test_what_may_be_said_in_the_documents_is_only_offered(question, offered):
    assert asked(question) == (question, offered)


@pytest.mark.parametrize(
    "question",
    [
        "how long may a customer return a buoy?",
        "we march on at dawn",
        "may I return it?",
        "a book from Anna Karenina",
        "how do I send emails from Python",
        "pdf from html conversion",
        "convert PDFs to text",
        "email of Anna",
        "last week's menu",
        "what is today's date",
        "the March 2025 report",
        "in the March 2025 report",
        '"last week" "PDFs about"',
        "type:docx PDFs about refunds",
        "after:2020 what did we decide last week",
        "PDFs about x OR y",
        "PDFs about refunds\nand other things",
        "reactions in the brain",
        "wo steht hier die Regel",
        "from 35 March 2025",
    ],
)
def test_all_else_is_words(question):
    assert asked(question) == (question, [])


PLAIN = """
between June and August the harbour is closed
the shop is open from June to August
the road between Bern and Basel
the difference between a folder and a directory
from 9 to 5
what does the script do
text files are read how
how are text files read
how do I open odt files
which log files grow without limit
what errors appear in the log files
a script that renames CSV files
German shepherd puppies
German measles in adults
polish documents for the client
English files for woodworking
Chinese slides with animations are slow
log files
log files of the server
the text files of the project
web pages for beginners
python modules for linear algebra
put the key in the code folder
which genes are in the code repertoire
articles in German are der, die and das
documents in Latin America
files in Polish notation
letters in English words
how many letters in English
a book in Japanese style
French fries with ketchup
translate the documents in English courts
notes from Japan
notes from the meeting
notes from the field
mails from the server
a letter from my aunt
messages from space
light from the times of Newton
the last page of the contract
the last folder on the shelf
last but not least
the first amendment
first mail ever sent
what is the latest version of the constitution
the latest PDF reader
who wrote the last letter?
newest member of the team
how to create a folder in Windows
put it in the folder
in the same folder as the script
in the brown folder on my desk
page in the folder menu
emails with large attachments are blocked
spreadsheets with macros are disabled
PDFs with passwords can not be printed
dot files in a repository
go files a complaint
use less files
the rest files past
el archivo de la ciudad
Wo liegt der letzte Ordner?
Was macht das Skript?
zwischen Juni und August ist der Hafen zu
deutsche Eiche
im Ordner liegt ein Brief
die letzte Seite des Vertrags
le dernier métro
entre juin et août le port est fermé
la dernière page du contrat
les fichiers sont lus comment
dans le dossier de presse
la última página del contrato
entre junio y agosto el puerto cierra
en la carpeta hay un mapa
l'ultima pagina del contratto
tra giugno e agosto il porto è chiuso
de laatste bladzijde van het contract
tussen juni en augustus is de haven dicht
последняя страница договора
что делает скрипт
"""


@pytest.mark.parametrize("question", PLAIN.strip().splitlines())
def test_ordinary_senses_of_the_same_words_restrict_nothing(question):
    assert asked(question)[0] == question


def test_a_filter_that_leaves_nothing_is_not_read_nor_offered_where_it_leaves_everything():
    assert asked("PDFs about refunds", Known(none=["type:pdf"])) == ("PDFs about refunds", [])
    # Nobody looks for documents that hold the words.
    assert asked("PDFs about refunds", Known(every=["type:pdf"])) == ("refunds type:pdf", [])
    assert asked("what came in 2025?", Known(every=["date:2025"])) == ("what came in 2025?", [])
    together = Known(none=["type:mail from:Anna"])
    assert asked("mails from Anna", together) == ("from Anna type:mail", [])
    together = Known(none=["type:pdf lang:fr"])
    assert asked("French PDFs about rain", together) == ("French rain type:pdf", [])
    together = Known(none=["type:mail date:2025-03"])
    assert asked("mails about rain in March 2025", together) == ("rain in March 2025 type:mail", [])


def test_what_is_known_of_a_library_is_what_its_filters_say(sample):
    collection = sample.catalog.collections.get("default")
    known = LibraryValues(sample.catalog, [collection])
    documents = sample.catalog.filters.documents
    assert known.total == len(documents(collection.id, Filters()))
    for filters in (
        "type:mail", "type:pdf,markdown", "type:MD", "type:excel", "type:zzz", "after:2026",
        "before:2026-02", "date:2026-03", "date:2026-03-14", "after:2026-01 before:2026-03",
        "from:ines", "path:handbook/", "type:mail after:2026-02",
    ):  # fmt: skip
        expected = len(documents(collection.id, parse_query(filters).filters))
        assert (filters, known.count(filters)) == (filters, expected)
    assert [known.is_sender(name) for name in ("Ines", "INES carvalho", "Ine", "Japan", "")] == [
        True, True, False, False, False,
    ]  # fmt: skip
    assert [known.has_folder(name) for name in ("Handbook", "slack", "hand")] == [True, True, False]
    assert [known.has_title(name) for name in ("REMOTE work", "work remote")] == [True, False]


def test_what_is_known_follows_a_collection_that_changes(tmp_path, monkeypatch):
    with open_library(tmp_path / "library", models={"embedder": "hash"}) as library:
        add(library, write_files(tmp_path / "files", {"one.md": "# One\n\nText.\n"}))
        collection = library.catalog.collections.get("default")
        assert library.catalog.values.of(collection).total == 1
        add(library, write_files(tmp_path / "files", {"two.md": "# Two\n\nText.\n"}))
        changed = library.catalog.collections.get("default")
        assert library.catalog.values.of(changed).total == 1
        monkeypatch.setattr("ragkit.catalog.document_values._STALE_SECONDS", 0.0)
        assert library.catalog.values.of(changed).total == 2
