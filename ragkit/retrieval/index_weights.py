"""How much vectors and keywords count for a query, by its language and what it names.

An identifier is a name of code, a path, a version, a code of an error. Each form is one that prose
hardly has by itself. Names of companies and genes, years, abbreviations and decimals look like code
at a glance (``YouTube``, ``ALDH1``, ``FY2022``, ``i.e.``, ``2.5``) and are none. Two capital words
in one are as often a company as a class: a class has an article, as the word for a thing has ("the
DiffExecutor", "a ColumnTuple"), and a name mostly has none.
"""

from __future__ import annotations

import re

from ragkit.indexes.analyzer import STOP_WORDS
from ragkit.options import SearchOptions
from ragkit.retrieval.query.encoding import Query

IDENTIFIER_SHARE = 0.4
"""What is left of the vectors' weight when a query holds an identifier."""

FOREIGN_SHARE = 0.1
"""The same in a language that they hardly know: they count where words find nothing."""

# Domains of companies and institutions, which are names.
_DOMAINS = frozenset(["com", "org", "net", "edu", "gov", "int", "mil", "info"])

_YEAR = r"(?:19|20)\d\d(?![\d-])"
_DATE = r"(?!\d\d?\.\d\d?\.(?:19|20)\d\d\b)(?!(?:19|20)\d\d\.\d\d\.\d\d\b)"
_FORMS = re.compile(
    "|".join(
        (
            r"`[^`\s][^`]*`",  # marked as code by whoever wrote it
            r"\w\(\)",  # a call
            r"\w::\w",
            r"[^\W_]_+[^\W_]|(?<!\w)_+[^\W\d_]\w",  # snake_case, _private
            # camelCase; not iPhone, mRNA, macOS, clpC: their first word is short, or no second
            r"(?<!\w)[a-z]{2,}\d*[A-Z][a-z]",
            r"(?<!\w)[A-Z][a-z]+(?:[A-Z][a-z]+){2,}",  # PascalCase of three words
            r"(?<!\w)(?:[Aa]n?|[Tt]he|new) (?:[A-Z][a-z]{2,}){2}(?!\w)",
            r"(?<![\w.])v\d+\.\d",  # v1.2
            rf"(?<![\w.,]){_DATE}\d+(?:\.\d+){{2,}}(?![\w,])",  # 1.2.3
            # ERR-1234, E11000
            rf"(?<!\w)(?:[A-Z]{{2,}}-(?!{_YEAR})\d{{3,}}|[A-Z]+(?!{_YEAR})\d{{4,}})(?!\w)",
            r"(?<!\w)0x[\da-fA-F]{2,}(?!\w)",
            r"(?<![^\s`'\"(])--[a-z][\w-]*\w",  # --name
            r"(?<![^\s`'\"(])(?:~|\.{1,2})?/\w[\w.-]*/\w|(?<!\w)[A-Za-z]:\\\w",  # /etc/hosts, C:\x
        )
    )
)
# Two letters or more on each side: not i.e., U.S., p.m., Ph.D.
_DOTTED = re.compile(r"(?<![\w.@])[A-Za-z_][\w-]*\w(?:/[\w-]+)*(?:\.[A-Za-z]\w+)+")
_SEPARATORS = re.compile(r"[./]")


def index_weights(query: Query, options: SearchOptions) -> tuple[float, float]:
    """Return the weights of vectors and keywords for a query.

    Static vectors know little of identifiers (``holds_identifier``) and of languages in which they
    know less than half of a text's letters: ``IDENTIFIER_SHARE`` or ``FOREIGN_SHARE`` of their
    weight stays and keywords get the rest, unless one index is switched off.
    """
    vector, keyword = options.vector_weight, options.keyword_weight
    if not options.adaptive or vector <= 0 or keyword <= 0:
        return vector, keyword
    if query.vector_share < 0.5:
        left = vector * FOREIGN_SHARE
    elif holds_identifier(query.text):
        left = vector * IDENTIFIER_SHARE
    else:
        return vector, keyword
    return left, keyword + vector - left


def holds_identifier(question: str) -> bool:
    """Return whether something in a question is a name of code, or like one."""
    if _FORMS.search(question):
        return True
    return "." in question and any(map(_is_path, _DOTTED.findall(question)))


def _is_path(dotted: str) -> bool:
    """Tell ``os.path`` and ``src/main.py`` from ``Amazon.com``, ``end.Next`` and ``it.how``."""
    *before, last = _SEPARATORS.split(dotted)
    if last.casefold() in _DOMAINS or last.casefold() in STOP_WORDS:
        return False
    # Two sentences without a space between them; a path of three parts is none.
    return len(before) > 1 or (before[0][0].islower() and not last[0].isupper())
