"""A small client for the Heron Cloud API.

Credentials come from the environment (HERON_CLIENT_ID, HERON_CLIENT_SECRET), never from a file.
The token is renewed a minute before it ends, and only by one thread at a time: a refresh token
that is presented twice makes the server revoke the whole family.
"""

from __future__ import annotations

import json
import os
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

BASE_URL = "https://api.kolk-instruments.example/v2"
TOKEN_URL = "https://id.kolk-instruments.example/token"
REFRESH_MARGIN_SECONDS = 60
MAX_RETRIES = 4


class HeronError(Exception):
    """Base class of everything that goes wrong in this client."""


class RateLimitExceeded(HeronError):
    """The organisation used up its exports for this hour."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One measurement of one buoy; the time is always in UTC."""

    serial_number: str
    measured_at: datetime
    oxygen_mg_per_litre: float
    water_temperature_celsius: float
    flags: frozenset[str]


@dataclass(slots=True)
class TokenPair:
    """An access token and the refresh token that replaces it."""

    access_token: str
    refresh_token: str
    expires_at: float

    def needs_refresh(self, now: float) -> bool:
        """Whether less than REFRESH_MARGIN_SECONDS are left."""
        return now >= self.expires_at - REFRESH_MARGIN_SECONDS


def parse_reading(row: dict) -> Reading:
    """Turn one JSON row of the server (camelCase keys) into a Reading."""
    measured_at = datetime.fromisoformat(row["measuredAt"].replace("Z", "+00:00"))
    return Reading(
        serial_number=row["serialNumber"],
        measured_at=measured_at.astimezone(UTC),
        oxygen_mg_per_litre=float(row["dissolvedOxygen"]),
        water_temperature_celsius=float(row["waterTemperature"]),
        flags=frozenset(row.get("qualityFlags", ())),
    )


def backoff_delay(attempt: int) -> float:
    """Seconds to wait before the next attempt: 0.5, 1, 2, 4, at most 8."""
    return min(8.0, 0.5 * 2**attempt)


class HeronClient:
    """Fetch readings page by page; safe to share between threads."""

    def __init__(self, tokens: TokenPair, *, client_id: str | None = None) -> None:
        self._tokens = tokens
        self._client_id = client_id or os.environ["HERON_CLIENT_ID"]
        self._refresh_lock = threading.Lock()

    def fetch_readings(
        self, serial_number: str, since: datetime, *, page_size: int = 500
    ) -> Iterator[Reading]:
        """Yield every reading of a buoy since a point in time, oldest first."""
        page_token = None
        while True:
            query = {"since": since.isoformat(), "pageSize": page_size}
            if page_token:
                query["pageToken"] = page_token
            body = self._get(f"/devices/{serial_number}/readings", query)
            yield from (parse_reading(row) for row in body["readings"])
            page_token = body.get("nextPageToken")
            if not page_token:
                return

    def _get(self, path: str, query: dict) -> dict:
        url = f"{BASE_URL}{path}?{urllib.parse.urlencode(query)}"
        for attempt in range(MAX_RETRIES):
            headers = {"Authorization": f"Bearer {self._valid_access_token()}"}
            request = urllib.request.Request(url, headers=headers)
            try:
                with urllib.request.urlopen(request, timeout=20) as response:
                    return json.load(response)
            except urllib.error.HTTPError as error:
                if error.code == 429:
                    raise RateLimitExceeded(path) from error
                if error.code < 500:
                    raise HeronError(f"{error.code} for {path}") from error
            time.sleep(backoff_delay(attempt))
        raise HeronError(f"no answer for {path} after {MAX_RETRIES} attempts")

    def _valid_access_token(self) -> str:
        with self._refresh_lock:
            if self._tokens.needs_refresh(time.time()):
                self._tokens = self._rotate_refresh_token()
            return self._tokens.access_token

    def _rotate_refresh_token(self) -> TokenPair:
        form = {
            "grant_type": "refresh_token",
            "refresh_token": self._tokens.refresh_token,
            "client_id": self._client_id,
        }
        data = urllib.parse.urlencode(form).encode()
        with urllib.request.urlopen(TOKEN_URL, data=data, timeout=20) as response:
            body = json.load(response)
        return TokenPair(
            access_token=body["access_token"],
            refresh_token=body["refresh_token"],
            expires_at=time.time() + body["expires_in"],
        )
