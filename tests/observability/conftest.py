from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx
import pytest

from domain import migrations
from runtime.database import Database
from runtime.object_store import S3ObjectStore
from runtime.settings import DatabaseSettings, ObjectStoreSettings
from tests.observability.receiver import Receiver, running_receiver
from tests.observability.scene import Scene, open_scene, play, settings_for
from tests.servers.temporal import running_temporal


@dataclass(frozen=True)
class Played:
    """What was to be seen of one run of the scene.

    Attributes:
        answers: Of the API, by what was asked.
        api, cpu, gpu: What each process serves as metrics.
        receiver: With all spans.
        scene: No longer running.
    """

    answers: dict[str, httpx.Response]
    api: str
    cpu: str
    gpu: str
    receiver: Receiver
    scene: Scene


@pytest.fixture(scope="session")
async def played(
    tmp_path_factory: pytest.TempPathFactory, object_store_settings: ObjectStoreSettings, object_store: S3ObjectStore
) -> AsyncIterator[Played]:
    """The scene, played once for all tests that only look."""
    url = f"sqlite:///{tmp_path_factory.mktemp('scene')}/tryon.db"
    database = Database(DatabaseSettings(url=url))
    migrations.upgrade(database.engine)
    database.close()
    with running_receiver() as receiver:
        async with running_temporal() as client:
            settings = settings_for(
                url,
                object_store_settings,
                client.service_client.config.target_host,
                client.namespace,
                receiver.endpoint,
            )
            async with open_scene(settings) as scene:
                answers = await play(scene)
                api = await asyncio.to_thread(scene.metrics_text)
                cpu, gpu = await scene.served(scene.cpu_address), await scene.served(scene.gpu_address)
        await asyncio.to_thread(scene.close_tracings)
        yield Played(answers, api, cpu, gpu, receiver, scene)
