"""``tryon rotate``: new secrets for the embedded stack. Other deployments set theirs; see docs/rotation.md."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated

import typer
from pydantic import SecretStr
from sqlalchemy.orm import Session

from cli.transactions import in_transaction
from domain.access import keys
from domain.access.keys import KeyDigester
from runtime.embedded.record import has_secrets, keep_secrets, stack_secrets
from runtime.settings import ObjectStoreSettings, SecuritySettings, StackSettings, load_settings

app = typer.Typer(no_args_is_help=True, help="New secrets for the embedded stack.")

RESTART = "It takes effect at the next start: tryon down, then tryon up."


@app.command("pepper")
def pepper() -> None:
    """Make a new pepper; keys under the old one stay valid and move to the new one when they are used."""
    _refuse_foreign_pepper()
    kept = _kept()
    previous = [kept["key_pepper"], *filter(None, [kept.get("key_pepper_previous")])]
    keep_secrets(
        _data_dir(), kept | {"key_pepper": secrets.token_urlsafe(48), "key_pepper_previous": ",".join(previous)}
    )
    typer.echo(f"The stack has a new pepper. {RESTART}\nHow many keys have moved: tryon key peppers")


@app.command("finish")
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
        typer.echo(f"The peppers of the last rotation have not taken effect. {RESTART}", err=True)
        raise typer.Exit(1)

    def work(session: Session) -> None:
        digester = KeyDigester(*settings.security.peppers())
        if revoke_waiting:
            typer.echo(f"Revoked {keys.revoke_waiting(session, digester)} keys.")
        elif waiting := keys.count_by_pepper(session, digester).waiting:
            raise ValueError(
                f"{len(waiting)} keys in use are still under an older pepper (tryon key peppers). Wait until they are "
                "used, replace them, or revoke them with --revoke-waiting."
            )

    in_transaction(settings, work)
    keep_secrets(_data_dir(), {name: secret for name, secret in kept.items() if name != "key_pepper_previous"})
    typer.echo(f"No older pepper is kept. {RESTART}")


@app.command("store")
def store() -> None:
    """Make a new secret key for the object store."""
    _refuse_if_set("TRYON_S3_SECRET_KEY", "secret_key" in ObjectStoreSettings.load(None).model_fields_set)
    keep_secrets(_data_dir(), _kept() | {"s3_secret_key": secrets.token_urlsafe(32)})
    typer.echo(f"The object store has a new secret key. {RESTART}")


def _data_dir() -> Path:
    return StackSettings.load(None).data_dir


def _kept() -> dict[str, str]:
    if not has_secrets(_data_dir()):
        typer.echo(f"No stack has run in {_data_dir()}.", err=True)
        raise typer.Exit(1)
    return stack_secrets(_data_dir())


def _refuse_foreign_pepper() -> None:
    given = SecuritySettings.load(None).model_fields_set
    for field in ("key_pepper", "key_pepper_previous"):
        _refuse_if_set(f"TRYON_{field.upper()}", field in given)


def _refuse_if_set(variable: str, is_set: bool) -> None:
    if is_set:
        typer.echo(f"{variable} is set, so the secret is not the stack's own: change it there.", err=True)
        raise typer.Exit(1)
