"""A case: one way that runs of a workflow go, worth keeping for as long as such runs may be open somewhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from temporalio.client import Client, WorkflowHandle

Activities = Mapping[str, list[Callable[..., Any]]]
"""Task queue to what is registered there."""

Start = Callable[[Client], Awaitable[WorkflowHandle[Any, Any]]]


@dataclass(frozen=True)
class Case:
    """What is played to get a history.

    Attributes:
        workflow: Its registered name; its histories lie in a folder of that name.
        name: Of the case; the file is ``<version>-<name>.json``. Without dots.
        activities: Makes the activities for one playing, fakes under the real names.
        start: Starts the run and does what else it needs (signals, updates) to come to an end by itself. Runs that
            it continues as are kept too; children are not: they are cases of their own.
        in_order: Whether every playing asks for the same in the same order. Where steps overlap it need not, and then
            playings are compared by what they ask for, not by how often and when.
    """

    workflow: str
    name: str
    activities: Callable[[], Activities]
    start: Start
    in_order: bool = True
