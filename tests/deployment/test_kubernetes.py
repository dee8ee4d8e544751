"""The manifests of Kubernetes follow its schemas and the rules of this service; no cluster is asked."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import kubernetes_validate
import pytest
import yaml

from tests.deployment.compose import PROJECT
from tests.deployment.test_settings import known_variables
from worker_cpu.main import GRACEFUL_SHUTDOWN
from workflows.queues import CPU_QUEUE, GPU_BULK_QUEUE, GPU_QUEUE, WEBHOOK_QUEUE

FOLDER = PROJECT / "deployment" / "kubernetes"
VERSIONS = ("1.33", "1.36")
"""The oldest and the newest that were looked at."""

KEDA, KUSTOMIZE = "keda.sh/v1alpha1", "kustomize.config.k8s.io/v1beta1"

TEMPORAL_TRIGGER = {
    *("endpoint", "namespace", "taskQueue", "queueTypes", "targetQueueSize", "activationTargetQueueSize"),
    *("workerDeploymentName", "workerDeploymentBuildId", "tlsServerName", "minConnectTimeout"),
}
"""What KEDA's Temporal scaler takes (keda.sh, scalers/temporal, 2.21)."""

SCALED_OBJECT = {"scaleTargetRef", "minReplicaCount", "maxReplicaCount", "cooldownPeriod", "triggers"}

SCALERS = ("ScaledObject", "HorizontalPodAutoscaler")

ACCOUNTS = {"tryon-secrets", "tryon-account-settings"}
"""What tells of accounts and money: not for workers that draw."""

Manifest = dict[str, Any]


def manifests() -> list[Manifest]:
    return [each for file in sorted(FOLDER.glob("*.yaml")) for each in yaml.safe_load_all(file.read_text())]


def of_kind(kind: str) -> list[Manifest]:
    return [each for each in manifests() if each["kind"] == kind]


def addresses() -> dict[str, str]:
    """The settings that all of our pods have."""
    return next(each["data"] for each in of_kind("ConfigMap") if each["metadata"]["name"] == "tryon-settings")


def pods() -> Iterator[tuple[str, Manifest]]:
    for each in (*of_kind("Deployment"), *of_kind("Job")):
        yield each["metadata"]["name"], each["spec"]["template"]


@pytest.mark.parametrize("version", VERSIONS)
def test_they_follow_the_schemas(version: str) -> None:
    theirs = [each for each in manifests() if each["apiVersion"] not in (KEDA, KUSTOMIZE)]
    assert len(theirs) > 15
    for each in theirs:
        kubernetes_validate.validate(each, version, strict=True)


def test_the_schemas_are_really_asked() -> None:
    broken = copy.deepcopy(of_kind("Deployment")[0])
    broken["spec"]["template"]["spec"]["containers"][0]["imagePullPolice"] = "Always"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, VERSIONS[0], strict=True)


def test_kustomize_is_told_of_every_file() -> None:
    (told,) = of_kind("Kustomization")
    text = (FOLDER / "kustomization.yaml").read_text()
    files = {file.name for file in FOLDER.glob("*.yaml")} - {"kustomization.yaml", "before.yaml"}
    assert {name for name in files if name in text} == files
    assert set(told["resources"]) == files - {"worker-gpu.yaml", "weights.yaml"}


LOCKED: dict[str, Callable[[Manifest], object]] = {
    "no root": lambda pod: pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] == 10001,
    "no token of the cluster": lambda pod: pod["automountServiceAccountToken"] is False,
    "no privilege": lambda pod: all(
        each["securityContext"]
        == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        for each in pod["containers"]
    ),
    "bounded": lambda pod: all(each["resources"]["limits"]["memory"] for each in pod["containers"]),
    "room to write": lambda pod: all(
        {"name": "tmp", "mountPath": "/tmp"}  # noqa: S108  # of the container
        in each["volumeMounts"]
        for each in pod["containers"]
    ),
}


@pytest.mark.parametrize("rule", LOCKED)
def test_pods_are_locked_down(rule: str) -> None:
    broken = [name for name, template in pods() if not LOCKED[rule](template["spec"])]
    assert broken == []


def test_images_are_those_of_this_release_and_targets_of_the_dockerfile() -> None:
    version = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["version"]
    targets = (PROJECT / "Dockerfile").read_text()
    for _, template in pods():
        for container in template["spec"]["containers"]:
            name, _, tag = container["image"].removeprefix("tryon/").partition(":")
            assert tag == version
            assert f" AS {name}\n" in targets


def test_settings_are_known_and_the_workers_that_draw_get_nothing_of_accounts() -> None:
    for each in of_kind("ConfigMap"):
        assert set(each["data"]) <= known_variables()
        assert all(isinstance(value, str) for value in each["data"].values())
    known = {each["metadata"]["name"] for each in of_kind("ConfigMap")} | {"tryon-secrets", "tryon-store-secrets"}
    for name, template in pods():
        sources = template["spec"]["containers"][0]["envFrom"]
        used = {reference["name"] for source in sources for reference in source.values()}
        assert used <= known
        if name in ("worker-warp", "worker-gpu"):
            assert not used & ACCOUNTS


