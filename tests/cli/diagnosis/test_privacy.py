"""What other users of the machine could get at."""

from __future__ import annotations

import os
import pwd
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from pydantic import SecretStr

from cli.diagnosis import host
from cli.diagnosis.findings import Case
from runtime.embedded.record import stack_secrets
from runtime.settings import Settings, StackSettings, TemporalSettings
from tests.cli.diagnosis.conftest import levels_of


def account(name: str, uid: int, shell: str = "/bin/bash") -> pwd.struct_passwd:
    return pwd.struct_passwd((name, "x", uid, uid, "", "/", shell))


def having(monkeypatch: pytest.MonkeyPatch, *accounts: pwd.struct_passwd, signed_in: tuple[str, ...] = ()) -> list[str]:
    monkeypatch.setattr(pwd, "getpwall", lambda: list(accounts))
    monkeypatch.setattr(psutil, "users", lambda: [SimpleNamespace(name=name) for name in signed_in])
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    return host.other_people()


@pytest.mark.parametrize(("mode", "level"), [(0o700, "ok"), (0o750, "error"), (0o701, "error")])
async def test_the_data_folder(settings: Settings, tmp_path: Path, mode: int, level: str) -> None:
    settings.stack = StackSettings(data_dir=tmp_path / "data")
    assert (await levels_of(host.look_at_privacy, Case(settings)))["data folder"] == "skipped", "no stack has run there"
    (tmp_path / "data").mkdir()
    stack_secrets(tmp_path / "data")
    (tmp_path / "data").chmod(mode)
    finding = host.judged_folder(settings.stack)
    assert finding.level == level
    assert (finding.remedy or "chmod -R go= ").startswith("chmod -R go= ")


def test_people_are_told_from_accounts_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    accounts = (
        account("root", 0),
        account("us", 1000),
        account("daemon", 1, "/usr/sbin/nologin"),
        account("postgres", 110),
        account("nobody", 65534, "/bin/sh"),
        account("locked", 1001, "/bin/false"),
        account("ann", 1002),
    )
    assert having(monkeypatch, *accounts, signed_in=("us", "root", "of-the-directory")) == ["ann", "of-the-directory"]


def test_a_temporal_that_asks_for_nothing_is_a_matter_of_who_can_log_in() -> None:
    here = TemporalSettings(address="127.0.0.1:7233")
    assert host.judged_temporal(here, []).level == "ok"
    found = host.judged_temporal(here, ["ann", "bob", "eve", "zoe"])
    assert found.level == "warning"
    assert "4 other users can log in here (ann, bob, eve, …)" in found.sentence
    assert host.judged_temporal(TemporalSettings(address="temporal:7233"), ["ann"]).level == "skipped"
    with_a_key = TemporalSettings(address="127.0.0.1:7233", api_key=SecretStr("k"))
    assert host.judged_temporal(with_a_key, ["ann"]).level == "ok"
