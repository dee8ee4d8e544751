"""``python -m api.main``."""

from __future__ import annotations

import uvicorn

from api.app import create_app
from runtime.logs import configure_logs
from runtime.settings import load_settings


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
        timeout_graceful_shutdown=30,
    )


if __name__ == "__main__":
    main()
