from __future__ import annotations

import asyncio
import shutil
import socket
import ssl
import subprocess
import threading
import uuid
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import SecretStr
from sqlalchemy import Connection, event, text
from sqlalchemy.exc import DBAPIError
from temporalio.client import Client, WorkflowExecutionStatus
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory
from temporalio.service import RPCError, RPCStatusCode
from temporalio.testing import ActivityEnvironment

from activities.mail import AT_ONCE, MailActivities
from activities.reconciling import ReconcilingActivities
from domain import mails
from domain.mails import Letter
from domain.tables import Mail
from gateway.temporal import TemporalGateway
from runtime.database import Database
from runtime.embedded.servers import choose_port
from runtime.settings import DatabaseSettings, MailSettings
from tests.memory_store import MemoryObjectStore
from tests.servers.mail import MailServer, running_mail_server
from workflows.contracts import MailReport, SendMailInput, SweepInput
from workflows.queues import mail_workflow_id

LETTER = Letter("Confirm your address", "Follow this link:\n\nhttps://tryon.example/dashboard/verify?token=s3cret-ü\n")


@pytest.fixture
async def server() -> AsyncIterator[MailServer]:
    async with running_mail_server() as running:
        yield running


def settings(port: int, security: Literal["starttls", "tls", "none"] = "none", **fields: object) -> MailSettings:
    values = {"host": "127.0.0.1", "port": port, "security": security, "sender": "tryon@shop.example", **fields}
    return MailSettings.model_validate(values)


async def written(database: Database, to: str = "ann@example.com", age: timedelta = timedelta(0)) -> uuid.UUID:
    mail = await database.write(mails.write_mail, LETTER, to=to, account_id=None, now=datetime.now(UTC) - age)
    return mail.id


async def row(database: Database, mail_id: uuid.UUID) -> Mail | None:
    return await database.read(mails.find_mail, mail_id=mail_id)


async def sent(database: Database, mail_id: uuid.UUID, wanted: MailSettings) -> MailReport:
    sending = MailActivities(database, wanted, "Fitting Room")
    return await ActivityEnvironment().run(sending.send_mail, SendMailInput(mail_id=str(mail_id)))


async def test_a_message_is_sent_once_and_its_text_forgotten(database: Database, server: MailServer) -> None:
    mail_id = await written(database)
    for _ in range(2):
        assert (await sent(database, mail_id, settings(server.port))).outcome == "sent"
    (taken,) = server.taken
    assert taken["To"] == "ann@example.com"
    assert taken["From"] == "Fitting Room <tryon@shop.example>"
    assert taken["Subject"] == LETTER.subject
    assert taken["Message-ID"] == f"<{mail_id}@shop.example>"
    assert taken.get_content().replace("\r\n", "\n") == LETTER.body
    mail = await row(database, mail_id)
    assert mail is not None
    assert mail.sent_at is not None
    assert mail.body == ""


async def test_mail_and_others_do_not_wait_for_each_others_threads(database: Database, server: MailServer) -> None:
    loop, over = asyncio.get_running_loop(), threading.Event()
    mail_id = await written(database)
    held = [loop.run_in_executor(None, over.wait) for _ in range(32)]  # asyncio has no more of them
    try:
        assert (await sent(database, mail_id, settings(server.port))).outcome == "sent"
    finally:
        over.set()
        await asyncio.gather(*held)


async def test_mail_to_a_silent_server_leaves_places_of_the_worker_to_others(database: Database) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        sending = MailActivities(database, settings(port, timeout_seconds=60), "Fitting Room")

        async def send() -> MailReport:
            request = SendMailInput(mail_id=str(await written(database)))
            return await ActivityEnvironment().run(sending.send_mail, request)

        under_way = [asyncio.create_task(send()) for _ in range(AT_ONCE)]
        silent.settimeout(10)
        connections = [(await asyncio.to_thread(silent.accept))[0] for _ in under_way]
        with pytest.raises(ApplicationError) as refused:
            await send()
        assert (refused.value.type, refused.value.category) == ("NotItsTurn", ApplicationErrorCategory.BENIGN)
        under_way[0].cancel()
        await asyncio.wait(under_way[:1])
        with pytest.raises(ApplicationError, match="enough mail"):  # its thread still waits for the server
            await send()
        for each in connections:
            each.close()
        await asyncio.wait(under_way)
        assert {type(each.exception()) for each in under_way[1:]} == {ApplicationError}
        again = asyncio.create_task(send())
        (await asyncio.to_thread(silent.accept))[0].close()
        with pytest.raises(ApplicationError, match="SMTPServerDisconnected"):
            await again


@pytest.mark.parametrize("answer", ["451 try again later", "RCPT 450 greylisted"])
async def test_a_server_that_is_busy_gets_it_another_time(database: Database, server: MailServer, answer: str) -> None:
    mail_id = await written(database)
    server.answers.append(answer)
    with pytest.raises(ApplicationError) as refused:
        await sent(database, mail_id, settings(server.port))
    assert not refused.value.non_retryable
    mail = await row(database, mail_id)
    assert mail is not None
    assert mail.body == LETTER.body
    assert (await sent(database, mail_id, settings(server.port))).outcome == "sent"
    assert len(server.taken) == 1


