from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

from sqlalchemy import func, select

from activities.purging import forget_sign_ins
from domain import mails
from domain.access.keys import KeyDigester
from domain.authentication import email_tokens, sessions
from domain.authentication.email_tokens import Purpose
from domain.authentication.throttles import SIGN_IN_PER_PAIR, Subject, seconds_to_wait
from domain.mails import Letter
from domain.tables import EmailToken, Login, LoginSession, Mail
from runtime.database import Database
from tests.factories import create_caller

NOW = datetime.now(UTC)


async def test_what_is_past_its_time_goes_and_the_rest_stays(database: Database, digester: KeyDigester) -> None:
    account_id = (await create_caller(database, digester)).account_id
    with database.transaction() as session:
        session.add(Login(account_id=account_id, password_hash=None, verified_at=NOW, operator=False, created_at=NOW))
        session.flush()
        for purpose, age in ((Purpose.RESET, timedelta(hours=2)), (Purpose.VERIFY, timedelta(hours=2))):
            email_tokens.make_token(
                session, purpose=purpose, account_id=account_id, email="a@example.com", now=NOW - age
            )
        for age in (timedelta(days=20), timedelta(days=1)):
            then = NOW - age
            sessions.open_session(session, account_id=account_id, address="", user_agent="", now=then)
            letter = Letter("subject", "body")
            mails.write_mail(session, letter, to="a@example.com", account_id=account_id, now=then)
    subject = Subject(uuid.uuid4().hex * 2, SIGN_IN_PER_PAIR)
    old = NOW - timedelta(days=2)
    await database.write(lambda session: seconds_to_wait(session, (subject,), now=old))
    assert await database.write(forget_sign_ins, now=NOW, limit=100) >= 4
    with database.reading() as session:
        for table in (EmailToken, LoginSession, Mail):
            left = select(func.count()).select_from(table).where(table.account_id == account_id)
            assert session.scalar(left) == 1, table
