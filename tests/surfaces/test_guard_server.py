"""The real page server: who gets an answer from it, and whom it asks anything."""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys

import psutil
import pytest
from network_watch import asked, strangers, watching
from page_server import ROOT, Server

from ragkit.surfaces.http.access import Access


def _server(folder, **settings):
    server = Server(folder, **settings)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    # Whatever Streamlit is told elsewhere, its own checks stay on.
    loose = {
        "STREAMLIT_SERVER_ENABLE_CORS": "false",
        "STREAMLIT_SERVER_ADDRESS": "0.0.0.0",
        "STREAMLIT_SERVER_ENABLE_XSRF_PROTECTION": "false",
    }
    yield from _server(tmp_path_factory.mktemp("open"), **loose)


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    yield from _server(tmp_path_factory.mktemp("locked"), RAGKIT_SERVER__LOCKED="true")


def test_pages_of_this_machine_are_answered_behind_the_guard(server):
    status, answer = server.ask()
    assert status == 200
    assert "content-security-policy: default-src 'self'" in answer
    assert "x-frame-options: DENY" in answer
    script = answer.split("<script>")[1].split("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in answer
    assert server.ask(host="evil.example")[0] == 421
    assert server.ask("/_stcore/upload_file/a/b", "PUT")[0] == 403


def test_sockets_open_to_its_own_pages_alone(server):
    own = f"http://localhost:{server.port}"
    assert server.open_socket(Origin=own) == 101
    for origin in ("http://evil.example", "http://6.6.6.6", "null", "http://localhost:9999"):
        assert server.open_socket(Origin=origin) == 403
    assert server.open_socket() == 403
    assert server.open_socket(Origin=own, host=f"evil.example:{server.port}") == 421


def test_a_foreign_origin_makes_the_server_look_nothing_up(server):
    for origin in ("http://evil.example", "http://6.6.6.6", f"http://10.0.0.7:{server.port}"):
        assert server.open_socket(Origin=origin) == 403
        assert server.ask("/_stcore/health", Origin=origin)[0] == 403
    assert strangers(server.watched) == []


def test_refused_sockets_fill_no_log(server, locked):
    assert server.open_socket() == 403
    assert locked.open_socket(Origin=f"http://localhost:{locked.port}") == 401
    assert server.ask()[0] == 200
    assert locked.ask()[0] == 401
    assert "handshake" not in server.log.read_text() + locked.log.read_text()


def test_streamlit_itself_asks_nobody_for_this_machines_addresses(tmp_path):
    """Without the guard too: what it would ask is switched off."""
    code = """
from ragkit.surfaces.http.server import look_nothing_up
look_nothing_up()
from streamlit.web.server.server_util import is_url_from_allowed_origins
print(is_url_from_allowed_origins("http://6.6.6.6"), is_url_from_allowed_origins("http://localhost"))
"""
    environment = watching({**os.environ, "PYTHONPATH": str(ROOT)}, tmp_path / "watched")
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert (run.stdout, run.returncode) == ("False True\n", 0), run.stderr
    assert not (tmp_path / "watched" / "asked").read_text()


def test_what_the_watch_calls_a_stranger(tmp_path):
    code = """
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
    one.connect(("127.0.0.1", 9))
    try:
        one.connect(("192.0.2.1", 9))
    except OSError:
        pass
try:
    socket.getaddrinfo("stranger.invalid", 80)
except OSError:
    pass
"""
    environment = watching({**os.environ}, tmp_path / "watched")
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert len(asked(tmp_path / "watched")) == 3
    assert strangers(tmp_path / "watched") == [
        ("socket.connect", "192.0.2.1"),
        ("socket.getaddrinfo", "stranger.invalid"),
    ]


def test_only_this_machine_can_connect(server):
    connections = psutil.Process(server.process.pid).net_connections("inet")
    listening = [one.laddr for one in connections if one.status == psutil.CONN_LISTEN]
    assert listening == [("127.0.0.1", server.port)]


@pytest.mark.parametrize(
    "path",
    ["/", "/library", "/_stcore/health", "/_stcore/host-config", "/media/x.pdf",
     "/static/js/x.js", "/favicon.png", "/_stcore/agent/openapi.json"],
)  # fmt: skip
def test_a_locked_server_shows_nothing_without_a_link(locked, path):
    status, answer = locked.ask(path)
    assert status == 401
    assert "ragkit open" in answer
    assert "streamlit" not in answer.lower()


def test_a_locked_server_opens_no_socket_and_takes_no_upload_without_a_link(locked):
    own = f"http://localhost:{locked.port}"
    assert locked.open_socket(Origin=own) == 401
    assert locked.open_socket() == 403
    assert locked.ask("/_stcore/upload_file/a/b", "PUT", Origin=own)[0] == 401


def _cookie(server):
    link = subprocess.run(
        [sys.executable, "-m", "ragkit", "open"],
        env=server.environment, cwd=ROOT, capture_output=True, text=True, timeout=60,
    ).stderr.split()[-1]  # fmt: skip
    address = f"http://127.0.0.1:{server.port}"
    assert link.startswith(f"{address}/_ragkit/enter?token=")
    status, answer = server.ask(link.removeprefix(address), host=f"127.0.0.1:{server.port}")
    assert status == 200
    assert server.ask(link.removeprefix(address))[0] == 401
    return next(line for line in answer.splitlines() if line.startswith("set-cookie")).split()[1]


def test_ragkit_open_makes_a_link_for_the_running_server(locked):
    subprocess.run(
        [sys.executable, "-m", "ragkit", "add", str(ROOT / "sample_data" / "library" / "handbook")],
        env=locked.environment, cwd=ROOT, check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    cookie = _cookie(locked)
    assert locked.ask(Cookie=cookie)[0] == 200
    assert locked.open_socket(Cookie=cookie, Origin=f"http://localhost:{locked.port}") == 101
    assert strangers(locked.watched) == []


def test_ragkit_open_says_when_no_server_runs(tmp_path):
    library = tmp_path / "library"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RAGKIT_LIBRARY": str(library)}
    (tmp_path / "notes").mkdir()
    for arguments, code in ((["add", str(tmp_path / "notes")], 0), (["open"], 1)):
        run = subprocess.run(
            [sys.executable, "-m", "ragkit", *arguments],
            env=environment, cwd=ROOT, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert run.returncode == code, run.stderr
    assert "No server is running for this library. Start one with ragkit serve." in run.stderr


@pytest.fixture(scope="module")
def reached(tmp_path_factory):
    """A server that other machines of the network reach."""
    yield from _server(tmp_path_factory.mktemp("reached"), RAGKIT_SERVER__HOST="0.0.0.0")


def test_what_other_machines_reach_is_locked_and_signs_in_by_a_code(reached):
    connections = psutil.Process(reached.process.pid).net_connections("inet")
    listening = [one.laddr for one in connections if one.status == psutil.CONN_LISTEN]
    assert listening == [("0.0.0.0", reached.port)]
    host = f"192.168.7.7:{reached.port}"
    assert reached.ask()[0] == reached.ask(host=host)[0] == 401
    cookie = f"ragkit_{reached.port}={Access(reached.library.access).begin()}"
    assert reached.ask(host=host, Cookie=cookie)[0] == 200
    assert reached.open_socket(host=host, Cookie=cookie, Origin=f"http://{host}") == 101
    assert reached.open_socket(host=host, Cookie=cookie, Origin="http://evil.example") == 403
    assert reached.ask(host=f"evil.example:{reached.port}", Cookie=cookie)[0] == 421


def test_what_clients_look_up_of_a_server_is_no_page(server):
    status, answer = server.ask("/.well-known/oauth-protected-resource")
    assert status == 404
    assert "<html" not in answer


def test_nobody_beyond_this_machine_is_let_in_without_signing_in(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "RAGKIT_LIBRARY": str(tmp_path / "new")}
    asked = ["serve", "--no-browser", "--host"]
    for more, said in (
        (["0.0.0.0", "--unlocked"], "On 0.0.0.0 other machines reach the library"),
        (["everywhere"], "everywhere is not an address to listen on."),
        (["203.0.113.9"], "203.0.113.9 is no address of this machine."),
    ):
        run = subprocess.run(
            [sys.executable, "-m", "ragkit", *asked, *more],
            env=environment, cwd=ROOT, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert said in run.stderr
        assert run.returncode != 0
