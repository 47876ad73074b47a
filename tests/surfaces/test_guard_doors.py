"""Programs and other machines: the token, the names that are answered to, and signing in."""

from __future__ import annotations

import json
import socket

import pytest
from guard_calls import app, ask, said, status

from ragkit.errors import SettingsError
from ragkit.surfaces.http import sign_in
from ragkit.surfaces.http.access import Access
from ragkit.surfaces.http.api_token import ApiToken
from ragkit.surfaces.http.guard import Guard
from ragkit.surfaces.http.place import Place, place_of
from ragkit.surfaces.http.refusals import ENTRANCE

_HERE = "localhost:8501"
_DOORS = ["/api", "/api/search", "/v1/models", "/mcp", "/mcp/"]


@pytest.fixture
def token(tmp_path):
    return ApiToken(tmp_path / "token")


@pytest.fixture
def access(tmp_path):
    return Access(tmp_path / "access.json")


@pytest.fixture
def guard(token):
    return Guard(app, place=Place(8501), token=token)


@pytest.fixture
def reached(token, access):
    """What other machines reach."""
    return Guard(app, place=Place(8501, "0.0.0.0"), token=token, access=access)


@pytest.mark.parametrize("path", _DOORS)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS"])
def test_a_program_needs_the_token_and_no_origin(guard, token, path, method):
    asked = {"path": path, "method": method, "host": _HERE}
    bearer = f"Bearer {token.ensure()}"
    assert status(ask(guard, **asked, authorization=bearer)) == 200
    assert status(ask(guard, **asked, authorization=bearer.replace("B", "b", 1))) == 200
    for wrong in ("", "Bearer", "Bearer ", f"Basic {token.ensure()}", bearer[:-1], f"{bearer}x"):
        sent = ask(guard, **asked, authorization=wrong)
        assert (status(sent), said(sent, "www-authenticate")) == (401, ["Bearer"])
    assert status(ask(guard, **asked)) == 401
    twice = [("authorization", bearer), ("authorization", bearer)]
    assert status(ask(guard, **asked, headers=twice)) == 401


def test_the_token_opens_no_door_to_foreign_pages_and_names(guard, token):
    asked = {"path": "/api/search", "method": "POST", "authorization": f"Bearer {token.ensure()}"}
    assert status(ask(guard, **asked, host=_HERE, origin=f"http://{_HERE}")) == 200
    assert status(ask(guard, **asked, host=_HERE, origin="http://evil.example")) == 403
    assert status(ask(guard, **asked, host=_HERE, origin="null")) == 403
    assert status(ask(guard, **asked, host="evil.example:8501")) == 421
    assert status(ask(guard, **asked, kind="websocket", host=_HERE)) == 101


def test_a_browser_that_was_let_in_is_no_program(reached, access):
    cookie = f"ragkit_8501={access.begin()}"
    assert status(ask(reached, host=_HERE, cookie=cookie)) == 200
    assert status(ask(reached, path="/api/status", host=_HERE, cookie=cookie)) == 401


def test_what_only_begins_like_a_door_is_a_page(guard):
    for path in ("/apiary", "/v12", "/", "/documents/api", "//api"):
        assert status(ask(guard, path=path, host=_HERE)) == 200


def test_programs_are_refused_in_json_with_a_cure(guard):
    sent = ask(guard, path="/api/search", host=_HERE)
    assert said(sent, "content-type") == ["application/problem+json"]
    assert json.loads(sent[1]["body"]) == {
        "type": "about:blank",
        "title": "Unauthorized",
        "status": 401,
        "detail": "Programs need the token of the library.",
        "cure": "`ragkit token` shows it; send it as `Authorization: Bearer TOKEN`.",
    }
    error = json.loads(ask(guard, path="/v1/models", host=_HERE)[1]["body"])["error"]
    assert (error["code"], error["type"]) == ("invalid_api_key", "invalid_request_error")
    assert error["message"].startswith("Programs need the token of the library. `ragkit token`")
    strange = ask(guard, path="/mcp", host="evil.example")
    assert (status(strange), json.loads(strange[1]["body"])["status"]) == (421, 421)