@pytest.mark.parametrize("answer", ["550 no such user ann@example.com", "RCPT 550 no such user ann@example.com"])
async def test_what_is_refused_for_good_is_not_tried_again(database: Database, server: MailServer, answer: str) -> None:
    mail_id = await written(database)
    server.answers.append(answer)
    for _ in range(2):
        assert (await sent(database, mail_id, settings(server.port))).outcome == "refused"
    assert server.taken == []
    mail = await row(database, mail_id)
    assert mail is not None
    assert mail.refused_at is not None
    assert mail.body == ""


async def test_a_failure_tells_neither_address_nor_link(database: Database, server: MailServer) -> None:
    mail_id = await written(database)
    server.answers.append("RCPT 450 not now, ann@example.com")
    with pytest.raises(ApplicationError) as refused:
        await sent(database, mail_id, settings(server.port))
    assert str(refused.value) == "SMTPRecipientsRefused: SMTPRecipientsRefused 450"
    assert refused.value.__cause__ is None


async def test_a_server_that_is_away_delays_and_does_not_lose(database: Database) -> None:
    mail_id = await written(database)
    port = choose_port(20_025, named=False, what="nothing")
    with pytest.raises(ApplicationError, match="ConnectionRefusedError"):
        await sent(database, mail_id, settings(port))
    with pytest.raises(ApplicationError, match="no mail server"):
        await sent(database, mail_id, MailSettings())


async def test_a_wrong_password_is_the_operators_to_mend(database: Database) -> None:
    mail_id = await written(database)
    async with running_mail_server(wants_password=True) as server:
        for password in ("wrong", "right"):
            wanted = settings(server.port, user="tryon", password=SecretStr(password))
            if password == "wrong":
                with pytest.raises(ApplicationError, match="SMTPAuthenticationError 535"):
                    await sent(database, mail_id, wanted)
            else:
                assert (await sent(database, mail_id, wanted)).outcome == "sent"
        assert server.signed_in == ["tryon"]


@pytest.mark.parametrize("field", ["user", "password"])
async def test_letters_that_smtplib_cannot_sign_in_with_lose_no_mail(database: Database, field: str) -> None:
    mail_id = await written(database)
    async with running_mail_server(wants_password=True) as server:
        right: dict[str, object] = {"user": "tryon", "password": SecretStr("right")}
        wrong = {**right, field: "büro" if field == "user" else SecretStr("grün")}
        with pytest.raises(ApplicationError) as refused:
            await sent(database, mail_id, settings(server.port, **wrong))
        assert str(refused.value) == "UnicodeEncodeError: UnicodeEncodeError"
        assert (refused.value.non_retryable, refused.value.__cause__) == (False, None)
        assert (await sent(database, mail_id, settings(server.port, **right))).outcome == "sent"
        assert server.taken[0].get_content().replace("\r\n", "\n") == LETTER.body


async def test_a_sender_that_cannot_be_written_loses_no_mail(database: Database, server: MailServer) -> None:
    mail_id = await written(database)
    with pytest.raises(ValueError, match="non-ASCII"):
        await sent(database, mail_id, settings(server.port, sender="shöp@shop.example"))
    assert (await sent(database, mail_id, settings(server.port))).outcome == "sent"


async def test_a_sender_may_bring_its_name(database: Database, server: MailServer) -> None:
    mail_id = await written(database)
    await sent(database, mail_id, settings(server.port, sender="Anna, Inc. <tryon@shop.example>"))
    (sender,) = server.taken[0]["From"].addresses
    assert (sender.display_name, sender.addr_spec) == ("Anna, Inc.", "tryon@shop.example")


async def test_a_recipient_that_cannot_be_written_is_refused(database: Database, server: MailServer) -> None:
    mail_id = await written(database, to="ann@example.com\nBcc: eve@example.com")
    assert (await sent(database, mail_id, settings(server.port))).outcome == "refused"
    assert server.taken == []


@pytest.mark.parametrize(("answer", "outcome"), [(None, "sent"), ("550 no such user", "refused")])
async def test_an_odd_answer_to_quit_changes_nothing(
    database: Database, server: MailServer, monkeypatch: pytest.MonkeyPatch, answer: str | None, outcome: str
) -> None:
    async def quit_oddly(*_: Any) -> str:
        return "421 busy"

    monkeypatch.setattr(server, "handle_QUIT", quit_oddly, raising=False)
    server.answers.extend([answer] if answer else [])
    mail_id = await written(database)
    for _ in range(2):
        assert (await sent(database, mail_id, settings(server.port))).outcome == outcome
    assert len(server.taken) == (1 if outcome == "sent" else 0)


