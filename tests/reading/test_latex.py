"""LaTeX files as Markdown: what a reader of the printed page would see, and no commands."""

from __future__ import annotations

import random
import re
import time

import pytest

from ragkit.reading.formats import Format
from ragkit.reading.latex.reader import read_latex
from ragkit.reading.sniffing import sniff

PAPER = r"""\documentclass[11pt]{article}
\usepackage[ngerman]{babel}
\title{On \emph{Harbour} Cranes\thanks{Supported by nobody.}}
\author{Anna Berg \and J\"org M\"uller\\University of Kiel}
\date{March 2026}
\newcommand{\crane}{Big Crane}
\newcommand{\load}[2][5]{#1--#2\,t}
\newcommand{\be}{\begin{equation}} \newcommand{\ee}{\end{equation}}
\newtheorem{thm}{Satz}
\begin{document}
\maketitle
\begin{abstract}
We lift things. % not this
\end{abstract}
\section{Introduction}\label{sec:intro}
The \crane{} lifts \load{10} and \load[3]{7}, see Section~\ref{sec:intro}
and \cite[p.~3]{berg99,tom}.
It costs 5\,\% more\footnote{Prices of 2025, \emph{net}.}. "`Gut"', sagt Stra\ss e.
\be
E = mc^2 \label{e}
\ee
\begin{thm}[Berg]
Every crane falls.
\end{thm}
\subsection*{Parts}
\begin{itemize}
  \item first \textbf{bold}
  \item[Two] second
  \begin{enumerate}
    \item inner
    \item more

     paragraph
  \end{enumerate}
\end{itemize}
\begin{table}[ht]\centering
\caption{Loads by year}
\begin{tabular}{l|r}
\toprule
Year & Load \\ \midrule
2024 & \multicolumn{1}{c}{10} \\
2025 & 12\\[2pt] \cmidrule(lr){1-2}
\end{tabular}
\end{table}
\begin{thebibliography}{9}\bibitem{berg99} Berg, A. Cranes. \end{thebibliography}
\end{document}
left over from a draft
"""

PAPER_AS_MARKDOWN = r"""# On Harbour Cranes

## Abstract

We lift things.

## Introduction

The Big Crane lifts 5–10 t and 3–7 t, see Section [sec:intro]
and [berg99, tom, p. 3].
It costs 5 % more[^1]. „Gut“, sagt Straße.

$$
E = mc^2
$$

**Satz (Berg).**
Every crane falls.

[^1]: Prices of 2025, *net*.

### Parts

- first **bold**
- **Two** second

  1. inner
  2. more

     paragraph

Loads by year

| Year | Load |
| --- | --- |
| 2024 | 10 |
| 2025 | 12 |

## References

- [berg99] Berg, A. Cranes."""


def shown(source: str) -> str:
    return read_latex(source, "a.tex").text


def test_a_paper_is_read_as_it_is_printed():
    reading = read_latex(PAPER, "paper.tex")
    assert reading.text == PAPER_AS_MARKDOWN
    assert reading.title == "On Harbour Cranes"
    assert reading.metadata["author"] == "Anna Berg, Jörg Müller, University of Kiel"
    assert reading.metadata["date"] == "2026-03"
    assert reading.format is Format.LATEX


