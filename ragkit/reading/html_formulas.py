"""Formulas of web pages, kept out of the converter's hands: it would escape their signs."""

from __future__ import annotations

import re
from html import unescape

from ragkit.reading.html_nesting import ANY_TAG

_FORMULA = re.compile(
    r"(?P<code><(pre|code|textarea)\b(?:(?!<\2\b).)*?</\2\s*>)"
    r"|<math\b(?P<about>[^<>]*)>(?P<math>(?:(?!<math\b).)*?)</math\s*>"
    r"|<script\b(?P<type>[^<>]*\bmath/tex\b[^<>]*)>(?P<script>[^<>]{1,2000})</script\s*>"
    r"|\\\((?P<inline>[^<>]{1,500}?)\\\)"
    r"|\\\[(?P<display>[^<>]{1,2000}?)\\\]"
    r"|(?P<dollars>\$\$?)(?=[^\s$])(?P<between>[^$<>]{1,500})(?<!\s)(?P=dollars)(?![\w$])",
    re.IGNORECASE | re.DOTALL,
)
_TEX = re.compile(r"<annotation\b[^<>]*\btex\b[^<>]*>(.*?)</annotation\s*>", re.I | re.S)
_TEX_BESIDE = re.compile(r"\salttext\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.I)
_ANNOTATION = re.compile(r"<(annotation(?:-xml)?)\b[^<>]*>.*?</\1\s*>", re.I | re.S)
_SIGNAL = re.compile(r"[\\^_=]")
_STAND_IN = re.compile("\ufdd4(\\d{1,6})\ufdd5")
_STAND_IN_SIGNS = re.compile("[\ufdd4\ufdd5]")


class Formulas:
    """The formulas of one page, in their order."""

    def __init__(self) -> None:
        self._kept: list[str] = []

    def hidden(self, source: str) -> str:
        """Return HTML with something else in the place of each formula."""
        return _FORMULA.sub(self._hide, _STAND_IN_SIGNS.sub("", source))

    def shown(self, text: str) -> str:
        """Return converted text with the formulas in their places."""
        return _STAND_IN.sub(lambda found: self._kept[int(found[1])], text)

    def _hide(self, found: re.Match[str]) -> str:
        if found["code"]:
            return found[0]
        if found["math"] is not None:
            tex = _beside(found["about"], found["math"])
            if not tex:
                return ANY_TAG.sub("", _ANNOTATION.sub("", found["math"]))
            return self._keep("$", tex)
        if found["script"]:
            return self._keep("$$" if "display" in found["type"] else "$", found["script"])
        tex = found["inline"] or found["display"] or found["between"]
        if not _SIGNAL.search(tex):
            return found[0]
        is_display = found["display"] or found["dollars"] == "$$"
        return self._keep("$$" if is_display else "$", unescape(tex))

    def _keep(self, mark: str, tex: str) -> str:
        self._kept.append(f"{mark}{' '.join(tex.split())}{mark}")
        return f"\ufdd4{len(self._kept) - 1}\ufdd5"


def _beside(about: str, inside: str) -> str:
    """Return the TeX that most pages have beside a formula, or ``""``."""
    beside = _TEX_BESIDE.search(about)
    tex = _TEX.search(inside)
    written = tex[1] if tex else (beside[1] or beside[2] or "") if beside else ""
    return unescape(written).strip()
