"""``tryon backfill``, where no Temporal is needed; the rest is in tests/stack/test_backfill.py."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app
from cli.service import Service
from domain.object_keys import backfill_prefix
from intake.pages import CONTENT_TYPE, lines_of
from tests.memory_store import MemoryObjectStore
from workflows.backfills.contracts import ItemOutcome

NAME = "summer"
PICTURE = bytes(200_000)


@contextmanager
def full_disk(left: int) -> Iterator[None]:
    """Files end after so many bytes, as they do on a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (left, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def one_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """A backfill of which one item is done."""
    store, prefix = MemoryObjectStore(), backfill_prefix(NAME)
    done = ItemOutcome(number=0, key="shirt-1", status="completed", result=f"{prefix}results/shirt-1.jpg")
    for key, data in {f"{prefix}outcomes/0.jsonl": lines_of([done]), f"{prefix}results/shirt-1.jpg": PICTURE}.items():
        asyncio.run(store.put(key, data, CONTENT_TYPE))
    monkeypatch.setattr(Service, "store", store)


@pytest.mark.usefixtures("one_done")
def test_a_picture_that_a_full_disk_cut_short_is_fetched_again(tmp_path: Path) -> None:
    command = ["backfill", "fetch", NAME, str(tmp_path)]
    with full_disk(len(PICTURE) // 2):
        assert isinstance(CliRunner().invoke(app, command).exception, OSError)
    assert CliRunner().invoke(app, command).output.startswith("1 pictures fetched")
    assert (tmp_path / "shirt-1.jpg").read_bytes() == PICTURE
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outcomes.jsonl", "shirt-1.jpg"]