def test_a_folder_that_is_gone_is_said_to_programs_and_people(tmp_path):
    folder = tmp_path / "library"
    folder.mkdir()
    token, access = ApiToken(folder / "token"), Access(folder / "access.json")
    guard = Guard(app, place=Place(8501, "0.0.0.0"), token=token, access=access)
    bearer, cookie = f"Bearer {token.ensure()}", f"ragkit_8501={access.begin()}"
    folder.rename(tmp_path / "elsewhere")
    told = "The folder of this library was moved or deleted."
    cure = (
        "Put it back or connect its drive;"
        " or start ragkit again with --library and the folder's new path."
    )
    for headers in ({}, {"authorization": bearer}):
        sent = ask(guard, path="/api/search", host=_HERE, **headers)
        answer = json.loads(sent[1]["body"])
        assert (answer["status"], answer["detail"], answer["cure"]) == (503, told, cure)
        assert status(sent) == 503
        assert said(sent, "www-authenticate") == []
    error = json.loads(ask(guard, path="/v1/models", host=_HERE)[1]["body"])["error"]
    assert (error["type"], error["message"]) == ("server_error", f"{told} {cure}")
    secret = b"secret=abc"
    for asked in (
        {"path": "/", "cookie": cookie},
        {"path": ENTRANCE, "query": "token=abc"},
        {"path": ENTRANCE, "method": "POST", "origin": f"http://{_HERE}", "body": secret},
    ):
        sent = ask(guard, host=_HERE, **asked)
        assert (status(sent), told.encode() in sent[1]["body"]) == (503, True)
    assert not folder.exists()
    (tmp_path / "elsewhere").rename(folder)
    assert status(ask(guard, path="/api/search", host=_HERE, authorization=bearer)) == 200
    assert status(ask(guard, host=_HERE, cookie=cookie)) == 200


@pytest.mark.parametrize(
    "host",
    ["192.168.1.5:8501", "192.168.1.5:9000", "[fd00::5]:8501", "localhost:8501", "127.0.0.1",
     "here:8501", "HERE:8501", "here.local:8501"],
)  # fmt: skip
def test_other_machines_ask_by_an_address_or_this_machines_name(access, token, monkeypatch, host):
    monkeypatch.setattr(socket, "gethostname", lambda: "Here")
    guard = Guard(app, place=Place(8501, "0.0.0.0"), token=token, access=access)
    cookie = f"ragkit_8501={access.begin()}"
    assert status(ask(guard, host=host, cookie=cookie, origin=f"http://{host}")) == 200
    assert status(ask(guard, host=host, cookie=cookie, origin=f"https://{host}")) == 200
    assert status(ask(guard, host=host, cookie=cookie, origin="http://evil.example")) == 403


@pytest.mark.parametrize(
    "host",
    ["evil.example:8501", "here.evil.example:8501", "1.2.3:8501", "[::1:8501", "a@127.0.0.1", ""],
)
def test_a_name_that_a_web_page_may_have_is_not_answered_to(reached, access, host):
    sent = ask(reached, host=host, cookie=f"ragkit_8501={access.begin()}")
    assert status(sent) == 421
    assert b"server.names" in sent[1]["body"]


def test_names_of_the_settings_are_answered_to(token):
    place = Place(8501, names=("Search.example", "proxy.example:443"))
    guard = Guard(app, place=place, token=token)
    for host in ("search.example", "SEARCH.example:8501", "proxy.example:443"):
        assert status(ask(guard, host=host)) == 200
    assert status(ask(guard, host="search.example", origin="https://search.example")) == 200
    for host in ("proxy.example:80", "search.example:80", "192.168.1.5:8501"):
        assert status(ask(guard, host=host)) == 421
    assert status(ask(guard, host=_HERE, origin=f"https://{_HERE}")) == 403


