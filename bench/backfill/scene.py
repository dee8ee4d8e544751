"""Thousands of small items for one account, and what a customer meets beside them."""

from __future__ import annotations

import csv
import time
import uuid
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import cv2
import httpx
import numpy as np
from PIL import Image
from sqlalchemy import select
from temporalio.client import Client

from api.dashboard.samples import PORTRAIT, SAMPLES, pixels_of
from bench.service.photos import portrait_body
from domain.tables import LedgerEntry
from runtime.database import Database
from runtime.settings import Settings

PERSON_SIDE, GARMENT_SIDE = 288, 384
"""Pixels; a quarter of the work of a real photo."""

TOPS = [name for name, sample in SAMPLES.items() if sample.category == "upper_body"]
"""All that the sample person, a portrait, can try on."""

WAIT_SECONDS = 30


def write_items(folder: Path, count: int) -> Path:
    """A CSV file of so many items, over one person and the sample tops, and its pictures beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    _save(folder / "person.png", pixels_of(PORTRAIT), PERSON_SIDE)
    for name in TOPS:
        _save(folder / f"{name}.png", pixels_of(name), GARMENT_SIDE)
    file = folder / "items.csv"
    with file.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["key", "person", "garmentImageUrl", "category"])
        for number in range(count):
            name = TOPS[number % len(TOPS)]
            rows.writerow([f"item-{number:05}", "person.png", f"{name}.png", SAMPLES[name].category])
    return file


def _save(path: Path, picture: np.ndarray, side: int) -> None:
    scale = side / max(picture.shape[:2])
    size = (round(picture.shape[1] * scale), round(picture.shape[0] * scale))
    Image.fromarray(np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)).save(path)


def customer_seconds(client: httpx.Client) -> float:
    """How long a customer waits for a picture of the sample portrait, from the POST to the poll that has it."""
    began = time.monotonic()
    job_id = client.post("/api/v1/tryon", json=portrait_body()).json()["jobId"]
    while True:
        answer = client.get(f"/api/v1/tryon/{job_id}", headers={"Prefer": f"wait={WAIT_SECONDS}"}).json()
        if answer["status"] == "completed":
            return time.monotonic() - began
        if answer["status"] == "failed":
            raise RuntimeError(answer["error"])


@dataclass(frozen=True)
class Run:
    """One run of the workflow; a backfill has many."""

    run_id: str
    events: int


async def runs_of(client: Client, backfill_id: str) -> list[Run]:
    """Every run of the backfill, with the length of its history."""
    found = []
    async for run in client.list_workflows(f"WorkflowId = '{backfill_id}'"):
        description = await client.get_workflow_handle(backfill_id, run_id=run.run_id).describe()
        found.append(Run(run.run_id, description.history_length))
    return found


def bills_of(settings: Settings, job_ids: Iterable[str]) -> Counter[str]:
    """How many ledger entries of each kind these jobs have together."""
    wanted = {uuid.UUID(job_id) for job_id in job_ids}
    with closing(Database(settings.database)) as database, database.reading() as session:
        rows = session.execute(select(LedgerEntry.job_id, LedgerEntry.kind))
        return Counter(kind for job_id, kind in rows if job_id in wanted)
