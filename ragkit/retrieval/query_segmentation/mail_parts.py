"""The parts of a mail that ask for nothing: headers, greeting, sign-off, signature and history."""

from __future__ import annotations

import re

from ragkit.retrieval.query_segmentation.asked_text import blanks_for

_HEADER = (
    r"(?:from|to|cc|bcc|subject|date|sent|reply-to|von|an|betreff|datum|gesendet|de|à|objet|envoyé"
    r"|para|asunto|fecha|enviado)[ \t]*:[^\n]*"
)
_HEADERS = re.compile(
    rf"\s*(?:{_HEADER}\n){{2,}}|\s*(?:subject|betreff|objet|asunto):[^\n]*\n", re.I
)
_WROTE = re.compile(r"\b(?:wrote|schrieb|a écrit|escribió)\b[^\n]{0,60}:\s*\Z", re.IGNORECASE)
_EARLIER_MAIL = re.compile(
    r"^[ \t]*-{2,}[ \t]*(?:original message|forwarded message|ursprüngliche nachricht"
    r"|message d'origine|mensaje original)[ \t]*-{2,}"
    rf"|^(?:from|von|de)[ \t]*:[^\n]*\n(?:{_HEADER}\n){{2,}}",
    re.IGNORECASE | re.MULTILINE,
)
_SIGNATURE = re.compile(
    r"^--[ \t]*\n(?:[^\n]*\n){0,8}[^\n]*\Z|^sent from my [^\n]{1,30}\s*\Z", re.I | re.M
)
_NAMES = (
    r"(?:[ \t]+(?:[A-Z\u00c0-\u00de][\w.'\u2019-]*|all|team|both|everyone|everybody|there|folks"
    r"|again|and|und|et|y|zusammen|tous|todos|à|a)){0,5}[ \t]*"
)
_GREETING = re.compile(
    r"\s*(?i:hi|hello|hey|dear|greetings|good (?:morning|afternoon|evening|day)|hallo|moin|servus"
    r"|guten (?:tag|morgen|abend)|liebe[rs]?|sehr geehrte[rn]?|bonjour|bonsoir|salut|chère?|cher"
    rf"|hola|buen[oa]s (?:días|tardes|noches)|estimad[oa]s?|querid[oa]s?)\b{_NAMES}[,!.:]?[ \t]*\n"
)
_CLOSING = re.compile(
    r"^[ \t]*(?i:(?:(?:kind|best|warm|many|with(?: kind| best)?|with many)(?:est)? )?"
    r"(?:regards|wishes|thanks|greetings)|all the best|best|cheers|yours(?: \w+){0,2}"
    r"|thank you|lots of love|(?:viele|liebe|beste|herzliche|freundliche|mit \w+) grüße?n?|mfg|lg"
    r"|vg|gruß|(?:vielen |besten )?dank|danke|(?:bien )?(?:cordialement|à vous)|merci|gracias"
    r"|(?:un |muchos )?saludos?)\b(?i: (?:a lot|so much|very much|in advance|again|im voraus"
    rf"|schon mal|d'avance|beaucoup|de antemano|cordiales|and|aus))?{_NAMES}[,.!]*[ \t]*$",
    re.MULTILINE,
)
_LAST_LINES = 7
"""A closing line is looked for in the last lines that are not empty."""


def without_mail_parts(text: str) -> str:
    """Return a text with blanks for the parts of a mail that ask nothing; the rest keeps its place.

    A text of nothing else is returned as it is.
    """
    shown = text
    for opening in (_HEADERS, _GREETING):
        match = opening.match(shown)
        if match:
            shown = _blanked(shown, 0, match.end())
    for start in (_history_start(shown), _start(_SIGNATURE.search(shown), shown)):
        if shown[:start].strip():
            shown = _blanked(shown, start, len(shown))
    lines = [line.start() for line in re.finditer(r"^[^\n]*\S", shown, re.MULTILINE)]
    last_lines = lines[-_LAST_LINES] if len(lines) > _LAST_LINES else 0
    for closing in _CLOSING.finditer(shown, last_lines):
        ends = "?" not in shown[closing.end() :]
        shown = _blanked(shown, closing.start(), len(shown) if ends else closing.end())
    return shown if shown.strip() else text


def _history_start(text: str) -> int:
    """Return where an earlier mail begins below the answer to it; else the text's length."""
    end = _start(_EARLIER_MAIL.search(text), text)
    lines = text[:end].splitlines(keepends=True)
    own = len(lines)
    while own and (not lines[own - 1].strip() or lines[own - 1].lstrip().startswith(">")):
        own -= 1
    first_quoted = next((line for line in lines[own:] if line.strip()), "")
    if _WROTE.search(first_quoted):
        return sum(map(len, lines[:own]))
    if first_quoted and own and _WROTE.search(lines[own - 1]):
        # "On 3 March 2026 Anna Karenina <anna@example.org>" may be wrapped before "wrote:".
        own -= 2 if own > 1 and lines[own - 2].strip() else 1
        return sum(map(len, lines[:own]))
    return end


def _start(match: re.Match[str] | None, text: str) -> int:
    return match.start() if match else len(text)


def _blanked(text: str, start: int, end: int) -> str:
    return text[:start] + blanks_for(text[start:end]) + text[end:]
