"""Log lines of requests, workflows and activities: with the ids that people search for, without what is nobody's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.hostile_events import SECRETS

PROJECT = Path(__file__).parents[2]


class Said:
    """The lines of the program, and the ids that it used."""

    def __init__(self, output: str, log: str) -> None:
        self.ids: dict[str, str] = json.loads(next(line for line in output.splitlines() if line.startswith("{")))
        self.log = log
        self.lines: list[dict[str, Any]] = [json.loads(line) for line in log.splitlines() if line.startswith("{")]

    def of(self, event: str) -> list[dict[str, Any]]:
        found = [line for line in self.lines if line["event"] == event]
        assert found, event
        return found


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Said:
    url = f"sqlite:///{tmp_path_factory.mktemp('talkative')}/tryon.db"
    program = [sys.executable, "-m", "tests.observability.talkative_service", url]
    ran = subprocess.run(program, cwd=PROJECT, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr[-4000:]
    return Said(ran.stdout, ran.stderr)


def test_nothing_secret_is_in_any_line(said: Said) -> None:
    assert said.log.count("[data: URI]") > 5
    for secret in (*SECRETS, said.ids["key"][9:], "data:image", "vto_live_"):
        assert secret not in said.log


def test_faults_are_told_with_their_tracebacks(said: Said) -> None:
    unhandled, refused = said.of("unhandled exception"), said.of("request failed")
    assert "RuntimeError: cannot handle [data: URI]" in unhandled[0]["exception"]
    assert "ObjectStoreUnavailableError" in refused[0]["exception"]
    assert 'File "' in unhandled[0]["exception"]


def test_a_request_has_one_line_with_request_account_job_and_trace(said: Said) -> None:
    posted, polled = said.of("request")[:2]
    for line in (posted, polled):
        assert line["account_id"] == said.ids["account_id"]
        assert line["job_id"] == said.ids["job_id"]
        assert len(line["request_id"]) == len(line["trace_id"]) == 32
    assert posted["trace_id"] != polled["trace_id"]


def test_who_is_not_let_in_is_not_taken_for_the_one_before(said: Said) -> None:
    (stranger,) = [line for line in said.of("request") if line["request_id"] == "mine"]
    assert "account_id" not in stranger


def test_lines_of_activities_carry_the_ids_of_their_job_and_the_trace_of_its_request(said: Said) -> None:
    trace_id = said.of("request")[0]["trace_id"]
    for line in said.of("step begins"):
        assert (line["job_id"], line["trace_id"]) == (said.ids["job_id"], trace_id)
        assert line["workflow_id"] == f"tryon-{said.ids['job_id']}"
        assert line["activity_type"] == line["step"]


def test_what_temporals_loggers_say_of_an_activity_has_them_too(said: Said) -> None:
    (line,) = [line for line in said.lines if line.get("logger") == "temporalio.activity" and "headers" in line]
    assert (line["job_id"], line["activity_type"]) == (said.ids["job_id"], "clean_up")
    assert line["headers"] == {"Authorization": "[hidden]"}
    assert "temporal_activity" not in line


def test_lines_of_workflows_have_them_too(said: Said) -> None:
    (line,) = said.of("clean-up failed")
    assert (line["job_id"], line["account_id"]) == (said.ids["job_id"], said.ids["account_id"])
    assert line["workflow_id"] == f"tryon-{said.ids['job_id']}"
    assert line["trace_id"] == said.of("request")[0]["trace_id"]
