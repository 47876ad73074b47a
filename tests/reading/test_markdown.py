from __future__ import annotations

import pytest
from reading_files import read


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("```\n# not me\n```\n# A **bold** [link](x) `code`\n", "A bold link code"),
        ("Setext title\n============\n", "Setext title"),
        ("## Only level two\n", "file"),
        ("# One #\n", "One"),
        ('<h1 align="center">Logo <b>Name</b></h1>\n', "Logo Name"),
        ("~~~\n# no\n~~~~\n# yes\n", "yes"),
        ("````\n```\n# no\n````\n# yes\n", "yes"),
        ("# 日本語の題\n", "日本語の題"),
    ],
)
def test_the_title_is_the_first_heading_of_level_one(tmp_path, source, title):
    assert read(tmp_path, "file.md", source).title == title


def test_embedded_images_are_cut_down(tmp_path):
    blob = "QUJD" * 200_000
    reading = read(tmp_path, "a.md", f"# P\n\n![chart](data:image/png;base64,{blob}) end\n")
    assert reading.text == "# P\n\n![chart](embedded-data) end\n"


def test_mdx_loses_its_modules_and_keeps_its_fences(tmp_path):
    reading = read(
        tmp_path,
        "a.mdx",
        "import X from './x'\nexport const meta = {\n  a: 1,\n}\n\n# Title\n\n"
        "import duty is a tax.\n\n```js\nimport y from 'y'\n```\n",
    )
    assert reading.format == "mdx"
    assert reading.text == "# Title\n\nimport duty is a tax.\n\n```js\nimport y from 'y'\n```\n"
