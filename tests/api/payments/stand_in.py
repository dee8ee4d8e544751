"""A server that answers like the part of Stripe's API that is used, and signs messages as Stripe does."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

SECRET = "whsec_of_the_tests"


@dataclass
class StripeStandIn:
    """What it was asked and what it knows."""

    port: int = 0
    away: bool = False
    sessions: dict[str, dict[str, Any]] = field(default_factory=dict)
    by_key: dict[str, tuple[dict[str, str], str]] = field(default_factory=dict)
    asked: list[tuple[str, str | None]] = field(default_factory=list)

    async def create(self, request: web.Request) -> web.Response:
        sent = {name: str(value) for name, value in (await request.post()).items()}
        key = request.headers["Idempotency-Key"]
        self.asked.append((key, request.headers.get("Authorization")))
        if self.away:
            return web.json_response({"error": {"type": "api_error", "message": "away"}}, status=503)
        before, session_id = self.by_key.setdefault(key, (sent, f"cs_test_{uuid.uuid4().hex}"))
        if before != sent:
            error = {"type": "idempotency_error", "message": "Keys for idempotent requests can only be used once"}
            return web.json_response({"error": error}, status=400)
        self.sessions.setdefault(
            session_id,
            {
                "id": session_id,
                "object": "checkout.session",
                "url": f"https://checkout.stripe.com/c/pay/{session_id}",
                "status": "open",
                "payment_status": "unpaid",
                "client_reference_id": sent["client_reference_id"],
                "amount_total": int(sent["line_items[0][price_data][unit_amount]"]),
                "currency": sent["line_items[0][price_data][currency]"],
                "sent": sent,
            },
        )
        return web.json_response(self.sessions[session_id])

    async def expire(self, request: web.Request) -> web.Response:
        session = self.sessions[request.match_info["id"]]
        if session["status"] != "open":
            error = {"type": "invalid_request_error", "message": "Only open sessions can be expired"}
            return web.json_response({"error": error}, status=400)
        session["status"] = "expired"
        return web.json_response(session)

    async def retrieve(self, request: web.Request) -> web.Response:
        return web.json_response(self.sessions[request.match_info["id"]])


@asynccontextmanager
async def running_stand_in() -> AsyncIterator[StripeStandIn]:
    stand_in = StripeStandIn()
    app = web.Application()
    app.router.add_post("/v1/checkout/sessions", stand_in.create)
    app.router.add_post("/v1/checkout/sessions/{id}/expire", stand_in.expire)
    app.router.add_get("/v1/checkout/sessions/{id}", stand_in.retrieve)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    stand_in.port = runner.addresses[0][1]
    try:
        yield stand_in
    finally:
        await runner.cleanup()


def event(kind: str, page: dict[str, Any]) -> bytes:
    """The body of a message about a checkout session."""
    return json.dumps({"id": f"evt_{uuid.uuid4().hex}", "type": kind, "data": {"object": page}}).encode()


def signature(body: bytes, secret: str = SECRET, at: float | None = None) -> str:
    """Stripe's scheme: HMAC-SHA256 over the time and the body."""
    stamp = int(time.time() if at is None else at)
    signed = hmac.new(secret.encode(), f"{stamp}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={stamp},v1={signed}"
