"""Runs operations on an async client of httpx."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import httpx

from tryon_client.connection import Connection
from tryon_client.operations import Operation, Value


class AsyncRunner:
    """Sends what operations hand out.

    Args:
        connection: What every request shares.
        http: The caller's own client, or ``None`` to make one.
        sleep: How to wait.
    """

    def __init__(
        self, connection: Connection, http: httpx.AsyncClient | None, sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        self._connection = connection
        self._owns_http = http is None
        self._http = http or httpx.AsyncClient(**connection.client_options)
        self._sleep = sleep

    async def run(self, operation: Operation[Value]) -> Value:
        """Run an operation to its end."""
        try:
            call = next(operation)
            while True:
                if call.pause > 0:
                    await self._sleep(call.pause)
                try:
                    response = await self._http.request(**self._connection.request(call))
                except httpx.RequestError as error:
                    call = operation.throw(error)
                else:
                    call = operation.send(response)
        except StopIteration as done:
            value: Value = done.value
            return value

    async def close(self) -> None:
        """Close the client, unless it is the caller's own."""
        if self._owns_http:
            await self._http.aclose()
