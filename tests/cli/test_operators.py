"""`tryon operator` and `tryon mail`, as an operator types them."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import pytest
from sqlalchemy.orm import Session
from typer.testing import CliRunner, Result

from cli.embedded import has_operator
from cli.main import app
from domain import mails
from domain.authentication import logins
from domain.mails import Letterhead
from domain.operation import audit
from runtime.database import Database
from runtime.settings import Settings

EMAIL = "owner@example.com"
Answer = TypeVar("Answer")


@pytest.fixture(autouse=True)
def own_database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRYON_DATABASE_URL", f"sqlite:///{tmp_path}/tryon.db")
    monkeypatch.setenv("TRYON_KEY_PEPPER", "p" * 40)
    assert tryon("account", "create", "--email", EMAIL).exit_code == 0


def tryon(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def in_database(work: Callable[[Session], Answer]) -> Answer:
    """Something done beside the commands, in the same file."""
    with closing(Database(Settings().database)) as database, database.transaction() as session:
        return work(session)


def test_a_service_without_operators_is_told_from_one_with() -> None:
    assert not has_operator(Settings())
    tryon("operator", "add", EMAIL)
    assert has_operator(Settings())


def test_an_operator_is_added_and_removed_and_that_is_written_down() -> None:
    for command, listed in (("add", [EMAIL]), ("add", [EMAIL]), ("remove", []), ("remove", [])):
        assert tryon("operator", command, EMAIL).exit_code == 0
        found = json.loads(tryon("operator", "list", "--json").stdout)
        assert [each["email"] for each in found] == listed

    def written(session: Session) -> list[tuple[str, object]]:
        return [(each.action, each.operator_id) for each in audit.page(session, limit=10)]

    assert in_database(written) == [("operator.removed", None), ("operator.added", None), ("account.created", None)]


def test_somebody_without_an_account_is_no_operator() -> None:
    done = tryon("operator", "add", "nobody@example.com")
    assert done.exit_code == 1
    assert "there is no account nobody@example.com" in done.output


def test_mail_is_listed_and_shown_until_it_was_sent() -> None:
    def write(session: Session) -> str:
        head = Letterhead("Fitting Room", "https://tryon.example")
        logins.ask_for_reset(session, head, email=EMAIL, now=datetime.now(UTC))
        return str(mails.list_mail(session)[0].id)

    mail_id = in_database(write)
    (listed,) = json.loads(tryon("mail", "list", "--json").stdout)
    assert (listed["mailId"], listed["to"], listed["state"]) == (mail_id, EMAIL, "waiting")
    assert "https://tryon.example/dashboard/reset?token=" in tryon("mail", "show", mail_id).stdout
    assert "waiting" in tryon("mail", "list").stdout

    def send(session: Session) -> None:
        (mail,) = mails.list_mail(session)
        mails.mark_sent(session, mail_id=mail.id, now=datetime.now(UTC))

    in_database(send)
    assert "token" not in tryon("mail", "show", mail_id).stdout
    assert tryon("mail", "show", "00000000-0000-0000-0000-000000000000").exit_code == 1
