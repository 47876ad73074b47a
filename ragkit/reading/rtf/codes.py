"""Encodings, signs and groups of rich text files.

After "Rich Text Format (RTF) Specification, Version 1.9.1" of Microsoft.
"""

from __future__ import annotations

CHARSETS = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 134: "cp936", 136: "cp950", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251",
    222: "cp874", 238: "cp1250",
}  # fmt: skip
"""The encodings of fonts, by the numbers of their character sets."""

FONT_NAMES = {
    " CE": "cp1250", " Cyr": "cp1251", " Greek": "cp1253", " Tur": "cp1254", "(Hebrew)": "cp1255",
    "(Arabic)": "cp1256", " Baltic": "cp1257", "(Vietnamese)": "cp1258",
}  # fmt: skip
"""The encodings of fonts of Windows 95 and before, by how their names end."""

MACHINES = {"ansi": "cp1252", "mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
SIGNS = {
    "tab": " ", "line": "\n", "softline": "\n", "lbr": "\n", "emspace": " ", "enspace": " ",
    "qmspace": " ", "~": " ", "_": "-", "emdash": "—", "endash": "–", "lquote": "‘",
    "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•", "\\": "\\", "{": "{",
    "}": "}", "\t": " ",
}  # fmt: skip
MARGINS = ("header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf")
BOXES = ("shptxt", "dptxbxtext")
FLOWS = (*BOXES, *MARGINS, "footnote", "annotation")
"""Groups whose paragraphs are none of the text around them."""

KNOWN = (*BOXES, "shpinst", "do", "annotation", "atnauthor", "fldinst", "ud", "footnote")
"""Groups that are read although older programs may ignore them."""

UNSEEN = (
    "colortbl", "pict", "nonshppict", "shprslt", "themedata", "datastore", "latentstyles",
    "listtable", "generator", "listoverridetable", "revtbl", "rsidtbl", "xmlnstbl", "filetbl",
    "objdata", "objclass", "objname", "xe", "tc", "tcn", "rxe", "bkmkstart", "bkmkend", "sp",
    "nonesttables", "fontemb", "fontfile", "pnseclvl", "atnid", "atnref", "atndate", "atnicn",
    "atntime", "atnparent", "ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn",
    "mmathPr",
)  # fmt: skip
"""Groups that hold no text of the document."""
