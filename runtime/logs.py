"""Structured logs: structlog on top of the standard library, one line per event, with the ids that people search for.

Lines of the API carry ``request_id``, ``account_id`` and ``job_id``; those of workers ``job_id``, ``account_id``,
``workflow_id`` and the activity; all of them ``trace_id`` while tracing is on. Nothing is written that
`runtime.logs` hides.

The ids of an activity's job in every line that it logs.

What never leaves a process in a log or a trace: pictures, keys, credentials, e-mail addresses.

Whoever logs has no such thing in mind; it comes along in an exception's text, an address or a repr. So every string is
looked at, wherever it lies, right before it is written.
"""

from __future__ import annotations

import logging
import re
import sys
import uuid
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date
from functools import lru_cache
from pathlib import PurePath
from typing import Any

import structlog
from opentelemetry import trace
from structlog.dev import plain_traceback
from temporalio import activity, client, worker

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


LONGEST_TEXT = 1024
"""Characters; anything longer is a body that has no business in a log."""

LONGEST_TRACEBACK = 16 * 1024
"""Characters of a traceback, the end of which says most."""

DEEPEST, MOST_ITEMS = 6, 50
"""Levels and items of a nested value that are shown."""

HIDDEN = "[hidden]"

SECRET_NAMES = frozenset(
    {
        *("authorization", "proxy_authorization", "cookie", "cookies", "set_cookie", "x_api_key", "api_key"),
        *("password", "secret_key", "token"),
    }
)
"""Names whose values are not shown, whatever they are; written with any case, and with ``-`` or ``_``."""

_MARK = re.compile(r"data[:%]|vto_|authorization|bearer|basic|cookie|://|@|%40", re.IGNORECASE)
"""What a text has to hold to be worth a closer look; one of these is part of everything that `_RULES` describe."""


def _without_query(address: re.Match[str]) -> str:
    return re.sub(r"[?#].*", "?[query]", address[0])


_RULES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    # A picture or anything else inline, down to its last character; escaped and folded lines belong to it.
    (
        r"data(?::|%3a)[\w.+/%-]{0,100}(?:[;,]|%3b|%2c)(?:[^\s\"'<>\\]|\\[rn]|[\r\n](?=[\w+/=]))*",
        "[data: URI]",
    ),
    (r"vto_(?:live|test)_[\w-]*", "[API key]"),
    # Before the scheme alone, which would leave what follows it.
    (r"(authorization\W{1,6})(?:(?:bearer|basic|digest|token)\s+)?[^\s\"',;}\])]+", rf"\1{HIDDEN}"),
    (r"\b(bearer|basic)\s+[\w.~+/=:-]{6,}", rf"\1 {HIDDEN}"),
    # To the end of the line: what follows may be a further cookie. In a repr, lines end with escapes.
    (r"(cookies?(?:\\{0,4}[\"']\s{0,4}[:=,]|\s{0,4}[:=]))(?:(?!\\[rn])[^\r\n])+", rf"\1 {HIDDEN}"),
    # Credentials, queries and fragments of addresses: what is signed is as good as a key. The whole address is matched,
    # with a query or without, so that no part of it is searched again.
    (r"(?<=://)[^\s/@\"'<>]{1,512}@", f"{HIDDEN}@"),
    (r"[a-z][a-z0-9+.-]{1,10}://[^\s\"'<>]*", _without_query),
    (r"[^\s@\"'<>()\[\]{}:;,=/?&|]{1,64}(?:@|%40)[\w-]{1,63}(?:\.[\w-]{1,63})+", "[e-mail]"),
)
"""What is searched for, and what is put in its place. Every repetition before a fixed part is bounded, so that no text
makes the search slow."""

_PATTERNS = [(re.compile(pattern, re.IGNORECASE), stand_in) for pattern, stand_in in _RULES]


def redact_text(text: str, longest: int = LONGEST_TEXT) -> str:
    """The text without what must not be seen; of one that is too long its beginning."""
    clipped = _without_long_middle(text)
    if _MARK.search(clipped):
        for pattern, stand_in in _PATTERNS:
            clipped = pattern.sub(stand_in, clipped)
    if len(clipped) > longest:
        return f"{clipped[:64]}… ({len(text)} characters)"
    return clipped


