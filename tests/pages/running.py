"""Running the app without a browser."""

from __future__ import annotations

import json
from pathlib import Path

from streamlit.components.v2.bidi_component.main import _make_trigger_id
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData
from streamlit.testing.v1 import AppTest

from ragkit.indexing.writer import writer_lock
from ragkit.library import Library

APP = Path(__file__).resolve().parents[2] / "app.py"


def run(library: Library, page: str = "", /, **query: str | list[str]) -> AppTest:
    """A page as it is drawn first; the library's lock is held, so that no worker is started."""
    with writer_lock(library.paths.lock, "test"):
        app = AppTest.from_file(str(APP), default_timeout=120)
        if page:
            app.run()
            app.switch_page(f"pages/{page}.py")
        for name, value in query.items():
            app.query_params[name] = value
        app.run()
    assert not app.exception
    return app


def break_off(widgets: WidgetStates | None = None) -> None:
    """Have another run begin, as a click elsewhere does while a page is drawn."""
    context = get_script_run_ctx()
    again = RerunData(context.query_string, widgets, context.page_script_hash)
    context.script_requests.request_rerun(again)


def html(app: AppTest) -> str:
    """Everything that the page says in HTML of its own."""
    return "\n".join(str(one.proto.body) for one in app.get("html"))


def again(library: Library, app: AppTest) -> AppTest:
    """Run a page again, with what was done on it."""
    with writer_lock(library.paths.lock, "test"):
        app.run()
    assert not app.exception
    return app


def clicked(app: AppTest, **values: str) -> WidgetStates:
    """What a browser sends when a button or link of a card is clicked, which has these data."""
    listens = next(one for one in app.get("bidi_component") if "actions" in one.proto.id)
    sent = app._tree.get_widget_states()
    event = json.dumps([{"event": "act", "value": values}])
    sent.widgets.add(id=_make_trigger_id(listens.proto.id, "events"), json_trigger_value=event)
    return sent


def click(library: Library, app: AppTest, **values: str) -> AppTest:
    """Click a button or link of a card, which has these data."""
    with writer_lock(library.paths.lock, "test"):
        app._run(clicked(app, **values))
    assert not app.exception
    return app
