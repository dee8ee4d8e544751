"""What a running API process holds; made in its lifespan and handed on."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any, cast

from fastapi import Depends, Request

from api.metrics import ApiMetrics
from api.payments import PaymentProvider, open_provider
from api.rate_limit import RateLimiter
from api.tryon.endings import JobEndings
from domain.access.keys import KeyDigester
from domain.authentication.passwords import Passwords
from domain.jobs.jobs import ENDED
from domain.money.plans import PlanBook, load_plans
from gateway.calls import TemporalAwayError
from gateway.outbox import Outbox
from gateway.temporal import TemporalGateway
from imaging.decoder_pool import DecoderPool
from imaging.limits import ImageLimits
from imaging.provenance import PictureSigner, open_signer
from intake.pace import DrawingTimes
from runtime.database import Database
from runtime.metrics import count_ended_jobs, object_store_calls
from runtime.object_store import ObjectStore, S3ObjectStore
from runtime.settings import Settings
from runtime.tracing import NO_TRACING, Tracing


@dataclass(frozen=True)
class ApiParts:
    """Settings and clients of one process."""

    settings: Settings
    database: Database
    store: ObjectStore
    temporal: TemporalGateway
    digester: KeyDigester
    plans: PlanBook
    endings: JobEndings
    rate_limiter: RateLimiter
    payments: PaymentProvider
    passwords: Passwords = field(default_factory=Passwords)
    """Hashes a few at a time, however many ask."""
    signer: PictureSigner | None = None
    """Signs copies of results, and tells pictures of this service."""

    @cached_property
    def drawing_times(self) -> DrawingTimes:
        """How long GPU workers draw."""
        return DrawingTimes(self.store)

    @property
    def limits(self) -> ImageLimits:
        """What pictures have to meet."""
        return self.settings.images.limits()


@asynccontextmanager
async def open_parts(
    settings: Settings, *, metrics: ApiMetrics | None = None, tracing: Tracing = NO_TRACING
) -> AsyncIterator[ApiParts]:
    """Build the parts; none of them has to be reachable for the process to start."""
    meter = (metrics or ApiMetrics()).meter
    temporal = await TemporalGateway.connect(settings.temporal, for_requests=True, interceptors=tracing.interceptors)
    outbox = Outbox(temporal)

    def committed(info: Mapping[Any, Any]) -> None:
        count_ended_jobs(meter, info.get(ENDED, ()), durations=False)
        outbox.committed(info)

    database = Database(settings.database, on_commit=committed)
    endings = JobEndings(database)
    rate_limiter = RateLimiter.of(settings.rate_limit, database)
    payments = open_provider(settings.payments)
    connecting = asyncio.create_task(_connect_early(temporal))
    try:
        yield ApiParts(
            settings=settings,
            database=database,
            store=S3ObjectStore(settings.object_store, object_store_calls(meter)),
            temporal=temporal,
            digester=KeyDigester(*settings.security.peppers()),
            plans=settings.billing.plans(load_plans),
            endings=endings,
            rate_limiter=rate_limiter,
            payments=payments,
            signer=open_signer(name=settings.dashboard.name, **settings.signing.model_dump()),
        )
    finally:
        connecting.cancel()
        await endings.close()
        await rate_limiter.close()
        await payments.close()
        await outbox.close()
        database.close()


async def _connect_early(temporal: TemporalGateway) -> None:
    """Connect now rather than in the first customer's request."""
    with contextlib.suppress(TemporalAwayError):
        await temporal.check()


def parts_of(request: Request) -> ApiParts:
    """What the process that answers this request holds."""
    return cast("ApiParts", request.app.state.parts)


def _held(name: str) -> Callable[[Request], Awaitable[Any]]:
    """Reads what the application's lifespan has put under this name."""

    async def held(request: Request) -> Any:
        return getattr(request.app.state, name)

    return held


Parts = Annotated[ApiParts, Depends(_held("parts"))]
"""A route's argument: what the process that answers holds."""

Decoders = Annotated[DecoderPool, Depends(_held("decoders"))]
"""A route's argument: the processes that decode pictures of jobs and products."""

PageDecoders = Annotated[DecoderPool, Depends(_held("page_decoders"))]
"""The same for pictures that pages show or receive."""
