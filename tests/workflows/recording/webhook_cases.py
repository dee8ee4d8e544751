"""Webhooks: a message that arrives at once, one that arrives later, and one that is gone."""

from __future__ import annotations

import uuid
from typing import Any

from temporalio import activity
from temporalio.client import Client, WorkflowHandle

from gateway.temporal import WEBHOOK
from tests.workflows.recording.case import Activities, Case
from workflows import steps
from workflows.accounts import DeliverWebhookWorkflow
from workflows.contracts import DeliverWebhookInput, WebhookReport
from workflows.queues import CPU_QUEUE, WEBHOOK_QUEUE, webhook_workflow_id


def case(name: str, *reports: WebhookReport) -> Case:
    """A message whose attempts go like this."""

    def activities() -> Activities:
        left = list(reports)

        @activity.defn(name=steps.ATTEMPT_WEBHOOK.name)
        async def attempt_webhook(_request: DeliverWebhookInput) -> WebhookReport:
            return left.pop(0)

        return {WEBHOOK_QUEUE: [attempt_webhook]}

    async def start(client: Client) -> WorkflowHandle[Any, Any]:
        delivery = DeliverWebhookInput(delivery_id=str(uuid.uuid4()))
        return await client.start_workflow(
            DeliverWebhookWorkflow.run,
            delivery,
            id=webhook_workflow_id(delivery.delivery_id),
            task_queue=CPU_QUEUE,
            execution_timeout=WEBHOOK.longest,
        )

    return Case("DeliverWebhookWorkflow", name, activities, start)


WAITING = WebhookReport(outcome="waiting", attempts=1, pause_seconds=1)

CASES = (
    case("delivered", WebhookReport(outcome="delivered", attempts=1)),
    case("delivered-later", WAITING, WebhookReport(outcome="delivered", attempts=2)),
    case("gone", WebhookReport(outcome="gone")),
)
