from __future__ import annotations

import pytest
from pydantic import SecretStr

from cli.diagnosis import stores as probe
from cli.diagnosis.findings import Case
from runtime.object_store import S3ObjectStore
from runtime.settings import ObjectStoreSettings, Settings
from tests.cli.diagnosis.conftest import findings_of, levels_of, the


@pytest.fixture
def store_settings(settings: Settings, object_store: S3ObjectStore, object_store_settings: ObjectStoreSettings) -> None:
    """The real store, which has its bucket."""
    settings.object_store = object_store_settings.model_copy()


@pytest.mark.usefixtures("store_settings")
async def test_a_sound_store_is_left_as_it_was(case: Case, object_store: S3ObjectStore) -> None:
    levels = await levels_of(probe.look_at_object_store, case)
    assert set(levels.values()) == {"ok"}
    assert len(levels) == 4
    assert await object_store.list_keys(probe.PREFIX) == []


async def test_no_store(case: Case) -> None:
    findings = await findings_of(probe.look_at_object_store, case)
    assert "curl" in (the(findings, "object store", "error").remedy or "")
    assert [finding.level for finding in findings[1:]] == ["skipped"] * 3


@pytest.mark.usefixtures("store_settings")
@pytest.mark.parametrize(
    "wrong",
    [{"bucket": "no-such-bucket"}, {"secret_key": SecretStr("not ours")}, {"access_key": "nobody"}],
    ids=["bucket", "secret key", "access key"],
)
async def test_a_bucket_that_is_not_there_or_not_ours(settings: Settings, wrong: dict[str, object]) -> None:
    settings.object_store = settings.object_store.model_copy(update=wrong)
    findings = await findings_of(probe.look_at_object_store, Case(settings))
    assert the(findings, "object store", "ok")
    assert settings.object_store.bucket in the(findings, "bucket", "error").sentence
    assert the(findings, "objects", "skipped")


@pytest.mark.usefixtures("store_settings")
async def test_a_store_that_changes_or_keeps_what_it_should_not(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    async def another(_store: S3ObjectStore, _key: str) -> bytes:
        return b"something else"

    monkeypatch.setattr(S3ObjectStore, "get", another)
    assert "changed" in the(await findings_of(probe.look_at_object_store, case), "objects", "error").sentence
