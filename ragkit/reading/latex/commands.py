"""What the commands and environments of LaTeX do to the text around them."""

from __future__ import annotations

HEADINGS = (
    "part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph",
)  # fmt: skip
"""Commands of headings, from the highest."""

MARKS = {
    "textbf": "**", "strong": "**", "alert": "**",
    "emph": "*", "textit": "*", "textsl": "*",
    "texttt": "`", "code": "`",
    "sout": "~~", "st": "~~",
}  # fmt: skip
"""Commands whose argument Markdown marks, and the mark."""

_ONE_ARGUMENT = (
    "addbibresource AtBeginDocument AtEndDocument bibliography bibliographystyle "
    "bookmarksetup captionsetup cellcolor cline color columncolor documentclass "
    "enlargethispage excludecomment fontfamily fontseries fontshape foreach geometry "
    "glossary graphicspath hphantom hspace hypersetup hyphenation include "
    "includecomment includegraphics includeonly includepdf index input label linespread "
    "lstset needspace newcounter newif newlength newsavebox nocite pagecolor pagenumbering "
    "pagestyle pgfplotsset phantom refstepcounter RequirePackage rowcolor selectlanguage "
    "setdefaultlanguage setlist setmainfont setmainlanguage setmonofont setotherlanguage "
    "setsansfont sisetup stepcounter subfile thanks theoremstyle thispagestyle tikzset "
    "usebox usecolortheme usefonttheme usepackage usepgfplotslibrary usetheme "
    "usetikzlibrary vphantom vspace"
)
_TWO_ARGUMENTS = (
    "addtocounter addtolength DeclareMathOperator DeclarePairedDelimiter "
    "DeclareRobustCommand fontsize newcolumntype newcommand newcommandx newglossaryentry "
    "newtcolorbox newtheorem numberwithin pdfbookmark providecommand renewcommand rule "
    "setbeamercolor setbeamerfont setbeamertemplate setcounter setlength settowidth titlespacing"
)
_THREE_ARGUMENTS = (
    "addcontentsline DeclareDocumentCommand definecolor newacronym NewDocumentCommand "
    "newenvironment RenewDocumentCommand renewenvironment titleformat"
)

DROPPED = {
    **dict.fromkeys(_ONE_ARGUMENT.split(), 1),
    **dict.fromkeys(_TWO_ARGUMENTS.split(), 2),
    **dict.fromkeys(_THREE_ARGUMENTS.split(), 3),
    "NewDocumentEnvironment": 4,
}
"""Commands that show nothing, with the number of their arguments."""

SHOWN_AFTER = {
    **dict.fromkeys((
        "textcolor", "colorbox", "parbox", "raisebox", "scalebox", "rotatebox", "foreignlanguage",
        "captionof", "textlang", "adjustbox", "markboth", "fontspec", "hyperlink", "hypertarget",
    ), 1),
    **dict.fromkeys(("fcolorbox", "resizebox", "multirow"), 2),
}  # fmt: skip
"""Commands that show their last argument alone, with the number of those before it."""

