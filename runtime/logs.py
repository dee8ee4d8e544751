"""Structured logs: structlog on top of the standard library, one line per event."""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog
from structlog.dev import plain_traceback

from runtime.settings import LogSettings

LONGEST_VALUE = 1024
"""Characters; anything longer is a picture or a body that has no business in a log."""


def _shorten(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name, value in event.items():
        if isinstance(value, str) and len(value) > LONGEST_VALUE and name != "exception":
            event[name] = f"{value[:64]}… ({len(value)} characters)"
    return event


def configure_logs(settings: LogSettings, process: str) -> None:
    """Send structlog and the standard library through one formatter to standard error.

    Args:
        settings: Level and format.
        process: Name of this process, e.g. ``api``; stands in every line.
    """
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _shorten,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    renderer: list[structlog.typing.Processor] = (
        [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
        if settings.format == "json"
        # The default traceback shows local variables, and with them keys and pictures.
        else [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain_traceback)]
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderer],
        )
    )
    logging.basicConfig(handlers=[handler], level=settings.level.upper(), force=True)
    structlog.contextvars.bind_contextvars(process=process)
    # One line per request is written by the API itself, with the ids that a person searches for.
    logging.getLogger("uvicorn.access").setLevel(logging.WARNING)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    # A refused connection is reported by whoever made it.
    logging.getLogger("urllib3").setLevel(logging.ERROR)
