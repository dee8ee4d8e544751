"""What is seen of a call that holds the device: how long it held it, and a span with its stages."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from opentelemetry.trace import Span, Tracer

from engines.base import OnStep, RenderResult, ShouldStop
from runtime.metric_catalogue import DEVICE_SECONDS
from runtime.metrics import activity_meter

Result = TypeVar("Result")
Work = Callable[[OnStep, ShouldStop], Result]


@contextmanager
def device_span(tracer: Tracer, step: str, engine: str) -> Iterator[DeviceWatch]:
    """A span around a step on the device; has to be begun inside its activity.

    Args:
        tracer: Makes the span.
        step: ``segment`` or ``render``, which is the span's name.
        engine: Who works.
    """
    with tracer.start_as_current_span(step, attributes={"tryon.engine": engine}) as span:
        yield DeviceWatch(span, step, engine)


class DeviceWatch:
    """Watches one call."""

    def __init__(self, span: Span, step: str, engine: str) -> None:
        self._span = span
        self._labels = {"step": step, "engine": engine}
        self._meter = activity_meter()

    def over(self, work: Work[Result]) -> Work[Result]:
        """The same work, watched: its time on the device alone, each stage an event of the span."""

        def watched(on_step: OnStep, should_stop: ShouldStop) -> Result:
            def on_watched_step(stage: str) -> None:
                self._span.add_event(stage)
                on_step(stage)

            began = time.monotonic()
            try:
                return work(on_watched_step, should_stop)
            finally:
                # Here, in the device's thread, so that what nobody waits for any more counts too.
                self._meter.record(DEVICE_SECONDS, time.monotonic() - began, **self._labels)

        return watched

    def describe(self, result: RenderResult) -> None:
        """Put the engine's own timings and the number of its tries on the span."""
        timings = {f"tryon.timing.{name}_ms": milliseconds for name, milliseconds in result.timings_ms.items()}
        self._span.set_attributes({**timings, "tryon.tries": result.checks.get("tries", 1)})
