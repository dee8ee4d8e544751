from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest
from typer.testing import CliRunner

from cli.diagnosis.findings import Case, Finding, Subject, lines_of
from cli.doctor import PROBES, Probe, examine
from cli.main import app

WELL = Subject("well")


async def well(_case: Case) -> AsyncGenerator[Finding, None]:
    yield WELL.ok("it is")


async def hanging(_case: Case) -> AsyncGenerator[Finding, None]:
    yield Subject("its door").ok("open")
    await asyncio.Event().wait()


async def stumbling(_case: Case) -> AsyncGenerator[Finding, None]:
    yield Subject("its door").ok("open")
    raise RuntimeError("no\nlight")


async def test_a_part_that_hangs_or_breaks_holds_up_nobody(case: Case) -> None:
    probes = (Probe("hanging", hanging, 0.1), Probe("stumbling", stumbling, 9), Probe("well", well, 9))
    found = await examine(case, probes=probes)
    assert [(finding.subject, finding.level) for finding in found] == [
        ("its door", "ok"),
        ("hanging", "error"),
        ("its door", "ok"),
        ("stumbling", "error"),
        ("well", "ok"),
    ]
    assert "did not answer" in found[1].sentence
    assert "RuntimeError: no light" in found[3].sentence


async def test_what_nobody_wants_is_not_looked_at(case: Case) -> None:
    found = await examine(case, without={"hanging"}, probes=(Probe("hanging", hanging, 9), Probe("well", well, 9)))
    assert [finding.level for finding in found] == ["skipped", "ok"]


async def test_with_nothing_there_every_part_is_told_about(case: Case) -> None:
    found = await examine(case, without={"engine", "weights"})
    errors = {finding.subject for finding in found if finding.level == "error"}
    assert errors == {"database", "object store", "temporal", "key pepper"}
    for finding in found:
        assert bool(finding.remedy) == (finding.level in ("warning", "error")), finding
        assert "\n" not in finding.sentence


def test_findings_for_a_person() -> None:
    lines = lines_of([WELL.ok("it is"), Subject("roof").error("it leaks", "call somebody")])
    assert lines == [
        "ok       well  it is",
        "error    roof  it leaks",
        "               → call somebody",
        "",
        "1 error, 0 warnings.",
    ]
    assert lines_of([WELL.ok("it is")])[-1] == "All is well."


@pytest.mark.parametrize(("arguments", "word"), [(["--skip", "roof"], "roof"), (["--key-file", "-"], "--url")])
def test_what_cannot_be_meant_is_refused(arguments: list[str], word: str) -> None:
    done = CliRunner().invoke(app, ["doctor", *arguments])
    assert done.exit_code == 2
    assert word in done.output


def test_names_of_probes_are_told_apart() -> None:
    assert len({probe.name for probe in PROBES}) == len(PROBES)
