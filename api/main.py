"""``python -m api.main``."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any

import structlog
import uvicorn

from api.app import create_app
from api.edge import Edge, protocol_within
from api.metrics import ApiMetrics
from api.parts import open_parts
from runtime.logs import configure_logs
from runtime.process import UNUSABLE
from runtime.settings import Settings, load_settings
from runtime.tracing import start_tracing

STARTUP_FAILURE = 3
"""As uvicorn's own command ends when it cannot start."""

DRAIN_SECONDS = 5
"""What a request takes that is not held, beyond the longest held poll."""

log = structlog.get_logger(__name__)


def main() -> None:
    """Serve until a signal comes."""
    settings = load_settings()
    configure_logs(settings.logs, "api")
    try:
        # What settings alone make impossible is one sentence here; while the server starts it would be a traceback.
        asyncio.run(_try_parts(settings))
        serve(settings)
    except (ValueError, *UNUSABLE) as error:
        log.error("API cannot be started", reason=str(error))  # noqa: TRY400  # the sentence says it all
        raise SystemExit(1) from None


async def _try_parts(settings: Settings) -> None:
    """Make the process's parts and let go of them; none is connected to.

    Raises:
        ValueError: They cannot be made of these settings.
    """
    async with open_parts(settings):
        pass


def serve(settings: Settings) -> None:
    """Serve until a signal comes.

    Raises:
        MetricsAddressError: Metrics cannot be served; nothing was started.
        TracingUnavailable: Traces cannot be made.
    """
    metrics, tracing = ApiMetrics(), start_tracing(settings.tracing, "api")
    stop_metrics = metrics.meter.serve(settings.metrics.api_address) if settings.metrics.api_address else None
    parts = partial(open_parts, metrics=metrics, tracing=tracing)
    app = create_app(settings, parts, metrics=metrics, tracing=tracing)
    options = options_of(settings, metrics.count_refusal)
    config = uvicorn.Config(app, host=settings.api.host, port=settings.api.port, **options)

    def leave() -> None:
        app.state.readiness.leave()  # it is there once the server has started

    server = LeavingServer(config, settings.api.leave_seconds, leave)
    with suppress(KeyboardInterrupt):  # which uvicorn raises again once all is drained
        server.run()
    if not server.started:
        raise SystemExit(STARTUP_FAILURE)
    tracing.close()
    if stop_metrics is not None:
        stop_metrics()


class LeavingServer(uvicorn.Server):
    """Says that it leaves, and takes requests for a while longer, before it closes its door.

    A connection that a balancer opens while the door closes is reset, and what was sent into it may not be sent again.
    """

    def __init__(self, config: uvicorn.Config, seconds: float, leave: Callable[[], None]) -> None:
        """Call ``leave`` at the first signal, and stop that many seconds later or at the second."""
        super().__init__(config)
        self._seconds, self._leave = seconds, leave
        self._stops_at = math.inf

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        if self._seconds and self.started and self._stops_at == math.inf:
            self._stops_at, self.should_exit = time.monotonic() + self._seconds, False
            self._leave()

    async def on_tick(self, counter: int) -> bool:
        self.should_exit |= time.monotonic() >= self._stops_at
        return await super().on_tick(counter)


def options_of(settings: Settings, on_refusal: Callable[[str], None] = lambda _code: None) -> dict[str, Any]:
    """How the server behaves, wherever it listens; ``on_refusal`` is told the code of what is no request at all."""
    return {
        "http": protocol_within(Edge(settings.api, on_refusal)),
        "ws": "none",
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "forwarded_allow_ips": settings.api.trusted_proxies,
        "timeout_graceful_shutdown": settings.jobs.longest_wait_seconds + DRAIN_SECONDS,
        "timeout_keep_alive": settings.api.keep_alive_seconds,
    }


if __name__ == "__main__":
    main()
