"""Dropping a WhatsApp export into the library, and asking for what one person said in it."""

from __future__ import annotations

import re

from playwright.sync_api import expect
from test_browser_library import drop, expect_found

EXPORT = """\
05/03/2026, 09:12 - Messages and calls are end-to-end encrypted.
05/03/2026, 09:14 - Tamsin Okafor: The zeppelin hangar viewing is on Friday
05/03/2026, 09:15 - Rui Barbosa: I cannot come to the zeppelin hangar
before noon, my train is late
05/03/2026, 09:31 - Tamsin Okafor: Then half past one
"""


def test_a_dropped_export_is_found_by_who_spoke(open_page, served, tmp_path):
    file = tmp_path / "WhatsApp Chat with Hangar.txt"
    file.write_text(EXPORT)
    page = open_page("library")
    drop(page, [file])
    # The watcher may look again at once, so that this can already be the second line.
    expect(page.locator(".st-key-live")).to_contain_text(
        re.compile("1 indexed|1 unchanged"), timeout=20_000
    )

    card = expect_found(page, served, "zeppelin+hangar+speaker:Rui", file.name)
    card.hover()
    card.get_by_text("Details").click()
    card.get_by_role("button", name="Show full passage").click()
    expect(card).to_contain_text("before noon, my train is late")
    expect(card).to_contain_text("Rui Barbosa")

    page.goto(f"{served.url}/?q=zeppelin+hangar+speaker:Philippa")
    page.locator(".rk-state").wait_for()
    expect(page.locator(f'.rk-card[data-path="{file.name}"]')).to_have_count(0)
