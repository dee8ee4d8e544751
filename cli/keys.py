"""``tryon key``: API keys, each shown once."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime
from typing import Annotated, Literal

import typer
from sqlalchemy.orm import Session

from cli.transactions import AccountName, AsJson, account_named, in_reading, in_transaction
from domain.access import keys
from domain.operation import audit
from domain.operation.audit import Act, Detail
from domain.tables import ApiKey
from runtime.settings import Settings, load_settings

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
    mode: Literal["live", "test"] = "test" if test else "live"

    def work(session: Session) -> tuple[ApiKey, str]:
        account_id = account_named(session, account)
        row, key = keys.create_key(session, _digester(settings), account_id=account_id, mode=mode)
        _note(session, Act.KEY_CREATED, row)
        return row, key

    _show(*in_transaction(settings, work), as_json=as_json)


@app.command("list")
def list_keys(account: AccountName, as_json: AsJson = False) -> None:
    """Every key of an account; the keys themselves are not kept."""

    def work(session: Session) -> list[ApiKey]:
        return list(keys.list_keys(session, account_id=account_named(session, account)))

    found = in_reading(load_settings(), work)
    if as_json:
        typer.echo(json.dumps([_facts(key) for key in found]))
        return
    for key in found:
        facts = _facts(key)
        state = f"revoked {facts['revoked']}" if key.revoked_at else f"last used {facts['lastUsed'] or 'never'}"
        typer.echo(f"{key.id}  {key.prefix}…{key.last_four}  created {facts['created']}  {state}")


@app.command("revoke")
def revoke_key(key_id: KeyId) -> None:
    """Refuse a key from now on."""

    def work(session: Session) -> None:
        before = datetime.now(UTC)
        row = keys.revoke_key(session, key_id=key_id)
        if row.revoked_at is not None and row.revoked_at >= before:  # rather than long ago
            _note(session, Act.KEY_REVOKED, row)

    in_transaction(load_settings(), work)
    typer.echo("Revoked.")


@app.command("replace")
def replace_key(key_id: KeyId, as_json: AsJson = False) -> None:
    """Revoke a key and show another like it this once."""
    settings = load_settings()

    def work(session: Session) -> tuple[ApiKey, str]:
        row, key = keys.replace_key(session, _digester(settings), key_id=key_id)
        _note(session, Act.KEY_REVOKED, session.get_one(ApiKey, key_id))
        _note(session, Act.KEY_CREATED, row)
        return row, key

    _show(*in_transaction(settings, work), as_json=as_json)


@app.command("peppers")
def count_by_pepper(as_json: AsJson = False) -> None:
    """How many keys in use are under the current pepper, and which are not yet; they move when they are used."""
    settings = load_settings()
    digester = _digester(settings)

    def work(session: Session) -> keys.PepperCount:
        return keys.count_by_pepper(session, digester)

    count = in_reading(settings, work)
    if as_json:
        waiting = [{"accountId": str(key.account_id), **_facts(key)} for key in count.waiting]
        typer.echo(json.dumps({"pepperIds": digester.pepper_ids, "current": count.current, "waiting": waiting}))
        return
    current, *others = digester.pepper_ids
    typer.echo(f"Current pepper {current}: {count.current} keys in use.")
    if not others:
        typer.echo("No other pepper is accepted.")
        return
    typer.echo(f"Also accepted: {', '.join(others)}. Keys that are not under the current one: {len(count.waiting)}.")
    for key in count.waiting:
        used = _minute(key.last_used_at) or "never"
        typer.echo(f"{key.id}  {key.prefix}…{key.last_four}  account {key.account_id}  last used {used}")


def _note(session: Session, act: Act, row: ApiKey) -> None:
    details: dict[str, Detail] = {"keyId": str(row.id), "mode": row.mode}
    now = datetime.now(UTC)
    audit.add_entry(session, action=act, operator_id=None, account_id=row.account_id, details=details, now=now)


def _digester(settings: Settings) -> keys.KeyDigester:
    return keys.KeyDigester(*settings.security.peppers())


def _show(row: ApiKey, key: str, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"accountId": str(row.account_id), "keyId": str(row.id), "apiKey": key}))
    else:
        typer.echo(f"{key}\nKeep it: it is not shown again.")


def _facts(key: ApiKey) -> dict[str, str | None]:
    return {
        "keyId": str(key.id),
        "mode": key.mode,
        "prefix": key.prefix,
        "lastFour": key.last_four,
        "created": _minute(key.created_at),
        "lastUsed": _minute(key.last_used_at),
        "revoked": _minute(key.revoked_at),
    }


def _minute(at: datetime | None) -> str | None:
    return at.strftime("%Y-%m-%dT%H:%MZ") if at else None
