"""Which addresses may be connected to, in whatever form they come."""

from __future__ import annotations

import pytest

from ragkit.errors import WebError
from ragkit.settings import WebSettings
from ragkit.web.addresses import address_of, is_own, is_public, service_address

NOT_PUBLIC = (
    "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1",
    "169.254.169.254", "100.64.0.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "224.0.0.1",
    "240.0.0.1", "255.255.255.255",
    "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
    "::ffff:0:127.0.0.1", "2002:7f00:1::", "2002:a9fe:a9fe::", "64:ff9b::7f00:1",
    "64:ff9b:1::7f00:1", "2001:0:1::1", "2001:db8::1", "fc00::1", "fec0::1", "fe80::1",
    "fe80::1%eth0", "ff02::1", "5f00::1", "not an address", "",
)  # fmt: skip


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_an_address_that_is_not_of_the_internet(address):
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::"],
)
def test_an_address_of_the_internet(address):
    assert is_public(address)
    assert not is_own(address)


def test_what_is_ones_own_is_this_machine_or_a_private_network_and_nothing_else():
    own = [one for one in NOT_PUBLIC if is_own(one)]
    assert own == [
        "127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "192.168.1.1", "::1",
        "::ffff:127.0.0.1", "2002:7f00:1::", "64:ff9b::7f00:1", "fc00::1",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("url", "shown", "own", "path"),
    [
        ("http://127.0.0.1:8888", "127.0.0.1:8888", True, ""),
        ("http://[::1]:8888/", "[::1]:8888", True, ""),
        ("http://localhost/searxng/", "localhost", True, "/searxng"),
        ("http://nas:8080", "nas:8080", True, ""),
        ("http://searx.fritz.home.arpa", "searx.fritz.home.arpa", True, ""),
        ("https://Searx.Example.com./x", "searx.example.com", False, "/x"),
        ("https://bücher.example", "xn--bcher-kva.example", False, ""),
        ("https://169.254.169.254", "169.254.169.254", False, ""),
    ],
)
def test_the_address_of_a_service(url, shown, own, path):
    found = service_address(url)
    assert (found.shown, found.is_own, found.path) == (shown, own, path)


@pytest.mark.parametrize(
    "url",
    [
        "", "localhost:8888", "ftp://nas/", "https://", "https://a b", "https://u:secret@nas",
        "http://127.0.0.1:99999", "https://x.example/?key=secret", "https://x.example/#y",
        "http://[::1", "https://a..b", "https://x.example/\u202ey", "javascript:alert(1)",
        "file:///etc/passwd", "https://x.example\n.evil.example",
    ],
)  # fmt: skip
def test_what_is_no_address_of_a_service(url):
    with pytest.raises(WebError, match="address") as raised:
        service_address(url)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "url",
    ["http://searx.example.com", "http://8.8.8.8", "http://2130706433", "http://0x7f.1",
     "http://169.254.169.254", "http://0.0.0.0:8888", "http://100.64.0.1"],
)  # fmt: skip
def test_words_never_go_over_the_internet_unencrypted(url):
    with pytest.raises(WebError, match="http:// is not encrypted"):
        service_address(url)


def test_the_settings_name_the_address():
    with pytest.raises(WebError, match=r"Web search is off\. To switch it on, set engine"):
        address_of(WebSettings())
    with pytest.raises(WebError, match="There is no address"):
        address_of(WebSettings(engine="searxng"))
    assert address_of(WebSettings(engine="tavily")).shown == "api.tavily.com"
    assert address_of(WebSettings(engine="searxng", url="http://nas:1")).shown == "nas:1"
