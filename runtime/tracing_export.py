"""Sending spans to a collector over OTLP. Imports the SDK, so it is imported only where traces are switched on."""

from __future__ import annotations

from collections.abc import Sequence

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import Event, ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Link, Status
from opentelemetry.util.types import Attributes

from runtime.redaction import redact, redact_text, redact_traceback
from runtime.settings import TracingSettings

TIMEOUT_SECONDS = 5.0  # for a collector to answer; spans of a process that ends wait no longer for it
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
    """A provider that samples whole traces: the process that begins one decides, and the others follow."""
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