SYMBOLS = {
    "ss": "ß", "SS": "SS", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å",
    "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð", "th": "þ",
    "TH": "Þ", "dj": "đ", "DJ": "Đ", "ng": "ŋ", "NG": "Ŋ",
    "S": "§", "P": "¶", "dag": "†", "ddag": "‡", "copyright": "©", "textcopyright": "©",
    "textregistered": "®", "texttrademark": "™", "pounds": "£", "textsterling": "£", "euro": "€",
    "texteuro": "€", "EUR": "€", "textyen": "¥", "textdegree": "°", "degree": "°", "celsius": "°C",
    "ldots": "…", "dots": "…", "textellipsis": "…", "textendash": "–", "textemdash": "—",
    "textbullet": "•", "textperiodcentered": "·", "textbackslash": "\\", "textasciitilde": "~",
    "textasciicircum": "^", "textless": "<", "textgreater": ">", "textbar": "|",
    "textunderscore": "_", "textquotedbl": '"', "textquotesingle": "'", "slash": "/", "lq": "‘",
    "rq": "’", "textquoteleft": "‘", "textquoteright": "’", "textquotedblleft": "“",
    "textquotedblright": "”", "glqq": "„", "grqq": "“", "glq": "‚", "grq": "‘", "flqq": "«",
    "frqq": "»", "guillemotleft": "«", "guillemotright": "»", "quotedblbase": "„",
    "quotesinglbase": "‚", "og": "« ", "fg": " »", "textmu": "µ", "textpm": "±", "texttimes": "×",
    "textonehalf": "½", "textonequarter": "¼", "textthreequarters": "¾", "textnumero": "№",
    "textrightarrow": "→", "textleftarrow": "←", "checkmark": "✓", "textordfeminine": "ª",
    "textordmasculine": "º", "textexclamdown": "¡", "textquestiondown": "¿",
    "LaTeX": "LaTeX", "TeX": "TeX", "LaTeXe": "LaTeX2e", "BibTeX": "BibTeX", "XeTeX": "XeTeX",
    "XeLaTeX": "XeLaTeX", "LuaTeX": "LuaTeX", "LuaLaTeX": "LuaLaTeX", "pdfTeX": "pdfTeX",
    "space": " ", "quad": " ", "qquad": " ", "enspace": " ", "thinspace": " ", "nobreakspace": " ",
    "hfill": " ", "hfil": " ", "and": ", ", "par": "\n\n", "newline": "\n", "linebreak": "\n",
    "newpage": "\n\n", "clearpage": "\n\n", "cleardoublepage": "\n\n", "bigskip": "\n\n",
    "medskip": "\n\n", "smallskip": "\n\n", "lbrack": "[", "rbrack": "]", "lbrace": "{",
    "rbrace": "}", "bslash": "\\", "zB": "z. B.", "eg": "e.g.", "ie": "i.e.",
}  # fmt: skip
"""Commands that are a character or a few, and those that end a line or paragraph."""

SIGNS = {
    "&": "&", "%": "%", "$": "$", "_": "_", "{": "{", "}": "}", "#": "#", " ": " ", "\n": " ",
    ",": " ", ";": " ", ":": " ", "!": "", "/": "", "-": "", "@": "", "\t": " ", ">": " ",
}  # fmt: skip
"""What a backslash before a sign stands for."""

ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", '"': "\u0308", "=": "\u0304",
    ".": "\u0307", "c": "\u0327", "v": "\u030c", "H": "\u030b", "u": "\u0306", "k": "\u0328",
    "r": "\u030a", "d": "\u0323", "b": "\u0331", "t": "\u0361",
}  # fmt: skip
"""Commands of accents, and the combining characters."""

MATH = frozenset((
    "math", "displaymath", "equation", "align", "gather", "multline", "eqnarray", "flalign",
    "alignat", "dmath", "IEEEeqnarray", "empheq", "xalignat",
))  # fmt: skip
VERBATIM = frozenset((
    "verbatim", "Verbatim", "lstlisting", "minted", "alltt", "BVerbatim", "LVerbatim",
    "verbatimtab", "semiverbatim",
))  # fmt: skip
CODE_OR_FLOAT = frozenset(("code", "listing"))
"""By themselves they are code; with a caption or code in them they are like figures."""
QUOTES = frozenset(("quote", "quotation", "verse", "displayquote", "epigraph"))
TABLES = frozenset((
    "tabular", "longtable", "supertabular", "xtabular", "xltabular", "tabularx", "tabulary", "tabu",
    "longtabu", "tblr", "array",
))  # fmt: skip
DRAWINGS = frozenset(("tikzpicture", "picture", "pspicture", "axis", "tikzcd", "circuitikz"))
ARGUMENTS = {
    "tabular": 1, "longtable": 1, "supertabular": 1, "xtabular": 1, "xltabular": 2, "tabularx": 2,
    "tabular*": 2, "tabulary": 2, "tabu": 1, "longtabu": 1, "tblr": 1, "array": 1, "minipage": 1,
    "multicols": 1, "wrapfigure": 2, "wraptable": 2, "subfigure": 1, "subtable": 1, "list": 2,
    "adjustbox": 1, "otherlanguage": 1, "spacing": 1, "column": 1, "textblock": 1,
    "thebibliography": 1,
}  # fmt: skip
"""Environments that have arguments which are not text, with their number."""

THEOREMS = {
    "theorem": "Theorem", "lemma": "Lemma", "proposition": "Proposition", "corollary": "Corollary",
    "definition": "Definition", "remark": "Remark", "example": "Example", "proof": "Proof",
    "conjecture": "Conjecture", "exercise": "Exercise", "solution": "Solution", "claim": "Claim",
}  # fmt: skip
"""Environments with a label of their own before the text, unless a file declares another."""
