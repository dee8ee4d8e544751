from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from engines.finish.checks import Bounds
from runtime.settings import EMBEDDED_FILE, Settings, load_settings

PROJECT = Path(__file__).parents[2]


def test_the_stacks_file_is_found_in_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / EMBEDDED_FILE).write_text('TRYON_API_PORT="8123"\n')
    monkeypatch.setenv("TRYON_DATA_DIR", str(tmp_path))
    assert load_settings().api.port == 8123


def test_the_environment_wins_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / EMBEDDED_FILE).write_text('TRYON_API_PORT="8123"\n')
    monkeypatch.setenv("TRYON_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("TRYON_API_PORT", "9000")
    assert load_settings().api.port == 9000


def test_a_value_that_cannot_be_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRYON_API_PORT", "70000")
    with pytest.raises(ValidationError, match="port"):
        Settings()


def test_every_setting_says_what_it_is_for() -> None:
    for concern in Settings.concerns().values():
        for name, field in concern.model_fields.items():
            assert field.description, f"{concern.__name__}.{name}"


def test_secrets_do_not_show_when_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRYON_KEY_PEPPER", "very secret")
    monkeypatch.setenv("TRYON_S3_SECRET_KEY", "very secret")
    settings = Settings()
    assert "very secret" not in repr(settings.security) + repr(settings.object_store)


def test_nothing_else_reads_the_environment() -> None:
    allowed = {"runtime/settings/__init__.py", "cli/embedded.py", "runtime/embedded/child.py"}
    rooms = (
        "api",
        "workflows",
        "activities",
        "worker_cpu",
        "worker_gpu",
        "engines",
        "imaging",
        "domain",
        "runtime",
        "cli",
    )
    for room in rooms:
        for path in (PROJECT / room).rglob("*.py"):
            name = path.relative_to(PROJECT).as_posix()
            if name not in allowed:
                assert not re.search(r"os\.environ|getenv", path.read_text()), name


def test_bounds_of_checks_are_those_of_the_engines() -> None:
    assert Settings().checks.model_dump() == dataclasses.asdict(Bounds())


def test_bound_that_is_no_number_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRYON_CHECK_FACE", "nan")
    with pytest.raises(ValidationError, match="face"):
        Settings()