@pytest.mark.parametrize("name", ["thesis.tex", "letter.LTX", "notes.latex"])
def test_the_name_of_a_file_tells_that_it_is_latex(name):
    assert sniff(name, b"x") is Format.LATEX


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            r"caf\'e, na\"{\i}ve, \v{s}kola, \c{c}a, \'{\'e}, \o re, \AA",
            "café, naïve, škola, ça, é́, øre, Å",
        ),
        ("``quoted'' `so' -- pages 3--4 --- yes", "“quoted” 'so' – pages 3–4 — yes"),
        (r"50\$ \& 7\,\% of \#1, a\_b, \{x\}", "50$ & 7 % of #1, a_b, {x}"),
        (r"\# not a heading", r"\# not a heading"),
        (r"Smith~Jones\\next line", "Smith Jones\nnext line"),
        (r"$x_i = \frac{a}{b}$ and \(y\)", r"$x_i = \frac{a}{b}$ and $y$"),
        (r"costs \$5 and \$6", "costs $5 and $6"),
        (r"Then \[ a = b \tag{3} \] holds.", "Then\n\n$$\na = b\n$$\n\nholds."),
        (
            r"So \begin{align*} a &= b \\ c &= d \nonumber \end{align*}",
            "So\n\n$$\na = b \\\\\nc = d\n$$",
        ),
        (r"\verb|\foo{x}| and \lstinline{a_b}", r"`\foo{x}` and `a_b`"),
        (r"\url{http://x.example/a_b\%20}", "http://x.example/a_b%20"),
        (r"\href{http://y.example}{Why}", "[Why](http://y.example)"),
        (r"\SI{10}{\kilo\metre} away", "10 kilometre away"),
        (r"\textcolor{red}{red} \unknown[opt]{shown}{too}", "red shown too"),
        (
            r"A\kern-.1em B\hskip 1em plus 2pt C \parindent=0pt and \parskip\baselineskip so",
            "A B C and so",
        ),
        (r"\vspace{2cm}Kept \hspace*{1em}too\label{a}\index{b}.", "Kept too."),
        (r"\begin{quote}To be\\ or not.\end{quote}", "> To be\n> or not."),
        (
            "\\begin{verbatim}\n\\section{no} % kept\n\\end{verbatim}",
            "```\n\\section{no} % kept\n```",
        ),
        ("\\begin{verbatim}\n````\nxy\n````\n\\end{verbatim}", "`````\n````\nxy\n````\n`````"),
        ("\\begin{lstlisting}[language=Python]\nx = 1\n\\end{lstlisting}", "```python\nx = 1\n```"),
        (
            "So\\begin{lstlisting}[caption={Of \\emph{two}, one},pos=b]\nx % 2\n\\end{lstlisting}",
            "So\n\nOf *two*, one\n\n```\nx % 2\n```",
        ),
        ("So\\begin{lstlisting}[caption={}]\nx\n\\end{lstlisting}", "So\n\n```\nx\n```"),
        ("So\\begin{BVerbatim}\na % \\b\n\\end{BVerbatim}", "So\n\n```\na % \\b\n```"),
        ("So\\begin{code}\nx % 2\n\\end{code}", "So\n\n```\nx % 2\n```"),
        (
            "\\begin{listing}[t]\n\\begin{minted}{c}\nx % 2\n\\end{minted} % no\n"
            "\\caption{Odd or \\emph{even}}\\label{a}\n\\end{listing}",
            "```c\nx % 2\n```\n\nOdd or *even*",
        ),
        ("one\\begin{comment}\nhidden\n\\end{comment} two", "one two"),
        (r"one\iffalse hidden \first \fi{} two", "one two"),
        ("100\\% sure % a remark\nand on", "100% sure and on"),
        ("first\n\n\nsecond\n  third", "first\n\nsecond\nthird"),
        (
            r"\begin{tikzpicture}\node (a) {Pump}; \draw (a) -- node {flow} (b);\end{tikzpicture}",
            "Pump, flow",
        ),
        ("\\begin{frame}{Plan}\nSteps\\pause\n\\end{frame}", "# Plan\n\nSteps"),
        (
            r"\begin{tabular}{ll}a & b\\ \multicolumn{2}{l}{wide}\\\end{tabular}",
            "| a | b |\n| --- | --- |\n| wide |  |",
        ),
        (
            r"\begin{tabular}{ll}a \& b & cc\\d & e\end{tabular}",
            "| a & b | cc |\n| --- | --- |\n| d | e |",
        ),
        (r"\chapter{Long}\section[short]{Whole title} text", "# Long\n\n## Whole title\n\ntext"),
    ],
)
def test_commands_are_shown_as_on_paper(source, expected):
    assert shown(source) == expected


@pytest.mark.parametrize(
    ("definition", "use", "expected"),
    [
        (
            r"\newcommand{\ragkit}{the engine}",
            r"\ragkit{} and \ragkit.",
            "the engine and the engine.",
        ),
        (r"\newcommand*\who[1]{Dr #1}", r"\who{Berg}, \who X", "Dr Berg, Dr X"),
        (r"\def\pair#1#2{#1 with #2}", r"\pair{salt}{pepper}", "salt with pepper"),
        (
            r"\newcommand{\opt}[2][tea]{#1 or #2}",
            r"\opt{milk}, \opt[juice]{wine}",
            "tea or milk, juice or wine",
        ),
        (r"\newcommand{\outer}{\inner{} twice}\newcommand{\inner}{deep}", r"\outer", "deep twice"),
        (
            r"\newcommand{\bi}{\begin{itemize}}\newcommand{\ei}{\end{itemize}}",
            r"\bi\item one\item two\ei",
            "- one\n- two",
        ),
        (r"\renewcommand{\emph}[1]{\textbf{#1}}", r"\emph{still}", "*still*"),
    ],
)
def test_own_commands_stand_for_what_they_are_defined_as(definition, use, expected):
    assert shown(f"{definition}\n\\begin{{document}}{use}\\end{{document}}") == expected


