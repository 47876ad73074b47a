"""The words by which people name documents, times, senders and places, in four languages.

Patterns are for text without accents and in lower case, of the same length as the question.
"""

from __future__ import annotations

from collections.abc import Mapping

from ragkit import months
from ragkit.indexes.tokenizer import fold

TYPES: Mapping[str, str] = {
    "pdf": "pdfs?|pdf[- ](?:files?|documents?|datei(?:en)?)|(?:fichiers|documents|archivos) pdf",
    "mail": "e-?mails?|mails?|courriels?|correos?(?: electronicos?)?",
    "excel": "spreadsheets?|excel[- ](?:files?|sheets?|dateien?|tabellen?)|tabellenblatter|"
    "feuilles? de calcul|(?:fichiers|archivos) excel|hojas? de calculo",
    "powerpoint": "slides|slide decks?|powerpoints?|powerpoint[- ](?:files?|slides)|presentations?|"
    "folien|prasentation(?:en)?|diapositives|diapos|diapositivas|presentacion(?:es)?",
    "word": "word[- ](?:files?|documents?|dokumente?|dateien?)|"
    "(?:documents|documentos(?: de)?) word",
    "notebook": "(?:jupyter )?notebooks",
    "chat": "chats?|chat logs?|chatverlaufe?",
}
"""What documents of a type are called; the types are those of ``type:``."""

PLURALS = r".*s|.*dateien|.*tabellen|.*blatter|folien|.*en|.*verlaufe|.* (?:pdf|word|excel)"
"""Which of these words are more than one, or as good as."""

SEVERAL = "all|any|every|alle|die|meine|unsere|tous|toutes|les|mes|nos|todos|todas|los|las|mis"
"""What precedes more than one."""

GENERIC = (
    "documents?|files?|everything|anything|dokumente?|dateien?|unterlagen|alles|fichiers?|"
    "documentos?|archivos?"
)
"""What any document is called: not looked for itself."""

KINDS = (
    "notes?|messages?|papers?|meetings?|minutes|letters?|memos?|reports?|invoices?|articles?|posts?|transcripts?|"
    "notizen?|nachrichten?|protokolle?|briefe?|berichte?|rechnung(?:en)?|"
    "lettres?|factures?|rapports?|comptes[- ]rendus|notas?|mensajes?|cartas?|facturas?|"
    "informes?|actas?"
)
"""What documents are called by their content: looked for as well."""

NAMED = (
    "handbook|manual|guide|policy|faq|readme|changelog|wiki|minutes|report|contract|agreement|"
    "memo|notes|paper|thesis|book|newsletter|brochure|specification|spec|glossary|appendix|"
    "handbuch|anleitung|leitfaden|richtlinie|protokoll|bericht|vertrag|notizen|"
    "manuel|rapport|contrat|guia|informe|contrato|reglamento"
)
"""What a document is called by its own name: "in the travel handbook"."""

ASKING = (
    r"(?:please |bitte )?(?:(?:can|could) you )?"
    r"(?:(?:find|show|list|search|get|give|open|zeige?|finde|suche|liste|gib|"
    r"cherche|trouve|montre|liste|affiche|busca|encuentra|muestra|lista)"
    r"(?: (?:me|us|mir|uns|moi|nous|for|nach))?(?:-moi|me)? )?"
    r"(?:(?:all|any|every|only|just|alle|nur|tou(?:s|tes)|todos|todas)(?: of)? )?"
    r"(?:(?:the|my|our|a|an|some|die|der|das|meine|unsere|"
    r"les?|la|l'|mes|nos|des|el|los|las|mis|un[ae]?) )?"
)
"""What may precede the documents that somebody asks for."""

ABOUT = (
    r"about|on|regarding|concerning|mentioning|containing|with|for|of|that|which|where|"
    r"uber|zu|zum|zur|mit|fur|"
    r"sur|avec|pour|concernant|sobre|con|para|acerca de"
)
"""What joins documents to what they are about."""

ONLY_ABOUT = "about|regarding|concerning|mentioning|containing|uber|concernant|sobre|acerca de"

CODE_FILES = "files|scripts|modules|dateien|skripte|fichiers|archivos"
CODE_PARTS = (
    "file|script|module|datei|skript|fichier|archivo|"
    "examples?|code|snippets?|functions?|class(?:es)?|samples?|beispiele?|exemples?|ejemplos?"
)

FROM = "from|by|von|vom|de|par|del?|por"
WRITTEN = (
    "written|sent|received|created|dated|published|geschrieben|gesendet|verschickt|erhalten|"
    "ecrite?s?|envoyee?s?|recue?s?|escritos?|enviad[oa]s?|recibid[oa]s?"
)
"""What says that a time is that of a document."""

IN_PLACE = (
    r"(?:in|from|inside|within) (?:the|our|my) |im |(?:in|aus) (?:der|dem|unsere[mr]|meine[mr]) |"
    r"dans (?:les? |la |l'|notre |mon )|en (?:el|la|los|las|nuestr[oa]|mi) "
)
"""What precedes the name of a document or folder."""

MONTHS: Mapping[str, int] = {
    fold(name): number for name, number in months.named("en", "fr", "de", "es").items()
}
"""Months by their names, without accents."""

IN_TIME = "in|from|of|during|im|vom|aus(?: dem)?|en|de|du|durante"
SINCE = "since|seit|depuis|desde"
UNTIL = "until|till|bis(?: zum)?|jusqu'(?:en|a)|hasta"
BEFORE = "before|vor|avant|antes de"

DAYS: Mapping[str, int] = {
    "yesterday": 1, "gestern": 1, "d'hier": 1, "depuis hier": 1, "ayer": 1,
    "today": 0, "heute": 0, "aujourd'hui": 0, "hoy": 0,
}  # fmt: skip
"""Days by how many have gone since."""

LAST: Mapping[str, str] = {
    "week": "last week|(?:in der )?(?:letzte[nr]?|vergangene[nr]?|vorige[nr]?) woche|"
    "la semaine (?:derniere|passee)|(?:de )?la semana pasada",
    "month": "last month|(?:im )?(?:letzten|vergangenen|vorigen) monat|"
    "le mois (?:dernier|passe)|(?:d)?el mes pasado",
    "year": "last year|(?:im )?(?:letzten|vergangenen|vorigen) jahr|letztes jahr|"
    "l'annee (?:derniere|passee)|l'an dernier|(?:d)?el ano pasado",
}
THIS: Mapping[str, str] = {
    "week": "this week|diese(?:r)? woche|cette semaine|esta semana",
    "month": "this month|diese[mn] monat|ce mois(?:-ci)?|este mes",
    "year": "this year|dieses jahr|diesem jahr|cette annee|este ano",
}
"""Times that are counted from today."""

ATTACHED = (
    r"with (?:an )?attachments?|mit (?:einem )?anhang(?:en)?|avec (?:une )?pieces? jointes?|"
    r"con (?:un )?(?:archivos? )?adjuntos?"
)
