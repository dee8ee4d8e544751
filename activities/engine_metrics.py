"""What operators see of the engines: seconds per render, time spent waiting for a worker, memory and caches."""

from __future__ import annotations

from temporalio import activity

from engines.base import Engine, RenderResult

RENDER_SECONDS = "tryon_render_seconds"
PAINT_SECONDS = "tryon_paint_seconds"
SECOND_TRIES = "tryon_render_second_tries"
QUEUE_SECONDS = "tryon_render_queue_seconds"
READING = "tryon_engine_"
"""Begins the names of an engine's own readings."""


def record_render(engine: Engine, seconds: float, result: RenderResult | None) -> None:
    """Record one render; has to be called inside its activity.

    Args:
        engine: Was to draw the picture.
        seconds: From its beginning to its end or failure, waiting for the device included.
        result: None where there is no picture.
    """
    meter = activity.metric_meter().with_additional_attributes({"engine": engine.info.name})
    meter.create_histogram_float(RENDER_SECONDS, "Seconds of one render on the device").record(seconds)
    if result is not None and "paint" in result.timings_ms:
        painted = result.timings_ms["paint"] / 1000
        meter.create_histogram_float(PAINT_SECONDS, "Seconds of a picture in the network itself").record(painted)
    if result is not None and result.checks.get("tries", 1) > 1:
        meter.create_counter(SECOND_TRIES, "Pictures that passed their checks only with another seed").add(1)
    info = activity.info()
    waited = (info.started_time - info.current_attempt_scheduled_time).total_seconds()
    meter.create_histogram_float(QUEUE_SECONDS, "Seconds that a render waited for a worker").record(max(waited, 0.0))
    for name, value in engine.readings().items():
        meter.create_gauge_float(READING + name, f"The engine's own reading {name}").set(float(value))
