"""Who is answered and who is refused, and what every answer tells the browser."""

from __future__ import annotations

import pytest
from guard_calls import app, ask, said, status

from ragkit.surfaces.http.access import Access
from ragkit.surfaces.http.api_token import ApiToken
from ragkit.surfaces.http.guard import Guard
from ragkit.surfaces.http.place import Place
from ragkit.surfaces.http.refusals import ENTRANCE

_HERE = "localhost:8501"
_BEYOND = ["evil.example:8501", "localhost", "localhost:8502", "localhost:8501.evil.example",
           "evil.localhost:8501", "127.0.0.1:80", "10.0.0.5:8501", "[::1]", "a@localhost:8501",
           "localhost:8501:8501", "localhost:08501", ""]  # fmt: skip
_BEYOND_ORIGINS = ["null", "http://evil.example", "https://localhost:8501", "http://localhost:9999",
                   "http://127.0.0.1:8501", "http://localhost", "http://10.0.0.5:8501",
                   "http://localhost:8501.evil.example", "http://localhost:8501/", ""]  # fmt: skip


@pytest.fixture
def token(tmp_path):
    return ApiToken(tmp_path / "token")


@pytest.fixture
def guard(token):
    return Guard(app, place=Place(8501), token=token, scripts=["'sha256-abc='"])


@pytest.fixture
def access(tmp_path):
    return Access(tmp_path / "access.json")


@pytest.fixture
def locked(access, token):
    return Guard(app, place=Place(8501), token=token, access=access)


@pytest.mark.parametrize("host", [_HERE, "127.0.0.1:8501", "[::1]:8501", "LOCALHOST:8501"])
def test_this_machine_by_any_of_its_names_is_answered(guard, host):
    assert status(ask(guard, host=host)) == 200
    assert status(ask(guard, kind="websocket", host=host, origin=f"http://{host}")) == 101


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize("host", _BEYOND)
def test_another_host_is_refused(guard, kind, host):
    sent = ask(guard, kind=kind, host=host, origin=f"http://{host}")
    assert status(sent) == 421
    assert b"http://localhost:8501" in sent[1]["body"]
    assert "inside" not in str(sent)


def test_no_host_and_two_hosts_are_refused(guard):
    assert status(ask(guard)) == 421
    assert status(ask(guard, headers=[("host", _HERE), ("host", _HERE)])) == 421


@pytest.mark.parametrize("origin", _BEYOND_ORIGINS)
@pytest.mark.parametrize(("kind", "method"), [("http", "GET"), ("http", "PUT"), ("websocket", "")])
def test_another_origin_is_refused(guard, kind, method, origin):
    assert status(ask(guard, kind=kind, method=method, host=_HERE, origin=origin)) == 403


def test_two_origins_are_refused(guard):
    both = [("origin", f"http://{_HERE}"), ("origin", "http://evil.example")]
    assert status(ask(guard, host=_HERE, headers=both)) == 403


def test_a_socket_without_an_origin_is_refused(guard):
    assert status(ask(guard, kind="websocket", host=_HERE)) == 403


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE", "PATCH", "WHATEVER"])
def test_a_change_needs_an_origin(guard, method):
    assert status(ask(guard, method=method, host=_HERE)) == 403
    assert status(ask(guard, method=method, host=_HERE, origin=f"http://{_HERE}")) == 200


@pytest.mark.parametrize(
    ("site", "mode", "target", "method", "expected"),
    [
        ("same-origin", "cors", "empty", "GET", 200),
        ("none", "navigate", "document", "GET", 200),
        ("cross-site", "navigate", "document", "GET", 200),
        ("same-site", "navigate", "document", "GET", 200),
        ("cross-site", "navigate", "iframe", "GET", 403),
        ("cross-site", "navigate", "document", "HEAD", 403),
        ("cross-site", "no-cors", "image", "GET", 403),
        ("same-site", "no-cors", "script", "GET", 403),
        ("strange", "cors", "empty", "GET", 403),
    ],
)
def test_from_another_site_only_a_link_leads_here(guard, site, mode, target, method, expected):
    given = {"sec_fetch_site": site, "sec_fetch_mode": mode, "sec_fetch_dest": target}
    assert status(ask(guard, method=method, host=_HERE, **given)) == expected


def test_every_answer_says_what_browsers_may_do(guard):
    for sent in (ask(guard, host=_HERE), ask(guard, host="evil"), ask(guard)):
        assert said(sent, "X-Frame-Options") == ["DENY"]
        assert said(sent, "X-Content-Type-Options") == ["nosniff"]
        assert said(sent, "Referrer-Policy") == ["no-referrer"]
        assert said(sent, "Cross-Origin-Resource-Policy") == ["same-origin"]
        policy = dict(
            part.split(" ", 1) for part in said(sent, "Content-Security-Policy")[0].split("; ")
        )
        assert policy["default-src"] == "'self'"
        assert policy["script-src"] == "'self' blob: 'sha256-abc='"
        assert policy["frame-ancestors"] == policy["object-src"] == "'none'"
        assert policy["base-uri"] == policy["form-action"] == "'self'"


