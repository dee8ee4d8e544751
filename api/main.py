"""``python -m api.main``."""

from __future__ import annotations

import uvicorn

from api.app import create_app
from runtime.logs import configure_logs
from runtime.settings import load_settings

DRAIN_SECONDS = 5
"""What a request takes that is not held, beyond the longest held poll."""


def main() -> None:
    """Serve until a signal comes."""
    settings = load_settings()
    configure_logs(settings.logs, "api")
    uvicorn.run(
        create_app(settings),
        host=settings.api.host,
        port=settings.api.port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=settings.jobs.longest_wait_seconds + DRAIN_SECONDS,
        timeout_keep_alive=settings.api.keep_alive_seconds,
    )


if __name__ == "__main__":
    main()