async def test_a_database_that_takes_no_writes_sends_nothing(
    database: Database, database_url: str, server: MailServer
) -> None:
    mail_id = await written(database)

    def refuse_writes(connection: Connection) -> None:
        on_sqlite = connection.dialect.name == "sqlite"
        connection.exec_driver_sql("PRAGMA query_only = ON" if on_sqlite else "SET TRANSACTION READ ONLY")

    with closing(Database(DatabaseSettings(url=database_url))) as standby:
        event.listen(standby.engine, "begin", refuse_writes)
        for _ in range(2):
            with pytest.raises(DBAPIError, match=r"readonly|read-only"):
                await sent(standby, mail_id, settings(server.port))
    assert server.taken == []
    assert (await sent(database, mail_id, settings(server.port))).outcome == "sent"


@pytest.mark.databases("sqlite")
async def test_what_asks_for_a_database_that_writes_does_write(database: Database) -> None:
    """SQLite leaves out an update that changes nothing, so a full disk would not be noticed."""
    mail_id = await written(database)
    with database.reading_engine.connect() as other:
        before = other.scalar(text("PRAGMA data_version"))
        other.rollback()
        assert await database.write(mails.begin_sending, mail_id=mail_id, now=datetime.now(UTC))
        assert other.scalar(text("PRAGMA data_version")) != before
    mail = await row(database, mail_id)
    assert mail is not None
    assert (mail.sent_at, mail.body) == (None, LETTER.body)


async def test_a_message_that_ends_after_it_was_read_is_not_sent(
    database: Database, server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail_id = await written(database)
    read = await row(database, mail_id)
    await database.write(mails.mark_sent, mail_id=mail_id, now=datetime.now(UTC))
    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(mails, "find_mail", lambda _session, *, mail_id: read)
        with pytest.raises(ApplicationError, match="meanwhile"):
            await sent(database, mail_id, settings(server.port))
    assert server.taken == []
    assert (await sent(database, mail_id, settings(server.port))).outcome == "sent"


@pytest.fixture
def certificate(tmp_path: Path) -> ssl.SSLContext:
    """Of 127.0.0.1, signed by itself, in ``certificate.pem``."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("openssl makes the certificate, and is not there")
    key, signed = tmp_path / "key.pem", tmp_path / "certificate.pem"
    request = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(signed)]
    subprocess.run([program, *request, *names], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(signed, key)
    return context


@pytest.mark.parametrize("security", ["tls", "starttls"])
async def test_mail_goes_only_to_a_server_that_can_be_trusted(
    database: Database,
    certificate: ssl.SSLContext,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    security: Literal["tls", "starttls"],
) -> None:
    mail_id = await written(database)
    async with running_mail_server(**{security: certificate}) as server:  # type: ignore[arg-type]
        with pytest.raises(ApplicationError, match="SSLCertVerificationError"):
            await sent(database, mail_id, settings(server.port, security))
        assert server.taken == []
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
        assert (await sent(database, mail_id, settings(server.port, security))).outcome == "sent"


async def test_a_server_without_tls_gets_nothing_where_tls_is_asked_for(database: Database, server: MailServer) -> None:
    mail_id = await written(database)
    with pytest.raises(ApplicationError, match="SMTPNotSupportedError"):
        await sent(database, mail_id, settings(server.port, "starttls"))
    assert server.taken == []


async def test_a_message_that_was_deleted_is_gone(database: Database, server: MailServer) -> None:
    assert (await sent(database, uuid.uuid4(), settings(server.port))).outcome == "gone"


async def test_the_round_starts_what_lies_there_too_long(database: Database, idle_temporal: Client) -> None:
    late, young = await written(database, age=timedelta(minutes=2)), await written(database)
    done = await written(database, age=timedelta(minutes=2))
    await database.write(mails.mark_sent, mail_id=done, now=datetime.now(UTC))
    for sends_mail in (False, True, True):
        reconciling = ReconcilingActivities(
            database, MemoryObjectStore(), TemporalGateway(idle_temporal), timedelta(hours=1), sends_mail=sends_mail
        )
        await ActivityEnvironment().run(reconciling.reconcile, SweepInput(limit=10_000))
        found = [await is_started(idle_temporal, mail_id) for mail_id in (late, young, done)]
        assert found == [sends_mail, False, False]
    await idle_temporal.get_workflow_handle(mail_workflow_id(str(late))).terminate("by hand")
    await ActivityEnvironment().run(reconciling.reconcile, SweepInput(limit=10_000))
    assert await is_running(idle_temporal, late), "started again, since the row says that it was not sent"


async def is_running(client: Client, mail_id: uuid.UUID) -> bool:
    description = await client.get_workflow_handle(mail_workflow_id(str(mail_id))).describe()
    return description.status is WorkflowExecutionStatus.RUNNING


async def is_started(client: Client, mail_id: uuid.UUID) -> bool:
    try:
        await client.get_workflow_handle(mail_workflow_id(str(mail_id))).describe()
    except RPCError as error:
        if error.status == RPCStatusCode.NOT_FOUND:
            return False
        raise
    return True
