"""Full stops that end no sentence: of initials, abbreviations, ordinal numbers, and in links."""

from __future__ import annotations

import re

_LONGEST, _LONGEST_LINK = 22, 300
_LINK = re.compile(r"\[[^\[\]]*\]\((?:[^()\s]*+(?:\s+\"[^\"]*+\")?\))?")
_ABBREVIATION = re.compile(
    r"(?:\b[A-Z]\w*\.?[^\S\n]+[A-HJ-Z]|\b[A-Z]\.[A-Z]|(?<!\w)[А-ЯЁІЇЄҐ]|[\u0e01-\u0e3a]"
    r"|\[\d{1,3}(?:\.\d{1,3})*"
    r"|(?<!\w)(?:[Ee]\.g|[Ii]\.e|[zZ]\. ?B|[dDuU]\. ?[hHaA]|et al|Mrs?|Ms|MM?|Dr|Prof|St|Lt|Col"
    r"|Gen|Capt|Gov|Sen|Rep|Hon|Mgr|Jr|Sra?|Dra|Mme|Mlle|Hrn?|Dipl|Ing|vs|cf|ca|approx|bzw|ggf"
    r"|inkl|Sig|Dott|Avv|Dhr|Mevr|[Uu]l|[Nn]ám|[Оо]бл|[Пп]росп|[Уу]л|[Пп]ер|[Гг]р|[Тт]ов|[Ии]м"
    r"|[Pp]\. ?e[jsx]|[Pp]or ej|[Pp]ar ex|[Nn]p|[Bb]ijv|[Nn]apř|[Ee]sim|[Ff]\.eks|[Tt]\.ex"
    r"|[Öö]rn|[Нн]апр"
    r"|(?<!\d[^\S\n])[гс]|zzgl|evtl|bspw|[Vv]gl|Mio|Mrd|Tsd|Nr|Abs|Abb|Nos?|Figs?|Eqs?|Vol"
    r"|pp))\s?\.[^\S\n]+$"
)
_BEFORE_NUMBER = re.compile(
    r"(?<![\w.])(?:[a-zčа-я]|кв|рис|стр|табл|корп|[NSZ]|[Aa]rt|Anm|Av|Bd|Bl"
    r"|[Cc]ap|[Cc]h(?:ap)?|[Ee]d|[Ff]n|Kap|[Mm]ax|[Mm]in"
    r"|[Nn]o|[Nn]úm|[Pp]ara?|[Rr]n|Rz|[Ss]ect?|Std|Str|Tab|[Tt]el|vol|Ziff"
    r"|Mon|Tue|Wed|Thu|Fri|Sat|Sun|Mo|Di|Mi|Do|Fr|Sa|So"
    r"|Jan|Feb|Mar|Mär|Apr|Jun|Jul|Aug|Sept?|O[ck]t|Nov|De[cz])\.[^\S\n]+$"
)
_BEFORE_CODE = re.compile(
    r"(?<![\w.])(?:[Aa]rt|[Cc]at|[Ii]nv|[Nn]os?|[Nn]r|[Nn]úm|[Pp]os|[Rr]ef|[Ss]er|[Tt]ab)"
    r"\.[^\S\n]+$"
)
_CODE = re.compile(r"[A-Z]{1,6}[-/.]?\d")
_NUMBER = re.compile(r"(?:[Nn]r|(?<!\w)[Nn]os?)\.\s+$")
_ORDINAL = re.compile(
    r"\b(?:[Aa][bm]|[Bb]eim|[Bb]is|[Dd](?:as|e[mnrs]|ie)|[Ii]m|[Ss]eit|[Vv]om|[Zz]u[mr])"
    r"[^\S\n]+\d{1,3}\.[^\S\n]+$"
)
_MONTH = re.compile(
    r"(?<=\d\.[^\S\n])(?:Jan|Jän|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)[a-zä]*(?:\.|\b)"
)


def is_within_sentence(text: str, start: int, at: int) -> bool:
    """Return whether a sentence from ``start`` on does not end with the full stop before ``at``.

    ``at`` is behind the white space after it: "et al. ", "p. " before a number, "part no. " before
    "VX-2231", "am 3. " or "3. " before a month in German, "14.2. " in the text or title of a link.
    """
    opened = text.rfind("[", max(start, at - _LONGEST_LINK), at)
    link = _LINK.match(text, opened, at + _LONGEST_LINK) if opened >= 0 else None
    if link and link.end() > at:
        return True
    start = max(start, at - _LONGEST)
    numbered = _CODE.match(text, at) or text[at : at + 1].isdigit()
    return bool(
        _ABBREVIATION.search(text, start, at)
        or _ORDINAL.search(text, start, at)
        or _MONTH.match(text, at)
        or (text[at : at + 1].isdigit() and _BEFORE_NUMBER.search(text, start, at))
        or (numbered and _NUMBER.search(text, start, at))
        or (_CODE.match(text, at) and _BEFORE_CODE.search(text, start, at))
    )