def redact_traceback(text: str) -> str:
    """The same of a traceback, of which the end is kept."""
    return redact_text(
        text if len(text) <= LONGEST_TRACEBACK else f"…{text[-LONGEST_TRACEBACK:]}", LONGEST_TRACEBACK * 2
    )


def redact(value: Any, depth: int = 0) -> Any:
    """The value as it may be written: plain types, strings through `redact_text`, bytes by their length."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return redact_text(str(value))
    if isinstance(value, bytes | bytearray | memoryview):
        return f"({len(value)} bytes)"
    if isinstance(value, uuid.UUID | date | PurePath):
        return redact_text(str(value))
    if depth < DEEPEST:
        if isinstance(value, Mapping):
            return redact_mapping(value, depth)
        if isinstance(value, Sequence | AbstractSet):
            return _redact_items(list(value)[:MOST_ITEMS], depth)
    return redact_text(_description(value))


def redact_mapping(values: Mapping[Any, Any], depth: int = 0) -> dict[str, Any]:
    """Names and values as they may be written."""
    shown = list(values.items())[:MOST_ITEMS]
    return {
        _shown_name(name): HIDDEN if is_secret_name(name) and value is not None else redact(value, depth + 1)
        for name, value in shown
    }


@lru_cache(maxsize=1024)
def _shown_name(name: object) -> str:
    return redact_text(_name(name))


@lru_cache(maxsize=1024)
def is_secret_name(name: object) -> bool:
    """Whether a header, field or attribute of this name holds a credential."""
    return _name(name).lower().replace("-", "_") in SECRET_NAMES


def _redact_items(items: list[Any], depth: int) -> list[Any]:
    # Headers come as pairs of a name and a value.
    if len(items) == 2 and isinstance(items[0], str | bytes) and is_secret_name(items[0]):
        return [_name(items[0]), HIDDEN]
    return [redact(item, depth + 1) for item in items]


def _name(name: object) -> str:
    return name.decode("latin-1") if isinstance(name, bytes) else str(name)


def _description(value: object) -> str:
    try:
        return f"{type(value).__name__}: {value}" if isinstance(value, BaseException) else repr(value)
    except Exception:  # noqa: BLE001  # a repr that fails must not take the line with it
        return f"({type(value).__name__})"


def _without_long_middle(text: str) -> str:
    """Megabytes need not be searched to be left out."""
    longest = 4 * LONGEST_TRACEBACK
    return text if len(text) <= longest else f"{text[: longest // 2]} … {text[-longest // 2 :]}"


JOB_RUN = "tryon-"
"""Begins the workflow id of a job, before the job's own id."""

_JOB_ID_LENGTH = 36

TRACEBACKS = ("exception", "stack")

_FROM_TEMPORAL = {
    "temporal_workflow": ("workflow_id", "run_id", "workflow_type", "attempt"),
    "temporal_activity": ("workflow_id", "activity_type", "attempt"),
}
"""What Temporal's loggers put aside in one field each, and what of it is worth a field of its own."""


def _spread_temporal(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for source, names in _FROM_TEMPORAL.items():
        details = event.pop(source, None)
        if isinstance(details, Mapping):
            for name in names:
                if details.get(name) is not None:
                    event.setdefault(name, details[name])
    job_id = job_of_run(str(event.get("workflow_id", "")))
    if job_id is not None:
        event.setdefault("job_id", job_id)
    return event


def job_of_run(workflow_id: str) -> str | None:
    """The job that a workflow of this id carries out, if it carries out one."""
    job_id = workflow_id.removeprefix(JOB_RUN)
    return job_id if job_id != workflow_id and len(job_id) == _JOB_ID_LENGTH and job_id.count("-") == 4 else None


def _add_trace_id(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        event["trace_id"] = trace.format_trace_id(context.trace_id)
    return event


def _redact(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    tracebacks = {name: redact_traceback(event.pop(name)) for name in TRACEBACKS if isinstance(event.get(name), str)}
    return redact_mapping(event) | tracebacks


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
    # A refused connection is reported by whoever made it.
    logging.getLogger("urllib3").setLevel(logging.ERROR)
