"""Org files as Markdown: headings, lists, tables, code and links, and every word kept."""

from __future__ import annotations

import re
import time

import pytest

from ragkit.reading.org import read_org

NOTES = r"""#+TITLE: Field notes
#+AUTHOR: Anna Berg
#+DATE: 2026-03-01
#+FILETAGS: :work:harbour:
#+OPTIONS: toc:nil
Before the first heading.
* TODO [#A] Call Tom                       :phone:
  :PROPERTIES:
  :ID: 77-aa
  :EFFORT: 0:30
  :END:
  DEADLINE: <2026-03-05 Thu>
  - [ ] ask for price
    - nested =code= and ~verb~, /slanted/ and +gone+
  1. first
| Crane | Cost |
|-------+------|
| A     |   40 |
|-------+------|
| Sum   |   40 |
After the table[fn:1]. See [[file:plan.org][the plan]], [[https://bare.example]], a/b and 2*3*4.
[fn:1] The note.
#+CAPTION: The crane
#+BEGIN_QUOTE
To be.

Or not.
#+END_QUOTE
#+begin_src python
* not a heading
,* a comma
#+end_src
# a comment
-----
** DONE Sub
    indented text
*bold* is no heading.
"""


def test_an_org_file_is_read_as_markdown():
    reading = read_org(NOTES, "field.org")
    assert reading.text == (
        "# Field notes\n\n"
        "Before the first heading.\n\n"
        "## TODO [#A] Call Tom :phone:\n\n"
        "- EFFORT: 0:30\n\n"
        "DEADLINE: <2026-03-05 Thu>\n\n"
        "- [ ] ask for price\n"
        "  - nested `code` and `verb`, *slanted* and ~~gone~~\n"
        "1. first\n\n"
        "| Crane | Cost |\n| --- | --- |\n| A     |   40 |\n| Sum   |   40 |\n\n"
        "After the table[^1]. See [the plan](plan.org), https://bare.example, a/b and 2*3*4.\n"
        "[^1]: The note.\n"
        "The crane\n\n"
        "> To be.\n>\n> Or not.\n\n"
        "```python\n* not a heading\n* a comma\n```\n\n"
        "\\# a comment\n\n"
        "---\n\n"
        "### DONE Sub\n\n"
        "indented text\n**bold** is no heading."
    )
    assert (reading.title, reading.format, reading.markup) == ("Field notes", "org", "markdown")
    assert reading.metadata == {
        "author": "Anna Berg",
        "date": "2026-03-01",
        "tags": ["work", "harbour"],
    }


def test_without_a_title_the_first_heading_is_the_title():
    reading = read_org("* Cranes\nOld ones.\n* Quays\n", "a.org")
    assert reading.text == "# Cranes\n\nOld ones.\n\n# Quays"
    assert reading.title == "Cranes"
    assert read_org("words", "b/plan.org").title == "plan"


@pytest.mark.parametrize("block", ["example", "src org", "EXPORT html", "comment"])
def test_keywords_inside_blocks_say_nothing_of_the_file(block):
    source = (
        f"* Intro\n#+begin_{block}\n#+title: Not mine\n#+filetags: :no:\n"
        f"#+end_{block.split()[0]}\n#+author: Ann\ntext"
    )
    reading = read_org(source, "a.org")
    assert (reading.title, reading.metadata) == ("Intro", {"author": "Ann"})
    assert "#+title: Not mine\n#+filetags: :no:" in reading.text
    titled = read_org(f"{source}\n#+TITLE: Mine\n#+title: too", "a.org")
    assert (titled.title, titled.metadata) == ("Mine too", {"author": "Ann"})
    assert titled.text.startswith("# Mine too\n\n## Intro\n")


def test_blocks_of_other_names_are_text():
    text = read_org("#+begin_note\nMind *the* gap.\n- one\n#+end_note\nAfter.", "a.org").text
    assert text == "Mind **the** gap.\n\n- one\n\nAfter."


def test_a_block_that_never_ends_keeps_its_text():
    assert read_org("#+BEGIN_SRC\nx = 1", "a.org").text == "```\nx = 1\n```"


@pytest.mark.parametrize("sign", ["*", "/", "=", "~", "[[", "|", "[fn:", "#+begin_", "  - ", ":"])
def test_long_lines_of_signs_take_no_time_and_lose_no_word(sign):
    source = f"{sign * 50_000} word {sign}" + f"\n{sign} other" * 2000
    began = time.process_time()
    text = read_org(source, "a.org").text
    assert time.process_time() - began < 2
    assert re.findall(r"\b(?:word|other)\b", text) == re.findall(r"\b(?:word|other)\b", source)
