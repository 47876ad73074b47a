"""The words by which people name documents, times, senders, places and languages.

They are English, German, French and Spanish, and the most frequent ones Italian, Dutch and Russian.
Patterns are for text in lower case and without the accents of Latin letters, of the same length as
the question; ``rules`` has them compiled.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from ragkit import months
from ragkit.indexes.tokenizer import fold

_TYPES: Mapping[str, str] = {
    "pdf": "pdfs?|pdf[- ](?:files?|documents?|datei(?:en)?|bestand(?:en)?)|"
    "(?:fichiers|documents|archivos|file|документы|файлы) pdf",
    "mail": "e-?mails?|mails?|courriels?|correos?(?: electronicos?)?|письм[оа]|писем",
    "excel": "spreadsheets?|excel[- ](?:files?|sheets?|dateien?|tabellen?)|tabellenblatter|"
    "feuilles? de calcul|(?:fichiers|archivos) excel|hojas? de calculo",
    "powerpoint": "slides|slide decks?|powerpoints?|powerpoint[- ](?:files?|slides)|presentations?|"
    "folien|prasentation(?:en)?|diapositives|diapos|diapositivas|presentacion(?:es)?",
    "word": "word[- ](?:files?|documents?|dokumente?|dateien?)|"
    "(?:documents|documentos(?: de)?) word",
    "notebook": "(?:jupyter )?notebooks",
    "chat": "chats?|chat logs?|chatverlaufe?",
    "epub": "epubs?",
    "book": "e-?books?|e-?bucher|livres? numeriques?|libros? electronicos?",
}
"""What documents of a type are called; the types are those of ``type:``."""

_PLURALS = (
    r".*s|.*dateien|.*tabellen|.*blatter|.*bucher|folien|.*en|.*verlaufe|.*[- ](?:pdf|word|excel)|"
    r"письма|писем"
)
"""Which of these words are more than one, or as good as."""

_SEVERAL = "all|any|every|alle|die|meine|unsere|tous|toutes|les|mes|nos|todos|todas|los|las|mis"
"""What precedes more than one."""

_GENERIC = (
    "documents?|files?|everything|anything|dokumente?|dateien?|unterlagen|alles|fichiers?|"
    "documentos?|archivos?|documenti|documenten|документы?|файлы?"
)
"""What any document is called: not looked for itself."""

_KINDS = (
    "notes?|messages?|papers?|meetings?|minutes|letters?|memos?|reports?|invoices?|articles?|"
    "notiz(?:en)?|nachricht(?:en)?|protokolle?|briefe?|berichte?|rechnung(?:en)?|"
    "lettres?|factures?|rapports?|comptes[- ]rendus|notas?|mensajes?|cartas?|facturas?|"
    "informes?|actas?|posts?|transcripts?"
)
"""What documents are called by their content: looked for as well."""

_NAMED = (
    "handbook|manual|guide|policy|faq|readme|changelog|wiki|minutes|report|contract|agreement|"
    "memo|notes|paper|thesis|book|newsletter|brochure|specification|spec|glossary|appendix|"
    "handbuch|anleitung|leitfaden|richtlinie|protokoll|bericht|vertrag|notizen|"
    "manuel|rapport|contrat|guia|informe|contrato|reglamento"
)
"""What a document is called by its own name: "in the travel handbook"."""

_FOLDER = "folder|directory|ordner|verzeichnis|dossier|repertoire|carpeta|directorio|cartella"
FOLDERS_OF_SYSTEMS = frozenset(
    ("home", "root", "bin", "sbin", "etc", "lib", "usr", "var", "tmp", "temp", "opt", "dev",
     "working", "current", "parent", "same", "system", "windows", "users", "build", "install",
     "downloads", "documents", "desktop")
)  # fmt: skip
"""Folders that documents on computers tell of."""

TOLD_OF = frozenset(
    ("text", "txt", "log", "conf", "cfg", "ini", "json", "yaml", "yml", "toml", "html", "htm",
     "web", "css", "sql", "batch")
)  # fmt: skip
"""Formats whose files documents on computers often tell of."""

_SCRIPTS = "scripts?|skripte?"
_PAGES = "pages|seiten|paginas|pagine"
_FORM_PARTS = (
    "files?|documents|docs|datei(?:en)?|dokumente|fichiers?|archivos?|documentos|bestanden|"
    f"файлы?|{_SCRIPTS}|{_PAGES}"
)
"""What stands beside the name of a format: "CSV files", "pages HTML"."""

_SINGULAR = "file|script|datei|skript|fichier|archivo|файл"
_FORMS: Mapping[str, str] = {
    "bash": "shell", "opendocument": "odt,ods,odp,odg", "iwork": "pages,numbers,keynote",
    "web": "web",
}  # fmt: skip
"""More names of formats, with their types."""

_NO_FORMS = frozenset(
    ("el", "dot", "less", "rest", "code", "export", "conversation", "records",
     "calendar", "contacts", "properties", "captions", "image", "word", "excel", "powerpoint",
     "pdf", "pages", "numbers", "key")
)  # fmt: skip
"""Suffixes and formats that mean something else before "files", or are among ``_TYPES``."""

NO_FORMS_BEHIND = frozenset(
    ("go", "text", "log", "org", "swift", "dart", "fish", "make", "shell", "batch", "ruby", "web",
     "doc", "conf", "zig", "nim", "bat", "vim")
)  # fmt: skip
"""Those that mean something else behind "documents"."""

PAGES_OF = frozenset(("html", "htm", "xhtml", "mhtml", "web", "php", "markdown"))
"""Formats of which a document is called a page."""

_NEWEST = (
    "latest|newest|most recent|last|neueste[nrs]?|letzte[nrs]?|aktuellste[nrs]?|"
    "derni(?:er|ere)s?|ultim[oaie]s?|laatste|nieuwste|последн(?:ий|ее|яя|ие|их)"
)
_OLDEST = (
    "oldest|earliest|first|alteste[nrs]?|erste[nrs]?|premi(?:er|ere)s?|primer[oa]?s?|"
    "prim[oaie]|oudste|eerste|перв(?:ое|ый|ая|ые|ых)"
)
_NEWEST_BEHIND = "(?:les? |las? )?plus recente?s?|mas recientes?|piu recent[ei]"
_OLDEST_BEHIND = "(?:les? |las? )?plus ancien(?:ne)?s?|mas antigu[oa]s?|piu vecchi[aeo]?"
_FIRST: Mapping[str, str] = {
    "newest": r"(?:the )?(?:newest|latest|most recent)(?: ones?)? first|"
    r"(?:d(?:ie|as|er) )?(?:neue|jung|aktuell)ste[nrs]? zuerst|"
    r"(?:les? |la )?plus recente?s? (?:d'abord|en premier)|"
    r"(?:(?:el|l[oa]s?) )?mas (?:recientes?|nuev[oa]s?) primero|"
    r"prima (?:il |i |la |le )?piu recent[ei]|(?:i |le )?piu recenti (?:prima|per prim[ie])|"
    r"(?:de |het )?(?:nieuwste|recentste|laatste) eerst|"
    r"сначала (?:новые|последние)|(?:новые|последние) сначала",
    "oldest": r"(?:the )?(?:oldest|earliest)(?: ones?)? first|"
    r"(?:d(?:ie|as|er) )?alteste[nrs]? zuerst|"
    r"(?:les? |la )?plus ancien(?:ne)?s? (?:d'abord|en premier)|"
    r"(?:(?:el|l[oa]s?) )?mas (?:antigu|viej)[oa]s? primero|"
    r"prima (?:il |i |la |le )?piu vecchi[oae]?|(?:i |le )?piu vecchie? (?:prima|per prim[ie])|"
    r"(?:de |het )?oudste eerst|"
    r"сначала старые|старые сначала",
}
"""What asks for an order at the end of a question."""

_ASKING = (
    r"(?:please |bitte )?(?:(?:can|could) you )?"
    r"(?:(?:find|show|list|search|get|give|open|zeige?|finde|suche|liste|gib|"
    r"cherche|trouve|montre|liste|affiche|busca|encuentra|muestra|lista)"
    r"(?: (?:me|us|mir|uns|moi|nous|for|nach))?(?:-moi|me)? )?"
    r"(?:(?:all|any|every|only|just|alle|nur|tou(?:s|tes)|todos|todas)(?: of)? )?"
    r"(?:(?:the|my|our|a|an|some|die|der|das|meine|unsere|"
    r"les?|la|l'|mes|nos|des|el|los|las|mis|un[ae]?|il|i|gli|de|het) )?"
    rf"(?:\d{{1,3}} )?(?:(?:(?P<newest>{_NEWEST})|(?P<oldest>{_OLDEST})) )?(?:\d{{1,3}} )?"
)
"""What may precede the documents that somebody asks for."""

_ABOUT = (
    r"about|on|regarding|concerning|mentioning|containing|with|for|of|that|which|where|"
    r"uber|zu|zum|zur|mit|fur|"
    r"sur|avec|pour|concernant|sobre|con|para|acerca de|su|sul|sull[ao]|sui|sulle|sugli|"
    r"(?:(?<=documenten )|(?<=bestanden ))over|о|об|про"
)
"""What joins documents to what they are about."""

_ONLY_ABOUT = (
    "about|regarding|concerning|mentioning|containing|uber|concernant|sobre|acerca de|"
    "sul|sull[ao]|sui|sulle|sugli|over|о|об|про"
)
_JOINS_ELSE = "with|for|of|on|where|zu|zum|zur|mit|fur|sur|avec|pour|con|para"
"""What joins other things as well: "mails with attachments are blocked"."""

_STATES = (
    "are|is|was|were|can|cannot|do|does|should|must|sind|ist|werden|wird|sont|peuvent|son|pueden"
)
_MENTIONS = (
    "mentions?|contains?|discuss(?:es)?|describes?|explains?|covers?|deals? with|talks? about|"
    "enthalten|enthalt|erwahnen|erwahnt|mentionnent|parlent|contiennent|mencionan|contienen"
)

_CODE_PARTS = (
    "modules?|examples?|code|snippets?|functions?|class(?:es)?|samples?|beispiele?|exemples?|"
    "ejemplos?"
)

_FROM = "from|by|von|vom|de|par|del?|por|di|da|van|от"
NO_NAMES = frozenset(
    ("the", "my", "our", "your", "his", "her", "their", "this", "that", "these", "those", "all",
     "some", "any", "der", "die", "das", "dem", "den", "des", "ein", "eine", "einem", "einer",
     "mein", "meine", "meiner", "meinem", "les", "mon", "mes", "une", "los", "las", "una", "het")
)  # fmt: skip
"""Words that are no name of anybody by themselves."""

_WRITTEN = (
    "written|sent|received|created|dated|published|geschrieben|gesendet|verschickt|erhalten|"
    "ecrite?s?|envoyee?s?|recue?s?|escritos?|enviad[oa]s?|recibid[oa]s?"
)
"""What says that a time is that of a document."""

_IN_PLACE = (
    r"(?:in|from|inside|within) (?:the|our|my) |im |(?:in|aus) (?:der|dem|unsere[mr]|meine[mr]) |"
    r"dans (?:les? |la |l'|notre |mon )|en (?:el|la|los|las|nuestr[oa]|mi) |nella |nel "
)
"""What precedes the name of a document or folder."""

_IN_FOLDER = rf"(?:{_IN_PLACE}|(?:in|from|inside|within) )(?:{_FOLDER}) |in de map |в папке "

MONTHS: Mapping[str, int] = {
    fold(name): number for name, number in months.named("en", "fr", "de", "es", "it", "nl").items()
}
"""Months by their names, without accents."""
SEASONS = {fold(name): first for name, first in months.seasons().items()}
_IN_TIME = "in|from|of|during|im|vom|aus(?: dem)?|en|de|du|durante|di|del|nel|van|uit"
_SINCE = "since|seit|depuis|desde|dal|sinds|с"
_UNTIL = "until|till|bis(?: zum)?|jusqu'(?:en|a)|hasta|fino a|tot"
_BEFORE = "before|vor|avant|antes de|prima di|voor|до"
_BETWEEN = "between|from|zwischen|von|vom|entre|de|du|des|desde|tra|fra|da|dal|tussen|van"
_AND = "and|to|until|till|und|bis(?: zum)?|et|a|au|y|e|al|hasta|en|tot(?: en met)?"

DAYS: Mapping[str, int] = {
    "yesterday": 1, "gestern": 1, "d'hier": 1, "depuis hier": 1, "ayer": 1,
    "today": 0, "heute": 0, "aujourd'hui": 0, "hoy": 0,
}  # fmt: skip
"""Days by how many have gone since."""

_LAST: Mapping[str, str] = {
    "week": "last week|(?:in der )?(?:letzte[nr]?|vergangene[nr]?|vorige[nr]?) woche|"
    "la semaine (?:derniere|passee)|(?:de )?la semana pasada",
    "month": "last month|(?:im )?(?:letzten|vergangenen|vorigen) monat|"
    "le mois (?:dernier|passe)|(?:d)?el mes pasado",
    "year": "last year|(?:im )?(?:letzten|vergangenen|vorigen) jahr|letztes jahr|"
    "l'annee (?:derniere|passee)|l'an dernier|(?:d)?el ano pasado",
}
_THIS: Mapping[str, str] = {
    "week": "this week|diese(?:r)? woche|cette semaine|esta semana",
    "month": "this month|diese[mn] monat|ce mois(?:-ci)?|este mes",
    "year": "this year|dieses jahr|diesem jahr|cette annee|este ano",
}
"""Times that are counted from today."""

_ATTACHED = (
    r"with (?:an )?attachments?|mit (?:einem )?anhang(?:en)?|avec (?:une )?pieces? jointes?|"
    r"con (?:un )?(?:archivos? )?adjuntos?"
)

_LANGUAGES = """
en englisch anglais ingles inglese engels английском
de deutsch allemand aleman tedesco duits немецком
fr franzosisch francais frances francese frans французском
es spanisch espagnol espanol spagnolo spaans испанском
it italienisch italien italiano italiano italiaans итальянском
nl niederlandisch neerlandais neerlandes olandese nederlands нидерландском
pt portugiesisch portugais portugues portoghese portugees португальском
ru russisch russe ruso russo russisch русском
uk ukrainisch ukrainien ucraniano ucraino oekraiens украинском
pl polnisch polonais polaco polacco pools польском
cs tschechisch tcheque checo ceco tsjechisch чешском
hu ungarisch hongrois hungaro ungherese hongaars венгерском
el griechisch grec griego greco grieks греческом
tr turkisch turc turco turco turks турецком
ar arabisch arabe arabe arabo arabisch арабском
he hebraisch hebreu hebreo ebraico hebreeuws иврите
sv schwedisch suedois sueco svedese zweeds шведском
da danisch danois danes danese deens датском
no norwegisch norvegien noruego norvegese noors норвежском
fi finnisch finnois fines finlandese fins финском
ja japanisch japonais japones giapponese japans японском
zh chinesisch chinois chino cinese chinees китайском
ko koreanisch coreen coreano coreano koreaans корейском
"""
"""Codes of languages, and their German, French, Spanish, Italian, Dutch and Russian names.

