"""An owner's receiver of webhooks on loopback, over TLS, that answers as a test says."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from activities.webhooks import WebhookSender
from imaging.dialling import Dialler
from imaging.remote_url import IPNetwork
from tests.imaging.shop import LOOPBACK, ScriptedResolver


@dataclass
class Receiver:
    """The running server: what it got, and what it answers next; 204 once nothing is left of that."""

    port: int
    trust: ssl.SSLContext
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    answers: list[web.Response | float] = field(default_factory=list)
    """A number is so many seconds of silence before 204."""

    @property
    def url(self) -> str:
        return f"https://shop.example:{self.port}/hook?token=s3cret"

    @property
    def ids(self) -> list[str]:
        return [each["webhook-id"] for each in self.headers]

    def sender(self, trusted_networks: Sequence[IPNetwork] = (LOOPBACK,), **options: Any) -> WebhookSender:
        resolver = ScriptedResolver(shop_example=[["127.0.0.1"]])
        return WebhookSender(dialler=Dialler(trusted_networks, self.trust, resolver), **options)

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self.bodies.append(await request.read())
        self.headers.append({name.lower(): text for name, text in request.headers.items()})
        answer = self.answers.pop(0) if self.answers else 0.0
        if isinstance(answer, web.Response):
            return answer
        await asyncio.sleep(answer)
        return web.Response(status=204)


@asynccontextmanager
async def running_receiver(certificate: Path, key: Path) -> AsyncIterator[Receiver]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    listener = socket.create_server(("127.0.0.1", 0))
    receiver = Receiver(listener.getsockname()[1], ssl.create_default_context(cafile=str(certificate)))
    application = web.Application()
    application.router.add_post("/{path:.*}", receiver._answer)
    runner = web.AppRunner(application, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.SockSite(runner, listener, ssl_context=context).start()
    try:
        yield receiver
    finally:
        await runner.cleanup()
