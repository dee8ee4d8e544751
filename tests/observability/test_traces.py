"""One trace from the request to the engine, and nothing in it that must not leave the house."""

from __future__ import annotations

import subprocess
import sys

import httpx
import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from runtime.tracing import JOB_RUN_ATTRIBUTE
from tests.observability.conftest import Played
from tests.observability.scene import PUBLIC


def attributes(span: Span) -> dict[str, str]:
    values = {each.key: each.value for each in span.attributes}
    return {name: value.string_value or str(value.int_value or value.double_value) for name, value in values.items()}


def run_of(answer: httpx.Response) -> str:
    return "tryon-" + str(answer.request.url).rpartition("/")[2]


def spans_of(played: Played, answer: httpx.Response) -> dict[str, Span]:
    """The spans of the trace in which this answer's job was accepted, by name."""
    (request,) = [
        span
        for span in played.receiver.spans
        if span.name == "POST /api/v1/tryon" and attributes(span).get(JOB_RUN_ATTRIBUTE) == run_of(answer)
    ]
    return {span.name: span for span in played.receiver.spans if span.trace_id == request.trace_id}


def ancestors(spans: dict[str, Span], name: str) -> list[str]:
    by_id = {span.span_id: span for span in spans.values()}
    found, span = [], spans[name]
    while span.parent_span_id:
        span = by_id[span.parent_span_id]
        found.append(span.name)
    return found


async def test_one_trace_goes_from_the_request_through_workflow_and_activity_to_the_render(played: Played) -> None:
    spans = spans_of(played, played.answers["completed"])
    assert ancestors(spans, "render") == [
        "RunActivity:render",
        "StartActivity:render",
        "StartWorkflow:TryOnWorkflow",
        "POST /api/v1/tryon",
    ]
    others = {"RunWorkflow:TryOnWorkflow", "RunActivity:segment_person", "segment", "CompleteWorkflow:TryOnWorkflow"}
    assert others <= set(spans)


async def test_each_step_has_one_span(played: Played) -> None:
    """Interceptors that are given to client and worker alike run twice."""
    trace_id = spans_of(played, played.answers["completed"])["render"].trace_id
    names = [span.name for span in played.receiver.spans if span.trace_id == trace_id]
    assert sorted(names) == sorted(set(names))


async def test_the_render_tells_its_engine_its_timings_and_its_stages(played: Played) -> None:
    render = spans_of(played, played.answers["completed"])["render"]
    assert attributes(render) == {"tryon.engine": "fake", "tryon.timing.paint_ms": "3", "tryon.tries": "2.0"}
    assert [event.name for event in render.events] == ["paint"]


async def test_the_request_tells_its_route_and_whose_it_was(played: Played) -> None:
    request = spans_of(played, played.answers["completed"])["POST /api/v1/tryon"]
    found = attributes(request)
    assert (found["http.route"], found["http.response.status_code"]) == ("/api/v1/tryon", "202")
    assert found["tryon.account_id"] == str(played.scene.caller.account_id)
    assert found["tryon.request_id"]


async def test_nothing_secret_is_in_any_span(played: Played) -> None:
    sent = played.receiver.raw
    assert "RunActivity:fetch_garment" in sent
    assert played.scene.caller.key not in sent
    for secret in ("data:image", "s3cr3t", PUBLIC.partition("?")[2], "vto_live_", "Bearer", "@example.com"):
        assert secret not in sent


async def test_the_collector_gets_its_key(played: Played) -> None:
    assert played.receiver.headers["x-collector-key"] == "sesame"


HIDDEN_SDK = """
import sys
sys.modules["opentelemetry.sdk"] = None
import runtime.tracing
from runtime.settings import TracingSettings
assert not runtime.tracing.start_tracing(TracingSettings(), "api").on
try:
    runtime.tracing.start_tracing(TracingSettings(endpoint="http://127.0.0.1:4318"), "api")
except runtime.tracing.TracingUnavailable as error:
    print(error)
"""


def test_missing_packages_are_said_in_one_sentence_and_only_when_they_are_needed() -> None:
    said = subprocess.run([sys.executable, "-c", HIDDEN_SDK], capture_output=True, text=True, check=True, timeout=60)
    assert "pip install -c constraints.txt -e '.[tracing]'" in said.stdout
    assert said.stdout.count("\n") == 1


@pytest.mark.parametrize("module", ["api.main", "worker_cpu.main"])
def test_without_a_collector_the_packages_are_not_even_loaded(module: str) -> None:
    program = f"import sys, {module}; print('opentelemetry.sdk.trace' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout == "False\n"
