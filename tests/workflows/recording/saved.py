"""The saved histories as files, and what of a history is commands."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SUFFIX = ".json.gz"

FOLDER = Path(__file__).parents[1] / "histories"

# Of a command's event: what differs between two playings of the same case, or does not come from the workflow.
_NOT_THE_WORKFLOWS = {
    "continuedFailure",
    "details",
    "failure",
    "header",
    "identity",
    "indexedFields",
    "input",
    "lastCompletionResult",
    "memo",
    "namespace",
    "namespaceId",
    "newExecutionRunId",
    "priority",
    "result",
    "scheduledEventId",
    "startedEventId",
    "useWorkflowBuildId",
    "workflowExecution",
    "workflowId",
    "workflowTaskCompletedEventId",
}


@dataclass(frozen=True)
class Saved:
    """One run's history, ``<workflow>/<version>-<case>.json.gz``; with ``.2``, ``.3`` … those that it continued as."""

    path: Path

    @property
    def workflow(self) -> str:
        return self.path.parent.name

    @property
    def name(self) -> str:
        return self.path.name.removesuffix(SUFFIX)

    @property
    def version(self) -> tuple[int, ...]:
        return tuple(int(number) for number in self.name.partition("-")[0].split("."))

    @property
    def case(self) -> str:
        """The case's name, with the run's number where it is not the first."""
        return self.name.partition("-")[2]

    def read(self) -> dict[str, Any]:
        history: dict[str, Any] = json.loads(gzip.decompress(self.path.read_bytes()))
        return history


def all_saved(folder: Path = FOLDER) -> list[Saved]:
    """Every saved history, by workflow, oldest version first."""
    found = [Saved(path) for path in folder.glob(f"*/*{SUFFIX}")]
    return sorted(found, key=lambda saved: (saved.workflow, saved.version, saved.case))


def newest(workflow: str, case: str, folder: Path = FOLDER) -> list[Saved]:
    """A case's runs as last recorded, the first run first; empty where it never was."""
    runs = [saved for saved in all_saved(folder) if (saved.workflow, saved.case.partition(".")[0]) == (workflow, case)]
    return [saved for saved in runs if saved.version == runs[-1].version]


def save(workflow: str, case: str, version: str, runs: list[dict[str, Any]], folder: Path = FOLDER) -> None:
    """Write a case's runs; what was released is never written over.

    Raises:
        FileExistsError: The case was saved under this version before.
    """
    (folder / workflow).mkdir(parents=True, exist_ok=True)
    for number, run in enumerate(runs, start=1):
        name = f"{version}-{case}" + (f".{number}" if number > 1 else "")
        with (folder / workflow / f"{name}{SUFFIX}").open("xb") as file:
            file.write(gzip.compress(json.dumps(without_machine(run)).encode(), mtime=0))


def without_machine(value: Any) -> Any:
    """The same history without stack traces, process ids and host names of the machine that recorded it."""
    if isinstance(value, dict):
        return {name: without_machine(item) for name, item in value.items() if name != "stackTrace"}
    if isinstance(value, list):
        return [without_machine(item) for item in value]
    return re.sub(r"\d+@[\w.-]+", "recorder", value) if isinstance(value, str) else value


MINUTE = 60.0


def asked_by(runs: list[dict[str, Any]], *, in_order: bool) -> list[Any]:
    """What a case's runs asked for, in a form in which two playings are equal."""
    commands = [commands_of(run) for run in runs]
    if in_order:
        return commands
    unnumbered = [
        {name: value for name, value in command.items() if name not in ("activityId", "timerId")}
        for run in commands
        for command in run
    ]
    return sorted({json.dumps(command, sort_keys=True) for command in unnumbered})


def commands_of(history: dict[str, Any]) -> list[dict[str, Any]]:
    """What the workflow asked for, in order, with the options but without the data.

    Two playings of one case by the same code are equal in this; data is what `test_payloads` looks at. Of long timers
    it is the minutes: one that ends at a given moment is as long as is left of it.
    """
    commands = []
    for event in history["events"]:
        attributes = next((value for name, value in event.items() if name.endswith("EventAttributes")), {})
        if "workflowTaskCompletedEventId" not in attributes:
            continue
        kept = {name: value for name, value in attributes.items() if name not in _NOT_THE_WORKFLOWS}
        if "searchAttributes" in kept:
            kept["searchAttributes"] = sorted(kept["searchAttributes"].get("indexedFields", {}))
        if (timer := kept.get("startToFireTimeout", "")) and float(timer.rstrip("s")) > MINUTE:
            kept["startToFireTimeout"] = f"{round(float(timer.rstrip('s')) / MINUTE)} min"
        commands.append({"command": event["eventType"].removeprefix("EVENT_TYPE_"), **kept})
    return commands
