"""Where the service is and who is calling, and a call in the terms of httpx."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any

import httpx

from tryon_client.calls import Call

BASE_URL_VARIABLE, API_KEY_VARIABLE = "VTO_BASE_URL", "VTO_API_KEY"

USER_AGENT = "tryon-client/1"
"""The number is the API's version."""

ANSWER_SECONDS = 30.0
CONNECT_SECONDS = 10.0


@dataclass(frozen=True)
class Connection:
    """What every request of one client shares.

    Attributes:
        base_url: Scheme and host of the service, perhaps with a path, without a slash at the end.
        api_key: The account's key.
        timeout: Seconds that one answer may take.
    """

    base_url: str
    api_key: str = field(repr=False)
    timeout: float

    @classmethod
    def resolve(cls, base_url: str | None, api_key: str | None, timeout: float) -> Connection:
        """Take what was given, and the rest from the environment.

        Raises:
            ValueError: One of the two is nowhere to be found, or the URL is not http or https.
        """
        base_url = base_url or os.environ.get(BASE_URL_VARIABLE, "")
        api_key = (api_key or os.environ.get(API_KEY_VARIABLE, "")).strip()
        if not base_url.startswith(("http://", "https://")):
            raise ValueError(f"give base_url or set {BASE_URL_VARIABLE}, such as https://tryon.example")
        if not api_key.isascii() or not api_key:
            raise ValueError(f"give api_key or set {API_KEY_VARIABLE}")
        return cls(base_url.rstrip("/"), api_key, timeout)

    @property
    def client_options(self) -> dict[str, Any]:
        """For the client of httpx, where the caller brings none: no proxy is asked for this very machine."""
        return {"trust_env": not _is_this_machine(httpx.URL(self.base_url).host)}

    def request(self, call: Call) -> dict[str, Any]:
        """The arguments of httpx's ``request``."""
        return {
            "method": call.method,
            "url": self.base_url + call.path,
            "content": call.content,
            "headers": {
                "Authorization": f"Bearer {self.api_key}",
                "Accept": "application/json",
                "User-Agent": USER_AGENT,
                **call.headers,
            },
            "timeout": httpx.Timeout(self.timeout + call.held_seconds, connect=min(CONNECT_SECONDS, self.timeout)),
        }


def _is_this_machine(host: str) -> bool:
    try:
        address = ip_address(host)
        return address.is_loopback or address.is_unspecified
    except ValueError:
        return host == "localhost"
