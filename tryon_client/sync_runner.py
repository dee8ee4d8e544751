"""Runs operations on a blocking client of httpx."""

from __future__ import annotations

from collections.abc import Callable

import httpx

from tryon_client.connection import Connection
from tryon_client.operations import Operation, Value


class Runner:
    """Sends what operations hand out.

    Args:
        connection: What every request shares.
        http: The caller's own client, or ``None`` to make one.
        sleep: How to wait.
    """

    def __init__(self, connection: Connection, http: httpx.Client | None, sleep: Callable[[float], None]) -> None:
        self._connection = connection
        self._owns_http = http is None
        self._http = http or httpx.Client(**connection.client_options)
        self._sleep = sleep

    def run(self, operation: Operation[Value]) -> Value:
        """Run an operation to its end."""
        try:
            call = next(operation)
            while True:
                if call.pause > 0:
                    self._sleep(call.pause)
                try:
                    response = self._http.request(**self._connection.request(call))
                except httpx.RequestError as error:
                    call = operation.throw(error)
                else:
                    call = operation.send(response)
        except StopIteration as done:
            value: Value = done.value
            return value

    def close(self) -> None:
        """Close the client, unless it is the caller's own."""
        if self._owns_http:
            self._http.close()
