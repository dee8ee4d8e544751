"""``send_mail``: from a row of the table of mail to a server that takes it.

What fails is told by the kind of error and the server's code alone: its words may quote an address, and histories are
read by people who have no business with that.
"""

from __future__ import annotations

import asyncio
import smtplib
import ssl
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage

import structlog
from temporalio import activity
from temporalio.exceptions import ApplicationError

from activities.failures import not_its_turn
from domain import mails
from domain.tables import Mail
from imaging.decoder_pool import seen
from runtime.database import Database
from runtime.settings import MailSettings
from workflows import steps
from workflows.contracts import MailReport, SendMailInput

AT_ONCE = 4
"""Threads that send. A server that is silent holds each for up to a minute, and with it one of the places of the worker
(`worker_cpu.main`), which are for jobs, too: mail that finds none free does not wait in a place."""

log = structlog.get_logger(__name__)


@dataclass
class MailActivities:
    """The step that sends mail; ``name`` is what the service calls itself."""

    database: Database
    settings: MailSettings
    name: str
    _threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(AT_ONCE, "mail"), init=False)
    _under_way: set[asyncio.Future[str | None]] = field(default_factory=set, init=False)

    @activity.defn(name=steps.SEND_MAIL.name)
    async def send_mail(self, request: SendMailInput) -> MailReport:
        """Send the message unless that was done, and note it. One that is refused for good is not tried again.

        A worker that dies between the two sends it twice, under one Message-ID.

        Raises:
            ApplicationError: It may go another time.
        """
        mail_id = uuid.UUID(request.mail_id)
        mail = await self.database.read(mails.find_mail, mail_id=mail_id)
        if mail is None:
            return MailReport(outcome="gone")
        if mail.sent_at is not None or mail.refused_at is not None:
            return MailReport(outcome="sent" if mail.sent_at else "refused")
        if self.settings.host is None:
            raise ApplicationError("no mail server is set", type="MailServerMissing")
        if len(self._under_way) >= AT_ONCE:
            raise not_its_turn("enough mail is being sent")
        sending = asyncio.get_running_loop().run_in_executor(self._threads, self._deliver, mail)
        self._under_way.add(sending)  # until its thread is free, though nobody waits for it any more
        sending.add_done_callback(self._under_way.discard)
        refusal = await seen(sending)
        mark = mails.mark_sent if refusal is None else mails.mark_refused
        await self.database.write(mark, mail_id=mail_id, now=datetime.now(UTC))
        if refusal is None:
            return MailReport(outcome="sent")
        log.warning("mail was refused for good", mail_id=request.mail_id, reason=refusal)
        return MailReport(outcome="refused")

    def _deliver(self, mail: Mail) -> str | None:
        """Hand it over; what comes back is why it never will be.

        Raises:
            ApplicationError: It may go another time.
            ValueError: So it may where the settings give no sender that can be written.
        """
        name, _, address = self.settings.sender.rstrip("> ").rpartition("<")
        sender = Address(display_name=name.strip(' "') or self.name, addr_spec=address)
        try:
            message = message_of(mail, sender)
        except ValueError as error:  # a header that cannot be written
            return type(error).__name__
        with self.database.transaction() as session:
            waits = mails.begin_sending(session, mail_id=mail.id, now=datetime.now(UTC))
        if not waits:
            raise ApplicationError("it was sent, refused or deleted meanwhile", type="MailNotWaiting")
        try:
            deliver(self.settings, message)
        except (smtplib.SMTPException, OSError, ValueError) as error:
            reason = " ".join([type(error).__name__, *map(str, _codes(error))])
            if _is_final(error):
                return reason
            raise ApplicationError(reason, type=type(error).__name__) from None
        return None


def message_of(mail: Mail, sender: Address) -> EmailMessage:
    """The message as it is sent."""
    message = EmailMessage()
    message["From"] = sender
    message["To"] = mail.to_address
    message["Subject"] = mail.subject
    message["Date"] = mail.created_at
    # The same whenever it is sent, so that a second copy can be told for one.
    message["Message-ID"] = f"<{mail.id}@{sender.domain}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(mail.body)
    return message


def deliver(settings: MailSettings, message: EmailMessage) -> None:
    """One connection to the server, and the message through it; raises as `smtplib` and `ssl` do.

    `smtplib` raises ValueError, too: for a password that is not ASCII, or a challenge that cannot be decoded.
    """
    if settings.host is None:
        raise ValueError("no mail server is set")
    host, port, timeout = settings.host, settings.port, settings.timeout_seconds
    tls = ssl.create_default_context()
    connection = (
        smtplib.SMTP_SSL(host, port, timeout=timeout, context=tls)
        if settings.security == "tls"
        else smtplib.SMTP(host, port, timeout=timeout)
    )
    try:
        if settings.security == "starttls":
            connection.starttls(context=tls)
        if settings.user is not None:
            connection.login(settings.user, settings.password.get_secret_value() if settings.password else "")
        connection.send_message(message)
    finally:
        # Not the connection as a context manager: an odd answer to QUIT would stand in place of how it went.
        with suppress(smtplib.SMTPException, OSError):
            connection.quit()
        connection.close()


def _codes(error: BaseException) -> list[int]:
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return [code for code, _words in error.recipients.values()]
    return [error.smtp_code] if isinstance(error, smtplib.SMTPResponseException) else []


def _is_final(error: BaseException) -> bool:
    """Whether the message itself was refused for good. What ails the server or the settings is mended by people."""
    of_the_message = smtplib.SMTPRecipientsRefused | smtplib.SMTPDataError | smtplib.SMTPSenderRefused
    codes = _codes(error)
    return isinstance(error, of_the_message) and bool(codes) and all(500 <= code < 600 for code in codes)
