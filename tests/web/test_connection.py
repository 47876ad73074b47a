"""Connections to a search service: to what was checked, within limits, and told in sentences."""

from __future__ import annotations

import gzip
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import httpcore
import pytest
from werkzeug import Request, Response

from ragkit.errors import WebError
from ragkit.web.addresses import service_address
from ragkit.web.connection import PublicOnly, WebConnection, WebRequest

GET = WebRequest("GET", "/search?q=buoy")
METADATA = "169.254.169.254"


def resolver(*answers: Sequence[str] | str):
    """What looks names up: the addresses of each look-up in turn, and those of the last again."""
    asked = []

    def resolve(host, port, type):  # noqa: A002
        asked.append((host, port))
        found = answers[min(len(asked), len(answers)) - 1]
        return [
            (socket.AF_INET, type, 6, "", (address, port))
            for address in ([found] if isinstance(found, str) else found)
        ]

    resolve.asked = asked
    return resolve


@contextmanager
def speaking(parts: Sequence[bytes], pause: float = 0.0) -> Iterator[int]:
    """A server that sends these parts to whoever comes; yields its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def serve() -> None:
        while not over.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                try:
                    for part in parts:
                        connection.sendall(part)
                        if over.wait(pause):
                            break
                except OSError:
                    continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    over.set()
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(5)


def connection(url: str, seconds: float = 5.0, **more) -> WebConnection:
    return WebConnection(service_address(url), seconds, **more)


def own(httpserver, **more) -> WebConnection:
    return connection(f"http://127.0.0.1:{httpserver.port}", **more)


# -- which addresses are connected to ----------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        "127.0.0.1", "10.0.0.1", "192.168.1.1", METADATA, "0.0.0.0", "100.64.0.1",
        "::1", "::ffff:127.0.0.1", f"::ffff:{METADATA}", "2002:7f00:1::", "64:ff9b::7f00:1",
        "fe80::1%eth0", "fc00::1",
        ["93.184.215.14", "127.0.0.1"],
    ],
)  # fmt: skip
def test_a_public_name_that_leads_elsewhere_is_refused(answer):
    resolve = resolver(answer)
    with pytest.raises(WebError, match="does not lead to the public internet; nothing was sent"):
        connection("https://searx.example.com", resolve=resolve).send(GET)
    assert resolve.asked == [("searx.example.com", 443)]


@pytest.mark.parametrize(
    "host", ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "017700000001"]
)
def test_other_ways_to_write_this_machine_are_refused(host):
    """The system's own look-up reads them as 127.0.0.1."""
    with pytest.raises(WebError, match=r"public internet|cannot be reached"):
        connection(f"https://{host}").send(GET)


def test_what_was_checked_is_connected_to_and_no_second_look_up_is_made(monkeypatch):
    """A name that leads to a public address when it is checked, and to this machine afterwards."""
    resolve = resolver("93.184.215.14", "127.0.0.1")
    tried = []

    def connect(address, timeout, source_address=None):
        tried.append(address)
        raise OSError("no network here")

    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(WebError, match=r"searx.example.com cannot be reached"):
        connection("https://searx.example.com", resolve=resolve).send(GET)
    assert tried == [("93.184.215.14", 443)]
    assert len(resolve.asked) == 1


def test_each_checked_address_is_tried(monkeypatch):
    tried = []

    def connect(address, timeout, source_address=None):
        tried.append(address[0])
        raise OSError("no network here")

    monkeypatch.setattr(socket, "create_connection", connect)
    both = resolver(["2606:4700::1111", "93.184.215.14"])
    with pytest.raises(WebError, match="cannot be reached"):
        connection("https://searx.example.com", resolve=both).send(GET)
    assert tried == ["2606:4700::1111", "93.184.215.14"]


@pytest.mark.parametrize("answer", ["93.184.215.14", METADATA, "0.0.0.0"])
def test_a_name_of_ones_own_network_must_lead_there(answer):
    with pytest.raises(WebError, match="does not lead to this machine or your own network"):
        connection("http://nas:8888", resolve=resolver(answer)).send(GET)


def test_only_the_very_port_of_ones_own_service_is_an_exception(httpserver):
    backend = PublicOnly(("127.0.0.1", 1), resolver("127.0.0.1"), time.monotonic() + 5)
    with pytest.raises(WebError, match="does not lead to the public internet"):
        backend.connect_tcp("127.0.0.1", httpserver.port)
    with pytest.raises(WebError, match="does not lead to the public internet"):
        backend.connect_tcp("localhost", 1)


def test_no_file_is_connected_to():
    with pytest.raises(httpcore.ConnectError):
        PublicOnly(None, resolver(), 0.0).connect_unix_socket("/var/run/docker.sock")


def test_a_name_that_nobody_knows():
    with pytest.raises(WebError, match="cannot be reached: there is no such host"):
        connection("https://searx.example.com", resolve=resolver([])).send(GET)


def test_proxies_of_the_environment_are_not_used(httpserver, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    httpserver.expect_request("/search").respond_with_data("{}")
    assert own(httpserver).send(GET).body == b"{}"


# -- redirects ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "location",
    [
        f"http://{METADATA}/latest/meta-data/", "http://localhost:{port}/", "https://evil.example/",
        "//evil.example/search", "http://127.0.0.1.evil.example/", "file:///etc/passwd",
        "http://user@127.0.0.1:{port}/", "gopher://127.0.0.1:{port}/",
    ],
)  # fmt: skip
def test_a_redirect_to_another_host_is_not_followed(httpserver, location):
    target = location.replace("{port}", str(httpserver.port))
    httpserver.expect_request("/search").respond_with_data("", 302, {"Location": target})
    with pytest.raises(WebError, match="nothing was sent there"):
        own(httpserver).send(GET)
    assert len(httpserver.log) == 1


