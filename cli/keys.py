"""``tryon key`` and ``tryon rotate``: API keys, each shown once, and new secrets for the embedded stack.

Other deployments set their secrets themselves; see docs/rotation.md.
"""

from __future__ import annotations

import secrets
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from pydantic import SecretStr
from sqlalchemy.orm import Session

from cli.answers import AsJson, fail, show
from cli.service import AccountName, Service, account_named
from domain.access import keys
from domain.access.keys import KeyScope, KeyTerms, PublishableTerms
from domain.operation import audit
from domain.operation.audit import Act, Detail
from domain.tables import ApiKey
from imaging.provenance import make_certificate
from runtime.concern import Concern
from runtime.embedded.record import has_secrets, keep_secrets, stack_secrets
from runtime.settings import (
    DashboardSettings,
    ObjectStoreSettings,
    SecuritySettings,
    SigningSettings,
    StackSettings,
)

app = typer.Typer(no_args_is_help=True, help="API keys.")

KeyId = Annotated[uuid.UUID, typer.Argument(help="Id of the key, from `tryon key list`.")]


@app.command("create")
def create_key(
    account: AccountName,
    *,
    test: Annotated[bool, typer.Option("--test", help="A key that costs nothing and draws nothing.")] = False,
    name: Annotated[str | None, typer.Option(help="What lists call it, up to 60 characters.")] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(help=f"What it may be used for: {', '.join(keys.SCOPES)}; can be given again. All by default."),
    ] = None,
    last_day: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="It stops working at the end of this day (UTC).")
    ] = None,
    publishable: Annotated[
        bool, typer.Option("--publishable", help="A key for web pages, which is no secret.")
    ] = False,
    origin: Annotated[
        list[str] | None, typer.Option(help="Origin of pages that may use a publishable key; up to 20 times.")
    ] = None,
    daily_cap: Annotated[
        int, typer.Option(min=1, max=keys.LARGEST_DAILY_CAP, help="Try-ons a day of a publishable key.")
    ] = keys.DEFAULT_DAILY_CAP,
    as_json: AsJson = False,
) -> None:
    """Add an API key and show it this once."""
    if publishable and scope:
        raise typer.BadParameter("a publishable key has its own", param_hint="--scope")
    if origin and not publishable:
        raise typer.BadParameter("only a publishable key has origins", param_hint="--origin")
    scopes: list[KeyScope] = [known for known in keys.SCOPES if known in (scope or ())]
    if scope and len(scopes) < len(set(scope)):
        raise typer.BadParameter(f"scopes are {', '.join(keys.SCOPES)}", param_hint="--scope")
    service = Service()
    with service.transaction() as session:
        row, key = keys.create_key(
            session,
            service.digester,
            account_id=account_named(session, account),
            mode=keys.TEST if test else keys.LIVE,
            terms=KeyTerms(
                None if name is None else keys.read_name(name),
                scopes or None,
                last_day and last_day.replace(tzinfo=UTC) + timedelta(days=1),
            ),
            publishable=PublishableTerms(keys.read_origins(origin or []), daily_cap) if publishable else None,
        )
        _note(session, Act.KEY_CREATED, row)
    _show_once(row, key, as_json=as_json)


@app.command("list")
def list_keys(account: AccountName, as_json: AsJson = False) -> None:
    """Every key of an account; secret keys themselves are not kept."""
    with Service().reading() as session:
        facts = [_facts(key) for key in keys.list_keys(session, account_id=account_named(session, account))]
    show(
        facts,
        *(
            f"{_name(key)}  {key['name']}  created {key['created']}  "
            + (f"revoked {key['revoked']}" if key["revoked"] else f"last used {key['lastUsed'] or 'never'}")
            + ("" if key["revoked"] or not key["expires"] else f"  works until {key['expires']}")
            + (f"  may {', '.join(key['scopes'])}" if key["scopes"] else "")
            + (f"  on {', '.join(key['origins'])}, {key['dailyCap']} a day" if key["origins"] else "")
            for key in facts
        ),
        as_json=as_json,
    )


@app.command("revoke")
def revoke_key(key_id: KeyId) -> None:
    """Refuse a key from now on."""
    with Service().transaction() as session:
        before = datetime.now(UTC)
        row = keys.revoke_key(session, key_id=key_id)
        if row.revoked_at is not None and row.revoked_at >= before:  # rather than long ago
            _note(session, Act.KEY_REVOKED, row)
    typer.echo("Revoked.")


@app.command("replace")
def replace_key(
    key_id: KeyId,
    overlap: Annotated[
        Literal["none", "1h", "24h", "7d"], typer.Option(help="How long the old key works on; none revokes it at once.")
    ] = "none",
    as_json: AsJson = False,
) -> None:
    """Revoke a key, at once or later, and show another like it this once."""
    service = Service()
    with service.transaction() as session:
        row, key = keys.replace_key(session, service.digester, key_id=key_id, overlap=keys.OVERLAPS[overlap])
        _note(session, Act.KEY_REVOKED, session.get_one(ApiKey, key_id))
        _note(session, Act.KEY_CREATED, row)
    _show_once(row, key, as_json=as_json)


@app.command("peppers")
def count_by_pepper(as_json: AsJson = False) -> None:
    """How many keys in use are under the current pepper, and which are not yet; they move when they are used."""
    service = Service()
    with service.reading() as session:
        count = keys.count_by_pepper(session, service.digester)
    waiting = [{"accountId": str(key.account_id), **_facts(key)} for key in count.waiting]
    current, *others = service.digester.pepper_ids
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
    facts = {"pepperIds": service.digester.pepper_ids, "current": count.current, "waiting": waiting}
    show(facts, *lines, as_json=as_json)


