"""`tryon payments`, as an operator types it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import pytest
from sqlalchemy.orm import Session
from typer.testing import CliRunner, Result

from cli.main import app
from domain import migrations
from domain.accounts import create_account
from domain.billing import payments
from domain.money.quota import usage_of
from domain.operation import audit
from domain.tables import AuditEntry, Payment
from runtime.database import Database
from runtime.settings import Settings
from tests.factories import PLANS

EMAIL = "owner@example.com"
Answer = TypeVar("Answer")


@pytest.fixture(autouse=True)
def own_database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRYON_DATABASE_URL", f"sqlite:///{tmp_path}/tryon.db")


def tryon(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def in_database(work: Callable[[Session], Answer]) -> Answer:
    """Something done beside the commands, in the same file."""
    with closing(Database(Settings().database)) as database:
        migrations.upgrade(database.engine)
        with database.transaction() as session:
            return work(session)


@pytest.fixture
def ordered() -> Payment:
    def order(session: Session) -> Payment:
        account = create_account(session, PLANS, email=EMAIL, plan="starter", now=datetime.now(UTC))
        return payments.order_topup(
            session, PLANS, account_id=account.id, generations=250, provider="manual", now=datetime.now(UTC)
        )

    return in_database(order)


def listed(*options: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in tryon("payments", "list", "--json", *options).stdout.splitlines()]


def packs(account_id: uuid.UUID) -> int:
    def read(session: Session) -> int:
        return usage_of(session, PLANS, account_id=account_id, now=datetime.now(UTC)).topup_remaining

    return in_database(read)


def acts() -> list[AuditEntry]:
    def read(session: Session) -> list[AuditEntry]:
        return list(audit.page(session, limit=10))

    return in_database(read)


def test_what_waits_is_listed_until_it_is_decided(ordered: Payment) -> None:
    [facts] = listed("--open")
    assert (facts["paymentId"], facts["account"], facts["what"]) == (str(ordered.id), EMAIL, "250 generations")
    assert (facts["priceUsd"], facts["status"], facts["provider"]) == ("50.00", "open", "manual")
    assert EMAIL in tryon("payments", "list").stdout
    assert tryon("payments", "approve", str(ordered.id)).exit_code == 0
    assert listed("--open") == []
    assert [each["status"] for each in listed()] == ["paid"]


def test_approving_credits_once_and_is_written_down(ordered: Payment) -> None:
    assert "Credited" in tryon("payments", "approve", str(ordered.id)).stdout
    again = tryon("payments", "approve", str(ordered.id))
    assert (again.exit_code, "already closed" in again.output) == (1, True)
    assert packs(ordered.account_id) == 250
    [act] = acts()
    assert (act.action, act.operator_id, act.account_id) == ("payment.approved", None, ordered.account_id)
    assert act.details["paymentId"] == str(ordered.id)


def test_rejecting_credits_nothing(ordered: Payment) -> None:
    assert tryon("payments", "reject", str(ordered.id), "--note", "No money came.").exit_code == 0
    assert packs(ordered.account_id) == 0
    assert [act.action for act in acts()] == ["payment.rejected"]
    assert tryon("payments", "approve", str(ordered.id)).exit_code == 1


@pytest.mark.parametrize(
    "arguments", [("approve", str(uuid.uuid4())), ("reject", str(uuid.uuid4()), "--note", "x"), ("approve", "nonsense")]
)
def test_an_order_that_there_is_not(ordered: Payment, arguments: tuple[str, ...]) -> None:
    assert tryon("payments", *arguments).exit_code != 0
    assert acts() == []
