"""LaTeX documents, read as Markdown."""

from __future__ import annotations

import re

from ragkit.reading.code import read_code
from ragkit.reading.formats import Format
from ragkit.reading.heads import with_head
from ragkit.reading.latex.blocks import SEPARATORS
from ragkit.reading.latex.macros import expanded, without_comments
from ragkit.reading.latex.rewriter import Rewriter
from ragkit.reading.latex.special import SPECIAL
from ragkit.reading.markdown import first_heading, metadata_from
from ragkit.reading.reading_parts import one_line, stem
from ragkit.types import Markup, Reading

_BEGIN_DOCUMENT = re.compile(r"\\begin[ \t]*\{document\}")
_END_DOCUMENT = re.compile(r"\\end[ \t]*\{document\}")
_WORD = re.compile(r"\w{2}")


def read_latex(text: str, name: str, file_format: Format = Format.LATEX) -> Reading:
    """Read a LaTeX file; one that shows no words, but draws or defines something, is code."""
    source = expanded(without_comments(SEPARATORS.sub(" ", text)))
    begin = _BEGIN_DOCUMENT.search(source)
    preamble, shown = (source[: begin.start()], source[begin.end() :]) if begin else ("", source)
    if begin and (ends := list(_END_DOCUMENT.finditer(shown))):
        shown = shown[: ends[-1].start()]
    rewriter = Rewriter(source, SPECIAL)
    rewriter.rewritten(preamble)
    written = rewriter.rewritten(shown)
    if not _WORD.search(written):
        return read_code(text, name)
    values = rewriter.values
    title = one_line(values.pop("title", ""))
    metadata = metadata_from(dict(values))
    return Reading(
        text=with_head(title, metadata, f"# {title}\n\n{written}" if title else written),
        title=title or first_heading(written) or stem(name),
        format=file_format,
        markup=Markup.MARKDOWN,
        metadata=metadata,
    )
