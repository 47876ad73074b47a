"""Asking axe what a page lacks for those who cannot see, hear or point."""

from __future__ import annotations

from pathlib import Path

import axe_playwright_python

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text("utf-8")
RUN = """async (options) => (await axe.run(document, options)).violations.flatMap(
  (broken) => broken.nodes.map((node) => [broken.id, node.html, node.failureSummary]))"""
ALLOWED = {
    # Streamlit's drop zone: a section of no meaning that has a name. Its button does the same.
    "presentation-role-conflict": 'data-testid="stFileUploaderDropzone"',
}
"""Rules that a part of Streamlit breaks, with what its element carries."""

EVERYTHING = {"rules": {"target-size": {"enabled": True}}}
COLOURS = {"runOnly": ["color-contrast"]}


def broken(page, options):
    """The rules that a page breaks, with the elements, except for those that are allowed."""
    found = page.evaluate(RUN, options)
    return [one for one in found if ALLOWED.get(one[0], "\0") not in one[1]]
