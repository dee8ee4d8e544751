"""`deployment/temporal/namespace.sh` against a real Temporal server."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client

from runtime.embedded.servers import find_program
from tests.deployment.compose import PROJECT, Compose, environment_of

SCRIPT = PROJECT / "deployment" / "temporal" / "namespace.sh"
HOURS_72 = 72 * 3600


def run(environment: dict[str, str], address: str) -> subprocess.CompletedProcess[str]:
    programs = Path(find_program("temporal")).parent
    return subprocess.run(
        ["/bin/sh", str(SCRIPT)],
        capture_output=True,
        text=True,
        check=False,
        env=environment | {"TEMPORAL_ADDRESS": address, "PATH": f"{programs}:{os.environ['PATH']}", "HOME": "/nowhere"},
    )


@pytest.fixture
def environment(compose: Compose) -> dict[str, str]:
    """As in the compose file, but for the namespace: the server of the tests may know that one already."""
    return environment_of(compose.services["temporal-namespace"]) | {"TEMPORAL_NAMESPACE": "of-a-deployment"}


async def test_it_makes_namespace_and_search_attributes_and_may_run_again(
    idle_temporal: Client, environment: dict[str, str]
) -> None:
    address = idle_temporal.service_client.config.target_host
    for _ in range(2):
        done = run(environment, address)
        assert done.returncode == 0, done.stdout + done.stderr
    namespace = await idle_temporal.workflow_service.describe_namespace(
        DescribeNamespaceRequest(namespace=environment["TEMPORAL_NAMESPACE"])
    )
    assert namespace.config.workflow_execution_retention_ttl.seconds == HOURS_72
    known = await idle_temporal.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=environment["TEMPORAL_NAMESPACE"])
    )
    for name in environment["SEARCH_ATTRIBUTES"].split():
        assert known.custom_attributes[name] == IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD


async def test_an_attribute_that_is_new_is_added_to_a_namespace_that_is_there(
    idle_temporal: Client, environment: dict[str, str]
) -> None:
    address = idle_temporal.service_client.config.target_host
    environment |= {"TEMPORAL_NAMESPACE": "grown"}
    assert run(environment | {"SEARCH_ATTRIBUTES": "TryOnStage"}, address).returncode == 0
    assert run(environment, address).returncode == 0
    known = await idle_temporal.operator_service.list_search_attributes(
        ListSearchAttributesRequest(namespace=environment["TEMPORAL_NAMESPACE"])
    )
    for name in environment["SEARCH_ATTRIBUTES"].split():
        assert known.custom_attributes[name] == IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