def _note(session: Session, act: Act, row: ApiKey) -> None:
    details: dict[str, Detail] = {"keyId": str(row.id), "mode": row.mode}
    if act == Act.KEY_REVOKED and row.revoked_at is None and row.expires_at is not None:
        details["worksUntil"] = row.expires_at.isoformat(timespec="minutes")
    now = datetime.now(UTC)
    audit.add_entry(session, action=act, operator_id=None, account_id=row.account_id, details=details, now=now)


def _show_once(row: ApiKey, key: str, *, as_json: bool) -> None:
    facts = {"accountId": str(row.account_id), "keyId": str(row.id), "apiKey": key}
    kept = "It is no secret: lists show it again." if row.publishable_key else "Keep it: it is not shown again."
    show(facts, f"{key}\n{kept}", as_json=as_json)


def _facts(key: ApiKey) -> dict[str, Any]:
    moments = {
        "created": key.created_at,
        "lastUsed": key.last_used_at,
        "revoked": key.revoked_at,
        "replaced": key.replaced_at,
        "expires": key.expires_at,
    }
    return {
        "keyId": str(key.id),
        "name": key.title,
        "mode": key.mode,
        "publishableKey": key.publishable_key,
        "scopes": key.scopes,
        "origins": key.origins,
        "dailyCap": key.daily_cap,
        "prefix": key.prefix,
        "lastFour": key.last_four,
        **{name: at.strftime("%Y-%m-%dT%H:%MZ") if at else None for name, at in moments.items()},
    }


def _name(key: dict[str, Any]) -> str:
    return f"{key['keyId']}  {key['publishableKey'] or key['prefix'] + '…' + key['lastFour']}"


PEPPERS = ("key_pepper", "key_pepper_previous")

rotate_app = typer.Typer(no_args_is_help=True, help="New secrets for the embedded stack.")

RESTART = "It takes effect at the next start: tryon down, then tryon up."


def _own_secrets(concern: type[Concern], *fields: str) -> tuple[Path, dict[str, str]]:
    """The stack's data folder and secrets; the command fails where a variable sets one of these fields instead."""
    for field in fields:
        if field in concern.load(None).model_fields_set:
            variable = f"{concern.model_config['env_prefix']}{field.upper()}"
            fail(f"{variable} is set, so the secret is not the stack's own: change it there.")
    data_dir = StackSettings.load(None).data_dir
    if not has_secrets(data_dir):
        fail(f"No stack has run in {data_dir}.")
    return data_dir, stack_secrets(data_dir)


@rotate_app.command("pepper")
def pepper() -> None:
    """Make a new pepper; keys under the old one stay valid and move to the new one when they are used."""
    data_dir, kept = _own_secrets(SecuritySettings, *PEPPERS)
    previous = ",".join([kept["key_pepper"], *filter(None, [kept.get("key_pepper_previous")])])
    keep_secrets(data_dir, kept | {"key_pepper": secrets.token_urlsafe(48), "key_pepper_previous": previous})
    typer.echo(f"The stack has a new pepper. {RESTART}\nHow many keys have moved: tryon key peppers")


@rotate_app.command("finish")
def finish(
    revoke_waiting: Annotated[
        bool, typer.Option("--revoke-waiting", help="Revoke the keys that have not been used since the rotation.")
    ] = False,
) -> None:
    """Stop accepting older peppers; refused while keys in use still need one."""
    data_dir, kept = _own_secrets(SecuritySettings, *PEPPERS)
    service = Service()
    wanted = SecuritySettings(
        key_pepper=SecretStr(kept["key_pepper"]), key_pepper_previous=SecretStr(kept.get("key_pepper_previous", ""))
    )
    # With fewer peppers than the stack keeps, keys under the missing ones would not count as waiting.
    if service.settings.security.peppers() != wanted.peppers():
        fail(f"The peppers of the last rotation have not taken effect. {RESTART}")
    with service.transaction() as session:
        if revoke_waiting:
            typer.echo(f"Revoked {keys.revoke_waiting(session, service.digester)} keys.")
        elif waiting := keys.count_by_pepper(session, service.digester).waiting:
            raise ValueError(
                f"{len(waiting)} keys in use are still under an older pepper (tryon key peppers). Wait until they are "
                "used, replace them, or revoke them with --revoke-waiting."
            )
    keep_secrets(data_dir, {name: secret for name, secret in kept.items() if name != "key_pepper_previous"})
    typer.echo(f"No older pepper is kept. {RESTART}")


@rotate_app.command("certificate")
def certificate() -> None:
    """Make a new certificate to sign pictures with; those signed with the old one are still told as ours."""
    data_dir, kept = _own_secrets(SigningSettings, "certificates", "key", "earlier")
    if "signing_key" not in kept:
        fail("The stack has no certificate yet; its next start makes one.")
    certificates, key = make_certificate(DashboardSettings.load(None).name)
    earlier = kept["signing_certificates"] + kept.get("signing_earlier", "")
    keep_secrets(
        data_dir,
        kept | {"signing_certificates": certificates, "signing_key": key, "signing_earlier": earlier},
    )
    typer.echo(f"The stack has a new certificate. {RESTART}")


@rotate_app.command("store")
def store() -> None:
    """Make a new secret key for the object store."""
    data_dir, kept = _own_secrets(ObjectStoreSettings, "secret_key")
    keep_secrets(data_dir, kept | {"s3_secret_key": secrets.token_urlsafe(32)})
    typer.echo(f"The object store has a new secret key. {RESTART}")
