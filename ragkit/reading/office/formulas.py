"""Formulas of Office files on one line: "(a+b)/2", "x^2", "√(y)"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.reading.xml_names import local_name

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_DEEPEST = 40


def formula_of(element: Element, depth: int = 0) -> str:
    """Return the signs of a formula, or of a part of one, in the order in which they are read."""
    if element.tag == f"{M}t":
        return element.text or ""
    if local_name(element).endswith("Pr") or depth > _DEEPEST:
        return ""

    def part(name: str) -> str:
        found = element.find(f"{M}{name}")
        return "" if found is None else formula_of(found, depth + 1)

    kind = element.tag.removeprefix(M)
    if kind == "f":
        return f"{_together(part('num'))}/{_together(part('den'))}"
    if kind in ("sSup", "sSub", "sSubSup"):
        return part("e") + _raised("_", part("sub")) + _raised("^", part("sup"))
    if kind == "rad":
        return f"{part('deg')}√{_together(part('e'))}"
    if kind == "nary":
        sign = element.find(f"{M}naryPr/{M}chr")
        shown = "∫" if sign is None else sign.get(f"{M}val", "")
        return f"{shown}{_raised('_', part('sub'))}{_raised('^', part('sup'))} {part('e')}"
    inside = [formula_of(child, depth + 1) for child in element]
    if kind == "d":
        return f"({', '.join(filter(None, inside))})"
    return ("; " if kind in ("m", "eqArr") else "").join(filter(None, inside))


def _together(part: str) -> str:
    """Return a part of several signs in brackets."""
    return part if part.isalnum() or (part[:1] == "(" and part[-1:] == ")") else f"({part})"


def _raised(sign: str, part: str) -> str:
    return f"{sign}{_together(part)}" if part else ""
