"""What operators see of the engines: seconds per render, how long jobs waited for a worker, memory and caches."""

from __future__ import annotations

from temporalio import activity

from engines.base import Engine

RENDER_SECONDS = "tryon_render_seconds"
QUEUE_SECONDS = "tryon_render_queue_seconds"
READING = "tryon_engine_"
"""Begins the names of an engine's own readings."""


def record_render(engine: Engine, seconds: float) -> None:
    """Record one render; has to be called inside its activity.

    Args:
        engine: Drew the picture.
        seconds: On the device, waiting for it included.
    """
    meter = activity.metric_meter().with_additional_attributes({"engine": engine.info.name})
    meter.create_histogram_float(RENDER_SECONDS, "Seconds of one render on the device").record(seconds)
    info = activity.info()
    waited = (info.started_time - info.current_attempt_scheduled_time).total_seconds()
    meter.create_histogram_float(QUEUE_SECONDS, "Seconds that a render waited for a worker").record(max(waited, 0.0))
    for name, value in engine.readings().items():
        meter.create_gauge_float(READING + name, f"The engine's own reading {name}").set(float(value))
