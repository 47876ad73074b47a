"""Decides which addresses may be connected to, and parses those of search services."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import urlsplit

from ragkit.errors import WebError
from ragkit.settings import WebSettings

IP: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

SERVICES: Mapping[str, str] = {"searxng": "SearXNG", "tavily": "Tavily"}
"""The display names of the services by their names in the settings."""

_TAVILY_URL = "https://api.tavily.com"

PORTS: Mapping[str, int] = {"http": 80, "https": 443}

_GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
# NAT64 on networks without IPv4: the last 32 bits are the IPv4 address.
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# In some versions of Python, is_global is true of two of these addresses.
_PROTOCOLS = ipaddress.IPv4Network("192.0.0.0/24")
_OWN = tuple(
    map(
        ipaddress.ip_network,
        ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7"),
    )
)
_OWN_NAME = re.compile(
    r"localhost|[a-z][a-z0-9_-]*"
    r"|.+\.(?:localhost|local|lan|home|internal|intranet|localdomain|home\.arpa)"
)
_UNPRINTED = re.compile(r"[^!-~\u00a1-\uffef]")


def is_public(address: str) -> bool:
    """Return whether an address, in any notation, belongs to the public internet."""
    ip = _parsed(address)
    if isinstance(ip, ipaddress.IPv6Address):
        return ip in _GLOBAL_V6 and ip.is_global
    return (
        ip is not None
        and ip.is_global
        and not (ip.is_multicast or ip.is_reserved or ip in _PROTOCOLS)
    )


def is_own(address: str) -> bool:
    """Return whether an address belongs to this machine or a private network."""
    ip = _parsed(address)
    return ip is not None and any(ip in network for network in _OWN)


def _parsed(address: str) -> IP | None:
    """Return an address, or the IPv4 address inside it; ``None`` if it is invalid."""
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return None
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour
        if inner is None and ip in _NAT64:
            inner = ipaddress.IPv4Address(ip.packed[-4:])
        return inner or ip
    return ip


@dataclass(frozen=True, slots=True)
class ServiceAddress:
    """The address of a search service.

    ``host`` is in ASCII without brackets; ``path`` is the part before ``/search``.
    """

    scheme: str
    host: str
    port: int
    path: str = ""

    @property
    def is_own(self) -> bool:
        """Whether it names this machine or a private network.

        If so, only private addresses are connected to, otherwise only public ones. A public name
        with a private address is refused; the address must be written instead.
        """
        try:
            ipaddress.ip_address(self.host)
        except ValueError:
            return _OWN_NAME.fullmatch(self.host) is not None
        return is_own(self.host)

    @property
    def shown(self) -> str:
        """The host for people, with the port if it is not the default."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


def address_of(settings: WebSettings) -> ServiceAddress:
    """Return the address of the service in the settings.

    Raises:
        WebError: web search is off, or the address is invalid.
    """
    if not settings.engine:
        raise WebError(
            "Web search is off.",
            'To switch it on, set engine = "searxng" and the url of your own instance under [web] '
            'in the settings, or engine = "tavily" and a key.',
        )
    return service_address(settings.url or (_TAVILY_URL if settings.engine == "tavily" else ""))


def service_address(url: str) -> ServiceAddress:
    """Parse the address of a service.

    Raises:
        WebError: it is invalid, or words would be sent over the internet unencrypted.
    """
    try:
        parts = urlsplit(url)
        host = ascii_host(parts.hostname or "")
        port = parts.port
    except ValueError as error:
        raise _wrong(url) from error
    plain = not _UNPRINTED.search(url) and parts.path.isascii()
    if not plain or not host or parts.scheme not in PORTS or "@" in parts.netloc:
        raise _wrong(url)
    if parts.query or parts.fragment:
        raise _wrong(url)
    path = parts.path.rstrip("/")
    address = ServiceAddress(parts.scheme, host, port or PORTS[parts.scheme], path)
    if address.scheme == "http" and not address.is_own:
        raise WebError(
            f"{address.shown} is not in your own network, and http:// is not encrypted.",
            "Write https:// in url under [web] in the settings.",
        )
    return address


def ascii_host(host: str) -> str:
    """Return a host in the ASCII form that is used to connect.

    Raises:
        ValueError: the name is invalid.
    """
    return host.rstrip(".").encode("idna").decode("ascii").lower()


def _wrong(url: str) -> WebError:
    # Without parts that may be a password or a key.
    plain = url.partition("?")[0].rpartition("@")[2]
    shown = "".join(c if c.isprintable() else " " for c in plain[:80])
    return WebError(
        f'"{shown}" is not the address of a search service.' if shown else "There is no address.",
        "Set url under [web] in the settings, such as http://127.0.0.1:8888.",
    )
