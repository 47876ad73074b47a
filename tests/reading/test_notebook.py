from __future__ import annotations

import json

import pytest
from reading_files import read

from ragkit.errors import ReadingError


def test_notebooks_keep_prose_code_and_short_outputs(tmp_path):
    notebook = {
        "metadata": {"language_info": {"name": "python"}},
        "cells": [
            {"cell_type": "markdown", "source": ["# Load\n", "words"]},
            {
                "cell_type": "code",
                "source": "print('x')",
                "outputs": [
                    {"output_type": "stream", "text": ["x\n"]},
                    {"output_type": "display_data", "data": {"image/png": "AAAA" * 1000}},
                    {
                        "output_type": "error",
                        "ename": "ValueError",
                        "evalue": "no",
                        "traceback": ["t"],
                    },
                ],
            },
        ],
        "nbformat": 4,
    }
    reading = read(tmp_path, "a.ipynb", json.dumps(notebook))
    assert reading.title == "Load"
    assert reading.text == (
        "# Load\nwords\n\n```python\nprint('x')\n```\n\n"
        "```text\nx\n```\n\n```text\nValueError: no\n```"
    )
    assert reading.metadata == {"language": "python"}


def shown(*outputs):
    """Return a notebook with one cell that shows the outputs."""
    cell = {
        "cell_type": "code",
        "source": "show()",
        "outputs": [{"output_type": "display_data", "data": data} for data in outputs],
    }
    return json.dumps({"cells": [cell], "metadata": {}})


def test_outputs_are_read_as_they_are_shown(tmp_path):
    source = shown(
        {"text/plain": "<IPython.core.display.Markdown object>", "text/markdown": ["**The** rent"]},
        {"text/plain": ["<IPython.core.display.HTML object>"], "text/html": "<b>Shown</b> html"},
        {"text/plain": "<pandas.io.formats.style.Styler at 0x7f1a>",
         "text/html": "<table><tr><th>a</th></tr><tr><td>1</td></tr></table>"},
        {"text/html": ["<p>Only</p>\n", "<p>HTML</p>"]},
        {"text/plain": "   a\n0  1", "text/html": "<table><tr><td>1</td></tr></table>"},
        {"text/plain": "<Figure size 640x480 with 1 Axes>", "image/png": "AAAA"},
        {"text/plain": "<IPython.core.display.HTML object>", "text/html": "<script>x</script>"},
    )  # fmt: skip
    assert read(tmp_path, "a.ipynb", source).text == (
        "```\nshow()\n```\n\n**The** rent\n\n**Shown** html\n\n"
        "| a |\n| --- |\n| 1 |\n\nOnly\n\nHTML\n\n"
        "```text\n   a\n0  1\n```\n\n```text\n<Figure size 640x480 with 1 Axes>\n```\n\n"
        "```text\n<IPython.core.display.HTML object>\n```"
    )


def test_long_outputs_are_shortened_and_end_their_fence(tmp_path):
    lines = "\n".join(f"line {number}" for number in range(30))
    plain = read(tmp_path, "a.ipynb", shown({"text/plain": lines})).text
    assert plain.endswith("line 19\n…\n```")
    rich = read(tmp_path, "b.ipynb", shown({"text/markdown": f"```\n{lines}\n```"})).text
    assert rich.endswith("\n````markdown\n```\n" + lines[: lines.index("\nline 19")] + "\n…\n````")


@pytest.mark.parametrize("source", ["{", "[]", '{"cells": 3}', "[" * 100_000])
@pytest.mark.usefixtures("nothing_collected")
def test_broken_notebooks_fail_with_a_reason(tmp_path, source):
    with pytest.raises(ReadingError) as caught:
        read(tmp_path, "a.ipynb", source)
    assert caught.value.cure


@pytest.mark.parametrize("cut", [60, None])
def test_a_notebook_with_broken_json_is_kept_as_text(tmp_path, cut):
    picture = '"image/png": "iVBORw0KGgo="'
    source = f'{{"cells": [{{"cell_type": "code", "source": "rent = 4"}},\n<<<<<<< HEAD\n {picture}'
    reading = read(tmp_path, "a.ipynb", source[:cut])
    assert reading.text == source[:cut].replace(' "iVBORw0KGgo="', "")
    assert reading.warnings == ("This is not a valid notebook; it was kept as text.",)
    assert (reading.title, reading.markup) == ("a", "plain")


def test_lines_without_ends_stay_lines(tmp_path):
    cells = [{"cell_type": "markdown", "source": ["# Old notebooks", "split lines", "bare"]}]
    reading = read(tmp_path, "old.ipynb", json.dumps({"worksheets": [{"cells": cells}]}))
    assert (reading.title, reading.text) == ("Old notebooks", "# Old notebooks\nsplit lines\nbare")
