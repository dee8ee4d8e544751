"""Jobs from HTTP to picture through the real engines `klein` and `fashn`, with small networks and random weights.

Such networks draw noise. With the bounds of the checks wide open that becomes a picture; as they are it becomes a job
that failed and that nobody pays for.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from torch import Tensor

import engines.fashn.painter
from api.dashboard.samples import PORTRAIT, pixels_of
from domain.jobs import jobs
from engines.fashn.about import FASHN
from engines.fashn.network import Conditions, FashnNetwork
from engines.klein.about import KLEIN
from engines.models import models_present
from engines.weights.fetch import MANIFEST
from runtime.settings import Settings
from tests.engines.fashn.numbers import Numbers
from tests.engines.fashn.weights import write_checkpoint, write_pose_graphs
from tests.engines.klein.tiny import save_tiny_pipeline
from tests.integration.conftest import Servers, Service, running_service
from tests.ledger_entries import entries_of_job
from tests.one_thread import one_thread  # noqa: F401  # a fixture
from worker_gpu.engine import choose_engines, choose_segmenter

MODELS = Path(__file__).parents[2] / ".models"
ENGINES = ("klein", "fashn")
WIDE_OPEN = {
    "CONTRAST": "0", "CHANGED": "0", "OUTSIDE": "1", "SHIFT": "1", "CAST": "200", "FACE": "-1", "PEOPLE_OFF_BY": "1",
    "POSE": "99", "COLOURS": "0",
}  # fmt: skip

pytestmark = pytest.mark.databases("sqlite")
"""The database has no part in how pictures are drawn."""

DRAWN_WITHIN = 120
"""Seconds that are waited for a job. It takes 13 alone, where the other tests' engine takes none."""

Started = Callable[..., AbstractAsyncContextManager[Service]]


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `tryon engines fetch` would fill, with tiny networks."""
    folder = tmp_path_factory.mktemp("weights")
    save_tiny_pipeline(folder / "klein")
    (folder / "fashn" / "dwpose").mkdir(parents=True)
    numbers = Numbers()
    write_checkpoint(folder / "fashn", numbers.weights, numbers.configuration)
    write_pose_graphs(folder / "fashn")
    for info in (KLEIN, FASHN):
        source = {"repository": info.source, "revision": info.revision}
        manifest = {"licence": info.weights_licence, "sources": [source]}
        (folder / info.name / MANIFEST).write_text(json.dumps(manifest))
    return folder


@pytest.fixture
def started(servers: Servers, weights: Path, monkeypatch: pytest.MonkeyPatch) -> Started:
    if not models_present(MODELS):
        pytest.skip("the model files were not fetched")

    @asynccontextmanager
    async def start(engine: str, bounds: dict[str, str]) -> AsyncIterator[Service]:
        variables = {"ENGINE": engine, "DEVICE": "cpu", "WEIGHTS_DIR": str(weights), "MODELS_DIR": str(MODELS)}
        variables |= {"FASHN_STEPS": "3"} | {f"CHECK_{name}": value for name, value in bounds.items()}
        for name, value in variables.items():
            monkeypatch.setenv(f"TRYON_{name}", value)
        settings = Settings()
        segmenter = choose_segmenter(settings.engine)
        engines = choose_engines(settings, segmenter)
        for one in engines.all:
            one.setup()
        async with running_service(servers, segmenter, engines) as service:
            yield service

    return start


def data_uri(picture: np.ndarray, side: int) -> str:
    buffer = io.BytesIO()
    image = Image.fromarray(picture)
    image.resize((side * image.width // image.height, side)).save(buffer, "PNG")
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def order() -> dict[str, Any]:
    return {
        "customerPhotoBase64": data_uri(pixels_of(PORTRAIT), 320),
        "garmentImageUrl": data_uri(pixels_of("striped_sweater"), 400),
        "category": "upper_body",
        "tuckState": "tucked",
    }


async def row_of(service: Service, job_id: str) -> Any:
    return await service.database.read(jobs.get_job, job_id=uuid.UUID(job_id))


@pytest.mark.parametrize("engine", ENGINES)
async def test_job_becomes_a_picture_of_the_photos_size(started: Started, engine: str) -> None:
    async with started(engine, WIDE_OPEN) as service:
        job_id = await service.post(order())
        body = await service.finished(job_id, DRAWN_WITHIN)
        assert body["status"] == "completed", body
        picture = Image.open(io.BytesIO(base64.b64decode(body["resultImageBase64"].partition(",")[2])))
        assert picture.size == (320, 320)
        report = (await row_of(service, job_id)).report
    assert (report["engine"], report["trained"]) == (engine, True)
    assert {"contrast", "changed", "outside", "shift", "cast", "face", "colours"} <= report["checks"].keys()
    hint = {"klein": "hintsApplied", "fashn": "hintsNotApplied"}[engine]
    assert "tuck_state" in report[hint]


@pytest.mark.parametrize("engine", ENGINES)
async def test_noise_is_no_picture_and_costs_nothing(started: Started, engine: str) -> None:
    async with started(engine, {}) as service:
        job_id = await service.post(order())
        body = await service.finished(job_id, DRAWN_WITHIN)
        entries = await service.database.read(entries_of_job, job_id=uuid.UUID(job_id))
    assert body["status"] == "failed"
    assert body["error"].startswith("No good picture came out.")
    assert entries == ["reserve", "release"]


async def test_a_drawing_that_is_lost_on_its_way_goes_on_and_leaves_nothing_behind(
    started: Started, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines.fashn.painter, "WORTH_KEEPING_SECONDS", 0.0)
    async with started("fashn", WIDE_OPEN) as service:
        steps, forward = list[float](), FashnNetwork.forward

        def lost_once(network: FashnNetwork, noisy: Tensor, time: Tensor, conditions: Conditions) -> Tensor:
            steps.append(float(time[0]))
            if len(steps) == 3:
                raise RuntimeError("lost")
            return forward(network, noisy, time, conditions)

        monkeypatch.setattr(FashnNetwork, "forward", lost_once)
        job_id = await service.post(order())
        assert (await service.finished(job_id, DRAWN_WITHIN))["status"] == "completed"
        assert len(steps) == 4, "the third of three steps is drawn twice, and the others once"
        assert steps[2] == steps[3]
        while await service.objects(job_id) != [f"results/{job_id}.jpg"]:
            await asyncio.sleep(0.05)
