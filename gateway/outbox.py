"""From rows that a transaction has written to the runs that carry them out, started once it is committed.

Rows of mail and of webhooks are found in the session that wrote them. What cannot be started, because Temporal or this
process is away, is started by the reconciler: the rows say that it is still to be done.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any

import structlog

from domain import mails, webhooks
from domain.tables import Mail
from gateway.calls import TemporalAwayError
from gateway.temporal import TemporalGateway

log = structlog.get_logger(__name__)

AT_ONCE = 16  # starts under way side by side: Temporal answers each within milliseconds


class Outbox:
    """Starts runs behind the commits of one process, which wait for none of it."""

    def __init__(self, temporal: TemporalGateway, *, sends_mail: bool = False) -> None:
        """Belong to the event loop that runs now.

        Args:
            temporal: Where runs are started.
            sends_mail: Whether mail is started here too. A process whose pages hand their mail over themselves, before
                they answer or behind the answer, says no.
        """
        self._temporal = temporal
        self._sends_mail = sends_mail
        self._loop = asyncio.get_running_loop()
        self._places = asyncio.Semaphore(AT_ONCE)
        self._starting = set[asyncio.Task[None]]()

    def committed(self, info: Mapping[Any, Any]) -> None:
        """Begin with what a session has written, in whatever thread it was committed; never raises."""
        written: Sequence[tuple[uuid.UUID, uuid.UUID]] = info.get(webhooks.WRITTEN, ())
        letters: Sequence[Mail] = info.get(mails.WRITTEN, ()) if self._sends_mail else ()
        if written or letters:
            with suppress(RuntimeError):  # the process is ending, and its loop is closed
                self._loop.call_soon_threadsafe(self._begin, list(written), [str(mail.id) for mail in letters])

    async def close(self) -> None:
        """Wait for what is being started; each start gives up by itself within seconds."""
        while self._starting:
            await asyncio.wait(set(self._starting))

    def _begin(self, written: Sequence[tuple[uuid.UUID, uuid.UUID]], letters: Sequence[str]) -> None:
        for delivery_id, account_id in written:
            self._task(self._temporal.deliver_webhook(str(delivery_id), str(account_id)), "webhook", str(delivery_id))
        for mail_id in letters:
            self._task(self._temporal.send_mail(mail_id), "mail", mail_id)

    def _task(self, call: Coroutine[Any, Any, None], kind: str, row_id: str) -> None:
        task = asyncio.create_task(self._start(call, kind, row_id))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _start(self, call: Coroutine[Any, Any, None], kind: str, row_id: str) -> None:
        try:
            async with self._places:
                await call
        except TemporalAwayError:
            log.warning("started later: Temporal did not answer", kind=kind, row_id=row_id)
