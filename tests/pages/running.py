"""Running the app without a browser."""

from __future__ import annotations

from pathlib import Path

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


def html(app: AppTest) -> str:
    """Everything that the page says in HTML of its own."""
    return "\n".join(str(one.proto.body) for one in app.get("html"))
