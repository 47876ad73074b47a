from __future__ import annotations

import pytest
from reading_files import read

from ragkit.types import Markup


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
        ("# my_function_name\n", "my_function_name"),
        ("# **Use `do_it_now`** and *then* p_Add_q__T\n", "Use do_it_now and then p_Add_q__T"),
        (
            "# Option<T> of <b>[fees][1]</b> &amp; ![a heron](h.png)\n",
            "Option<T> of fees & a heron",
        ),
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


def test_front_matter_becomes_metadata_and_leaves_the_text(tmp_path):
    reading = read(
        tmp_path,
        "guide.md",
        "---\ntitle: The Guide\nauthors: [Ann, Bo]\ndate: 2024-05-01\ntags: a, b\n"
        "lang: de\nframework: django\ndraft: false\nweight: 3\nnested: {x: 1}\n---\n\n"
        "# Start\n\nHello\n",
    )
    assert reading.title == "The Guide"
    assert reading.text == "# Start\n\nHello\n"
    assert reading.language == "de"
    assert reading.markup is Markup.MARKDOWN
    assert reading.metadata == {
        "author": "Ann, Bo",
        "date": "2024-05-01",
        "tags": ["a", "b"],
        "lang": "de",
        "framework": "django",
        "draft": False,
        "weight": 3,
    }
    assert reading.warnings == ()


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("May 2024", "2024-05"),
        ("2024-05", "2024-05"),
        ("12/2024", "2024-12"),
        ("3 May 2021", "2021-05-03"),
        ("31 January 2020", "2020-01-31"),
        ("3.2.2021", "2021-02-03"),
        ("13/2/2021", "2021-02-13"),
        ("Sat, 3 May 2021 10:00 +0200", "2021-05-03"),
        ("12 May", None),
        ("10:30", None),
        ("Q3 2024", None),
    ],
)
def test_a_date_has_what_is_written_and_nothing_of_today(tmp_path, written, date):
    reading = read(tmp_path, "a.md", f'---\ndate: "{written}"\n---\nx\n')
    expected = {"date": date} if date else {"date_text": written}
    assert reading.metadata == expected


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("The `pages/` directory of `st`", "The pages/ directory of st"),
        ("A * B, snake_case_name and a `tick", "A * B, snake_case_name and a `tick"),
    ],
)
def test_a_title_of_front_matter_has_no_marks_of_code(tmp_path, title, shown):
    assert read(tmp_path, "guide.md", f"---\ntitle: {title}\n---\n\nHello\n").title == shown


def test_keys_of_front_matter_count_however_they_are_written(tmp_path):
    source = (
        "---\nTitle: Sour cabbage\nAuthor: Ann\nTags: [kitchen]\ntag: jars\nLanguage: de\n"
        "date created: Monday, March 11th 2024, 10:15:22 am\nDate-Modified: 2025-01-02\n---\nx\n"
    )
    reading = read(tmp_path, "a.md", source)
    assert (reading.title, reading.language) == ("Sour cabbage", "de")
    assert reading.metadata == {
        "author": "Ann",
        "date": "2024-03-11",
        "date created": "Monday, March 11th 2024, 10:15:22 am",
        "Date-Modified": "2025-01-02",
        "Language": "de",
        "tags": ["kitchen", "jars"],
    }


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("['#garden', '#compost/hot', 'C#']", ["garden", "compost/hot", "C#"]),
        ('"#garden, #bees"', ["garden", "bees"]),
        ('"#garden #bees"', ["garden", "bees"]),
        ("['#']", None),
    ],
)
def test_a_tag_has_no_sign_before_it(tmp_path, tags, expected):
    reading = read(tmp_path, "a.md", f"---\ntags: {tags}\n---\nx\n")
    assert reading.metadata.get("tags") == expected


def test_a_link_to_a_note_in_front_matter_is_the_name_that_it_shows(tmp_path):
    source = (
        '---\nowner: "[[People/Zoë Ångström|Zoë]]"\nguests: ["[[Bo]]", "[[Work/Cy Lee]]", Di]\n'
        'date: "[[2024-02-03]]"\nnote: "[[Bo]] and [[Cy]]"\n---\nx\n'
    )
    assert read(tmp_path, "a.md", source).metadata == {
        "owner": "Zoë",
        "guests": ["Bo", "Cy Lee", "Di"],
        "date": "2024-02-03",
        "note": "[[Bo]] and [[Cy]]",
    }


def test_a_programming_language_in_front_matter_is_no_natural_language(tmp_path):
    reading = read(tmp_path, "a.md", "---\nlanguage: Python\n---\nx\n")
    assert (reading.language, reading.metadata["language"]) == ("", "Python")


def test_toml_front_matter_is_read(tmp_path):
    reading = read(tmp_path, "a.md", '+++\ntitle = "T"\ndate = 2020-01-02\n+++\nbody')
    assert (reading.title, reading.text, reading.metadata) == ("T", "body", {"date": "2020-01-02"})


@pytest.mark.parametrize(
    "front", ['title: "open\nx: [1', "a: *nowhere", "? [a, b]\n: {c: [", "\t- x: 1\n y"]
)
def test_bad_front_matter_stays_text_with_a_warning(tmp_path, front):
    source = f"---\n{front}\n---\n# Body\nhello\n"
    reading = read(tmp_path, "a.md", source)
    assert reading.text == source
    assert len(reading.warnings) == 1
    assert "YAML" in reading.warnings[0]


def test_yaml_aliases_do_not_explode(tmp_path):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 25)]
    reading = read(tmp_path, "a.md", "---\n" + "\n".join(lines) + "\n---\ntext")
    assert reading.text == "text"
    assert len(str(reading.metadata)) < 10_000


def test_a_rule_at_the_top_is_no_front_matter(tmp_path):
    source = "---\n\nSome prose.\n\n---\n\nMore.\n"
    reading = read(tmp_path, "a.md", source)
    assert reading.text == source
    assert reading.warnings == ()


HEAD = (
    "---\ntitle: st.badge\ndescription: Shows a coloured label.\n"
    "keywords: badge, Label, tag, chip\n---\n"
)
SAID = "Shows a coloured label.\n\nKeywords: tag, chip"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (HEAD, f"# st.badge\n\n{SAID}"),
        (f'{HEAD}\n<Reference of="st.badge" />\n', f'{SAID}\n\n<Reference of="st.badge" />\n'),
        (f"{HEAD}\nOne two three four five six seven.\n", "One two three four five six seven.\n"),
        ("---\ntitle: Only a title\n---\n", "# Only a title"),
        ("---\ntitle: T\n---\n<Toc />\n", "<Toc />\n"),
        ("# Only a heading\n", "# Only a heading\n"),
    ],
)
def test_a_head_that_says_more_than_the_body_is_text(tmp_path, source, text):
    assert read(tmp_path, "badge.md", source).text == text
