"""A workflow that asks for something else needs new histories; words about it do not."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from temporalio.common import RetryPolicy

from tests.workflows.recording.fingerprint import fingerprint
from tests.workflows.recording.fingerprints import WHAT_TO_DO, differences, out_of_date, released
from workflows import steps, tryon
from workflows.products import registration
from workflows.queues import CPU_QUEUE
from workflows.tryon import TryOnWorkflow


@pytest.fixture(scope="module")
def changes() -> dict[str, str]:
    """What changed, of every workflow; to find it takes a second."""
    return out_of_date()


@pytest.mark.parametrize("name", released())
def test_the_histories_show_what_the_workflow_asks_for_now(changes: dict[str, str], name: str) -> None:
    parts = changes.get(name)
    assert parts is None, WHAT_TO_DO.format(workflow=name, parts=parts)


def changed(module: ModuleType, path: Path, *edits: tuple[str, str]) -> ModuleType:
    """The module as it would be with these words replaced."""
    assert module.__file__ is not None
    text = Path(module.__file__).read_text()
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    copy = path / "changed.py"
    copy.write_text(text)
    spec = importlib.util.spec_from_file_location(module.__name__, copy)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def differences_of(tmp_path: Path, *edits: tuple[str, str]) -> str:
    edited: Any = changed(tryon, tmp_path, *edits)
    return differences(fingerprint(TryOnWorkflow), fingerprint(edited.TryOnWorkflow))


CLASS = "changed workflows.tryon.TryOnWorkflow"


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        pytest.param(
            (
                "self._enter(outcome.status)\n        await self._clean_up(job)\n",
                "await self._clean_up(job)\n        self._enter(outcome.status)\n",
            ),
            CLASS,
            id="two commands change places",
        ),
        pytest.param(
            (
                "        await self._clean_up(job)\n",
                "        await self._clean_up(job)\n        await steps.PURGE.run(None)\n",
            ),
            f"{CLASS}; new workflows.steps.PURGE",
            id="a step more",
        ),
        pytest.param(("await workflow.sleep(", "await asyncio.sleep("), CLASS, id="another call"),
        pytest.param(
            ("return None if is_urgent", "return None if not is_urgent"),
            "changed workflows.tryon._gpu_budget",
            id="a function",
        ),
        pytest.param(('name="TryOnWorkflow"', 'name="TryOn"'), CLASS, id="another name"),
        pytest.param(("steps.REHEARSE", "steps.RENDER"), f"{CLASS}; gone workflows.steps.REHEARSE", id="another step"),
    ],
)
def test_other_commands_are_noticed(tmp_path: Path, edit: tuple[str, str], expected: str) -> None:
    assert differences_of(tmp_path, edit) == expected


@pytest.mark.parametrize(
    "edit",
    [
        pytest.param(("            # The job's outcome stands;", "            # It stands;"), id="a comment"),
        pytest.param(("Carry out the job. A failed job", "Do it. A failed job"), id="a docstring"),
        pytest.param(
            ('"clean-up failed"', '"not cleaned up"'),
            id="a log line",
        ),
        pytest.param(
            (
                "        self._enter(outcome.status)\n",
                '        workflow.logger.info("x")\n\n        self._enter(\n            outcome.status\n        )\n',
            ),
            id="one log line more, and formatting",
        ),
        pytest.param(("garments=len(self._job.garments),", "garments=0,"), id="the answer of a query"),
        pytest.param(("    RehearseInput,\n", "    RehearseInput as RehearseInput,\n"), id="an import"),
    ],
)
def test_words_about_it_are_not(tmp_path: Path, edit: tuple[str, str]) -> None:
    assert differences_of(tmp_path, edit) == ""


@pytest.mark.parametrize(
    "change",
    [
        {"name": "draw"},
        {"task_queue": CPU_QUEUE},
        {"options": {**steps.RENDER.options, "start_to_close_timeout": timedelta(seconds=1)}},
        {
            "options": {
                **steps.RENDER.options,
                "retry_policy": RetryPolicy(maximum_attempts=9),
            }
        },
    ],
    ids=["name", "queue", "timeout", "attempts"],
)
def test_a_step_that_changed_is_noticed_where_it_is_used(
    monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    registered = (TryOnWorkflow, registration.RegisterProductWorkflow)
    before = [fingerprint(workflow) for workflow in registered]
    monkeypatch.setattr(steps, "RENDER", replace(steps.RENDER, **change))
    after = [fingerprint(workflow) for workflow in registered]
    assert differences(before[0], after[0]) == "changed workflows.steps.RENDER"
    assert differences(before[1], after[1]) == ""


def test_what_starts_a_workflow_is_not_part_of_it(tmp_path: Path) -> None:
    edit = ('static_summary=f"product: ', 'static_summary=f"a product: ')
    edited: Any = changed(registration, tmp_path, edit)
    assert fingerprint(edited.RegisterProductWorkflow) == fingerprint(registration.RegisterProductWorkflow)


def test_what_a_contract_works_out_is_part_of_it() -> None:
    assert "workflows.products.contracts.CopiedPictures" in fingerprint(registration.RegisterProductWorkflow)
