"""A real server that takes mail, and keeps what it took."""

from __future__ import annotations

import asyncio
import ssl
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword


@dataclass
class MailServer:
    """What the server is told to answer, and what it got.

    Attributes:
        answers: To the next messages, one after the other; afterwards all are taken.
        taken: Messages that it took.
    """

    port: int = 0
    answers: list[str] = field(default_factory=list)
    taken: list[EmailMessage] = field(default_factory=list)
    signed_in: list[str] = field(default_factory=list)

    async def handle_RCPT(self, _server: Any, _session: Any, envelope: Any, address: str, _options: Any) -> str:
        if self.answers and self.answers[0].startswith("RCPT "):
            return self.answers.pop(0).removeprefix("RCPT ")
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        if self.answers:
            return self.answers.pop(0)
        self.taken.append(message_from_bytes(envelope.content, policy=policy.default))
        return "250 OK"

    def authenticate(self, _server: Any, _session: Any, _envelope: Any, _mechanism: str, data: Any) -> AuthResult:
        good = isinstance(data, LoginPassword) and data.password == b"right"
        if good:
            self.signed_in.append(data.login.decode())
        return AuthResult(success=good, handled=good)


@asynccontextmanager
async def running_mail_server(
    *, tls: ssl.SSLContext | None = None, starttls: ssl.SSLContext | None = None, wants_password: bool = False
) -> AsyncIterator[MailServer]:
    """One that listens on a free port of this machine."""
    server = MailServer()

    def protocol() -> SMTP:
        with warnings.catch_warnings():  # it says that passwords without TLS are not safe
            warnings.simplefilter("ignore")
            return SMTP(
                server,
                tls_context=starttls,
                authenticator=server.authenticate,
                auth_required=wants_password,
                auth_require_tls=False,
                loop=asyncio.get_running_loop(),
            )

    listening = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0, ssl=tls)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        await listening.wait_closed()
