"""The Temporal client, the same for every process."""

from __future__ import annotations

from collections.abc import Sequence

from temporalio.client import Client, Interceptor
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.runtime import Runtime

from runtime.logs import ActivityLogContext
from runtime.settings import TemporalSettings


async def connect_temporal(
    settings: TemporalSettings,
    *,
    lazy: bool = False,
    runtime: Runtime | None = None,
    interceptors: Sequence[Interceptor] = (),
) -> Client:
    """Connect to Temporal.

    Args:
        settings: Address and credentials.
        lazy: Connect at the first call instead, so that a process can start while Temporal is away.
        runtime: Serves metrics, see `runtime.metrics.sdk_runtime`.
        interceptors: More of this client and of the workers that use it.
    """
    return await Client.connect(
        settings.address,
        namespace=settings.namespace,
        data_converter=pydantic_data_converter,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        tls=settings.tls or settings.api_key is not None,
        lazy=lazy,
        runtime=runtime,
        interceptors=[ActivityLogContext(), *interceptors],
    )
