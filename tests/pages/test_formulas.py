"""Formulas in documents: read as such, seen as such, and nothing else taken for one."""

from __future__ import annotations

import random
import time

import pytest

from pages.parts import rendering
from pages.parts.rendering import Kind
from pages.parts.rendering.formula import Parts, parts_of

MARKDOWN = Kind("markdown")


def html(text: str, *marked: str) -> str:
    marks = [(text.index(word), text.index(word) + len(word)) for word in marked]
    return rendering.blocks(text, (0, len(text)), marks, MARKDOWN)


def said(parts: Parts | None) -> str:
    """Return what is seen: raised after ^, lowered after _, fractions in parentheses."""
    if parts is None:
        return "?"
    signs = {"sup": "^", "sub": "_", "strong": "!"}
    words = []
    for part in parts:
        if isinstance(part, str):
            words.append(part.replace("\u2009", " ").replace("\xa0", " "))
        elif part.style in ("rk-fraction", "rk-stack"):
            words.append(f"[{said(part.inside)}]")
        elif part.style == "rk-matrix-row":
            words.append(f"{said(part.inside)};")
        else:
            words.append(signs.get(part.tag, "") + said(part.inside))
    return "".join(words)


@pytest.mark.parametrize(
    ("tex", "seen"),
    [
        (r"E = mc^2", "E = mc^2"),
        (r"x_i = \frac{a}{b}", "x_i = [a/b]"),
        (r"\frac{a+1}{2}", "[(a + 1)/2]"),
        (r"e^{i\pi}+1=0", "e^iπ + 1 = 0"),
        (r"-x^{-1}", "−x^−1"),
        (r"b \pm c", "b ± c"),
        (r"f(-x) < \sin x, y", "f(−x) < sin x, y"),
        (r"\sum_{i=1}^{n} x_i^2 \le \alpha", "∑_i=1^nx_i^2 ≤ α"),
        (r"\sqrt{x} \cdot \sqrt[3]{y}", "√x · ^3√y"),
        (r"\hat{x}\bar{y}\vec{v}", "x\u0302ȳv\u20d7"),
        (r"A \in \mathbb{R}^{n\times m}", "A ∈ ℝ^n×m"),
        (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", "(1 2 ;3 4 ;)"),
        (r"\begin{aligned}a &= b\\c &= d\end{aligned}", "a  = b ;c  = d ;"),
        (r"\binom{n}{k}", "([n k])"),
        (r"a = b \\ c", "a = b\nc"),
        (r"x > 0 \text{ if } a<b", "x > 0 if a < b"),
    ],
)
def test_a_formula_is_seen_as_on_paper(tex, seen):
    assert said(parts_of(tex)) == seen


@pytest.mark.parametrize(
    "tex", [r"\foo{x}", r"\cancel{x}", "{{{", r"\frac", r"\left(", "x^", "&" * 900]
)
def test_what_has_no_form_here_stays_tex(tex):
    assert parts_of(tex) is None
    text = f"Before ${tex}$ after."
    assert "rk-formula" not in html(text)


@pytest.mark.parametrize(
    "text",
    [
        "We pay $x$ and $x + y$ for it.",
        "So $$\na = b\n$$ holds.",
        r"Both \(a^2\) and \[b_1\] hold.",
        "$$\na\n- b\n= c\n$$",
        "\\[\na^2\n\\]",
        "> $$\n> a^2\n> $$",
        "- one\n\n  $$\n  a^2\n  $$",
        "| a |\n| --- |\n| $x^2$ |",
    ],
)
def test_formulas_are_found(text):
    drawn = html(text)
    assert "rk-formula" in drawn
    assert "$" not in drawn.replace("title=", "")
    assert "<li>" in drawn or not text.startswith("-")
    assert drawn.count("<ul") == text.startswith("- ")


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 to $6.",
        "It costs $5, or 7$ there.",
        "From US$3 + 1 to CA$4 + 2.",
        "Set $HOME/bin:$PATH and $a$b.",
        "Write `$x$` or ``\\(a^2\\)``.",
        "Escaped \\$x^2\\$ is none.",
        "See \\[1\\] and \\(2\\).",
        "Both $ and $ or $$ and $$ mean money, $abc$ is a name.",
        "$$\nopen = a\n\nend",
        "```\n$x^2$\n```",
    ],
)
def test_money_and_code_are_no_formulas(text):
    assert "rk-formula" not in html(text)


def test_a_formula_that_is_found_shows_the_words_that_were_found():
    drawn = html(r"The mass $m = \frac{E}{c^2}$ and $x^2$.", "frac")
    assert r"$m = \<mark>frac</mark>{E}{c^2}$" in drawn
    assert '<span class="rk-formula" title="x^2"><em>x</em><sup>2</sup></span>' in drawn


def test_an_excerpt_shows_a_formula_or_the_rest_of_its_source():
    text = r"The mass $m = x^2$ is large."
    assert rendering.snippet(text, (0, len(text)), [], MARKDOWN) == (
        'The mass <span class="rk-formula"><em>m</em>\u2009=\u2009<em>x</em><sup>2</sup></span>'
        " is large."
    )
    assert rendering.snippet(text, (text.index("x^2"), len(text)), [], MARKDOWN) == (
        "x^2$ is large."
    )


def test_a_formula_cannot_bring_elements_of_its_own():
    drawn = html(r"$\text{<script>alert(1)</script>} = x$ and $a < \href{javascript:alert(1)}{b}$")
    assert "<script" not in drawn
    assert "<a " not in drawn
    assert "&lt;script&gt;" in drawn


@pytest.mark.parametrize(
    "tex",
    [
        "{" * 1900, r"\frac" * 390, r"\left(" * 330, "x_" * 990, r"\begin{pmatrix}" * 130,
        r"\sqrt{" * 300 + "x" + "}" * 300, "x^{" * 450 + "}" * 450, r"\text{" * 300, "'" * 1900,
    ],
    ids=lambda tex: tex[:12],
)  # fmt: skip
def test_hostile_formulas_are_drawn_or_left(tex):
    start = time.process_time()
    drawn = html(f"Before $$ {tex} = 1 $$ after.")
    assert "Before" in drawn
    assert "after." in drawn
    assert time.process_time() - start < 2


@pytest.mark.parametrize("piece", ["\\[\n", "$$\n", "$ ", "$a_", "\\(a", "> $$\n", "[^1]"])
def test_pages_of_marks_take_no_more_time_than_their_length_asks(piece):
    start = time.process_time()
    assert "Kept" in html("Kept\n\n" + piece * 8_000 + "\n\n\\]")
    assert time.process_time() - start < 3


def test_damaged_formulas_are_drawn_or_left():
    chance = random.Random(5)
    bits = [
        "{",
        "}",
        "\\",
        "^",
        "_",
        "&",
        r"\frac",
        r"\left",
        r"\right)",
        r"\begin{matrix}",
        r"\sqrt[",
    ]
    whole = (
        r"\sum_{i=1}^{n} \frac{x_i^2}{\sqrt{b}} \le "
        r"\left( \begin{matrix} 1 & 2 \end{matrix} \right)"
    )
    for _ in range(600):
        tex = whole
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(tex))
            tex = tex[:at] + chance.choice(bits) + tex[at + chance.choice((0, 1, 4)) :]
        assert html(f"Then $${tex}$$ ends.").count("ends.") == 1