def test_pages_may_connect_to_their_own_server_alone(guard):
    policy = said(ask(guard, host="127.0.0.1:8501"), "Content-Security-Policy")[0]
    assert "connect-src 'self' ws://127.0.0.1:8501;" in policy
    policy = said(ask(guard, host="evil.example; script-src *"), "Content-Security-Policy")[0]
    assert "evil" not in policy
    assert "connect-src 'self';" in policy


@pytest.mark.parametrize("cookie", [None, "", "ragkit_8501=", "ragkit_8501=wrong", "other=1; =;;,",
                                    "ragkit_8501=\"\\377", "ragkit_8502={session}"])  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/library", "/media/a.pdf", "/_stcore/upload_file/a/b",
                                  "/_stcore/health", "/static/js/index.js"])  # fmt: skip
def test_a_locked_library_shows_nothing_to_those_it_did_not_let_in(locked, access, path, cookie):
    session = access.enter(access.mint())
    given = {} if cookie is None else {"cookie": cookie.format(session=session)}
    sent = ask(locked, path=path, host=_HERE, **given)
    assert status(sent) == 401
    assert b"ragkit open" in sent[1]["body"]
    socket = {"kind": "websocket", "path": path, "host": _HERE, "origin": f"http://{_HERE}"}
    assert status(ask(locked, **socket, **given)) == 401


def test_a_link_lets_one_browser_in_and_leaves_its_address(locked, access):
    link = f"token={access.mint()}"
    first = ask(locked, path=ENTRANCE, query=link, host=_HERE)
    assert (status(first), b"url=/" in first[1]["body"]) == (200, True)
    cookie, *attributes = said(first, "set-cookie")[0].split("; ")
    assert cookie.startswith("ragkit_8501=")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(attributes)
    assert link.removeprefix("token=") not in cookie + first[1]["body"].decode()
    assert status(ask(locked, host=_HERE, cookie=f"_streamlit_xsrf=2|x; {cookie}")) == 200
    socket = {"kind": "websocket", "host": _HERE, "cookie": cookie}
    assert status(ask(locked, **socket, origin=f"http://{_HERE}")) == 101
    assert status(ask(locked, **socket)) == 101
    assert status(ask(locked, **socket, origin="http://evil.example")) == 403

    again = ask(locked, path=ENTRANCE, query=link, host=_HERE)
    assert (status(again), said(again, "set-cookie")) == (401, [])


def test_a_link_that_a_browser_fetches_in_advance_is_not_used_up(locked, access):
    link = f"token={access.mint()}"
    entrance = {"path": ENTRANCE, "query": link, "host": _HERE}
    assert status(ask(locked, **entrance, method="HEAD")) == 401
    assert status(ask(locked, **entrance, sec_purpose="prefetch;prerender")) == 401
    assert status(ask(locked, **entrance)) == 200


@pytest.mark.parametrize("query", ["", "token=", "token=wrong", "token=%ff%00", "other=1"])
def test_a_wrong_link_lets_nobody_in(locked, access, query):
    access.mint()
    sent = ask(locked, path=ENTRANCE, query=query, host=_HERE)
    assert (status(sent), said(sent, "set-cookie")) == (401, [])


def test_a_link_to_an_open_library_leads_to_its_pages(guard):
    sent = ask(guard, path=ENTRANCE, query="token=old", host=_HERE)
    assert (status(sent), said(sent, "set-cookie")) == (200, [])
    assert b"url=/" in sent[1]["body"]


def test_an_entrance_that_cannot_be_noted_says_so(locked, access, tmp_path):
    secret = access.mint()
    (tmp_path / "access.lock").unlink()
    (tmp_path / "access.lock").mkdir()
    sent = ask(locked, path=ENTRANCE, query=f"token={secret}", host=_HERE)
    assert status(sent) == 503
    assert b"cannot be written" in sent[1]["body"]


@pytest.mark.parametrize("path", ["/api/search", "/"])
def test_a_program_of_this_machine_gets_its_answers_uncompressed(token, path):
    asked = []

    async def inner(scope, receive, send):
        asked.extend(name for name, _ in scope["headers"])
        await app(scope, receive, send)

    headers = {"host": _HERE, "authorization": f"Bearer {token.ensure()}"}
    for guard in (
        Guard(inner, place=Place(8501), token=token),
        Guard(inner, place=Place(8501, "0.0.0.0"), token=token),
    ):
        ask(guard, path=path, Accept_Encoding="gzip", **headers)
    assert asked.count(b"Accept-Encoding") == (1 if path == "/api/search" else 2)
