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


@pytest.mark.parametrize("source", ["{", "[]", '{"cells": 3}', "[" * 100_000])
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
