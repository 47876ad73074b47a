"""Formulas in TeX as text with raised, lowered and stacked parts.

latex2mathml understands them. Its MathML is drawn with the builder's own elements, since the page's
sanitiser lets no MathML pass; what has no such form stays TeX.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import lru_cache
from html import unescape
from typing import TYPE_CHECKING, NamedTuple

from pages.parts.rendering.canvas import Canvas, Span

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_LONGEST = 2_000
_MOST_NODES, _DEEPEST = 600, 30
_SIGNAL = re.compile(r"[\\^_={}<>+]")
_NO_VARIABLES = re.compile(r"\s|[^\W\d_]{3}")
_ENVIRONMENT = re.compile(r"(\\(?:begin|end)\{)(aligned|align|gathered|gather)(\})")
_ALIKE = {"aligned": "split", "align": "align*", "gathered": "gather*", "gather": "gather*"}
"""Environments that latex2mathml does not know, or numbers, and those to take in their place."""

_UNSEEN = dict.fromkeys((0x200B, 0x2061, 0x2062, 0x2063, 0x2064))
_SPACED = frozenset("=<>≤≥≠≈≡∼≃≅±∓+−-×·÷∗*∈∉⊂⊆⊃⊇∪∩∧∨→←↔⇒⇐⇔↦∝∣≪≫:")
_OPENING = frozenset("([{⟨|∑∏∫√\u2009")
_ACCENTS = {
    "^": "\u0302", "ˆ": "\u0302", "~": "\u0303", "˜": "\u0303", "¯": "\u0304", "‾": "\u0304",
    "→": "\u20d7", "⃗": "\u20d7", "˙": "\u0307", "¨": "\u0308", "ˇ": "\u030c", "´": "\u0301",
    "`": "\u0300", "˘": "\u0306", "―": "\u0304",
}  # fmt: skip


class Part(NamedTuple):
    """An element of the builder: a tag, its class, and what stands in it."""

    tag: str
    style: str
    inside: tuple[Part | str, ...]


Parts = tuple[Part | str, ...]


def is_formula(tex: str, *, dollar: bool) -> bool:
    """Return whether what stands between two marks is a formula.

    Between dollars there may be sums of money and words, so they need a sign that is one of
    formulas; brackets behind a backslash are often only that.
    """
    bare = tex.strip()
    if not bare or len(tex) > _LONGEST or "\n\n" in tex:
        return False
    return _SIGNAL.search(bare) is not None or (dollar and not _NO_VARIABLES.search(bare))


@lru_cache(maxsize=2_000)
def parts_of(tex: str) -> Parts | None:
    """Return a formula in TeX as parts; ``None`` if it cannot be shown as such."""
    from latex2mathml.converter import convert_to_element

    try:
        known = _ENVIRONMENT.sub(lambda name: f"{name[1]}{_ALIKE[name[2]]}{name[3]}", tex.strip())
        root = convert_to_element(known)
        if sum(1 for _ in root.iter()) > _MOST_NODES:
            return None
        return _parts(root, 0)
    except Exception:  # noqa: BLE001
        # The library has no common class for its errors, and lets some of Python's escape.
        return None


class _UnknownError(Exception):
    """An element that has no form here."""


def _drawn(node: Element, depth: int) -> Iterator[Part | str]:
    if depth > _DEEPEST:
        raise _UnknownError
    form = _FORMS.get(node.tag)
    if form is None:
        raise _UnknownError(node.tag)
    yield from form(node, depth + 1)


def _parts(node: Element, depth: int) -> Parts:
    return tuple(_spaced(_drawn(node, depth)))


def _row(node: Element, depth: int) -> Iterator[Part | str]:
    for child in node:
        yield from _drawn(child, depth)


def _each(node: Element, depth: int, least: int) -> list[Parts]:
    parts = [_parts(child, depth) for child in node]
    if len(parts) < least:
        raise _UnknownError
    return parts


def _text(node: Element, depth: int) -> Iterator[Part | str]:  # noqa: ARG001
    text = unescape(node.text or "").translate(_UNSEEN)
    if not text:
        return
    if text.startswith("\\"):
        raise _UnknownError(text)
    if text in _SPACED:
        yield text if node.get("form") == "prefix" else f"\u2009{text}\u2009"
        return
    variant = node.get("mathvariant", "")
    is_variable = node.tag == "mi" and re.fullmatch("[A-Za-zα-ω]", text) is not None
    if variant.startswith("bold"):
        yield Part("strong", "", (text,))
    elif variant == "italic" or (is_variable and not variant):
        yield Part("em", "", (text,))
    elif node.tag == "mi" and len(text) > 1 and text.isalpha():
        yield f"{text}\u2009"
    else:
        yield text


def _operator(node: Element, depth: int) -> Iterator[Part | str]:
    for part in _text(node, depth):
        yield f"{part}\u2009" if part in (",", ";") else part


def _space(node: Element, depth: int) -> Iterator[Part | str]:  # noqa: ARG001
    if node.get("linebreak") == "newline":
        yield "\n"
    elif not node.get("width", "").startswith(("-", "0")):
        yield " "


def _script(tag: str, parts: Parts) -> Part:
    """Return what is raised or lowered, without the spaces around signs."""
    return Part(tag, "", tuple(p.strip("\u2009") if isinstance(p, str) else p for p in parts))


def _low(node: Element, depth: int) -> Iterator[Part | str]:
    base, low, *_ = _each(node, depth, 2)
    yield from (*base, _script("sub", low))


def _high(node: Element, depth: int) -> Iterator[Part | str]:
    base, high, *_ = _each(node, depth, 2)
    yield from (*base, _script("sup", high))


def _both(node: Element, depth: int) -> Iterator[Part | str]:
    base, low, high, *_ = _each(node, depth, 3)
    yield from (*base, _script("sub", low), _script("sup", high))


def _over(node: Element, depth: int) -> Iterator[Part | str]:
    base, over, *_ = _each(node, depth, 2)
    accent = _ACCENTS.get("".join(_words(over)).strip())
    if accent is None:
        yield from (*base, _script("sup", over))
        return
    letters = "".join(_words(base))
    if len(letters) == 1:
        yield Part("em", "", (unicodedata.normalize("NFC", letters + accent),))
    else:
        yield Part("span", "rk-line-over", base)


def _fraction(node: Element, depth: int) -> Iterator[Part | str]:
    above, below, *_ = _each(node, depth, 2)
    bare = node.get("linethickness", "").startswith("0")
    solidus = Part("span", "rk-copied", (" " if bare else "/",))
    style = "rk-stack" if bare else "rk-fraction"
    yield Part("span", style, (_whole(above), solidus, _whole(below)))


def _whole(parts: Parts) -> Part:
    """Return one side of a fraction; copied as text, several things are in parentheses."""
    if len("".join(_words(parts)).strip()) > 1:
        first, last = (Part("span", "rk-copied", (sign,)) for sign in "()")
        parts = (first, *parts, last)
    return Part("span", "", parts)


def _root(node: Element, depth: int) -> Iterator[Part | str]:
    yield from ("√", Part("span", "rk-line-over", tuple(_spaced(_row(node, depth)))))


def _indexed_root(node: Element, depth: int) -> Iterator[Part | str]:
    base, index, *_ = _each(node, depth, 2)
    yield from (_script("sup", index), "√", Part("span", "rk-line-over", base))


def _table(node: Element, depth: int) -> Iterator[Part | str]:
    yield Part("span", "rk-matrix", tuple(_spaced(_row(node, depth))))


def _table_row(node: Element, depth: int) -> Iterator[Part | str]:
    yield Part("span", "rk-matrix-row", tuple(_spaced(_row(node, depth))))


def _cell(node: Element, depth: int) -> Iterator[Part | str]:
    side = {"left": " rk-from-left", "right": " rk-from-right"}.get(node.get("columnalign", ""), "")
    yield Part("span", f"rk-matrix-cell{side}", (*_spaced(_row(node, depth)), " "))


def _nothing(node: Element, depth: int) -> Iterator[Part | str]:  # noqa: ARG001
    yield ""


def _words(parts: Parts) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield part
        else:
            yield from _words(part.inside)


def _spaced(parts: Iterator[Part | str]) -> Iterator[Part | str]:
    """Leave out the space around a sign that begins a formula, or follows a bracket."""
    before = "("
    for part in parts:
        shown = part
        if (
            isinstance(part, str)
            and part.strip("\u2009") in ("-", "−", "+", "±")
            and before in _OPENING
        ):
            shown = part.strip("\u2009")
        words = "".join(_words((shown,)))
        before = words[-1:] or before
        yield shown


def draw_formula(canvas: Canvas, parts: Parts, span: Span) -> None:
    """Draw a formula in the place of its source."""
    for part in parts:
        if part == "\n":
            canvas.void("br")
        elif isinstance(part, str):
            canvas.put(part, *span)
        else:
            with canvas.element(part.tag, class_=part.style or None):
                draw_formula(canvas, part.inside, span)


_FORMS: dict[str, Callable[[Element, int], Iterator[Part | str]]] = {
    **dict.fromkeys(("math", "mrow", "mstyle", "mpadded"), _row),
    **dict.fromkeys(("mi", "mn", "mtext"), _text),
    "mo": _operator,
    "mspace": _space,
    **dict.fromkeys(("msub", "munder"), _low),
    "msup": _high,
    "mover": _over,
    **dict.fromkeys(("msubsup", "munderover"), _both),
    "mfrac": _fraction,
    "msqrt": _root,
    "mroot": _indexed_root,
    "mtable": _table,
    "mtr": _table_row,
    "mtd": _cell,
    "mphantom": _nothing,
}
