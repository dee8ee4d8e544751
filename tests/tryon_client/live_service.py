"""The real application on a port of loopback, with a CPU worker behind it and a caller whose try-ons are rehearsals."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import uvicorn
from temporalio.client import Client

from tests.api.catalogue import Catalogue, opened_catalogue
from tests.api.conftest import OpenApi
from tests.factories import create_caller

LONGEST_SECONDS = 60


@dataclass(frozen=True)
class Finished:
    """A program that has ended."""

    code: int | None
    stdout: str
    stderr: str


@dataclass(frozen=True)
class LiveService:
    """Where it is, and who may call it."""

    url: str
    key: str
    catalogue: Catalogue

    async def run(self, *command: str | Path, folder: Path) -> Finished:
        """Run a program that finds the service in its environment, as a user's own would."""
        environment = {**os.environ, "VTO_BASE_URL": self.url, "VTO_API_KEY": self.key, "NO_PROXY": "127.0.0.1"}
        environment["PYTHONPATH"] = str(Path(__file__).parents[2])
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=folder,
            env=environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(), LONGEST_SECONDS)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        return Finished(process.returncode, out.decode(), err.decode())


@asynccontextmanager
async def live_service(open_api: OpenApi, temporal: Client) -> AsyncIterator[LiveService]:
    async with opened_catalogue(open_api, temporal) as catalogue:
        api = catalogue.api
        caller = await create_caller(api.parts.database, api.parts.digester, mode="test")
        transport = api.client._transport
        assert isinstance(transport, httpx.ASGITransport)
        server = uvicorn.Server(uvicorn.Config(transport.app, lifespan="off", log_config=None))
        with socket.create_server(("127.0.0.1", 0)) as listener:
            where = {"port": listener.getsockname()[1]}
            api.parts.settings.api = api.parts.settings.api.model_copy(update=where)  # pages say where they are
            serving = asyncio.create_task(server.serve([listener]))
            try:
                yield LiveService(f"http://127.0.0.1:{api.parts.settings.api.port}", caller.key, catalogue)
            finally:
                server.should_exit = True
                await serving
