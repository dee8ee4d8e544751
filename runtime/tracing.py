"""OpenTelemetry traces of a process: off until a collector is named.

The API's spans come from `api.tracing`, those of workflows and activities from Temporal's own interceptor, which also
carries the trace from one to the other in the headers of workflows. What is exported is redacted like a log line.

Sending spans to a collector over OTLP. Imports the SDK, so it is imported only where traces are switched on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Link, NoOpTracer, Status, Tracer
from opentelemetry.util.types import Attributes
from temporalio.client import Interceptor

from runtime.redaction import redact, redact_text, redact_traceback
from runtime.settings import TracingSettings

TIMEOUT_SECONDS = 5.0
"""For a collector to answer; spans of a process that ends wait no longer for it."""

PATH = "/v1/traces"

TRACEBACK = "exception.stacktrace"


class RedactingExporter(SpanExporter):
    """Hands spans on without what `runtime.redaction` hides: attributes, events, and the texts of exceptions."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return self._exporter.export([redacted(span) for span in spans])

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)


def redacted(span: ReadableSpan) -> ReadableSpan:
    """The span as it may leave the process."""
    description = span.status.description
    return ReadableSpan(
        name=redact_text(span.name),
        context=span.get_span_context(),
        parent=span.parent,
        resource=span.resource,
        attributes=_attributes(span.attributes),
        events=[
            Event(redact_text(event.name), _attributes(event.attributes), event.timestamp) for event in span.events
        ],
        links=[Link(link.context, _attributes(link.attributes)) for link in span.links],
        kind=span.kind,
        status=Status(span.status.status_code, redact_text(description) if description else None),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def exporting_provider(settings: TracingSettings, process: str) -> TracerProvider:
    """A provider whose spans go to the collector, in batches, from a thread of its own."""
    headers = settings.headers.get_secret_value() if settings.headers else ""
    exporter = OTLPSpanExporter(
        endpoint=(settings.endpoint or "").rstrip("/") + PATH,
        headers=dict(each.strip().split("=", 1) for each in headers.split(",") if "=" in each),
        timeout=TIMEOUT_SECONDS,
    )
    return provider_of(RedactingExporter(exporter), settings.sample_ratio, process)


def provider_of(exporter: SpanExporter, sample_ratio: float, process: str) -> TracerProvider:
    """A provider that samples whole traces: whoever begins one decides, and the others follow."""
    provider = TracerProvider(
        sampler=ParentBased(TraceIdRatioBased(sample_ratio)),
        resource=Resource.create({SERVICE_NAME: f"tryon-{process.replace('_', '-')}"}),
        shutdown_on_exit=False,
    )
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


def _attributes(attributes: Attributes) -> Attributes:
    return {
        name: redact_traceback(value) if name == TRACEBACK and isinstance(value, str) else redact(value)
        for name, value in (attributes or {}).items()
    }


JOB_RUN_ATTRIBUTE = "temporalWorkflowID"
"""What Temporal's interceptor calls a run. The API's span of a job carries it too, so that a search by it finds every
trace of the job, that of a run which the relay started later included."""


class TracingUnavailable(Exception):
    """Traces were asked for and cannot be made."""


@dataclass(frozen=True)
class Tracing:
    """The traces of one process.

    Attributes:
        tracer: Begins spans.
        interceptors: For the Temporal client, and for nothing else: workers take them over from their client, and
            given to both they run twice.
        continue_incoming: Whether a request's own trace is gone on with.
        on: Whether anything comes of it.
        close: Sends what was not sent yet; waits some seconds for a collector that does not answer.
    """

    tracer: Tracer = field(default_factory=NoOpTracer)
    interceptors: Sequence[Interceptor] = ()
    continue_incoming: bool = False
    on: bool = False
    close: Callable[[], None] = lambda: None


NO_TRACING = Tracing()


def start_tracing(settings: TracingSettings, process: str) -> Tracing:
    """Begin to trace, if a collector is named.

    Args:
        settings: Where spans go, and how many.
        process: Name of this process, e.g. ``api``.

    Raises:
        TracingUnavailable: The packages for it are missing.
    """
    if settings.endpoint is None:
        return NO_TRACING
    try:
        from runtime.tracing import exporting_provider
    except ImportError:
        raise TracingUnavailable(
            "TRYON_TRACING_ENDPOINT needs the extra `tracing` of this package. "
            "Run: pip install -c constraints.txt -e '.[tracing]', or unset it."
        ) from None
    provider = exporting_provider(settings, process)
    return tracing_of(provider.get_tracer("tryon"), provider.shutdown, continue_incoming=settings.continue_incoming)


def tracing_of(tracer: Tracer, close: Callable[[], None], *, continue_incoming: bool = False) -> Tracing:
    """The traces that this tracer makes."""
    from temporalio.contrib.opentelemetry import TracingInterceptor

    return Tracing(tracer, [TracingInterceptor(tracer)], continue_incoming, on=True, close=close)
