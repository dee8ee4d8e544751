"""From a transaction that has written mail to the workflow that sends it, and how much may be sent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Concatenate, ParamSpec, TypeVar

import structlog
from fastapi import Request
from sqlalchemy.orm import Session

from api.dashboard.visitor import address_of
from api.parts import ApiParts
from domain.authentication import throttles
from domain.authentication.throttles import MAIL, MAIL_PER_ADDRESS, MAIL_PER_NETWORK, Subject
from domain.mails import Letterhead, written_in
from domain.tables import Mail
from gateway.calls import TemporalAwayError
from runtime.settings import Settings

Answer = TypeVar("Answer")

Parameters = ParamSpec("Parameters")

log = structlog.get_logger(__name__)


class TooMuchMail(Exception):
    """A lot of mail was sent in the last hour."""

    sentence = "Too much mail was requested from your network in the last hour. Try again later."


def mail_subjects(parts: ApiParts, request: Request, email: str) -> tuple[Subject, Subject]:
    """What a message to this address counts for: the network that asks for it, and the address."""
    return (
        throttles.network_subject(parts.digester, MAIL, MAIL_PER_NETWORK, address=address_of(request)),
        throttles.address_subject(parts.digester, MAIL, MAIL_PER_ADDRESS, email=email),
    )


def letterhead(settings: Settings) -> Letterhead:
    """Who writes, and where the links lead."""
    return Letterhead(settings.dashboard.name, settings.dashboard.base_url(settings.api))


async def write_mail(
    parts: ApiParts,
    work: Callable[Concatenate[Session, Parameters], Answer],
    *args: Parameters.args,
    **kwargs: Parameters.kwargs,
) -> tuple[Answer, list[Mail]]:
    """Like `Database.write`, and the mail that the work wrote, which is still to be handed over."""

    def with_mail(session: Session) -> tuple[Answer, list[Mail]]:
        return work(session, *args, **kwargs), written_in(session)

    return await parts.database.write(with_mail)


async def write_and_send(
    parts: ApiParts,
    work: Callable[Concatenate[Session, Parameters], Answer],
    *args: Parameters.args,
    **kwargs: Parameters.kwargs,
) -> Answer:
    """Like `Database.write`; mail that the work wrote is handed over once it is committed, for at most a second."""
    answer, written = await write_mail(parts, work, *args, **kwargs)
    await hand_over(parts, written)
    return answer


async def hand_over(parts: ApiParts, written: Sequence[Mail]) -> None:
    """Have messages sent, as far as that goes at once; a scheduled round sees to the others.

    Without a mail server they stay where they are, and the log says so: neither to whom nor with which link.
    """
    for mail in written:
        if parts.settings.mail.host is None:
            log.info("mail waits for the operator: tryon mail show", mail_id=str(mail.id), subject=mail.subject)
            continue
        try:
            await parts.temporal.send_mail(str(mail.id))
        except TemporalAwayError:
            log.warning("mail is sent later: Temporal did not answer", mail_id=str(mail.id))
