"""The page of proof is that of the runs that are committed, and these were judged by all that the referee sees now."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from tests.faults.faults import AFTERWARDS, FAULTS, JOBS_IN_FLIGHT
from tests.faults.hostile import TARGETS
from tests.faults.page import (
    DRILL,
    FAULTS_RUN,
    HOSTILE,
    MACHINES,
    PAGE,
    SOAK,
    page,
    take_in,
)
from tests.faults.referee import Verdict

JUDGED = {each.name for each in fields(Verdict)}


def test_the_page_is_that_of_the_committed_runs() -> None:
    assert PAGE.read_text() == page()


def test_every_fault_of_the_list_was_tried_on_each_of_its_databases() -> None:
    rows = json.loads(FAULTS_RUN.read_text())["rows"]
    listed = {(each.name, database) for each in [*FAULTS, AFTERWARDS] for database in each.databases}
    assert {(row["fault"], row["database"]) for row in rows} == listed
    assert [row["fault"] for row in rows if row.get("in_flight", JOBS_IN_FLIGHT) < JOBS_IN_FLIGHT] == []


@pytest.mark.parametrize("run", [FAULTS_RUN, SOAK, MACHINES, DRILL], ids=lambda file: file.stem)
def test_every_verdict_is_of_all_that_is_looked_at_now(run: Path) -> None:
    """A row of an older referee would be kept under a description of this one."""
    told = json.loads(run.read_text())
    verdicts = [row.get("verdict", row) for row in told.get("rows", [told])]
    of_jobs = [each for each in verdicts if "lost" in each]
    assert of_jobs
    assert [each for each in of_jobs if not each.keys() >= JUDGED] == []


def test_every_hostile_input_was_sent_as_it_is_sent_now() -> None:
    rows = json.loads(HOSTILE.read_text())["rows"]
    assert {row["what"]: row["promise"] for row in rows} == {each.what: each.promise for each in TARGETS.values()}


@pytest.mark.parametrize("run", [FAULTS_RUN, SOAK, MACHINES, HOSTILE, DRILL], ids=lambda file: file.stem)
def test_every_figure_is_of_a_commit_without_changes(run: Path) -> None:
    told = json.loads(run.read_text())
    commits = {row.get("commit", told.get("commit", "unknown")) for row in told.get("rows", [told])}
    assert not [each for each in commits if each == "unknown" or each.endswith("+")]


def test_rows_of_a_new_run_stand_for_those_of_the_same_name(tmp_path: Path) -> None:
    kept = tmp_path / "faults.json"
    rows = [{"fault": "fire", "n": 1}, {"fault": "flood", "n": 1}]
    old: dict[str, Any] = {"rows": rows, "commit": "abc", "at": "then", "note": "at night", "earlier": ["broken"]}
    kept.write_text(json.dumps(old))
    new = [{"fault": "flood", "n": 2}, {"fault": "frost", "n": 2}]
    take_in({"rows": list(new), "commit": "def", "at": "now"}, kept)
    assert json.loads(kept.read_text()) == {
        "rows": [{"fault": "fire", "n": 1, "commit": "abc", "at": "then"}, *new],
        "commit": "def",
        "at": "now",
        "earlier": ["broken"],
    }
