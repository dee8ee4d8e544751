"""The Temporal client, the same for every process."""

from __future__ import annotations

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter

from runtime.settings import TemporalSettings


async def connect_temporal(settings: TemporalSettings, *, lazy: bool = False) -> Client:
    """Connect to Temporal.

    Args:
        settings: Address and credentials.
        lazy: Connect at the first call instead, so that a process can start while Temporal is away.
    """
    return await Client.connect(
        settings.address,
        namespace=settings.namespace,
        data_converter=pydantic_data_converter,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        tls=settings.tls or settings.api_key is not None,
        lazy=lazy,
    )