def test_a_redirect_to_nowhere_is_not_followed():
    answer = b"HTTP/1.1 302 Found\r\nLocation: http://[::1\r\nContent-Length: 0\r\n\r\n"
    with (
        speaking([answer]) as port,
        pytest.raises(WebError, match="passes the request on to 'another address'"),
    ):
        connection(f"http://127.0.0.1:{port}").send(GET)


def test_a_redirect_to_another_port_of_this_machine_is_refused(httpserver):
    with speaking([b"HTTP/1.1 200 OK\r\n\r\nsecret"]) as port:
        target = f"http://127.0.0.1:{port}/"
        httpserver.expect_request("/search").respond_with_data("", 302, {"Location": target})
        with pytest.raises(WebError, match="does not lead to the public internet"):
            own(httpserver).send(GET)


def test_three_redirects_of_the_same_service_are_followed_and_not_four(httpserver):
    for step in range(5):
        httpserver.expect_request(f"/{step}").respond_with_data(
            "", 301, {"Location": f"/{step + 1}"}
        )
    httpserver.expect_request("/5").respond_with_data("there")
    assert own(httpserver).send(WebRequest("GET", "/2")).body == b"there"
    with pytest.raises(WebError, match="redirects more than 3 times"):
        own(httpserver).send(WebRequest("GET", "/1"))


def test_what_is_posted_is_posted_again_only_where_that_is_asked(httpserver):
    httpserver.expect_request("/a").respond_with_data("", 307, {"Location": "/b"})
    httpserver.expect_request("/b", method="POST", data="words").respond_with_data("there")
    httpserver.expect_request("/c").respond_with_data("", 302, {"Location": "/b"})
    assert own(httpserver).send(WebRequest("POST", "/a", body=b"words")).body == b"there"
    with pytest.raises(WebError, match="passes the request on"):
        own(httpserver).send(WebRequest("POST", "/c", body=b"words"))


# -- limits ------------------------------------------------------------------------------------


def test_a_long_answer_is_not_read_to_its_end(httpserver):
    sent = []

    def parts() -> Iterator[bytes]:
        for _ in range(10_000):
            sent.append(1)
            yield b"x" * 10_000

    httpserver.expect_request("/search").respond_with_handler(lambda _: Response(parts()))
    with pytest.raises(WebError, match=r"sent more than 100 kB; the rest was not read"):
        own(httpserver, most_bytes=100_000).send(GET)
    assert len(sent) < 2_000


def test_a_packed_answer_is_refused_and_never_unpacked(httpserver):
    bomb = gzip.compress(bytes(20_000_000), 1)
    packed = Response(bomb, headers={"Content-Encoding": "gzip"})
    httpserver.expect_request("/search").respond_with_response(packed)
    with pytest.raises(WebError, match="sent a compressed answer \\('gzip'\\)"):
        own(httpserver).send(GET)
    assert httpserver.log[0][0].headers["Accept-Encoding"] == "identity"


@pytest.mark.parametrize(
    "parts",
    [
        [b"HTTP/1.1 200 OK\r\n"] + [b"X: 1\r\n"] * 200,
        [b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"] + [b"x"] * 200,
        [b""] * 200,
    ],
    ids=["headers", "body", "nothing"],
)
def test_a_slow_answer_is_given_up_in_time(parts):
    with speaking(parts, pause=0.1) as port:
        began = time.monotonic()
        with pytest.raises(WebError, match=r"did not answer within 0.4 s"):
            connection(f"http://127.0.0.1:{port}", 0.4).send(GET)
        assert time.monotonic() - began < 15


def test_a_slow_look_up_is_given_up_and_nothing_is_sent_afterwards(httpserver):
    looked_up, go_on = threading.Event(), threading.Event()

    def resolve(host, port, type):  # noqa: A002
        looked_up.set()
        go_on.wait(10)
        return resolver("127.0.0.1")(host, port, type)

    with pytest.raises(WebError, match=r"did not answer within 0.2 s"):
        own(httpserver, seconds=0.2, resolve=resolve).send(GET)
    assert looked_up.is_set()
    go_on.set()
    for thread in threading.enumerate():
        if thread.name == "ragkit-web":
            thread.join(5)
    assert httpserver.log == []


@pytest.mark.parametrize(
    "parts", [[b"220 mail.example ESMTP\r\n"], [b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"]]
)
def test_what_is_no_web_server_is_said_to_be_none(parts):
    with (
        speaking(parts) as port,
        pytest.raises(WebError, match="broke, or what answers there is no web server"),
    ):
        connection(f"http://127.0.0.1:{port}").send(GET)


def test_a_service_that_does_not_run():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(WebError, match=f"127.0.0.1:{port} cannot be reached: [A-Z]") as raised:
        connection(f"http://127.0.0.1:{port}").send(GET)
    assert "rrno" not in str(raised.value)


def test_nothing_is_said_of_the_machine(httpserver):
    seen: list[Request] = []

    def handler(request: Request) -> Response:
        seen.append(request)
        return Response("{}")

    httpserver.expect_request("/search").respond_with_handler(handler)
    own(httpserver).send(GET)
    assert dict(seen[0].headers) == {
        "Host": f"127.0.0.1:{httpserver.port}", "User-Agent": "ragkit",
        "Accept": "application/json", "Accept-Encoding": "identity", "Connection": "close",
    }  # fmt: skip