The Russian ones are as they stand behind "на".
"""


@cache
def language_codes() -> Mapping[str, str]:
    """Map what languages are called, in any of the languages, to their codes."""
    from ragkit.reading.languages import language_names

    codes = {name.lower(): code for code, name in language_names().items()}
    for line in _LANGUAGES.strip().splitlines():
        code, *names = line.split()
        codes |= dict.fromkeys(names, code)
    return codes


@cache
def programming_languages() -> frozenset[str]:
    """Return the programming languages that ``type:`` may name."""
    from ragkit.reading.formats import CODE_SUFFIXES

    return frozenset(CODE_SUFFIXES.values())


@cache
def forms() -> Mapping[str, str]:
    """Map formats, suffixes and programming languages to the values of ``type:`` for them."""
    from ragkit.reading.formats import CODE_SUFFIXES, DOCUMENT_SUFFIXES, Format

    named = {suffix[1:]: suffix[1:] for suffix in DOCUMENT_SUFFIXES}
    named |= {suffix[1:]: language for suffix, language in CODE_SUFFIXES.items()}
    named |= {name: name for name in (*CODE_SUFFIXES.values(), *map(str, Format))}
    named |= _FORMS
    return {name: type_ for name, type_ in named.items() if name not in _NO_FORMS}


def _time(mark: str = "") -> str:
    """Return the pattern of a day, month or year; ``mark`` ends the names of its groups."""
    by_length = "|".join(sorted(MONTHS, key=len, reverse=True))
    year = r"(?:19|20)\d\d(?![\w-])"
    return (
        rf"(?P<iso{mark}>(?:19|20)\d\d-\d\d(?:-\d\d)?(?![\w-]))"
        rf"|(?:(?P<d1{mark}>\d{{1,2}})(?:st|nd|rd|th|er|\.)? (?:de |of )?)?"
        rf"(?P<month{mark}>{by_length})\b"
        rf"(?: (?P<d2{mark}>\d{{1,2}})(?:st|nd|rd|th)?\b(?=,| (?:and|to|until) ))?"
        rf"(?:,? (?:de |of )?(?P<y{mark}>{year}))?"
        rf"|(?P<year{mark}>{year})"
    )


def _in_language() -> str:
    """Return the pattern of "in Japanese", with the preposition of each language's names."""
    from ragkit.reading.languages import language_names

    rows = [line.split() for line in _LANGUAGES.strip().splitlines()]
    german, french, spanish, italian, dutch, russian = (
        "|".join(row[at] for row in rows) for at in range(1, 7)
    )
    english = "|".join(name.lower() for name in language_names().values())
    by_preposition = {
        "in": f"{english}|{german}|{italian}", "auf": german, "en": f"{french}|{spanish}",
        "in het": dutch, "на": russian,
    }  # fmt: skip
    return "|".join(f"{before} (?:{names})" for before, names in by_preposition.items())


