from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest

from cli.diagnosis import stores as probe
from cli.diagnosis.findings import Case
from domain import erasure, mails
from domain.access.keys import KeyDigester
from domain.mails import Letter
from domain.operation import operators
from domain.tables import Account
from runtime.database import Database
from runtime.settings import MailSettings, Settings
from tests.cli.diagnosis.conftest import findings_of, levels_of, the
from tests.factories import create_caller

pytestmark = pytest.mark.databases("sqlite", "postgresql")


def now() -> datetime:
    """What the probe goes by too; a moment of the module's own would be minutes old in a long run."""
    return datetime.now(UTC)


@pytest.fixture
def mail_server(settings: Settings) -> None:
    settings.mail = MailSettings(host="mail.example.com")


async def write(database: Database, *, age: timedelta, to: str = "ann@example.com") -> uuid.UUID:
    with database.transaction() as session:
        letter = Letter(subject="Confirm", body="https://tryon.example/secret-link")
        mail = mails.write_mail(session, letter, to=to, account_id=None, now=now() - age)
        return mail.id


@pytest.mark.usefixtures("mail_server")
async def test_mail_that_waits_for_long(case: Case, own_database: Database) -> None:
    await write(own_database, age=timedelta(minutes=9))
    assert (await levels_of(probe.look_at_database, case))["mail"] == "ok"
    late = await write(own_database, age=timedelta(minutes=11))
    found = the(await findings_of(probe.look_at_database, case), "mail", "error")
    assert found.sentence == "1 message waiting for more than 10 minutes"
    assert "secret-link" not in repr(found)
    assert "ann@" not in repr(found)
    await own_database.write(mails.mark_sent, mail_id=late, now=now())
    assert (await levels_of(probe.look_at_database, case))["mail"] == "ok"


@pytest.mark.usefixtures("mail_server")
async def test_mail_that_was_refused(case: Case, own_database: Database) -> None:
    mail_id = await write(own_database, age=timedelta(minutes=11))
    await own_database.write(mails.mark_refused, mail_id=mail_id, now=now())
    found = the(await findings_of(probe.look_at_database, case), "mail", "warning")
    assert found.sentence.startswith("1 message of the last week refused")
    assert "TRYON_MAIL_SENDER" in (found.remedy or "")


async def test_without_a_server_mail_is_meant_to_stay(case: Case, own_database: Database) -> None:
    await write(own_database, age=timedelta(minutes=11))
    assert "1 message to be read" in the(await findings_of(probe.look_at_database, case), "mail", "ok").sentence


async def test_an_erasure_that_is_not_done(case: Case, own_database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(own_database, digester)
    await own_database.write(erasure.begin_erasure, account_id=caller.account_id, now=now() - timedelta(minutes=50))
    assert (await levels_of(probe.look_at_database, case))["erasures"] == "ok"
    with own_database.transaction() as session:
        account = session.get(Account, caller.account_id)
        assert account is not None
        account.erased_at = now() - timedelta(minutes=61)
    found = the(await findings_of(probe.look_at_database, case), "erasures", "error")
    assert str(caller.account_id) in found.sentence
    assert str(caller.account_id) in (found.remedy or "")
    await own_database.write(erasure.finish_erasure, account_id=caller.account_id, now=now())
    assert (await levels_of(probe.look_at_database, case))["erasures"] == "ok"


async def test_nobody_to_look_after_accounts(case: Case, own_database: Database, digester: KeyDigester) -> None:
    assert "tryon operator add" in (
        the(await findings_of(probe.look_at_database, case), "operators", "warning").remedy or ""
    )
    caller = await create_caller(own_database, digester)
    await own_database.write(operators.set_operator, account_id=caller.account_id, operator=True, now=now())
    assert the(await findings_of(probe.look_at_database, case), "operators", "ok").sentence == "1 operator"
