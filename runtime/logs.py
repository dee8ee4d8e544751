"""Structured logs: structlog on top of the standard library, one line per event, with the ids that people search for.

Lines of the API carry ``request_id``, ``account_id`` and ``job_id``; those of workers ``job_id``, ``account_id``,
``workflow_id`` and the activity; all of them ``trace_id`` while tracing is on. Nothing is written that
`runtime.redaction` hides.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any

import structlog
from opentelemetry import trace
from structlog.dev import plain_traceback
from temporalio import activity, client, worker

from runtime.redaction import redact_mapping, redact_traceback
from runtime.settings import LogSettings


class ActivityLogContext(client.Interceptor, worker.Interceptor):
    """Given to a client; the workers that use it take it over."""

    def intercept_activity(self, next: worker.ActivityInboundInterceptor) -> worker.ActivityInboundInterceptor:  # noqa: A002  # the SDK's name
        return _Binding(next)


class _Binding(worker.ActivityInboundInterceptor):
    async def execute_activity(self, input: worker.ExecuteActivityInput) -> Any:  # noqa: A002  # the SDK's name
        info = activity.info()
        ids = {"workflow_id": info.workflow_id, "activity_type": info.activity_type, "attempt": info.attempt}
        request = input.args[0] if input.args else None
        for name in ("job_id", "account_id"):
            value = getattr(request, name, None)
            if isinstance(value, str):
                ids[name] = value
        with structlog.contextvars.bound_contextvars(**ids):
            return await super().execute_activity(input)


JOB_RUN = re.compile(r"tryon-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})")
"""The workflow id of a job, with the job's own id in it."""

TRACEBACKS = ("exception", "stack")

_FROM_TEMPORAL = {
    "temporal_workflow": ("workflow_id", "run_id", "workflow_type", "attempt"),
    "temporal_activity": ("workflow_id", "activity_type", "attempt"),
}
"""Fields in which Temporal's loggers put several facts, and the facts that deserve a field of their own."""


def _spread_temporal(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for source, names in _FROM_TEMPORAL.items():
        details = event.pop(source, None)
        if isinstance(details, Mapping):
            for name in names:
                if details.get(name) is not None:
                    event.setdefault(name, details[name])
    if job := JOB_RUN.fullmatch(str(event.get("workflow_id", ""))):
        event.setdefault("job_id", job[1])
    return event


def _add_trace_id(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        event["trace_id"] = trace.format_trace_id(context.trace_id)
    return event


def _redact(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    tracebacks = {name: redact_traceback(event.pop(name)) for name in TRACEBACKS if isinstance(event.get(name), str)}
    return redact_mapping(event) | tracebacks


def configure_logs(settings: LogSettings, process: str) -> None:
    """Send structlog and the standard library through one formatter to standard error; each line has the process."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        _spread_temporal,
        _add_trace_id,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer()
        if settings.format == "json"
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain_traceback)
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.StackInfoRenderer(),
                structlog.processors.format_exc_info,
                _redact,
                renderer,
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=settings.level.upper(), force=True)
    structlog.contextvars.bind_contextvars(process=process)
    # One line per request is written by the API itself, with the ids that a person searches for.
    logging.getLogger("uvicorn.access").setLevel(logging.WARNING)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    # A refused connection is reported by the code that made it.
    logging.getLogger("urllib3").setLevel(logging.ERROR)
