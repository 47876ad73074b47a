"""The connection to a Qdrant server: opened late, checked once, its failures said in a sentence."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from ragkit.errors import IndexServerError

LEAST_VERSION = (1, 20)
"""Qdrant 1.16 writes over what is only to be inserted; 1.17 misses points while it optimizes."""

BUCKETS = 12
"""Over so many shards a cluster spreads collections, each whole on one (``bucket_of``)."""

_REPLICAS = 2
_SECONDS = 30
_T = TypeVar("_T")


class Server:
    """One Qdrant server or cluster. Safe to share between threads."""

    def __init__(self, url: str, open_client: Callable[[], QdrantClient]) -> None:
        """Keep its address, for what is said of it, and what opens a client."""
        self.url = url
        self._open_client = open_client
        self._guard = threading.Lock()
        self._client: QdrantClient | None = None
        self._buckets: set[tuple[str, str]] = set()
        self.distributed = False

    @classmethod
    def at(cls, url: str, key: str) -> Server:
        """Return the server at an address; nothing is asked of it yet."""

        def connect() -> QdrantClient:
            return QdrantClient(
                url=url, api_key=key or None, timeout=_SECONDS, check_compatibility=False
            )

        return cls(url, connect)

    def call(self, ask: Callable[[QdrantClient], _T]) -> _T:
        """Return what the server answers.

        Raises:
            IndexServerError: it does not answer, refuses, or is too old.
        """
        try:
            return ask(self._connected())
        except UnexpectedResponse as error:
            if error.status_code in (401, 403):
                raise IndexServerError(
                    f"The index server at {self.url} does not accept the key.",
                    "Set RAGKIT_INDEX__KEY to a key of the server.",
                ) from error
            raise IndexServerError(
                f"The index server at {self.url} refused a request: {_said(error)}.",
                "Its log says more. Nothing is lost: the catalog has everything.",
            ) from error
        except (ApiException, OSError) as error:
            raise IndexServerError(
                f"The index server at {self.url} does not answer.",
                "Start it, or set index.server to nothing to search with indexes on this "
                "machine. Nothing is lost, and searches go on by themselves once it answers.",
            ) from error

    def _connected(self) -> QdrantClient:
        with self._guard:
            if self._client is None:
                client = self._open_client()
                reported = client.info().version
                version = tuple(int(part) for part in re.findall(r"\d+", reported)[:2])
                if version < LEAST_VERSION:
                    least = ".".join(map(str, LEAST_VERSION))
                    raise IndexServerError(
                        f"The index server at {self.url} is Qdrant {reported}: {least} is the "
                        "oldest that ragkit works with.",
                        "Upgrade the server, or set index.server to nothing.",
                    )
                self.distributed = _is_distributed(client)
                self._client = client
            return self._client

    def ensure_bucket(self, name: str, bucket: str) -> None:
        """Make a cluster's shard that holds a bucket, unless it is there."""
        if not self.distributed or (name, bucket) in self._buckets:
            return
        there = self.call(lambda client: client.list_shard_keys(name)).shard_keys or []
        if bucket not in {each.key for each in there}:
            try:
                self.call(lambda client: client.create_shard_key(name, bucket, shards_number=1))
            except IndexServerError:
                # Another process may have made it meanwhile.
                again = self.call(lambda client: client.list_shard_keys(name)).shard_keys or []
                if bucket not in {each.key for each in again}:
                    raise
        self._buckets.add((name, bucket))

    def settings_of_shards(self) -> dict[str, Any]:
        """Return how a new Qdrant collection is spread; nothing for a single server."""
        if not self.distributed:
            return {}
        return {
            "sharding_method": models.ShardingMethod.CUSTOM,
            "shard_number": 1,
            "replication_factor": _REPLICAS,
        }


def _is_distributed(client: QdrantClient) -> bool:
    try:
        return client.cluster_status().status == "enabled"
    except NotImplementedError:
        # The client's local mode.
        return False


def _said(error: UnexpectedResponse) -> str:
    content = error.content.decode("utf-8", "replace") if error.content else error.reason_phrase
    message = re.search(r'"error"\s*:\s*"([^"]*)"', content)
    return " ".join((message.group(1) if message else content).split())[:200].rstrip(".")
