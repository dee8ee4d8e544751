"""Which addresses are the machine itself."""

from __future__ import annotations

import ipaddress


def is_own(host: str | None) -> bool:
    """Whether a name or an address is the machine itself."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address((host or "").strip("[]")).is_loopback
    except ValueError:
        return False
