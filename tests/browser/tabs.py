"""Tabs for one test after the other: a first load in a new one takes three times the work."""

from __future__ import annotations

import time
from collections import deque
from contextlib import suppress
from typing import Any

from playwright.sync_api import Error
from streamlit.proto.BackMsg_pb2 import BackMsg

# A text of the server's own. Elsewhere the tab would get another process, as slow as a new tab.
_AT_REST = "_stcore/health"


class Tabs:
    """Tabs, each in a browser context of its own, that forget everything between tests."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self._tabs: list[Any] = []
        self._taken = 0
        self._asked: list[str] = []
        self._faults: list[str] = []
        self.sent: deque[str] = deque(maxlen=60)
        """The last messages of the pages to the server, each with its second and its clicks."""

    def take(self) -> Any:
        """Return a tab that no other test or window of this test uses."""
        if self._taken == len(self._tabs):
            self._tabs.append(self._new())
        page = self._tabs[self._taken]
        self._taken += 1
        return page

    def give_back(self, url: str) -> tuple[list[str], list[str]]:
        """End what runs in the tabs, which all show one server.

        Returns:
            The addresses that were asked for, and what went wrong.
        """
        try:
            for page in self._tabs[: self._taken]:
                page.goto(f"{url}/{_AT_REST}")
                page.evaluate("() => { sessionStorage.clear(); localStorage.clear(); }")
                page.context.clear_cookies()
                page.context.clear_permissions()
            return self._asked[:], self._faults[:]
        except Error:
            # What was asked of a server that has gone is heard now, not in the next test.
            for page in self._tabs[: self._taken]:
                with suppress(Error):
                    page.goto("about:blank")
            raise
        finally:
            self._taken = 0
            self._asked.clear()
            self._faults.clear()
            self.sent.clear()

    def close(self) -> None:
        for page in self._tabs:
            page.context.close()

    def _new(self) -> Any:
        page = self._browser.new_context().new_page()
        page.set_default_timeout(45_000)
        page.on("request", lambda request: self._asked.append(request.url))
        page.on("console", self._note_refusal)
        page.on("pageerror", self._note_error)
        page.on("websocket", lambda socket: socket.on("framesent", self._note_sent))
        return page

    def _note_sent(self, payload: str | bytes) -> None:
        message = BackMsg()
        message.ParseFromString(payload if isinstance(payload, bytes) else payload.encode())
        rerun = message.rerun_script
        clicks = [
            widget.id.rpartition("-")[2]
            for widget in rerun.widget_states.widgets
            if widget.trigger_value or widget.json_trigger_value
        ]
        what, part = message.WhichOneof("type"), rerun.fragment_id[:6] or "page"
        self.sent.append(f"{time.monotonic():.2f} {what} {part} {' '.join(clicks)}")

    def _note_error(self, error: Any) -> None:
        # Streamlit's own race, which the page recovers from (recover.page.js).
        if str(error).startswith("Bad delta path index"):
            self.sent.append(f"{time.monotonic():.2f} stopped drawing")
        else:
            self._faults.append(str(error))

    def _note_refusal(self, message: Any) -> None:
        if "Content Security Policy" in message.text:
            self._faults.append(message.text)
