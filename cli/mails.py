"""``tryon mail``: what the service has written to owners, for a service without a mail server."""

from __future__ import annotations

import json
import uuid
from typing import Annotated

import typer
from sqlalchemy.orm import Session

from cli.transactions import AsJson, in_reading
from domain import mails
from domain.tables import Mail
from runtime.settings import load_settings

app = typer.Typer(no_args_is_help=True, help="Mail to owners. It holds links that let people in: keep it to yourself.")


@app.command("list")
def list_mail(as_json: AsJson = False) -> None:
    """The newest fifty messages of the last week."""

    def work(session: Session) -> list[Mail]:
        return list(mails.list_mail(session))

    found = in_reading(load_settings(), work)
    if as_json:
        typer.echo(json.dumps([_facts(mail) for mail in found]))
        return
    for mail in found:
        facts = _facts(mail)
        typer.echo(f"{mail.id}  {facts['written']}  {facts['state']:<8}  {mail.to_address}  {mail.subject}")


@app.command("show")
def show_mail(mail_id: Annotated[uuid.UUID, typer.Argument(help="Id of the message, from `tryon mail list`.")]) -> None:
    """One message, with its links; one that was sent is empty."""

    def work(session: Session) -> Mail:
        mail = mails.find_mail(session, mail_id=mail_id)
        if mail is None:
            raise ValueError(f"there is no message {mail_id}")
        return mail

    mail = in_reading(load_settings(), work)
    typer.echo(f"To: {mail.to_address}\nSubject: {mail.subject}\n")
    typer.echo(mail.body or f"({_facts(mail)['state']}; what has been handled is not kept)")


def _facts(mail: Mail) -> dict[str, str]:
    return {
        "mailId": str(mail.id),
        "to": mail.to_address,
        "subject": mail.subject,
        "written": mail.created_at.strftime("%Y-%m-%dT%H:%MZ"),
        "state": "sent" if mail.sent_at else "refused" if mail.refused_at else "waiting",
    }
