"""How far the run of an open job has come, for whoever waits for its picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from temporalio.client import Client

from workflows.queues import STAGE_ATTRIBUTE, tryon_workflow_id


@dataclass(frozen=True)
class Progress:
    """Where a run is.

    Attributes:
        stage: As `workflows.tryon.TryOnWorkflow` names it.
        pending: Steps that are under way or wait for a worker: their names, and how often each.
    """

    stage: str
    pending: Mapping[str, int]


async def progress_of(client: Client, job_id: str) -> Progress:
    """Ask Temporal; no worker is needed for the answer.

    Raises:
        RPCError: Temporal cannot be reached, or does not know the run.
    """
    description = await client.get_workflow_handle(tryon_workflow_id(job_id)).describe()
    pending = Counter(activity.activity_type.name for activity in description.raw_description.pending_activities)
    return Progress(description.typed_search_attributes.get(STAGE_ATTRIBUTE, ""), pending)