def test_the_usual_port_is_left_out_by_browsers(token):
    guard = Guard(app, place=Place(80), token=token)
    assert [status(ask(guard, host=host)) for host in ("localhost", "localhost:80")] == [200, 200]


def test_an_address_of_this_machine_or_none():
    assert place_of(8501, "localhost") == Place(8501, "127.0.0.1")
    assert not place_of(1, "::1").reach
    assert not place_of(1, "127.0.0.7").reach
    assert [place_of(1, host).here for host in ("0.0.0.0", "::", "10.1.2.3", "fd00::1")] == [
        "127.0.0.1", "[::1]", "10.1.2.3", "[fd00::1]"]  # fmt: skip
    assert place_of(80, "10.1.2.3").addresses() == ["http://10.1.2.3:80"]
    for host in ("everywhere", "10.1.2", "10.1.2.3:80", ""):
        with pytest.raises(SettingsError, match="is not an address to listen on"):
            place_of(8501, host)


def _signed_in(guard, secret, **named):
    form = f"secret={secret}".encode()
    named = {"host": _HERE, "origin": f"http://{_HERE}", "client": "10.0.0.9", **named}
    return ask(guard, path=ENTRANCE, method="POST", body=form, **named)


def test_a_stranger_sees_a_form_and_nothing_else(reached):
    for path in ("/", "/library", "/_stcore/health", ENTRANCE):
        sent = ask(reached, path=path, host=_HERE)
        assert status(sent) == 401
        assert b'name="secret" type="password"' in sent[1]["body"]
    assert status(ask(reached, kind="websocket", host=_HERE, origin=f"http://{_HERE}")) == 401


def test_the_token_or_a_code_signs_a_browser_in(reached, token, access):
    code = access.mint_code()
    spelled = f"{code[:4]}-{code[4:]}".lower()
    for secret in (token.ensure(), f"%20{spelled}+"):
        sent = _signed_in(reached, secret)
        assert (status(sent), b"url=/" in sent[1]["body"]) == (200, True)
        cookie, *attributes = said(sent, "set-cookie")[0].split("; ")
        assert {"HttpOnly", "SameSite=Strict"} <= set(attributes)
        assert status(ask(reached, host=_HERE, cookie=cookie)) == 200
        assert secret.encode() not in sent[1]["body"]
    assert status(_signed_in(reached, spelled)) == 401


@pytest.mark.parametrize("secret", ["", "wrong", "%ff%00", "x" * 5000, "a&b=1" * 50])
def test_a_wrong_secret_lets_nobody_in(reached, token, secret):
    token.ensure()
    sent = _signed_in(reached, secret)
    assert (status(sent), said(sent, "set-cookie")) == (401, [])


def test_a_form_of_another_page_is_refused(reached, token):
    for origin in ("http://evil.example", "null"):
        assert status(_signed_in(reached, token.ensure(), origin=origin)) == 403


def test_wrong_secrets_are_limited_for_each_address(reached, token, monkeypatch):
    seconds = [1000.0]
    monkeypatch.setattr(sign_in.time, "monotonic", lambda: seconds[0])
    for _ in range(5):
        assert status(_signed_in(reached, "wrong")) == 401
    sent = _signed_in(reached, token.ensure())
    assert (status(sent), said(sent, "retry-after")) == (429, ["60"])
    assert status(_signed_in(reached, token.ensure(), client="10.0.0.10")) == 200
    seconds[0] += 60
    assert status(_signed_in(reached, token.ensure())) == 200


def test_of_very_many_addresses_the_oldest_are_forgotten():
    attempts = sign_in.Attempts()
    for number in range(1005):
        for _ in range(5):
            attempts.note(str(number))
    assert attempts.wait("4") == 0
    assert attempts.wait("5") > 0


def test_on_this_machine_alone_nobody_signs_in_by_a_form(token, access):
    guard = Guard(app, place=Place(8501), token=token, access=access)
    assert status(_signed_in(guard, token.ensure())) == 401
    assert b"<form" not in ask(guard, host=_HERE)[1]["body"]