def test_whoever_is_stopped_has_the_time_that_it_takes() -> None:
    grace = {name: template["spec"].get("terminationGracePeriodSeconds", 30) for name, template in pods()}
    assert grace["worker-cpu"] >= GRACEFUL_SHUTDOWN.total_seconds() + 10
    assert grace["worker-warp"] >= 75
    assert grace["worker-gpu"] >= 75
    assert grace["api"] >= 30 + 5 + 10  # held polls, the balancer's moment, the rest


def test_a_node_can_be_drained_and_a_release_rolled_out_while_somebody_works() -> None:
    for each in of_kind("PodDisruptionBudget"):
        assert each["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
    strategies = {each["metadata"]["name"]: each["spec"]["strategy"] for each in of_kind("Deployment")}
    for name in ("api", "worker-warp"):
        assert strategies[name]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}


def test_a_worker_that_starts_while_temporal_is_away_is_not_killed_for_it() -> None:
    for name, template in pods():
        if name.startswith("worker"):
            probe = template["spec"]["containers"][0]["startupProbe"]
            assert probe["periodSeconds"] * probe["failureThreshold"] >= 3600


def test_nothing_sets_back_how_many_copies_there_are() -> None:
    """A number in a Deployment is taken again at each apply, under whatever load."""
    scaled = [each["spec"]["scaleTargetRef"]["name"] for kind in SCALERS for each in of_kind(kind)]
    assert sorted(scaled) == sorted(each["metadata"]["name"] for each in of_kind("Deployment"))
    assert not any("replicas" in each["spec"] for each in of_kind("Deployment"))


def test_the_page_says_how_many_connections_that_makes() -> None:
    (api,) = of_kind("HorizontalPodAutoscaler")
    (cpu,) = [each for each in of_kind("ScaledObject") if each["metadata"]["name"] == "worker-cpu"]
    most = 16 * (api["spec"]["maxReplicas"] + 1 + cpu["spec"]["maxReplicaCount"])
    page = (PROJECT / "docs" / "kubernetes.md").read_text()
    assert f", {most}. Its default" in page


def test_every_worker_is_scaled_by_its_queues_and_may_be_disrupted_one_at_a_time() -> None:
    deployments = {each["metadata"]["name"]: each for each in of_kind("Deployment")}
    budgets = {each["metadata"]["name"] for each in of_kind("PodDisruptionBudget")}
    assert budgets == set(deployments)
    settings = addresses()
    queues = {}
    for each in of_kind("ScaledObject"):
        spec = each["spec"]
        assert each["apiVersion"] == KEDA
        assert set(spec) <= SCALED_OBJECT
        target = spec["scaleTargetRef"]["name"]
        assert spec["minReplicaCount"] >= 1
        for trigger in spec["triggers"]:
            about = trigger["metadata"]
            assert trigger["type"] == "temporal"
            assert set(about) <= TEMPORAL_TRIGGER
            assert about["endpoint"] == settings["TRYON_TEMPORAL_ADDRESS"]
            assert about["namespace"] == settings["TRYON_TEMPORAL_NAMESPACE"]
            queues.setdefault(target, set()).add(about["taskQueue"])
    assert queues == {
        "worker-cpu": {CPU_QUEUE, WEBHOOK_QUEUE},
        "worker-warp": {GPU_QUEUE, GPU_BULK_QUEUE},
        "worker-gpu": {GPU_QUEUE, GPU_BULK_QUEUE},
    }


def test_every_pod_reaches_what_it_needs_and_nothing_else() -> None:
    policies = {each["metadata"]["name"]: each["spec"] for each in of_kind("NetworkPolicy")}
    ours = {"app.kubernetes.io/part-of": "tryon"}
    assert policies["nothing-else"] == {"podSelector": {"matchLabels": ours}, "policyTypes": ["Ingress", "Egress"]}
    assert all(ours.items() <= template["metadata"]["labels"].items() for _, template in pods())
    settings = addresses()
    store = urlsplit(settings["TRYON_S3_ENDPOINT"]).port
    temporal = int(settings["TRYON_TEMPORAL_ADDRESS"].rpartition(":")[2])

    def reaches(labels: dict[str, str], port: int) -> bool:
        for spec in policies.values():
            wanted = spec["podSelector"].get("matchExpressions", [])
            if all(labels.get(each["key"]) in each["values"] for each in wanted):
                ports = [each["port"] for rule in spec.get("egress", []) for each in rule.get("ports", [])]
                if port in ports:
                    return True
        return False

    table = {
        name: {
            port for port in (443, 587, 5432, 6379, temporal, store) if reaches(template["metadata"]["labels"], port)
        }
        for name, template in pods()
    }
    assert table == {
        "api": {5432, 6379, temporal, store},
        "worker-cpu": {443, 587, 5432, 6379, temporal, store},
        "worker-warp": {temporal, store},
        "worker-gpu": {temporal, store},
        "tryon-migrations": {5432, 6379},
        "tryon-bucket": {store},
        "tryon-weights": {443, 587},
    }


def test_cpu_workers_of_two_releases_never_run_side_by_side() -> None:
    (cpu,) = [each for each in of_kind("Deployment") if each["metadata"]["name"] == "worker-cpu"]
    assert cpu["spec"]["strategy"] == {"type": "Recreate"}
