"""Registrations that began under an older version of the code go on under this one."""

from __future__ import annotations

from pathlib import Path

import pytest
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer

from tests.workflows.record_product_histories import FOLDER, cases
from workflows.products import RegisterProductWorkflow

HISTORIES = sorted(FOLDER.glob("*.json"))


@pytest.mark.parametrize("path", HISTORIES, ids=lambda path: path.stem)
async def test_a_saved_history_replays(path: Path) -> None:
    replayer = Replayer(workflows=[RegisterProductWorkflow], data_converter=pydantic_data_converter)
    await replayer.replay_workflow(WorkflowHistory.from_json(f"product-{path.stem}", path.read_text()))


def test_every_case_is_saved() -> None:
    assert {path.stem.partition("-")[2] for path in HISTORIES} >= cases().keys()
