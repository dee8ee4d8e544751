"""What a job is doing, in words for whoever waits for its picture."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.calls import TemporalAwayError
from gateway.temporal import Progress, TemporalGateway
from workflows import steps

QUEUE, PHOTO, GARMENT, DRAWING, FINISHING = "queue", "photo", "garment", "drawing", "finishing"
STAGES = {
    QUEUE: "In the queue",
    PHOTO: "Looking at the photo",
    GARMENT: "Fetching the garment",
    DRAWING: "Drawing",
    FINISHING: "Finishing",
}
"""In the order in which a job goes through them."""

_OF_STEP = {
    steps.SEGMENT_PERSON.name: PHOTO,  # before garments: they are fetched beside it, and it usually takes longer
    steps.FETCH_GARMENT.name: GARMENT,
    steps.RENDER.name: DRAWING,
    steps.REHEARSE.name: DRAWING,
    steps.WATERMARK.name: FINISHING,
    steps.SETTLE.name: FINISHING,
}


@dataclass(frozen=True)
class Stage:
    """Where an open job is.

    Attributes:
        name: One of `STAGES`.
        garment: Which garment is being fetched, from 1; None when none is.
    """

    name: str
    garment: int | None = None

    @property
    def words(self) -> str:
        """For people."""
        return STAGES[self.name]


async def stage_of(temporal: TemporalGateway, job_id: str, garments: int) -> Stage:
    """Where the run of an open job is; in the queue, if that cannot be learned in time."""
    try:
        return stage_in(await temporal.progress_of_job(job_id), garments)
    except TemporalAwayError:
        return Stage(QUEUE)


def stage_in(progress: Progress, garments: int) -> Stage:
    """The stage that the steps under way come to."""
    name = next((stage for step, stage in _OF_STEP.items() if progress.pending.get(step)), None)
    if name is None:  # between two steps, or before the first
        return Stage(QUEUE if progress.stage in ("", "accepted") else DRAWING)
    fetching = progress.pending.get(steps.FETCH_GARMENT.name, 0)
    return Stage(name, max(1, garments - fetching + 1) if name == GARMENT else None)
