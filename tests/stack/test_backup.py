"""A backup of a stack that is at work, and another stack made of it."""

from __future__ import annotations

import signal
from pathlib import Path

from domain.errors import CATALOGUE
from tests.stack.stack import Stack, running_stack, tryon, until
from tests.stack.test_faults import pending_step, post
from tests.stack.test_jobs import books, objects, picture_of


def test_a_stack_goes_on_elsewhere_where_its_backup_left_off(
    stack: Stack, tmp_path: Path, portrait: str, sweater: str
) -> None:
    until(stack.healthy, seconds=60)
    key = stack.client.headers["Authorization"].removeprefix("Bearer ")
    product = stack.client.post(
        "/api/v1/products", json={"name": "Sweater", "category": "upper_body", "garmentImageUrl": sweater}
    ).json()
    finished = post(stack, portrait, sweater)
    result = stack.finished(finished)
    picture_of(result)
    stack.signal("worker-gpu", signal.SIGSTOP)
    try:
        in_progress = post(stack, portrait, sweater)
        until(lambda: True if pending_step(stack, in_progress) else None)
        usage = stack.client.get("/api/v1/usage").json()
        made = stack.tryon("backup", "create", str(tmp_path / "backup.tar"))
    finally:
        stack.signal("worker-gpu", signal.SIGCONT)
    assert made.returncode == 0, made.stderr
    assert "1 openJobs" in made.stdout
    picture_of(stack.finished(in_progress))

    data_dir = tmp_path / "elsewhere"
    restored = tryon(data_dir, "backup", "restore", str(tmp_path / "backup.tar"))
    assert restored.returncode == 0, restored.stderr
    assert "1 jobs were in progress" in restored.stdout
    with running_stack(data_dir, key) as again:
        assert again.finished(finished) == result
        assert again.client.get(f"/api/v1/tryon/{in_progress}").json() == {
            "status": "failed",
            "error": CATALOGUE["generation_failed"].sentence,
        }
        assert books(again, in_progress)[1] == ["reserve", "release"]
        assert objects(again, in_progress) == []
        # The job that was in progress has given back what it had taken of the period and of the day.
        given_back = {name: usage[name] - 1 for name in ("reserved", "dailyUsed")}
        assert again.client.get("/api/v1/usage").json() == {**usage, **given_back}
        assert again.tryon("ledger", "check").returncode == 0
        worn = again.post({"customerPhotoBase64": portrait, "productId": product["id"]})
        picture_of(again.finished(worn))
        assert books(again, worn)[1] == ["reserve", "settle"]
