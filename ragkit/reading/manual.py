"""Manual pages (man and mdoc): sections as headings, options as items with what they do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragkit.reading.conversations.messages import safe_text
from ragkit.reading.dates import iso_date
from ragkit.reading.formats import Format
from ragkit.reading.reading_parts import nonempty, one_line, stem, table, tidy, whole_line
from ragkit.reading.roff import Roff, written_arguments
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator

_ALTERNATING = frozenset(("BR", "BI", "IB", "IR", "RB", "RI"))
_JOINED = frozenset(("B", "I", "SM", "SB", "R", "CW", "OP", "SY", "BX"))
_PARAGRAPHS = frozenset(("PP", "P", "LP", "HP", "Pp", "Lp"))
_BULLETS = frozenset(("•", "*", "-", "o", "+", "·", "–", "—", ""))
_DAY_OF_MDOC = re.compile(r"\$Mdocdate:|\$")
_LONGEST_TAG = 160
_ENCLOSED = {
    "Op": "[]", "Sq": "''", "Dq": '""', "Qq": '""', "Ql": "''", "Pq": "()", "Bq": "[]",
    "Brq": "{}", "Aq": "<>",
}  # fmt: skip
_STARTS = {"Oo": "[", "Bo": "[", "Po": "(", "Do": '"', "Qo": '"', "So": "'", "Bro": "{", "Ao": "<"}
_ENDS = {
    "Oc": "]", "Bc": "]", "Pc": ")", "Dc": '"', "Qc": '"', "Sc": "'", "Brc": "}", "Ac": ">",
    "Ap": "'",
}  # fmt: skip
_SYSTEMS = {
    "Ux": "UNIX", "Bx": "BSD", "Fx": "FreeBSD", "Nx": "NetBSD", "Ox": "OpenBSD", "Dx": "DragonFly",
    "At": "AT&T UNIX",
}  # fmt: skip
_SPOKEN = {
    *_ENCLOSED, *_STARTS, *_ENDS, *_SYSTEMS,
    "Fl", "Ar", "Cm", "Ic", "Li", "Nm", "Pa", "Ev", "Va", "Vt", "Fa", "Fn", "Em", "Sy", "Xr",
    "No", "Ns", "Pf", "Xo", "Xc", "Lk", "Mt", "Tn", "Er", "Dv", "An", "Ad", "Ms", "Sx", "Cd",
    "Ta", "St", "Fd", "In", "Ft", "Fo", "Fc", "Nd", "Lb",
}  # fmt: skip
_CLOSING, _OPENING = tuple(".,;:)]?!"), tuple("([")


def read_manual(text: str, name: str, file_format: Format = Format.MANUAL) -> Reading:
    """Read a manual page; its name with its section is the title."""
    page = _Page(text)
    body = tidy("\n".join(page.blocks()))
    title = one_line(page.title) or stem(name)
    return Reading(
        text=f"# {title}\n\n{body}".rstrip(),
        title=title,
        format=file_format,
        markup=Markup.MARKDOWN,
        metadata=nonempty(date=iso_date(page.date)),
    )


class _Page:
    """A page that is being read; ``_open`` says of each list, the outer ones first, if an item is.

    What was read of a paragraph is in ``_words``, and ``_mark`` is what its item begins with.
    """

    def __init__(self, text: str) -> None:
        self.title = self.date = ""
        self._roff = Roff(text)
        self._name = self._mark = ""
        self._is_named = False
        self._words: list[str] = []
        self._open, self._kinds = [False], [""]
        self._fence: list[str] | None = None
        self._heading, self._wants_tag, self._is_tight = "", False, False
        self._long_tag: list[str] | None = None

    def blocks(self) -> Iterator[str]:
        """Yield the lines of the page as Markdown."""
        for name, rest in self._roff.lines():
            if name == "TS":
                yield from (*self._paragraph(), *self._table())
            elif name in ("SH", "SS", "Sh", "Ss"):
                yield from self._section(name, rest)
            else:
                yield from self._line(name, rest)
        yield from (*self._code(), *self._paragraph())

    def _line(self, name: str, rest: str) -> Iterator[str]:
        if name in ("nf", "EX", "Bd", "fi", "EE", "Ed"):
            yield from (*self._code(), *self._paragraph())
            if name in ("nf", "EX") or (name == "Bd" and re.search("-literal|-unfilled", rest)):
                self._fence = []
        elif name in ("TH", "Dt", "Dd"):
            self._head(name, rest)
        elif name in _PARAGRAPHS or name in ("sp", "br", "TP", "TQ", "IP", "RS", "RE"):
            yield from self._layout(name, rest)
        elif name in ("Bl", "It", "El"):
            yield from (*self._code(), *self._list(name, rest))
        elif name == "Sm":
            self._is_tight = rest.strip() == "off"
            (self._words if self._long_tag is None else self._long_tag).append(" ")
        elif name == "Xc" and self._long_tag is not None:
            said, self._long_tag = "".join(self._long_tag), None
            self._tag(said + self._spoken(rest))
        elif self._fence is not None:
            self._fence.append(self._said(name, rest) if name else self._roff.plain(rest))
        elif not name and not rest.strip():
            yield from self._paragraph()
        else:
            yield from self._text(self._said(name, rest), name=name)

    def _text(self, said: str, name: str) -> Iterator[str]:
        """Take a line of text: of a heading, of the tag of an item, or of a paragraph."""
        if not said.strip():
            return
        if self._heading:
            yield from ("", f"{self._heading} {whole_line(said)}", "")
            self._heading = ""
        elif self._long_tag is not None:
            self._long_tag.append(said if self._is_tight else f" {said}")
        elif self._words and (self._is_tight or name in ("UE", "ME")):
            self._words[-1] += said
        elif self._wants_tag:
            self._wants_tag = False
            self._tag(said)
        elif name in ("D1", "Dl"):
            self._words.append(f"\n{said.strip()}\n")
        else:
            self._words.append(f"\n{said.strip()}" if said[:1] == " " else said.strip())

    def _head(self, name: str, rest: str) -> None:
        arguments = self._roff.arguments(rest)
        if name == "Dd":
            self.date = _DAY_OF_MDOC.sub("", " ".join(arguments)).strip()
        elif arguments:
            self._name = arguments[0].lower() if name == "Dt" else ""
            self.title = f"{arguments[0]}({arguments[1]})" if arguments[1:] else arguments[0]
            self.date = self.date or "".join(arguments[2:3])

    def _section(self, name: str, rest: str) -> Iterator[str]:
        yield from (*self._code(), *self._paragraph())
        self._open, self._kinds = [False], [""]
        self._wants_tag = False
        self._heading = "##" if name in ("SH", "Sh") else "###"
        yield from self._text(" ".join(self._roff.arguments(rest)), name)

    def _layout(self, name: str, rest: str) -> Iterator[str]:
        if self._fence is not None:
            self._fence += [""] if name in (*_PARAGRAPHS, "sp") else []
            return
        if name == "br":
            self._words.append("\n")
            return
        if name == "TQ" and self._mark:
            self._wants_tag = True
            return
        if name == "RS" and self._may_be_tag():
            tag = " ".join(self._words)
            self._words.clear()
            self._item("- ")
            self._tag(tag)
        else:
            yield from self._paragraph()
        arguments = self._roff.arguments(rest)
        if name in _PARAGRAPHS and not self._kinds[-1]:
            self._open[-1] = False
        elif name in ("TP", "TQ"):
            self._item("- ")
            self._wants_tag = True
        elif name == "IP" and arguments:
            tag = arguments[0].strip()
            self._item(f"{tag} " if re.fullmatch(r"\d{1,3}[.)]", tag) else "- ")
            if tag not in _BULLETS and self._mark == "- ":
                self._tag(tag)
        elif name == "RS":
            self._open.append(False)
            self._kinds.append("")
        elif name == "RE" and len(self._open) > 1:
            self._open.pop()
            self._kinds.pop()

    def _list(self, name: str, rest: str) -> Iterator[str]:
        """Begin or end a list of mdoc, or an item of it."""
        yield from self._paragraph()
        if name == "Bl":
            self._open.append(False)
            self._kinds.append(rest.split(" ", 1)[0] or "-item")
        elif name == "El" and len(self._open) > 1:
            self._open.pop()
            self._kinds.pop()
        elif name == "It":
            self._item("1. " if self._kinds[-1] == "-enum" else "- ")
            tag = self._spoken(rest)
            if written_arguments(rest)[-1:] == ["Xo"]:
                self._long_tag = [tag]
            elif tag:
                self._tag(tag)

    def _item(self, mark: str) -> None:
        self._open[-1], self._mark = True, mark

    def _may_be_tag(self) -> bool:
        """Return whether a short line before an indentation is what that explains."""
        said = " ".join(self._words).strip()
        return 0 < len(said) < _LONGEST_TAG and not self._mark and said[-1] not in ".:;,"

    def _tag(self, tag: str) -> None:
        """Begin an item by what it explains; a second tag is of the same."""
        tag = whole_line(tag).replace("`", "'")
        if self._words and self._words[-1].endswith("`\n"):
            self._words[-1] = f"{self._words[-1][:-2]}, {tag}`\n"
        else:
            self._words.append(f"`{tag}`\n")

    def _paragraph(self) -> Iterator[str]:
        """Yield what was read of a paragraph, indented below its item."""
        text = re.sub(r" *\n+ *", "\n", re.sub(" {2,}", " ", " ".join(self._words))).strip()
        text = re.sub(r"(?<![^\s(\[])([(\[{]) (?=\S)|(?<=\S) ([)\]}])(?!\S)", r"\1\2", text)
        self._words.clear()
        if not text:
            return
        if self.title and not self._is_named:
            self._is_named = True
            self._remember(text)
        depth = sum(self._open)
        first = "  " * (depth - 1) + self._mark if self._mark else "  " * depth
        self._mark = ""
        lines = safe_text(text).split("\n")
        yield from (first + lines[0], *("  " * depth + line for line in lines[1:]), "")

    def _remember(self, text: str) -> None:
        """Write the title as the page writes its name, where it begins with it."""
        name, bracket, section = self.title.partition("(")
        first = re.split(r"[\s,]", text, maxsplit=1)[0]
        if first.casefold() == name.casefold():
            self.title = f"{first}{bracket}{section}"

    def _code(self) -> Iterator[str]:
        code, self._fence = self._fence, None
        if code and any(map(str.strip, code)):
            before = "  " * sum(self._open)
            yield from (f"{before}```", *(before + line for line in code), f"{before}```", "")

    def _table(self) -> Iterator[str]:
        """Yield a table as tbl has it: options, formats that end in a point, and rows."""
        lines: list[str] = []
        sign = "\t"
        is_format, inside = True, False
        for name, rest in self._roff.lines():
            if name == "TE":
                break
            if is_format and not name:
                if found := re.search(r"tab *\((.)\)", rest):
                    sign = found[1]
                is_format = not rest.rstrip().endswith(".")
            elif name == "T&":
                is_format = True
            elif inside:
                lines[-1] += f" {self._said(name, rest)}"
                inside = not rest.startswith("T}")
            elif not name and not re.fullmatch(r"[\s_=]*", rest):
                lines.append(self._roff.plain(rest))
                inside = rest.rstrip().endswith("T{")
            if not name and rest.startswith("T}"):
                inside = rest.rstrip().endswith("T{")
        rows = [re.sub(r"T[{}]", "", line).split(sign) for line in lines]
        yield from ("", table(rows), "")

    def _said(self, name: str, rest: str) -> str:
        """Return the text of a line, or of a macro within a text."""
        if not name:
            return self._roff.plain(rest)
        if name in _ALTERNATING:
            return "".join(self._roff.arguments(rest))
        if name in _JOINED:
            return " ".join(self._roff.arguments(rest))
        if name in ("UR", "MT"):
            return f"<{self._roff.plain(rest.strip())}>"
        if name in ("URL", "MTO"):
            address, said, after = [*self._roff.arguments(rest), "", "", ""][:3]
            return f"{said} <{address}>{after}".strip()
        if name in ("UE", "ME"):
            return "".join(self._roff.arguments(rest))
        if name == "Nd":
            return f"\u2013 {self._spoken(rest)}"
        if name in ("D1", "Dl") or name.startswith("%"):
            return self._spoken(rest)
        return self._spoken(f"{name} {rest}") if name in _SPOKEN else ""

    def _spoken(self, rest: str) -> str:
        """Return what the macros of a line of mdoc say, one within the other."""
        words = written_arguments(rest)
        trailing = ""
        while words and words[-1] in _CLOSING:
            trailing = words.pop() + trailing
        said = ends = macro = ""
        glue = True
        while words:
            word = words.pop(0)
            if word in _SPOKEN:
                macro = word
                text = self._begun(macro, words)
                ends = _ENCLOSED.get(macro, "  ")[1].strip() + ends
                before, after = macro in _ENDS, macro in _ENCLOSED or macro in _STARTS
                after = after or macro in ("Pf", "Ap")
                glue = glue or macro == "Ns"
            else:
                text = self._roff.plain(word)
                before, after = word in _CLOSING, word in _OPENING
                if macro == "Fl" and not before and not after and word != "|":
                    text = f"-{text}"
            if text:
                said += text if glue or before or self._is_tight else f" {text}"
                glue = after
        return said + ends + trailing

    def _begun(self, macro: str, following: list[str]) -> str:
        """Return what a macro begins with; what that takes of the following words goes."""
        alone = not following or following[0] in _SPOKEN or following[0] in _CLOSING
        if macro == "Nm" and not alone:
            self._name = self._name or self._roff.plain(following[0])
        if macro == "Xr" and following[1:] and following[1] not in _CLOSING:
            return f"{following.pop(0)}({following.pop(0)})"
        if macro == "Pf" and following:
            return self._roff.plain(following.pop(0))
        if alone and macro in ("Nm", "Ar", "Fl"):
            return {"Nm": self._name, "Ar": "file ...", "Fl": "-"}[macro]
        if macro in _ENCLOSED:
            return _ENCLOSED[macro][0]
        return (_STARTS | _ENDS | _SYSTEMS).get(macro, "")
