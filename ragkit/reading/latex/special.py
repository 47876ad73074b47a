"""What commands show that treat their arguments in a way of their own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragkit.reading.latex.blocks import CELL, ITEM, ROW, inline, inline_math, marked

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragkit.reading.latex.rewriter import Rewriter

_UNIT = re.compile(r"\\([A-Za-z]{1,30})")
_EMPHASIS = re.compile(r"(\*\*?|`|~~)(?=\S)(.{1,300}?)(?<=\S)\1")
_BEFORE_WORD = re.compile(r"\}*[\w(]")
_DEFINED = re.compile(r"\\[A-Za-z@]+[^{}\\]{0,100}(?=\{)")
_EQUAL = re.compile(r"\\[A-Za-z@]+[ \t]*=?[ \t]*(?:\\[A-Za-z@]+|\S)")
_PARENTHESES = re.compile(r"\([^()\n]{0,20}\)")
_BETWEEN_AUTHORS = re.compile(r"\s*,[\s,]*")
_LENGTHS = (
    "kern hskip vskip mkern mskip parindent parskip baselineskip hsize vsize hoffset voffset "
    "leftskip rightskip tolerance textwidth textheight oddsidemargin evensidemargin topmargin "
    "columnsep tabcolsep"
)
_LENGTH = re.compile(
    r"\s*=?\s*[-+]?"
    r"(?:(?:\d+\.?\d*|\.\d+)\s*(?:true)?(?:pt|pc|in|cm|mm|em|ex|sp|bp|dd|mu)?|\\[A-Za-z]+)"
    r"(?:\s*(?:plus|minus)\s*[-\d.]{1,9}\s*[a-z]{2,5})*"
)
_ESCAPED = re.compile(r"\\([%#&_~{}])")


def value(rewriter: Rewriter, name: str) -> str:
    """Keep a title, the authors or a date, which are shown elsewhere."""
    rewriter.source.optional()
    text = inline(rewriter.argument(), rows=", " if name == "author" else " ")
    if text:
        text = _EMPHASIS.sub(r"\2", text)
        rewriter.values[name] = _BETWEEN_AUTHORS.sub(", ", text).strip(" ,")[:300]
    return ""


def caption(rewriter: Rewriter) -> str:
    """Return the text below a figure or above a table."""
    rewriter.source.optional()
    return f"\n\n{inline(rewriter.argument())}\n\n"


def item(rewriter: Rewriter) -> str:
    """Return the separator of an item, and its label."""
    rewriter.source.skip_overlay()
    label = rewriter.source.optional()
    rewriter.source.skip_overlay()
    rewriter.source.skip_blanks()
    return ITEM + (f"{marked(inline(rewriter.nested(label)), '**')} " if label.strip() else "")


def reference_item(rewriter: Rewriter) -> str:
    """Return the separator of an entry in a list of references, and its key."""
    rewriter.source.optional()
    key = rewriter.source.group().strip()
    rewriter.source.skip_blanks()
    return f"{ITEM}[{key}] "


def citation(rewriter: Rewriter) -> str:
    """Return the keys of the works that are cited, and the notes to them."""
    notes = [rewriter.source.optional(), rewriter.source.optional()]
    keys = ", ".join(key.strip() for key in rewriter.source.group().split(","))
    shown = [keys, *(inline(rewriter.nested(note)) for note in notes if note)]
    return f"[{', '.join(shown)}]" if keys else ""


def link(rewriter: Rewriter) -> str:
    """Return a link with its text."""
    rewriter.source.optional()
    target = address(rewriter)
    text = inline(rewriter.argument())
    return f"[{text}]({target})" if text and target else text or target


def address(rewriter: Rewriter) -> str:
    """Return an address as it is meant."""
    return _ESCAPED.sub(r"\1", rewriter.source.group()).strip()


def printed(rewriter: Rewriter) -> str:
    """Return the first of two arguments: the second is for the outline of a PDF."""
    shown = rewriter.argument()
    rewriter.source.skip(1)
    return shown


def spanning(rewriter: Rewriter) -> str:
    """Return a cell that takes several columns, with empty ones behind it."""
    columns = rewriter.source.group().strip()
    rewriter.source.skip(1)
    more = int(columns) - 1 if columns.isdecimal() and len(columns) < 3 else 0
    return rewriter.argument() + CELL * more


def rule(rewriter: Rewriter) -> str:
    """Pass a rule of a table, with what says how long it is."""
    rewriter.source.take(_PARENTHESES)
    rewriter.source.skip(1)
    return ""


def definition(rewriter: Rewriter) -> str:
    """Pass a definition in the manner of TeX: a name, parameters and a group."""
    if rewriter.source.take(_DEFINED):
        rewriter.source.group()
    return ""


def same(rewriter: Rewriter) -> str:
    """Pass a command that gets the meaning of another."""
    rewriter.source.take(_EQUAL)
    return ""


def length(rewriter: Rewriter) -> str:
    """Pass a length that stands bare behind its command, in the manner of TeX."""
    rewriter.source.take(_LENGTH)
    return ""


def space(rewriter: Rewriter) -> str:
    """Return a space if a word follows at once."""
    return " " if _BEFORE_WORD.match(rewriter.source.text, rewriter.source.at) else ""


def quantity(rewriter: Rewriter) -> str:
    """Return a number and the names of its unit."""
    rewriter.source.optional()
    parts = []
    while rewriter.source.follows("{"):
        parts.append(_UNIT.sub(r"\1", rewriter.source.group()))
    return " ".join(filter(None, parts))


def code(rewriter: Rewriter) -> str:
    """Return code within a line, between braces or two signs of any kind."""
    rewriter.source.optional()
    if rewriter.source.follows("{"):
        return marked(rewriter.source.group(), "`")
    sign = rewriter.source.text[rewriter.source.at : rewriter.source.at + 1]
    rewriter.source.at += 1
    return marked((rewriter.source.up_to(sign, 1000) if sign else "") or "", "`")


SPECIAL: dict[str, Callable[[Rewriter], str]] = {
    "begin": lambda rewriter: rewriter.environment(),
    "title": lambda rewriter: value(rewriter, "title"),
    "author": lambda rewriter: value(rewriter, "author"),
    "date": lambda rewriter: value(rewriter, "date"),
    "frametitle": lambda rewriter: rewriter.heading("subsection"),
    "addchap": lambda rewriter: rewriter.heading("chapter"),
    "addsec": lambda rewriter: rewriter.heading("section"),
    "caption": caption,
    "item": item,
    "bibitem": reference_item,
    **dict.fromkeys(("footnote", "footnotetext"), lambda rewriter: rewriter.footnote()),
    "cite": citation,
    "href": link,
    **dict.fromkeys(("url", "path", "nolinkurl"), address),
    "texorpdfstring": printed,
    "xspace": space,
    "enquote": lambda rewriter: f"“{rewriter.argument()}”",
    "ensuremath": lambda rewriter: inline_math(rewriter.source.group()),
    "multicolumn": spanning,
    "tabularnewline": lambda _rewriter: ROW,
    "cmidrule": rule,
    **dict.fromkeys(("def", "gdef", "edef", "xdef"), definition),
    "let": same,
    **dict.fromkeys(_LENGTHS.split(), length),
    **dict.fromkeys(("SI", "si", "qty", "unit", "SIrange"), quantity),
    **dict.fromkeys(("verb", "lstinline"), code),
}
"""Commands with what reads their arguments and returns what they show."""
