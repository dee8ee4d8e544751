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

_OF_RUN = {"rendering": DRAWING, "rehearsing": DRAWING, "watermarking": FINISHING, "settling": FINISHING}


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
    """The stage that a run's own account of itself comes to."""
    if progress.stage != "preparing":
        return Stage(_OF_RUN.get(progress.stage, QUEUE))
    fetching = progress.pending.get(steps.FETCH_GARMENT.name, 0)
    # The photo and the garments are prepared side by side; the photo usually takes longer.
    if progress.pending.get(steps.SEGMENT_PERSON.name) or not fetching:
        return Stage(PHOTO)
    return Stage(GARMENT, max(1, garments - fetching + 1))
