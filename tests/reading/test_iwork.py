"""Documents of Pages, Numbers and Keynote."""

from __future__ import annotations

from iwork_files import (
    BULLETS,
    NUMBERS,
    document,
    list_style,
    ref,
    runs,
    style,
    text,
)
from reading_files import read

BODY, TITLE, HEADING, PLAIN, LISTED, COUNTED = 2, 30, 31, 32, 33, 34
STYLES = {
    TITLE: style("text-0-paragraphstyle-Title"),
    HEADING: style("own", outline=1),
    PLAIN: style("text-2-paragraphstyle-Body"),
    LISTED: list_style(BULLETS),
    COUNTED: list_style(NUMBERS),
    35: list_style(0),
}


def pages(*, root=None, **objects):
    """A document of Pages with a body, and objects by names such as "o2"."""
    found = {int(name[1:]): each for name, each in objects.items()}
    return {1: (10000, {4: ref(BODY), **(root or {})}), **STYLES, **found}


LEASE = pages(
    o2=text(
        "Lease\nDuties\nPay * on time.\nClean\nsweep\nRepair\u2028soon\nEnd",
        f5=runs(at0=TITLE, at6=HEADING, at13=PLAIN),
        f6={1: [{1: 0, 2: 0}, {1: 34, 2: 1}, {1: 40, 2: 0}]},
        f7=runs(at0=35, at28=LISTED, at52=35),
    )
)


def test_paragraphs_headings_and_lists_of_pages_are_markdown(tmp_path):
    reading = read(tmp_path, "a.pages", document(LEASE))
    assert reading.text == (
        "# Lease\n\n## Duties\n\nPay \\* on time.\n\n- Clean\n  - sweep\n- Repair\n  soon\n\nEnd"
    )
    assert (reading.title, reading.format, reading.markup) == ("Lease", "pages", "markdown")


def test_a_document_whose_objects_are_in_an_inner_archive_is_read(tmp_path):
    reading = read(tmp_path, "a.pages", document(LEASE, inside=True))
    assert reading.text.startswith("# Lease\n\n## Duties")
