"""OpenTelemetry traces of a process: off until a collector is named.

The API's spans come from `api.request_context`, those of workflows and activities from Temporal's own interceptor,
which also carries the trace from one to the other in the headers of workflows. Exported spans are redacted like log
lines.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from opentelemetry.trace import NoOpTracer, Tracer
from temporalio.client import Interceptor

from runtime.settings import TracingSettings

JOB_RUN_ATTRIBUTE = "temporalWorkflowID"
"""The attribute of Temporal's interceptor for a run. The API's span of a job carries it too, so that a search by it
finds every trace of the job, even that of a run which the relay started later."""


class TracingUnavailable(Exception):
    """Traces were asked for and cannot be made."""


@dataclass(frozen=True)
class Tracing:
    """The traces of one process.

    Attributes:
        tracer: Begins spans.
        interceptors: For the Temporal client, and for nothing else: workers take them over from their client, and
            given to both they run twice.
        continue_incoming: Whether a request's own trace is continued.
        on: Whether spans are exported.
        close: Exports the remaining spans; waits some seconds for a collector that does not answer.
    """

    tracer: Tracer = field(default_factory=NoOpTracer)
    interceptors: Sequence[Interceptor] = ()
    continue_incoming: bool = False
    on: bool = False
    close: Callable[[], None] = lambda: None


NO_TRACING = Tracing()


def start_tracing(settings: TracingSettings, process: str) -> Tracing:
    """Begin to trace, if a collector is named.

    Raises:
        TracingUnavailable: The packages for it are missing.
    """
    if settings.endpoint is None:
        return NO_TRACING
    try:
        from runtime.tracing_export import exporting_provider
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