@cache
def rules() -> Mapping[str, re.Pattern[str]]:
    """Return the rules, compiled when the first question is asked."""
    from ragkit.reading.languages import language_names

    named = {**_TYPES, "generic": _GENERIC, "kind": _KINDS}
    nouns = "|".join(f"(?P<{name}>{pattern})" for name, pattern in named.items())
    relative = "|".join(
        f"(?P<{which}{kind}>{pattern})"
        for which, table in (("last", _LAST), ("this", _THIS))
        for kind, pattern in table.items()
    )
    seasons = "|".join(SEASONS)
    not_owned = r"(?!['’]s\b)(?!-\w)(?! (?:of|in) \w)"
    english = "|".join(name.lower() for name in language_names().values())
    german = "|".join(line.split()[1] for line in _LANGUAGES.strip().splitlines())
    behind = f"{_ABOUT}|{_FROM}|{_WRITTEN}|{_SINCE}|{_UNTIL}|{_BEFORE}|{_BETWEEN}"
    made = {
        "noun": rf"\b(?:{nouns})(?![\w-])",
        # Without a width, since "find files csv" is "find files" as well.
        "form": rf"(?<![\w-])(?=(?:(?P<name>[a-z][a-z\d+#]+)[- ](?P<part>{_FORM_PARTS})"
        rf"|(?P<before>{_FORM_PARTS}) (?P<behind>[a-z][a-z\d+#]+))(?![\w-]))",
        "asking": rf"{_ASKING}(?:(?P<language>{english}|(?:{german})e[nrs]?) )?",
        "which": r"(?:(?:in )?(?:which|what|welche[nrm]?|quel(?:le)?s?) )",
        "plural": _PLURALS,
        "singular": rf".*\b(?:{_SINGULAR})\b.*",
        "scripts": _SCRIPTS,
        "pages": _PAGES,
        "folder": "folder|directory",
        "named": _NAMED,
        "only about": f" (?:{_ONLY_ABOUT})",
        "joins else": f" (?:{_JOINS_ELSE})",
        "mentions": rf" (?:{_MENTIONS})\b",
        "several": rf".*\b(?:{_SEVERAL}) ",
        "in": rf"\b(?:{_IN_PLACE}|(?:in|aus) den |(?:dans|en) (?:les|mes|nos|los|las) )\Z",
        "about": rf" (?:{_ABOUT})\b",
        "states": rf"\b(?:{_STATES})\b",
        "written": rf"(?:(?:{_WRITTEN}) )",
        "attached": rf" (?:{_ATTACHED})\b",
        "order behind": rf" (?:(?P<newest>{_NEWEST_BEHIND})|(?P<oldest>{_OLDEST_BEHIND}))\b",
        "order last": rf"(?P<apart>\s*[,;:(–—-]\s*|\s+)"
        rf"(?:(?P<newest>{_FIRST['newest']})|(?P<oldest>{_FIRST['oldest']}))"
        r"\)?(?=[\s.!]*\Z| -?\w+:\S)",
        "joins to subject": f" (?:{_ONLY_ABOUT}|on|zu|zum|zur|sur)\\b",
        "question": r"\?|\b(?:who|what|when|where|why|how|which|do|does|did|is|are|was|were|can|"
        r"wer|wie|wann|warum|wo|ist|sind|war|hat|haben|qui|que|quand|comment|pourquoi|est|"
        r"quien|cuando|donde|como|es|son)\b",
        "how": r"(?:how|put|move|copy|save|store|create|delete|wie|comment|como|come|hoe|как)\b",
        "titled": rf" (?:{_KINDS}|{_NAMED})\b",
        "relative": rf"(?<![\w-])(?:(?:{_IN_TIME}|{_SINCE}) )?"
        rf"(?:(?P<day>{'|'.join(DAYS)})|{relative})(?!\w)" + not_owned,
        "absolute": rf"(?<![\w-])(?:(?P<since>{_SINCE})|(?P<until>{_UNTIL})"
        rf"|(?P<before>{_BEFORE})|{_IN_TIME}) (?P<time>{_time()})" + not_owned,
        "span": rf"(?<![\w-])(?:{_BETWEEN}) (?P<time>(?:{_time('_first')}) (?:{_AND}) "
        rf"(?:{_time('_last')}))" + not_owned,
        "season": rf"(?<![\w-])(?:(?P<since>{_SINCE}) |(?P<in>{_IN_TIME}|von) )?"
        rf"(?P<time>(?:last|(?:letzt|vergangen|vorig)e[mnrs]?) (?P<last>{seasons})|"
        rf"(?:l'|l[ae] |el )?(?P<gone>{seasons}) (?:derniere?|pas(?:see?|ad[oa])|scors[oa])|"
        rf"(?P<named>{seasons}) (?:of |de )?(?P<year>(?:19|20)\d\d))(?!\w)" + not_owned,
        "from": rf"(?<![\w-])(?:(?:{_FROM}) |d')",
        "owned": r"\b(?P<name>(?:[^\W\d_]{2,} )?[^\W\d_]{2,})['’]s"
        rf"(?= (?:{'|'.join(named.values())})(?![\w-]))",
        "place": rf"(?<![\w-])(?:(?P<folder>{_IN_FOLDER})|{_IN_PLACE})"
        r"(?P<name>\w[\w-]+(?: \w[\w-]+){0,4})",
        "in language": rf"(?<![\w-])(?P<named>{_in_language()})(?: language| языке)?"
        rf"(?=\s*(?:[,;:.?!]|\Z)| (?:{behind})\b)",
        "code": rf"\b(?P<language>[a-z]{{2,}}) (?:{_CODE_PARTS})(?![\w-])",
    }
    return {name: re.compile(pattern) for name, pattern in made.items()}
