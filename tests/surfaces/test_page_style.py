"""The app's styles in the page that the server sends."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from ragkit.surfaces.http.page_style import SCRIPT, PageStyle, read_scripts, read_styles


def served(path: str, accept: str, kind: str) -> tuple[dict[str, str], bytes, list[str]]:
    """What a browser gets of an app that answers in two parts: headers, body, headers asked."""
    asked: list[str] = []

    async def app(scope, _receive, send):
        asked.extend(name.decode() for name, _value in scope["headers"])
        headers = [(b"content-type", kind.encode()), (b"etag", b'"1"'), (b"content-length", b"26")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"<body>words", "more_body": True})
        await send({"type": "http.response.body", "body": b" here</body>"})

    sent: list[dict] = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request"}

    names = {"accept": accept, "if-none-match": '"1"', "accept-encoding": "gzip"}
    scope = {
        "type": "http", "method": "GET", "path": path,
        "headers": [(name.encode(), value.encode()) for name, value in names.items()],
    }  # fmt: skip
    styled = PageStyle(app, "p { color: red }")
    # In a thread of its own: a browser that an earlier test opened runs a loop in this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, styled(scope, receive, send)).result()
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return headers, b"".join(message.get("body", b"") for message in sent[1:]), asked


def test_a_page_ends_with_the_styles_and_no_earlier_copy_counts():
    headers, body, asked = served("/library", "text/html,*/*;q=0.8", "text/html; charset=utf-8")
    assert body == b"<body>words here<style>p { color: red }</style>" + SCRIPT.encode() + b"</body>"
    assert headers["content-length"] == str(len(body))
    assert "etag" not in headers
    assert asked == ["accept"]


def test_all_else_stays_as_it_is():
    whole = b"<body>words here</body>"
    headers, body, asked = served("/static/x.js", "*/*", "text/html")
    assert (body, headers["etag"], len(asked)) == (whole, '"1"', 3)
    assert served("/x.json", "text/html", "application/json")[1] == whole


def test_the_theme_comes_first(tmp_path):
    for name in ("common/theme", "common/a", "search/home"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.css").write_text(f"/* {name} */")
    assert read_styles(tmp_path) == "/* common/theme */\n/* common/a */\n/* search/home */"


def test_scripts_of_all_pages_stand_in_the_page_each_with_names_of_its_own(tmp_path):
    assert read_scripts(tmp_path) == SCRIPT
    (tmp_path / "one.page.js").write_text("const a = 1;\n")
    (tmp_path / "two.page.js").write_text("const a = 2;\n")
    (tmp_path / "other.js").write_text("export default function () {}\n")
    assert read_scripts(tmp_path) == (
        f"{SCRIPT}<script>(() => {{\nconst a = 1;\n}})();\n"
        "(() => {\nconst a = 2;\n})();\n</script>"
    )
