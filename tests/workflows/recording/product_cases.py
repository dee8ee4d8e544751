"""Registrations of products: with pictures, without, and with one that is refused."""

from __future__ import annotations

from typing import Any

from temporalio.client import Client, WorkflowHandle

from activities.failures import failure
from domain.products import new_registration_id
from tests.workflows.product_fakes import Before, FakeProductSteps, failing_in, registration
from tests.workflows.recording.case import Activities, Case
from workflows.products.registration import RegisterProductWorkflow
from workflows.queues import CPU_QUEUE

UNREACHABLE = failure("garment_url_unreachable", "404", about="garmentImageUrl")


def case(name: str, before: Before | None = None, **fields: Any) -> Case:
    """A registration with these fields, whose steps do ``before`` first."""

    def activities() -> Activities:
        fakes = FakeProductSteps(before)
        return {CPU_QUEUE: [fakes.copy, fakes.save, fakes.clean_up]}

    async def start(client: Client) -> WorkflowHandle[Any, Any]:
        return await client.start_workflow(
            RegisterProductWorkflow.run, registration(**fields), id=new_registration_id(), task_queue=CPU_QUEUE
        )

    return Case("RegisterProductWorkflow", name, activities, start)


CASES = (
    case("registered"),
    case("changed-without-pictures", product_id="prod_1", front=None),
    case("picture-refused", failing_in("copy", UNREACHABLE)),
    case("row-refused", failing_in("save", failure("external_id_taken", "taken"))),
)
