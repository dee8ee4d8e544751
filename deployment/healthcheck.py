"""Whether the process in this container does its work: ``python healthcheck.py ADDRESS [METRIC …]``.

Asks for ``http://ADDRESS`` and exits 0 when the answer is 200 and, where metrics are named, any of their samples is
above zero. It runs every few seconds in every container, so it knows nothing but Python: importing the service for it
would cost more than the service itself does when it is idle.
"""

from __future__ import annotations

import sys
import urllib.error
import urllib.request
from collections.abc import Sequence

SECONDS = 4.0
"""Below the timeout of the health checks, so that the reason is printed."""


def trouble(address: str, metrics: Sequence[str]) -> str | None:
    """Why the process is not healthy; None when it is.

    Args:
        address: Host, port and path.
        metrics: Names of Prometheus metrics of which some sample has to be above zero.
    """
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://{address}", timeout=SECONDS) as answer:
            text = answer.read().decode()
    except (OSError, urllib.error.URLError) as error:
        return f"{address}: {error}"
    samples = [line for line in text.splitlines() for metric in metrics if _is_sample(line, metric)]
    if not metrics or any(_value(line) > 0 for line in samples):
        return None
    return f"{address}: no sample of {' or '.join(metrics)} is above zero"


def _is_sample(line: str, metric: str) -> bool:
    return line.startswith((metric + "{", metric + " "))


def _value(line: str) -> float:
    return float(line.rpartition("}")[2].split()[0] if "}" in line else line.split()[1])


def main() -> None:
    """Exit 0 or 1, with a sentence for the container's health log."""
    reason = trouble(sys.argv[1], sys.argv[2:])
    if reason:
        sys.exit(reason)


if __name__ == "__main__":
    main()
