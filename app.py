"""The frame of the app: look, navigation, status, and the page that was asked for."""

from __future__ import annotations

from pages.parts.common import browser, frame

browser.report_clicks()
page = frame.navigation()
with frame.guarded():
    frame.run(page)
frame.status()
