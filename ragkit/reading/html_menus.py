"""Menus and other links of a site around the text of a page, which would be found like its text."""

from __future__ import annotations

import re

from ragkit.reading.reading_parts import tidy

MENU = re.compile(
    r"<(nav\b(?!-)|[a-z]\w{0,9}\b(?=[^<>]{0,500}\s(?:role\s*=\s*[\"']?navigation\b"
    r"|id\s*=\s*[\"']?titlearea\b"
    r"|class\s*=\s*(?:[\"']\s*(?:[\w-]+\s+){0,5})?"
    r"(?:nav(?:header|footer|path|-panel)|sphinxsidebar|breadcrumbs?|(?:top|sub|bottom)-?nav"
    r"|tablist|chlink(?:prevnext)?(?:top|bot))(?![\w-]))))"
    r"[^<>]{0,2000}>", re.I,
)  # fmt: skip
"""A menu by its name or role, or as DocBook, Sphinx, Javadoc, Doxygen, Texinfo and GAPDoc name it,
and the name of the project above each page of Doxygen.
The name of the element is a group."""

SELF_LINK = re.compile(
    r"<a\b[^<>]{0,500}\shref\s*=\s*[\"']?#o?(\d{1,7}\b)?[^<>]{0,500}>\s*"
    r"(?:[§¶#◆]|&(?:sect|para|#167|#182|#9670);|(?(1)\1))?(?:\s|&nbsp;|&#160;){0,9}</a\s*>",
    re.I,
)
"""A link from a heading or a numbered line or paragraph ("#o12") to itself."""

_MOST_LINES, _LONGEST_LINE = 8, 4000
_LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\([^()\s]*(?:\s\"[^\"]*\")?\)")
_WORD = re.compile(r"[^\W\d_]+")
_RULE = re.compile(r"\s*(?:-{3,}|\*{3,})\s*")

# Where links between pages lead, as manuals name it, and what else stands beside them.
_WAY_WORDS = """
next previous prev up forward back
weiter zurück nächste nächster nächstes vorherige vorheriger vorheriges hoch aufwärts
suivant suivante précédent précédente monter
siguiente anterior subir arriba
successivo successiva precedente avanti indietro
próximo próxima seguinte acima
volgende vorige omhoog
далее вперёд вперед назад предыдущая следующая вверх
次 次へ 前 前へ 上 上へ 下一页 上一页 上一级 다음 이전 위로
"""
_OTHER_WORDS = """
top home start main index contents content toc bib glossary search help first last fast
table of to the goto go book chapter section part page topic article title cover
inhalt inhaltsverzeichnis stichwortverzeichnis übersicht kapitel abschnitt seite anfang
sommaire accueil table des matières haut chapitre page
inicio índice contenido capítulo página indice sommario inizio capitolo pagina
início sumário inhoud overzicht hoofdstuk содержание оглавление указатель наверх глава
目次 索引 目录 首页 차례 색인
"""
_WAYS = frozenset(_WAY_WORDS.split())
_BESIDE_WAYS = _WAYS.union(_OTHER_WORDS.split())


def without_neighbours(markdown: str) -> str:
    """Return the Markdown of a page without the links at its ends to the pages beside it.

    They name what other pages are about: "Next: Windows, Up: Terminals [Contents]". A page of
    nothing else stays.
    """
    lines = markdown.split("\n")
    shown = [at for at, line in enumerate(lines) if line.strip()]
    ends = {*shown[:_MOST_LINES], *shown[-_MOST_LINES:]}
    dropped = {at for at in ends if _leads_beside(lines[at])}
    if not dropped:
        return markdown
    for order in (shown, shown[::-1]):
        # A rule that parted them from the page parts nothing any more.
        for at in order:
            if at not in dropped and not _RULE.fullmatch(lines[at]):
                break
            dropped.add(at)
    if len(dropped) == len(shown):
        return markdown
    return tidy("\n".join(line for at, line in enumerate(lines) if at not in dropped))


def _leads_beside(line: str) -> bool:
    """Return whether a line is nothing but links to the pages before, after or above."""
    if len(line) > _LONGEST_LINE or "](" not in line:
        return False
    links = [_words(text) for text in _LINK.findall(line)]
    around = _words(_LINK.sub(" ", line))
    if not links or not _BESIDE_WAYS.issuperset(around):
        return False
    if not _WAYS.isdisjoint(around):
        return True
    names = [name for name in links if name]
    alone = len(links) == 1
    return any(not _WAYS.isdisjoint(name) for name in names) and all(
        _BESIDE_WAYS.issuperset(name) if alone else not _BESIDE_WAYS.isdisjoint(name[:2])
        for name in names
    )


def _words(text: str) -> list[str]:
    """Return the words of a text, or of the picture that a link is around."""
    return _WORD.findall(text.partition("](")[0].casefold())
