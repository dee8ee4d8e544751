"""Which servers `tryon up` starts, and with which settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.embedded import addresses_of, child_specs, choose_environment
from runtime.settings import Settings


@pytest.mark.parametrize("wanted", [True, False])
def test_the_temporal_ui_can_be_left_away(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wanted: bool) -> None:
    monkeypatch.setenv("TRYON_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("TRYON_TEMPORAL_UI", str(wanted))
    for name, value in choose_environment(Settings()).items():
        monkeypatch.setenv(name, value)
    settings = Settings()
    command = child_specs(settings, tmp_path)["temporal"].command
    assert ("--headless" in command, "--ui-port" in command) == (not wanted, wanted)
    assert ("Temporal UI" in addresses_of(settings)) is wanted
    assert bool(settings.temporal.run_url("tryon-1")) is wanted
