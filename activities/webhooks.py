"""``attempt_webhook``: one attempt to deliver a message to an owner's endpoint.

An endpoint's address was chosen by a stranger, and so is what it answers: only public servers are dialled, redirects
are not followed, and of an answer the first kilobyte is read.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import aiohttp
import structlog
from standardwebhooks import Webhook
from temporalio import activity

from activities.failures import not_its_turn
from domain import webhooks
from domain.mails import Letterhead
from domain.webhooks import LONGEST_ANSWER, Attempt, Outgoing, Standing
from imaging.dialling import PUBLIC_ONLY, AddressRefused, Dialler
from imaging.errors import ImageError
from imaging.remote_url import check_remote_url
from runtime.database import Database
from workflows import steps
from workflows.contracts import DeliverWebhookInput, WebhookReport

TIMEOUT_SECONDS = 15.0
"""For a whole attempt; the specification advises 15 to 30."""

CONNECT_SECONDS = 5.0

ANSWER_SECONDS = 2.0  # to wait for the body of an answer, which is only for people to read

AT_ONCE_PER_ACCOUNT = 8
"""Attempts under way for one account in one process, an eighth of its places (`worker_cpu.main`): one whose receivers
take their whole time for an answer must leave places for the others."""

HEADERS = {"User-Agent": "TryOnWebhooks/1.0", "Content-Type": "application/json", "Accept-Encoding": "identity"}

REDIRECTS = range(300, 400)

ASKS_TO_WAIT = (429, 503)
"""Statuses with which ``Retry-After`` is heeded."""

NOT_PUBLIC = "The address of the endpoint is not one that we may send to."

log = structlog.get_logger(__name__)


class WebhookSender:
    """Sends one message at a time and says how that went; any number of them side by side."""

    def __init__(
        self,
        *,
        dialler: Dialler = PUBLIC_ONLY,
        timeout_s: float = TIMEOUT_SECONDS,
    ) -> None:
        """Prepare; nothing is opened before the first message.

        Args:
            dialler: What may be reached.
            timeout_s: For a whole attempt.
        """
        self._dialler = dialler
        self._timeout_s = timeout_s
        self._session: aiohttp.ClientSession | None = None

    async def send(self, message: Outgoing) -> tuple[Attempt, timedelta | None]:
        """Send it once, signed as of now.

        Returns:
            How it went, and the pause that the receiver asks for, if any.
        """
        at, begun = datetime.now(UTC), time.monotonic()
        status, pause, answer = None, None, ""
        try:
            async with asyncio.timeout(self._timeout_s):
                status, pause, answer = await self._post(message, at)
            fault = _fault_of(status)
        except TimeoutError:
            fault = f"There was no answer within {self._timeout_s:g} seconds."
        except ImageError as error:
            fault = NOT_PUBLIC if error.refusal else "The address of the endpoint cannot be reached."
        except aiohttp.ClientSSLError:
            fault = "The endpoint has no certificate that can be trusted."
        except aiohttp.ClientConnectorError as error:
            refused = isinstance(error.os_error, AddressRefused)
            fault = NOT_PUBLIC if refused else "There was no connection to the host."
        except (aiohttp.ClientError, OSError, ValueError):
            fault = "The connection ended before there was an answer."
        spent = round(1000 * (time.monotonic() - begun))
        return Attempt(at.isoformat(timespec="milliseconds"), spent, status, fault, answer), pause

    async def close(self) -> None:
        """Close the connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def _post(self, message: Outgoing, at: datetime) -> tuple[int, timedelta | None, str]:
        url = check_remote_url(message.url, self._dialler.trusted_networks)
        session = self._session = self._session or self._dialler.open_session(
            headers=HEADERS,
            connect_timeout_s=min(CONNECT_SECONDS, self._timeout_s),
            read_timeout_s=self._timeout_s,
        )
        headers = signed_headers(message, at)
        async with session.post(url, data=message.payload.encode(), headers=headers, allow_redirects=False) as response:
            body = b""
            with suppress(TimeoutError, aiohttp.ClientError):  # the status is what counts
                async with asyncio.timeout(ANSWER_SECONDS):
                    body = await response.content.read(LONGEST_ANSWER)
            answer = body.decode(errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
            return response.status, _requested_pause(response), answer


def signed_headers(message: Outgoing, at: datetime) -> dict[str, str]:
    """What a message brings so that its receiver can check it; ``at`` is the moment of sending (UTC)."""
    signatures = [Webhook(each).sign(message.message_id, at, message.payload) for each in message.secrets]
    return {
        "webhook-id": message.message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }


@dataclass
class WebhookActivities:
    """The step that delivers; ``head`` signs the letter to an owner whose endpoint is switched off."""

    database: Database
    head: Letterhead
    sender: WebhookSender = field(default_factory=WebhookSender)
    at_once: int = AT_ONCE_PER_ACCOUNT
    _under_way: Counter[uuid.UUID] = field(default_factory=Counter, init=False)

    @activity.defn(name=steps.ATTEMPT_WEBHOOK.name)
    async def attempt_webhook(self, request: DeliverWebhookInput) -> WebhookReport:
        """Send the message once, unless nothing is to be sent any more, and note how that went.

        A worker that dies between the answer and the row sends it again, under the same ``webhook-id``.

        Raises:
            ApplicationError: The account has enough attempts under way; it is this one's turn later.
        """
        delivery_id = uuid.UUID(request.delivery_id)
        found = await self.database.read(webhooks.next_attempt, delivery_id=delivery_id, now=datetime.now(UTC))
        if not isinstance(found, Outgoing):
            return await self._nothing_sent(delivery_id, found)
        if self._under_way[found.account_id] >= self.at_once:
            raise not_its_turn("the account has enough attempts under way")
        self._under_way[found.account_id] += 1
        try:
            begun = await self.database.write(webhooks.begin_attempt, delivery_id=delivery_id, now=datetime.now(UTC))
            if not isinstance(begun, Outgoing):
                return await self._nothing_sent(delivery_id, begun)
            attempt, pause = await self.sender.send(begun)
        finally:
            self._under_way[found.account_id] -= 1
            self._under_way += Counter()  # forgets accounts that have none
        standing = await self.database.write(
            webhooks.record_attempt,
            self.head,
            delivery_id=delivery_id,
            attempt=attempt,
            requested_pause=pause,
            now=datetime.now(UTC),
        )
        if attempt.fault:
            log.info(
                "a webhook was not delivered",
                delivery_id=request.delivery_id,
                url=webhooks.shown_url(begun.url),
                status=attempt.status,
                reason=attempt.fault,
            )
        return _report(standing)

    async def _nothing_sent(self, delivery_id: uuid.UUID, found: Standing | None) -> WebhookReport:
        if found is not None and found.status == webhooks.WAITING:
            await self.database.write(webhooks.give_up, delivery_id=delivery_id)
            found = Standing(webhooks.FAILED, found.attempts)
        return _report(found)


def _report(standing: Standing | None) -> WebhookReport:
    if standing is None:
        return WebhookReport(outcome="gone")
    pause = round(standing.pause.total_seconds()) if standing.pause else 0
    fields = {"outcome": standing.status, "attempts": standing.attempts, "pause_seconds": pause}
    return WebhookReport.model_validate(fields)


def _fault_of(status: int) -> str:
    """Why an answer with this status does not count as delivered; empty for 2xx."""
    if 200 <= status < 300:
        return ""
    if status in REDIRECTS:
        return f"The endpoint answered {status}. Redirects are not followed."
    if status == 410:
        return "The endpoint answered 410: it wants no more events."
    return f"The endpoint answered {status}."


def _requested_pause(response: aiohttp.ClientResponse) -> timedelta | None:
    """What ``Retry-After`` asks for in seconds; a date is not heeded."""
    text = response.headers.get("Retry-After", "")
    if response.status not in ASKS_TO_WAIT or not (text.isascii() and text.isdigit() and len(text) < 10):
        return None
    return timedelta(seconds=int(text))
