"""`tryon bucket create`."""

from __future__ import annotations

import asyncio
import uuid

import pytest
from pydantic import SecretStr
from typer.testing import CliRunner

from cli.main import app
from runtime.object_store import S3ObjectStore
from runtime.settings import ObjectStoreSettings
from tests.servers.processes import free_port


def set_settings(monkeypatch: pytest.MonkeyPatch, settings: ObjectStoreSettings, bucket: str) -> None:
    monkeypatch.setenv("TRYON_S3_ENDPOINT", settings.endpoint)
    monkeypatch.setenv("TRYON_S3_ACCESS_KEY", settings.access_key)
    monkeypatch.setenv("TRYON_S3_SECRET_KEY", settings.secret_key.get_secret_value())
    monkeypatch.setenv("TRYON_S3_BUCKET", bucket)


@pytest.mark.usefixtures("object_store")
def test_it_makes_the_bucket_and_may_run_again(
    object_store_settings: ObjectStoreSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket = f"made-{uuid.uuid4()}"
    set_settings(monkeypatch, object_store_settings, bucket)
    for _ in range(2):
        done = CliRunner().invoke(app, ["bucket", "create"])
        assert done.exit_code == 0, done.output
    store = S3ObjectStore(object_store_settings.model_copy(update={"bucket": bucket}))

    async def keep_something() -> bytes:
        await store.put("key", b"data", "text/plain")
        return await store.get("key")

    assert asyncio.run(keep_something()) == b"data"


def test_a_store_that_is_away_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = f"http://127.0.0.1:{free_port()}"
    set_settings(monkeypatch, ObjectStoreSettings(endpoint=endpoint, secret_key=SecretStr("secret")), "tryon")
    done = CliRunner().invoke(app, ["bucket", "create"])
    assert done.exit_code == 1
    assert endpoint in done.output
