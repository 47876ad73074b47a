"""Where a server listens: its address and port, and the host names that it answers to."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from ragkit.errors import SettingsError

LOOPBACK = "127.0.0.1"
_HERE = ("localhost", LOOPBACK, "[::1]")
_HOST = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?P<port>\d{1,5}))?")


@dataclass(frozen=True)
class Place:
    """An address and port to listen on, with additional host ``names``.

    A name may include a port ("search.example:443"), as for a proxy.
    """

    port: int
    host: str = LOOPBACK
    names: tuple[str, ...] = ()

    @cached_property
    def reach(self) -> bool:
        """Whether other machines can reach it."""
        return not ipaddress.ip_address(self.host).is_loopback

    @cached_property
    def here(self) -> str:
        """The host by which this machine itself reaches it."""
        address = ipaddress.ip_address(self.host)
        if address.is_unspecified:
            return LOOPBACK if address.version == 4 else "[::1]"
        return self.host if address.version == 4 else f"[{self.host}]"

    def answers_to(self, host: str) -> bool:
        """Return whether a Host header addresses this server.

        If other machines can reach it, that is any IP address, which no web page can make its own
        name stand for, and this machine's names, on any port, since containers publish other ports.
        """
        host = host.lower()
        if host in self._named:
            return True
        match = _HOST.fullmatch(host)
        if not self.reach or match is None:
            return False
        return match["name"] in self._own_names or _is_address(match["name"])

    def is_own_origin(self, origin: str, host: str) -> bool:
        """Return whether an Origin is that of this server's pages, as requested by ``host``."""
        origin, host = origin.lower(), host.lower()
        proxied = self.reach or host in map(str.lower, self.names)
        return origin == f"http://{host}" or (proxied and origin == f"https://{host}")

    def addresses(self) -> list[str]:
        """Return the URLs at which other machines reach it."""
        names = _all_addresses() if ipaddress.ip_address(self.host).is_unspecified else [self.here]
        return [
            f"http://{name}:{self.port}" for name in names if ":" not in name or ":" in self.host
        ]

    @cached_property
    def _named(self) -> frozenset[str]:
        own = {f"{name}:{self.port}" for name in _HERE}
        if self.port == 80:
            own |= set(_HERE)
        for name in map(str.lower, self.names):
            own |= {name, f"{name}:{self.port}"}
        return frozenset(own)

    @cached_property
    def _own_names(self) -> frozenset[str]:
        name = socket.gethostname().lower()
        return frozenset({"localhost", name, f"{name.removesuffix('.local')}.local"})


def place_of(port: int, host: str, names: Iterable[str] = ()) -> Place:
    """Parse an address as a person writes it.

    Raises:
        SettingsError: it is not an IP address.
    """
    host = LOOPBACK if host == "localhost" else host.strip("[]")
    try:
        ipaddress.ip_address(host)
    except ValueError as error:
        raise SettingsError(
            f"{host} is not an address to listen on.",
            "Use an IP address of this machine, or 0.0.0.0 for all of them.",
        ) from error
    return Place(port, host, tuple(names))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _all_addresses() -> list[str]:
    """Return this machine's network addresses, as they are written in a URL."""
    import psutil

    addresses = []
    for family in (socket.AF_INET, socket.AF_INET6):
        for address in chain.from_iterable(psutil.net_if_addrs().values()):
            # A link-local address is useless without the name of a network device.
            if address.family == family and "%" not in address.address:
                parsed = ipaddress.ip_address(address.address)
                if not parsed.is_loopback and not parsed.is_link_local:
                    addresses.append(f"[{parsed}]" if parsed.version == 6 else str(parsed))
    return list(dict.fromkeys(addresses))
