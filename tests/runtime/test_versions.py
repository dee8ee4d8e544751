from __future__ import annotations

import pytest
from pydantic import ValidationError
from temporalio.common import WorkerDeploymentVersion

from gateway.queues import Routing, deployment_config, version_of
from runtime.settings import TemporalSettings

OLD, NEW = WorkerDeploymentVersion("tryon-cpu", "1"), WorkerDeploymentVersion("tryon-cpu", "2")


@pytest.mark.parametrize(
    ("routing", "given"),
    [
        (Routing(None), {None}),
        (Routing(OLD), {OLD}),
        (Routing(OLD, NEW, 0), {OLD}),
        (Routing(OLD, NEW, 10), {OLD, NEW}),
        (Routing(OLD, NEW, 100), {NEW}),
        (Routing(None, NEW, 10), {None, NEW}),
        (Routing(OLD, None, 10), {OLD, None}),
    ],
)
def test_who_is_given_something_new(routing: Routing, given: set[WorkerDeploymentVersion | None]) -> None:
    assert {version for version in (None, OLD, NEW) if routing.gives_to(version)} == given


def test_workers_are_not_versioned_unless_they_are_told_which_build_they_are() -> None:
    assert version_of(TemporalSettings(), "cpu") is None
    assert deployment_config(None) is None


def test_each_kind_of_worker_is_a_deployment_of_its_own() -> None:
    settings = TemporalSettings(deployment="shop", build_id="1.0")
    names = [version_of(settings, part).to_canonical_string() for part in ("cpu", "gpu")]
    assert names == ["shop-cpu.1.0", "shop-gpu.1.0"]


@pytest.mark.parametrize("fields", [{"deployment": "a.b"}, {"deployment": ""}, {"build_id": "one two"}])
def test_names_that_temporal_would_not_take_are_refused(fields: dict[str, str]) -> None:
    with pytest.raises(ValidationError):
        TemporalSettings(**fields)
