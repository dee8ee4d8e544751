"""The metrics of the stack that `tryon up` runs, as Prometheus on the same machine would read them."""

from __future__ import annotations

import httpx

from tests.stack.stack import Stack, until

EXPECTED = {
    "Metrics": ("http_server_request_duration_seconds_count", "tryon_s3_seconds_count", "process_cpu_seconds_total"),
    "… CPU worker": (
        "tryon_outbox_oldest_seconds",
        "tryon_storage_free_bytes",
        "tryon_queue_backlog",
        'tryon_jobs_total{kind="single",mode="live",outcome="completed"',
        'tryon_job_duration_seconds_count{kind="single",stage="total"}',
    ),
    "… GPU worker": (
        'tryon_render_seconds_count{activity_type="render",engine="warp"',
        "temporal_num_pollers",
        'tryon_device_seconds_count{activity_type="segment_person"',
    ),
}


def test_each_process_serves_its_metrics_and_none_on_the_public_port(stack: Stack, portrait: str, sweater: str) -> None:
    stack.finished(stack.post({"customerPhotoBase64": portrait, "garmentImageUrl": sweater, "category": "upper_body"}))
    with httpx.Client(trust_env=False) as client:
        for name, metrics in EXPECTED.items():
            address = stack.record.addresses[name]
            assert address.startswith("http://127.0.0.1:")
            for metric in metrics:
                until(lambda address=address, metric=metric: True if metric in client.get(address).text else None)
    assert stack.client.get("/metrics").status_code == 404


def test_status_says_where_they_are(stack: Stack) -> None:
    said = stack.tryon("status").stdout
    assert all(stack.record.addresses[name] in said for name in EXPECTED)
