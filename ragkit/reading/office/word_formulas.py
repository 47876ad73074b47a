"""Formulas within the lines of Word documents, which the converter moves above their paragraphs."""

from __future__ import annotations

import re

_FORMULA = re.compile(
    rb"<m:oMathPara\b(?:(?!<m:oMathPara\b).)*?</m:oMathPara>"
    rb"|<m:oMath(?:\s[^<>]*)?>(?P<inside>(?:(?!<m:oMath\b).)*?)</m:oMath>",
    re.DOTALL,
)
_PLACE = re.compile("\ufdd5(\\d+)\ufdd6")
_BELOW = re.compile("\ufdd7(\\d+)")
_SPACE = re.compile(r"\s+")


def with_formulas_below(document: bytes) -> bytes:
    """Return a document whose formulas are its last lines, and numbers in their places."""
    inside: list[bytes] = []

    def numbered(formula: re.Match[bytes]) -> bytes:
        if formula["inside"] is None:
            return formula[0]
        inside.append(formula[0])
        return f"<w:r><w:t>\ufdd5{len(inside) - 1}\ufdd6</w:t></w:r>".encode()

    body, found, rest = _FORMULA.sub(numbered, document).rpartition(b"</w:body>")
    if not found:
        return document
    below = (
        f"<w:p><w:r><w:t>\ufdd7{number}</w:t></w:r></w:p><w:p><m:oMathPara>".encode()
        + formula
        + b"</m:oMathPara></w:p>"
        for number, formula in enumerate(inside)
    )
    return body + b"".join(below) + found + rest


def with_formulas_in_place(markdown: str) -> str:
    """Return converted text with the formulas back in their lines, as TeX between dollars."""
    text, *below = _BELOW.split(markdown)
    tex = {
        number: _SPACE.sub(" ", formula.replace("$$", "")).strip()
        for number, formula in zip(below[::2], below[1::2], strict=True)
    }
    return _PLACE.sub(lambda place: f"${tex[place[1]]}$" if tex.get(place[1]) else "", text)