def test_german_shorthands_count_only_in_german_files():
    source = '\\begin{document}"`Ja"\' und "uber\\end{document}'
    assert shown("\\usepackage[german]{babel}" + source) == "„Ja“ und über"
    assert shown(source.replace('"`', '"').replace("\"'", '"')) == '"Ja" und "uber'


def test_footnotes_stand_below_their_section():
    text = shown(r"\section{A}one\footnote{first}\section{B}two\footnote{second\footnotemark{}}")
    assert text == "# A\n\none[^1]\n\n[^1]: first\n\n# B\n\ntwo[^2]\n\n[^2]: second"


def test_a_part_of_a_document_is_read_alone_and_named_by_its_first_heading():
    reading = read_latex("\\chapter{Tides}\n\\input{figures}\nWater rises.", "ch2.tex")
    assert (reading.title, reading.text) == ("Tides", "# Tides\n\nWater rises.")


def test_a_file_that_only_defines_is_code():
    source = "\\newcommand{\\a}{b}\n\\usepackage{geometry}\n\\setlength{\\parindent}{0pt}"
    reading = read_latex(source, "setup.tex")
    assert reading.format is Format.CODE
    assert "\\setlength" in reading.text


def test_the_last_end_of_the_document_counts():
    code = "\\begin{verbatim}\n\\end{document}\n\\end{verbatim}"
    source = f"\\begin{{document}}{code}\nb\\end{{document}}c"
    assert shown(source).endswith("\nb")


def test_what_is_not_closed_loses_nothing_behind_it():
    text = shown(
        "\\section{Open \n\nThe \\textbf{bold words and "
        "\\begin{itemize}\\item one $5 \\label{x Last words"
    )
    for word in ("Open", "bold", "one", "Last", "words"):
        assert word in text


LONG = 100_000


@pytest.mark.parametrize(
    "source",
    [
        "{" * LONG,
        "}" * LONG,
        "&" * LONG,
        "%" * LONG,
        "\\item" * LONG,
        '"`' * LONG,
        "$ a\n\n" * LONG,
        "\\(" * LONG,
        "\\[" * LONG,
        "$$" * LONG,
        "\\'" * LONG,
        "\\d" * LONG,
        "\\label{" * LONG,
        "\\foo[" * LONG,
        "\\foo[" + "{" * LONG,
        "\\verb|" * LONG,
        "\\begin{a}" * LONG,
        "\\begin{verbatim}" * LONG,
        "\\begin{comment}" * LONG,
        "\\iffalse " * LONG,
        "\\footnote{" * LONG,
        "\\begin{itemize}\\item " * LONG,
        "\\def\\a#1{" * LONG,
        "\\SI{" * LONG,
        "\\newcommand{\\x}[1]{a#1}" * LONG,
        "\\newcommand{\\a}[3]{#1#2#3}" + "\\a{" * LONG,
        "\\newcommand{\\a}{\\a\\a}" + "\\a " * LONG,
        "\\begin{tabular}{l}" + "&\\\\" * LONG + "\\end{tabular}",
        "\\begin{tikzpicture}" + "node {" * LONG + "\\end{tikzpicture}",
        "\\newcommand{\\a}{\\b\\b\\b\\b\\b\\b\\b\\b}\\newcommand{\\b}{\\c\\c\\c\\c\\c\\c\\c\\c}"
        "\\newcommand{\\c}{xxxxxxxx}" + "\\a " * (LONG // 10),
    ],
    ids=lambda source: source[:24],
)
def test_hostile_files_take_no_more_time_than_their_length_asks(source):
    start = time.process_time()
    text = shown(source[: 3 * LONG])
    assert time.process_time() - start < 10
    assert len(text) < 20 * LONG


def test_damaged_files_are_always_read():
    chance = random.Random(7)
    bits = [
        "{", "}", "\\", "$", "[", "]", "%", "&", "\\\\", "\n\n", "\\item", "\\verb|", "\\[", "\\)",
        "\\footnote{", "\\SI{", "\\begin{tabular}{l}", "\\end{tabular}", "\\begin{frame}",
        "\\newcommand{\\a}[2]{#1",
    ]  # fmt: skip
    for _ in range(1_500):
        source = PAPER
        for _ in range(chance.randint(1, 8)):
            at = chance.randrange(len(source))
            source = source[:at] + chance.choice(bits) + source[at + chance.choice((0, 1, 30)) :]
        assert not re.search("[\x1c-\x1f]", shown(source))
