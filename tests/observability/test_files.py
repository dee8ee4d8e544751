"""Rules and dashboard name only what the processes serve, in a language that Prometheus reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml

from cli.embedded import FIELDS, FIRST_PORT
from domain.errors import CATALOGUE as ERRORS
from tests.domain.test_error_codes import FAULTS_OF_OURS
from tests.observability.conftest import Played
from tests.observability.test_metrics import SERVED_BY_TRAGEDY, samples
from workflows.queues import CPU_QUEUE, GPU_QUEUE

FOLDER = Path(__file__).parents[2] / "observability"
OF_PROMETHEUS = {"up": {"job", "instance"}}
OF_EVERY_SERIES = {"job", "instance"}
GRAFANA_INTERVAL = "$__rate_interval"
QUEUES = {CPU_QUEUE, GPU_QUEUE, f"{CPU_QUEUE}|{GPU_QUEUE}", "tryon-.*"}


def rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load((FOLDER / "alerts.yml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def dashboard() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((FOLDER / "grafana" / "tryon.json").read_text())
    return loaded


def panels() -> list[dict[str, Any]]:
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def expressions() -> dict[str, str]:
    found = {f"alert {rule['alert']}": rule["expr"] for rule in rules()}
    for panel in panels():
        for target in panel["targets"]:
            found[f"panel {panel['title']} {target['refId']}"] = target["expr"].replace(GRAFANA_INTERVAL, "5m")
    return found


def selectors(node: Any) -> Iterator[Any]:
    """Every vector selector of an expression."""
    if isinstance(node, promql_parser.VectorSelector):
        yield node
    for name in ("expr", "lhs", "rhs", "param", "vector_selector"):
        child = getattr(node, name, None)
        if child is not None and not isinstance(child, str):
            yield from selectors(child)
    for argument in getattr(node, "args", None) or []:
        yield from selectors(argument)


def grouping(expression: str) -> set[str]:
    """Labels that are grouped or matched by."""
    lists = re.findall(r"\b(?:by|on|without|ignoring)\s*\(([^()]*)\)", expression)
    return {label.strip() for each in lists for label in each.split(",")}


@pytest.fixture(scope="session")
def served(played: Played) -> dict[str, set[str]]:
    """Names of all samples, each with every label that it carries somewhere."""
    found = {name: set(labels) for name, labels in OF_PROMETHEUS.items()}
    for text in (played.api, played.cpu, played.gpu):
        for name, label_sets in samples(text).items():
            found.setdefault(name, set()).update(*label_sets, OF_EVERY_SERIES, {"le"} if "_bucket" in name else set())
    return found


@pytest.mark.parametrize("name", expressions())
async def test_an_expression_can_be_read_and_names_what_is_served(name: str, served: dict[str, set[str]]) -> None:
    expression = expressions()[name]
    found = list(selectors(promql_parser.parse(expression)))
    assert found, name
    for selector in found:
        assert selector.name in served, selector.name
        for matcher in selector.matchers.matchers:
            assert matcher.name in served[selector.name], (selector.name, matcher.name)
    known = set().union(*(served[selector.name] for selector in found))
    assert grouping(expression) <= known


@pytest.mark.parametrize("name", expressions())
def test_values_that_are_asked_for_exist(name: str) -> None:
    for selector in selectors(promql_parser.parse(expressions()[name])):
        for matcher in selector.matchers.matchers:
            if matcher.name == "reason" and selector.name == "tryon_jobs_total":
                assert set(matcher.value.split("|")) <= {*ERRORS, ""}
            if matcher.name == "task_queue":
                assert matcher.value in QUEUES


def test_the_alert_for_failing_jobs_sees_every_fault_of_ours() -> None:
    (alert,) = [rule["expr"] for rule in rules() if rule["alert"] == "JobsFail"]
    reasons = {
        matcher.value
        for selector in selectors(promql_parser.parse(alert))
        for matcher in selector.matchers.matchers
        if matcher.name == "reason"
    }
    assert [set(each.split("|")) for each in reasons] == [FAULTS_OF_OURS]


def test_every_alert_says_what_to_do() -> None:
    names = [rule["alert"] for rule in rules()]
    assert len(names) == len(set(names))
    for rule in rules():
        assert rule["labels"]["severity"] in {"page", "ticket"}
        for sentence in ("summary", "action"):
            assert rule["annotations"][sentence].strip().endswith("."), rule["alert"]
        assert len(rule["annotations"]["action"]) > 30, rule["alert"]


def test_panels_that_alerts_point_to_exist() -> None:
    titles = {panel["title"] for panel in panels()}
    for rule in rules():
        for title in re.findall(r"panels? `([^`]+)`|and `([^`]+)`", rule["annotations"]["action"]):
            assert "".join(title) in titles, title


def test_the_dashboard_is_well_formed() -> None:
    board = dashboard()
    identifiers = [panel["id"] for panel in board["panels"]]
    assert len(identifiers) == len(set(identifiers))
    places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in board["panels"]}
    assert len(places) == len(identifiers)
    for panel in panels():
        assert panel["description"].endswith("."), panel["title"]
        assert panel["datasource"]["uid"] == "${datasource}"
        assert panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24


def test_prometheus_asks_where_tryon_up_serves() -> None:
    config = yaml.safe_load((FOLDER / "prometheus.yml").read_text())
    targets = [each["static_configs"][0]["targets"][0] for each in config["scrape_configs"]]
    assert targets == [f"127.0.0.1:{FIRST_PORT + position}" for position in range(len(FIELDS))]
    jobs = {each["job_name"] for each in config["scrape_configs"]}
    named = set(re.findall(r'job="(tryon-[a-z-]+)"', (FOLDER / "alerts.yml").read_text()))
    assert named == jobs
    assert all((FOLDER / name).is_file() for name in config["rule_files"])


async def test_what_only_goes_wrong_was_made_to_go_wrong(played: Played) -> None:
    assert set(samples(played.cpu)) >= SERVED_BY_TRAGEDY
