"""Rich text files as Markdown: headings, lists, tables, boxes, notes and comments.

After "Rich Text Format (RTF) Specification, Version 1.9.1" and, of pages that mails hold as rich
text, "[MS-OXRTFEX]: Rich Text Format (RTF) Extensions Algorithm" of Microsoft.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ragkit.reading.blocks import note, title_of, written
from ragkit.reading.comments import comment_line
from ragkit.reading.decode import code_page
from ragkit.reading.fields import drawn_by_field, target_of_field
from ragkit.reading.formats import Format
from ragkit.reading.margins import sections_beside
from ragkit.reading.markdown import metadata_from
from ragkit.reading.reading_parts import one_line
from ragkit.reading.rtf.flow import Flow, whole_letters
from ragkit.reading.titles import choose
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from ragkit.reading.limits import Limits

_TOKEN = re.compile(
    rb"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<hex>[0-9a-fA-F]{2})"
    rb"|\\(?P<sign>.)|(?P<group>[{}])|[\r\n]+|(?P<text>[^\\{}\r\n]+)|\\",
    re.S,
)
_HEADING = re.compile(r"(?:heading (\d)|title)\s*;?", re.IGNORECASE)
_ABOUT, _NUMBER, _TAGS = "info", "number", "tags"
_PARTS = {"fonttbl": "fonts", "stylesheet": "styles", "htmltag": _TAGS, "info": _ABOUT}
_INFO = ("title", "author", "subject", "keywords")
_NEAR_TOP = 8
_CHARSETS = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 134: "cp936", 136: "cp950", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251",
    222: "cp874", 238: "cp1250",
}  # fmt: skip
"""The encodings of fonts, by the numbers of their character sets."""

_FONT_NAMES = {
    " CE": "cp1250", " Cyr": "cp1251", " Greek": "cp1253", " Tur": "cp1254", "(Hebrew)": "cp1255",
    "(Arabic)": "cp1256", " Baltic": "cp1257", "(Vietnamese)": "cp1258",
}  # fmt: skip
"""The encodings of fonts of Windows 95 and before, by how their names end."""

_MACHINES = {"ansi": "cp1252", "mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
_SIGNS = {
    "tab": " ", "line": "\n", "softline": "\n", "lbr": "\n", "emspace": " ", "enspace": " ",
    "qmspace": " ", "~": " ", "_": "-", "emdash": "—", "endash": "–", "lquote": "‘",
    "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•", "\\": "\\", "{": "{",
    "}": "}", "\t": " ",
}  # fmt: skip
_MARGINS = ("header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf")
_BOXES = ("shptxt", "dptxbxtext")
_FLOWS = (*_BOXES, *_MARGINS, "footnote", "annotation")
"""Groups whose paragraphs are none of the text around them."""

_KNOWN = (
    *_BOXES, "shpinst", "do", "annotation", "atnauthor", "fldinst", "ud", "footnote", "htmltag",
)  # fmt: skip
"""Groups that are read although older programs may ignore them."""

_UNSEEN = (
    "colortbl", "pict", "nonshppict", "shprslt", "themedata", "datastore", "latentstyles",
    "listtable", "generator", "listoverridetable", "revtbl", "rsidtbl", "xmlnstbl", "filetbl",
    "objdata", "objclass", "objname", "xe", "tc", "tcn", "rxe", "bkmkstart", "bkmkend", "sp",
    "nonesttables", "fontemb", "fontfile", "pnseclvl", "atnid", "atnref", "atndate", "atnicn",
    "atntime", "atnparent", "ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn",
    "mmathPr",
)  # fmt: skip
"""Groups that hold no text of the document."""


@dataclass(slots=True)
class _Group:
    """What a group has, and hands down to the groups in it.

    ``goes_to`` is where its words go: "flow", "tags" (of a page), the name of a value, or nowhere.
    ``opened`` is the kind of group that it is. Words that only ``repeats`` are those of a page.
    """

    goes_to: str = "flow"
    opened: str = ""
    encoding: str = ""
    fallback: int = 1
    deleted: bool = False
    repeats: bool = False
    font: int = 0
    style: int = 0
    level: int = 0
    depth: int = 0
    listed: bool = False
    in_table: bool = False


@dataclass(slots=True)
class _Field:
    """A field: its code, and where in its paragraph its result begins."""

    code: str = ""
    start: int = 0


def read_rtf(data: bytes, name: str, limits: Limits) -> Reading:  # noqa: ARG001
    """Read a rich text file as Markdown, with headers, footers and comments at its end."""
    text = _RichText(data)
    if text.page:
        return _read_page("".join(text.page), text.values, name)
    body = written([*text.body, *(note(at, words) for at, words in enumerate(text.notes, 1))])
    whole = body + sections_beside(body, text.margins, text.comments)
    title = one_line(text.values.pop("title", ""))
    return Reading(
        text=whole.lstrip(),
        title=choose([title_of(text.body[:_NEAR_TOP]), title, title_of(text.body)], name),
        format=Format.RTF,
        markup=Markup.MARKDOWN,
        metadata=metadata_from(text.values),
    )


def _read_page(page: str, values: dict[str, str], name: str) -> Reading:
    """Read a page in HTML that a mail holds as rich text."""
    from ragkit.reading.html import to_markdown

    return Reading(
        text=to_markdown(whole_letters(page), Format.RTF.label),
        title=choose([one_line(values.pop("title", ""))], name),
        format=Format.RTF,
        markup=Markup.MARKDOWN,
        metadata=metadata_from(values),
    )


class _RichText:
    """The text of a file, and what it has beside it."""

    def __init__(self, data: bytes) -> None:
        self.notes: list[str] = []
        self.margins: list[str] = []
        self.comments: list[str] = []
        self.values: dict[str, str] = {}
        self.page: list[str] = []
        self._is_page = False
        self._encoding = "cp1252"
        self._made: list[int] = []
        self._number = ""
        self._fonts: dict[int, str] = {}
        self._usual_font = 0
        self._styles: dict[int, int] = {}
        self._groups = [_Group()]
        self._flows = [Flow()]
        self._fields: list[_Field] = []
        self._bytes = bytearray()
        self._replaced = 0
        self._starred = self._begins = False
        self._read(data)
        while len(self._groups) > 1:  # of a file that breaks off
            self._close()
        self.body = self._flows[0].ended()
        if len(self._made) == 3 and all(self._made):
            self.values["date"] = "-".join(f"{part:02}" for part in self._made)

    def _read(self, data: bytes) -> None:
        at = 0
        while token := _TOKEN.match(data, at):
            at = token.end()
            if token["hex"]:
                self._store(bytes.fromhex(token["hex"].decode()))
            elif token["text"]:
                self._store(token["text"])
            elif token["group"] == b"{":
                self._say_stored()
                self._replaced = 0
                self._groups.append(replace(self._groups[-1], opened=""))
                self._begins = True
            elif token["group"] == b"}":
                self._say_stored()
                self._replaced = 0
                self._close()
            elif token["sign"] == b"*":
                self._starred = True
            elif token["word"] or token["sign"]:
                self._say_stored()
                word = (token["word"] or token["sign"]).decode("latin-1")
                number = int(token["number"]) if token["number"] else None
                at += number if word == "bin" and number and number > 0 else 0
                self._obey(word, number)
                self._starred = self._begins = False
        self._say_stored()

    # -- words -------------------------------------------------------------------------------

    def _store(self, stored: bytes) -> None:
        """Keep bytes until it is known which letters they are part of."""
        self._begins = False
        left = min(self._replaced, len(stored))
        self._replaced -= left
        self._bytes += stored[left:]

    def _say_stored(self) -> None:
        if self._bytes:
            usual = self._fonts.get(self._usual_font, self._encoding)
            encoding = self._groups[-1].encoding or usual
            self._say(self._bytes.decode(encoding, "replace"))
            self._bytes.clear()

    def _say(self, words: str) -> None:
        group = self._groups[-1]
        if self._is_page and group.goes_to in ("flow", _TAGS):
            self.page += () if group.repeats else (words,)
        elif group.goes_to == "flow":
            if not group.deleted:
                self._flows[-1].say(words)
        elif group.goes_to == "fonts":
            for ending, encoding in _FONT_NAMES.items():
                if words.strip(" ;").endswith(ending):
                    self._fonts.setdefault(group.font, encoding)
        elif group.goes_to == "styles":
            if found := _HEADING.fullmatch(words.strip()):
                self._styles[group.style] = int(found[1] or 1)
        elif group.goes_to == _NUMBER:
            self._number += words
        elif group.goes_to == "code":
            self._fields[-1].code += words
        elif group.goes_to not in ("", _ABOUT, _TAGS):
            self.values[group.goes_to] = self.values.get(group.goes_to, "") + words

    # -- commands ----------------------------------------------------------------------------

    def _obey(self, word: str, number: int | None) -> None:
        group, flow = self._groups[-1], self._flows[-1]
        if word == "u" and number is not None:
            self._replaced = 0
            self._say(chr(number & 0xFFFF))
            self._replaced = group.fallback
            return
        self._replaced = 0
        if word in _SIGNS:
            self._say(_SIGNS[word])
        elif self._is_page and word == "par":
            self._say("\n")
        elif word in ("par", "sect", "\n", "\r") and group.goes_to == "flow":
            self._end_paragraph()
        elif word in ("cell", "row", "nestcell") and group.goes_to == "flow":
            {"cell": flow.end_cell, "row": flow.end_row, "nestcell": self._end_paragraph}[word]()
        elif not (self._begins and self._open(word)) and not self._format(word, number):
            self._declare(word, number)

    def _end_paragraph(self) -> None:
        group = self._groups[-1]
        level = group.level or self._styles.get(group.style, 0)
        depth = group.depth + 1 if group.listed else 0
        self._flows[-1].end_paragraph(
            level=level, depth=depth, number=self._number, in_table=group.in_table
        )
        self._number = ""

    def _format(self, word: str, number: int | None) -> bool:
        """Note how the words that follow look; return whether the command says that."""
        group = self._groups[-1]
        if word == "pard":
            group.style = group.level = group.depth = 0
            group.listed = group.in_table = False
        elif word == "plain":
            group.deleted = False
        elif word == "deleted":
            group.deleted = number != 0
        elif word == "htmlrtf":
            group.repeats = number != 0
        elif word in ("intbl", "itap"):
            group.in_table = number != 0
        elif word == "s":
            group.style = number or 0
        elif word == "ilvl":
            group.depth = number or 0
        elif word == "outlinelevel":
            outline = (number or 0) + 1
            if group.goes_to == "styles":
                self._styles[group.style] = outline if outline < 10 else 0
            group.level = outline if outline < 10 else 0
        elif word == "uc":
            group.fallback = number or 0
        elif word == "f":
            group.font = number or 0
            group.encoding = self._fonts.get(group.font, "")
        else:
            return False
        return True

    def _declare(self, word: str, number: int | None) -> None:
        """Note what the head of a file says of its encodings, and of the day when it was made."""
        if word == "fromhtml":
            self._is_page = True
        elif word == "ansicpg" and number:
            self._encoding = code_page(number)
        elif word in _MACHINES:
            self._encoding = _MACHINES[word]
        elif word == "deff":
            self._usual_font = number or 0
        elif word == "cpg" and number:
            self._fonts[self._groups[-1].font] = code_page(number)
        elif word == "fcharset" and number in _CHARSETS:
            self._fonts[self._groups[-1].font] = _CHARSETS[number]
        elif self._groups[-1].opened == "creatim" and word in ("yr", "mo", "dy"):
            self._made.append(number or 0)

    # -- groups ------------------------------------------------------------------------------

    def _open(self, word: str) -> bool:
        """Begin what a group is, by the command that it begins with; return whether it is one."""
        group = self._groups[-1]
        if word in ("listtext", "pntext", "pn"):
            self._groups[-2 if len(self._groups) > 1 else -1].listed = True
            group.goes_to = "" if word == "pn" else _NUMBER
        elif word in _UNSEEN or (self._starred and word not in _KNOWN):
            group.goes_to = ""
        elif word in _PARTS:
            group.goes_to = _PARTS[word]
        elif word == "creatim":
            group.goes_to = ""
            group.opened = word
        elif word in _INFO and group.goes_to == _ABOUT:
            group.goes_to = word
        elif word == "atnauthor":
            self.values.pop("annotator", None)
            group.goes_to = "annotator"
        elif word == "field":
            self._fields.append(_Field())
            group.opened = word
        elif word == "fldinst" and self._fields:
            group.goes_to = "code"
        elif word == "fldrslt" and self._fields:
            self._fields[-1].start = self._flows[-1].place()
            group.opened = word
        elif group.goes_to == "flow" and word in _FLOWS:
            self._begin_flow(word)
        else:
            return word in _KNOWN
        return True

    def _begin_flow(self, word: str) -> None:
        if word == "footnote":
            self.notes.append("")
            self._flows[-1].mark(f"[^{len(self.notes)}]")
        self._flows.append(Flow())
        group = self._groups[-1]
        self._groups[-1] = _Group(
            opened=word, encoding=group.encoding, font=group.font, fallback=group.fallback
        )

    def _close(self) -> None:
        """End a group, and what it has opened."""
        if len(self._groups) == 1:
            return
        opened = self._groups.pop().opened
        if opened == "field" and self._fields:
            self._say(drawn_by_field(self._fields.pop().code))
        elif opened == "fldrslt" and self._fields:
            if target := target_of_field(self._fields[-1].code):
                self._flows[-1].link(self._fields[-1].start, target)
        elif opened in _FLOWS:
            self._end_flow(opened)

    def _end_flow(self, opened: str) -> None:
        flow = self._flows.pop()
        if opened in _BOXES:
            self._flows[-1].put_beside(flow.ended())
        elif opened in _MARGINS:
            self.margins += flow.lines()
        elif opened == "footnote":
            self.notes[-1] = " ".join(flow.lines())
        elif line := comment_line(self.values.pop("annotator", ""), " ".join(flow.lines())):
            self.comments.append(line)
