"""``tryon key`` and ``tryon rotate``: API keys, each shown once, and new secrets for the embedded stack.

Other deployments set their secrets themselves; see docs/rotation.md.
"""

from __future__ import annotations

import secrets
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from pydantic import SecretStr
from sqlalchemy.orm import Session

from cli.answers import AsJson, fail, show
from cli.database import AccountName, account_named, reading, transaction
from domain.access import keys
from domain.operation import audit
from domain.operation.audit import Act, Detail
from domain.tables import ApiKey
from runtime.embedded.record import has_secrets, keep_secrets, stack_secrets
from runtime.settings import ObjectStoreSettings, SecuritySettings, Settings, StackSettings, load_settings

app = typer.Typer(no_args_is_help=True, help="API keys.")

KeyId = Annotated[uuid.UUID, typer.Argument(help="Id of the key, from `tryon key list`.")]


@app.command("create")
def create_key(
    account: AccountName,
    test: Annotated[bool, typer.Option("--test", help="A key that costs nothing and draws nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Add an API key and show it this once."""
    settings = load_settings()
    with transaction(settings) as session:
        account_id = account_named(session, account)
        row, key = keys.create_key(session, _digester(settings), account_id=account_id, mode="test" if test else "live")
        _note(session, Act.KEY_CREATED, row)
    _show_once(row, key, as_json=as_json)


@app.command("list")
def list_keys(account: AccountName, as_json: AsJson = False) -> None:
    """Every key of an account; the keys themselves are not kept."""
    with reading(load_settings()) as session:
        facts = [_facts(key) for key in keys.list_keys(session, account_id=account_named(session, account))]
    show(
        facts,
        *(
            f"{_name(key)}  created {key['created']}  "
            + (f"revoked {key['revoked']}" if key["revoked"] else f"last used {key['lastUsed'] or 'never'}")
            for key in facts
        ),
        as_json=as_json,
    )


@app.command("revoke")
def revoke_key(key_id: KeyId) -> None:
    """Refuse a key from now on."""
    with transaction(load_settings()) as session:
        before = datetime.now(UTC)
        row = keys.revoke_key(session, key_id=key_id)
        if row.revoked_at is not None and row.revoked_at >= before:  # rather than long ago
            _note(session, Act.KEY_REVOKED, row)
    typer.echo("Revoked.")


@app.command("replace")
def replace_key(key_id: KeyId, as_json: AsJson = False) -> None:
    """Revoke a key and show another like it this once."""
    settings = load_settings()
    with transaction(settings) as session:
        row, key = keys.replace_key(session, _digester(settings), key_id=key_id)
        _note(session, Act.KEY_REVOKED, session.get_one(ApiKey, key_id))
        _note(session, Act.KEY_CREATED, row)
    _show_once(row, key, as_json=as_json)


@app.command("peppers")
def count_by_pepper(as_json: AsJson = False) -> None:
    """How many keys in use are under the current pepper, and which are not yet; they move when they are used."""
    settings = load_settings()
    digester = _digester(settings)
    with reading(settings) as session:
        count = keys.count_by_pepper(session, digester)
    waiting = [{"accountId": str(key.account_id), **_facts(key)} for key in count.waiting]
    current, *others = digester.pepper_ids
    lines = [f"Current pepper {current}: {count.current} keys in use."]
    if others:
        lines.append(
            f"Also accepted: {', '.join(others)}. Keys that are not under the current one: {len(count.waiting)}."
        )
        lines += [
            f"{_name(key)}  account {key['accountId']}  last used {key['lastUsed'] or 'never'}" for key in waiting
        ]
    else:
        lines.append("No other pepper is accepted.")
    facts = {"pepperIds": digester.pepper_ids, "current": count.current, "waiting": waiting}
    show(facts, *lines, as_json=as_json)


def _note(session: Session, act: Act, row: ApiKey) -> None:
    details: dict[str, Detail] = {"keyId": str(row.id), "mode": row.mode}
    now = datetime.now(UTC)
    audit.add_entry(session, action=act, operator_id=None, account_id=row.account_id, details=details, now=now)


def _digester(settings: Settings) -> keys.KeyDigester:
    return keys.KeyDigester(*settings.security.peppers())


def _show_once(row: ApiKey, key: str, *, as_json: bool) -> None:
    facts = {"accountId": str(row.account_id), "keyId": str(row.id), "apiKey": key}
    show(facts, f"{key}\nKeep it: it is not shown again.", as_json=as_json)


def _facts(key: ApiKey) -> dict[str, str | None]:
    moments = {"created": key.created_at, "lastUsed": key.last_used_at, "revoked": key.revoked_at}
    return {
        "keyId": str(key.id),
        "mode": key.mode,
        "prefix": key.prefix,
        "lastFour": key.last_four,
        **{name: at.strftime("%Y-%m-%dT%H:%MZ") if at else None for name, at in moments.items()},
    }


def _name(key: dict[str, str | None]) -> str:
    return f"{key['keyId']}  {key['prefix']}…{key['lastFour']}"


rotate_app = typer.Typer(no_args_is_help=True, help="New secrets for the embedded stack.")

RESTART = "It takes effect at the next start: tryon down, then tryon up."


@rotate_app.command("pepper")
def pepper() -> None:
    """Make a new pepper; keys under the old one stay valid and move to the new one when they are used."""
    _refuse_foreign_pepper()
    kept = _kept()
    previous = [kept["key_pepper"], *filter(None, [kept.get("key_pepper_previous")])]
    keep_secrets(
        _data_dir(), kept | {"key_pepper": secrets.token_urlsafe(48), "key_pepper_previous": ",".join(previous)}
    )
    typer.echo(f"The stack has a new pepper. {RESTART}\nHow many keys have moved: tryon key peppers")


@rotate_app.command("finish")
def finish(
    revoke_waiting: Annotated[
        bool, typer.Option("--revoke-waiting", help="Revoke the keys that have not been used since the rotation.")
    ] = False,
) -> None:
    """Stop accepting older peppers; refused while keys in use still need one."""
    _refuse_foreign_pepper()
    kept, settings = _kept(), load_settings()
    wanted = SecuritySettings(
        key_pepper=SecretStr(kept["key_pepper"]), key_pepper_previous=SecretStr(kept.get("key_pepper_previous", ""))
    )
    # With fewer peppers than the stack keeps, keys under the others would not be seen to wait.
    if settings.security.peppers() != wanted.peppers():
        fail(f"The peppers of the last rotation have not taken effect. {RESTART}")
    with transaction(settings) as session:
        if revoke_waiting:
            typer.echo(f"Revoked {keys.revoke_waiting(session, _digester(settings))} keys.")
        elif waiting := keys.count_by_pepper(session, _digester(settings)).waiting:
            raise ValueError(
                f"{len(waiting)} keys in use are still under an older pepper (tryon key peppers). Wait until they are "
                "used, replace them, or revoke them with --revoke-waiting."
            )
    keep_secrets(_data_dir(), {name: secret for name, secret in kept.items() if name != "key_pepper_previous"})
    typer.echo(f"No older pepper is kept. {RESTART}")


@rotate_app.command("store")
def store() -> None:
    """Make a new secret key for the object store."""
    _refuse_if_set("TRYON_S3_SECRET_KEY", "secret_key" in ObjectStoreSettings.load(None).model_fields_set)
    keep_secrets(_data_dir(), _kept() | {"s3_secret_key": secrets.token_urlsafe(32)})
    typer.echo(f"The object store has a new secret key. {RESTART}")


def _data_dir() -> Path:
    return StackSettings.load(None).data_dir


def _kept() -> dict[str, str]:
    if not has_secrets(_data_dir()):
        fail(f"No stack has run in {_data_dir()}.")
    return stack_secrets(_data_dir())


def _refuse_foreign_pepper() -> None:
    given = SecuritySettings.load(None).model_fields_set
    for field in ("key_pepper", "key_pepper_previous"):
        _refuse_if_set(f"TRYON_{field.upper()}", field in given)


def _refuse_if_set(variable: str, is_set: bool) -> None:
    if is_set:
        fail(f"{variable} is set, so the secret is not the stack's own: change it there.")
