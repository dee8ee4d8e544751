"""``tryon rotate`` and ``tryon key peppers``, with the settings that ``tryon up`` would choose next."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from cli.embedded import choose_environment
from cli.main import app
from domain.access import keys
from domain.access.keys import KeyDigester, KeyOwner
from imaging.encode import encode_jpeg
from imaging.provenance import COMPOSITE, Origin, PictureSigner, make_certificate, open_signer
from runtime.database import Database
from runtime.embedded.record import SECRETS_FILE, stack_secrets, write_environment
from runtime.settings import EMBEDDED_FILE, Settings, load_settings


def tryon(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def answer(*arguments: str) -> Any:
    done = tryon(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def restart(data_dir: Path) -> None:
    """What the next ``tryon up`` leaves for the processes and commands of the stack."""
    data_dir.mkdir(exist_ok=True)
    write_environment(data_dir / EMBEDDED_FILE, choose_environment(Settings()))


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    restart(tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture
def key(data_dir: Path) -> str:
    tryon("account", "create", "--email", "owner@example.com", "--plan", "starter")
    made: str = answer("key", "create", "--account", "owner@example.com")["apiKey"]
    return made


async def call_with(key: str) -> KeyOwner | None:
    """What a call with the key does, as the API does it."""
    settings = load_settings()
    database = Database(settings.database)
    try:
        digester = KeyDigester(*settings.security.peppers())
        owner = await database.read(lambda session: keys.find_owner(session, digester, key=key))
        if owner and owner.new_digest:
            digest = owner.new_digest
            await database.write(lambda session: keys.renew_digest(session, key_id=owner.key_id, digest=digest))
        return owner
    finally:
        database.close()


@pytest.mark.parametrize("rounds", [1, 2])
def test_a_pepper_is_rotated_with_keys_in_use(data_dir: Path, key: str, rounds: int) -> None:
    old = stack_secrets(data_dir)["key_pepper"]
    for _ in range(rounds):
        before = answer("key", "peppers")
        assert tryon("rotate", "pepper").exit_code == 0
        assert answer("key", "peppers") == before  # until the restart
        assert "have not taken effect" in tryon("rotate", "finish").output
        restart(data_dir)
    count = answer("key", "peppers")
    assert (count["current"], len(count["pepperIds"])) == (0, 1 + rounds)
    assert [each["lastFour"] for each in count["waiting"]] == [key[-4:]]
    refused = tryon("rotate", "finish")
    assert refused.exit_code == 1
    assert "1 keys in use are still under an older pepper" in refused.output
    assert asyncio.run(call_with(key)) is not None
    assert answer("key", "peppers")["waiting"] == []
    assert tryon("rotate", "finish").exit_code == 0
    restart(data_dir)
    assert old not in (data_dir / SECRETS_FILE).read_text() + (data_dir / EMBEDDED_FILE).read_text()
    assert asyncio.run(call_with(key)) is not None
    assert "No other pepper is accepted" in tryon("key", "peppers").output


def test_keys_that_nobody_uses_are_revoked_when_asked(data_dir: Path, key: str) -> None:
    tryon("rotate", "pepper")
    restart(data_dir)
    assert "Revoked 1 keys" in tryon("rotate", "finish", "--revoke-waiting").output
    assert answer("key", "list", "--account", "owner@example.com")[0]["revoked"] is not None


def test_the_store_gets_another_secret(data_dir: Path) -> None:
    before = stack_secrets(data_dir)
    assert tryon("rotate", "store").exit_code == 0
    after = stack_secrets(data_dir)
    assert after["s3_secret_key"] != before["s3_secret_key"]
    assert after["key_pepper"] == before["key_pepper"]
    assert (data_dir / SECRETS_FILE).stat().st_mode & 0o077 == 0


def test_pictures_of_every_certificate_are_told_as_ours(data_dir: Path) -> None:
    picture = encode_jpeg(np.zeros((64, 64, 3), np.uint8))
    signed = [data_dir / "first.jpg", data_dir / "second.jpg", data_dir / "third.jpg"]
    for file in signed:
        settings = load_settings()
        signer = open_signer(name="Fitting Room", **settings.signing.model_dump())
        assert signer is not None
        file.write_bytes(signer.sign(picture, Origin("warp", "1", COMPOSITE, "ab" * 32)))
        assert tryon("rotate", "certificate").exit_code == 0
        restart(data_dir)
    assert (data_dir / "signing-earlier.pem").stat().st_mode & 0o077 == 0
    for file in signed:
        assert tryon("picture", "verify", str(file)).exit_code == 0
    foreign = PictureSigner(*(each.encode() for each in make_certificate("Fitting Room")), name="x", version="1")
    signed[0].write_bytes(foreign.sign(picture, Origin("warp", "1", COMPOSITE, "ab" * 32)))
    told = tryon("picture", "verify", str(signed[0]))
    assert (told.exit_code, "not that of this service" in told.output) == (1, True)


@pytest.mark.parametrize(
    ("command", "variable", "value"),
    [
        ("certificate", "TRYON_SIGNING_KEY", __file__),
        ("pepper", "TRYON_KEY_PEPPER", "x" * 40),
        ("pepper", "TRYON_KEY_PEPPER_PREVIOUS", "x" * 40),
        ("pepper", "TRYON_KEY_PEPPER_PREVIOUS", ""),
        ("finish", "TRYON_KEY_PEPPER", "x" * 40),
        ("finish", "TRYON_KEY_PEPPER_PREVIOUS", "x" * 40),
        ("finish", "TRYON_KEY_PEPPER_PREVIOUS", ""),
        ("store", "TRYON_S3_SECRET_KEY", "x" * 40),
    ],
)
def test_a_secret_that_comes_from_outside_is_not_rotated_here(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch, command: str, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    before = stack_secrets(data_dir)
    refused = tryon("rotate", command)
    assert refused.exit_code == 1
    assert f"{variable} is set" in refused.output
    assert stack_secrets(data_dir) == before


def test_a_rotation_is_finished_by_a_stack_that_accepts_the_older_peppers(data_dir: Path, key: str) -> None:
    """Else no key is seen to wait, and the pepper of all of them would be thrown away."""
    tryon("rotate", "pepper")
    restart(data_dir)
    environment = data_dir / EMBEDDED_FILE
    lines = environment.read_text().splitlines()
    environment.write_text("\n".join(line for line in lines if "PEPPER_PREVIOUS" not in line))
    before = stack_secrets(data_dir)
    refused = tryon("rotate", "finish", "--revoke-waiting")
    assert (refused.exit_code, "have not taken effect" in refused.output) == (1, True)
    assert stack_secrets(data_dir) == before


def test_without_a_stack_there_is_nothing_to_rotate(tmp_path: Path) -> None:
    assert "No stack has run" in tryon("rotate", "pepper").output
    assert not (tmp_path / "data").exists()
