"""Records the histories that `test_product_replay` replays: ``python -m tests.workflows.record_product_histories``.

Record a new set, under a new version, when the workflow's commands change; never overwrite an old one.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys

from temporalio.client import WorkflowFailureError
from temporalio.exceptions import ApplicationError

from tests.servers.temporal import running_temporal
from tests.workflows.record_histories import FOLDER as TRYON_FOLDER
from tests.workflows.record_histories import without_machine
from tests.workflows.test_products import FakeProductSteps, failing, registration, working
from workflows.product_contracts import RegisterProductInput
from workflows.products import start_registration

FOLDER = TRYON_FOLDER / "products"


def cases() -> dict[str, tuple[FakeProductSteps, RegisterProductInput]]:
    """Name to what the steps do, and the registration."""
    refusal = ApplicationError("404", "garmentImageUrl", type="garment_url_unreachable", non_retryable=True)
    return {
        "registered": (FakeProductSteps(), registration()),
        "changed-without-pictures": (FakeProductSteps(), registration(product_id="prod_1", front=None)),
        "picture-refused": (failing("copy", refusal), registration()),
    }


async def record(version: str) -> None:
    """Run every case and write its history."""
    FOLDER.mkdir(exist_ok=True)
    async with running_temporal() as client:
        for name, (fakes, request) in cases().items():
            async with working(client, fakes):
                handle = await start_registration(client, request)
                with contextlib.suppress(WorkflowFailureError):
                    await handle.result()
            text = json.dumps(without_machine((await handle.fetch_history()).to_json_dict()), indent=1)
            (FOLDER / f"{version}-{name}.json").write_text(text + "\n")


if __name__ == "__main__":
    asyncio.run(record(sys.argv[1]))
