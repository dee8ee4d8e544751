"""What operators see of the engines: seconds per render, time spent waiting for a worker, memory and caches."""

from __future__ import annotations

from temporalio import activity

from engines.base import Engine, RenderResult
from runtime.metric_catalogue import (
    ENGINE_READING,
    PAINT_SECONDS,
    QUEUE_SECONDS,
    RENDER_SECONDS,
    SECOND_TRIES,
)
from runtime.metrics import activity_meter


def record_render(engine: Engine, seconds: float, result: RenderResult | None) -> None:
    """Record one render; has to be called inside its activity.

    Args:
        engine: Was to draw the picture.
        seconds: From its beginning to its end or failure, waiting for the device included.
        result: None where there is no picture.
    """
    meter, name = activity_meter(), engine.info.name
    meter.record(RENDER_SECONDS, seconds, engine=name)
    if result is not None and "paint" in result.timings_ms:
        meter.record(PAINT_SECONDS, result.timings_ms["paint"] / 1000, engine=name)
    if result is not None and result.checks.get("tries", 1) > 1:
        meter.add(SECOND_TRIES, engine=name)
    info = activity.info()
    waited = (info.started_time - info.current_attempt_scheduled_time).total_seconds()
    meter.record(QUEUE_SECONDS, max(waited, 0.0), engine=name)
    for reading, value in engine.readings().items():
        gauge = activity.metric_meter().create_gauge_float(
            ENGINE_READING + reading, f"The engine's own reading {reading}"
        )
        gauge.set(float(value), {"engine": name})
