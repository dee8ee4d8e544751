"""A shop's picture server on loopback, over TLS, with a certificate of its own."""

from __future__ import annotations

import asyncio
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from aiohttp import web
from aiohttp.abc import AbstractResolver, ResolveResult

from imaging.dialling import Dialler
from imaging.remote import RemoteImageFetcher
from imaging.remote_url import IPNetwork
from tests.imaging.pictures import quarters, saved

PICTURE = saved(quarters(), "JPEG")
LOOPBACK = IPv4Network("127.0.0.1/32")


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """Sign a certificate for the shop's name. Returns the files of certificate and key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=shop.example"
    names = ["-addext", "subjectAltName=DNS:shop.example,IP:127.0.0.1"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*command.split(), *names, *files], check=True, capture_output=True, timeout=20)
    return certificate, key


class ScriptedResolver(AbstractResolver):
    """Answers each look-up of a name with the next entry of its script; the last entry stays."""

    def __init__(self, **script: list[list[str] | Exception | float]) -> None:
        self.script = {name.replace("_", "."): answers for name, answers in script.items()}
        self.lookups: list[str] = []

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        self.lookups.append(host)
        answers = self.script[host]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, float):
            await asyncio.sleep(answer)
            answer = ["127.0.0.1"]
        return [
            ResolveResult(hostname=host, host=address, port=port, family=socket.AF_INET, proto=0, flags=0)
            for address in answer
        ]

    async def close(self) -> None:
        pass


@dataclass
class Shop:
    """The running server and what it saw."""

    port: int
    trust: ssl.SSLContext
    requests: list[web.Request] = field(default_factory=list)
    given: dict[str, bytes] = field(default_factory=dict)
    """Served as they are under ``/given/<name>``; 404 for a name that is not here."""
    bytes_sent: int = 0
    connections: int = 0

    def url(self, path: str, host: str = "shop.example") -> str:
        return f"https://{host}:{self.port}{path}"

    def fetcher(
        self,
        resolver: AbstractResolver | None = None,
        *,
        trusted_networks: Sequence[IPNetwork] = (LOOPBACK,),
        trust: ssl.SSLContext | None = None,
        **options: Any,
    ) -> RemoteImageFetcher:
        resolver = resolver or ScriptedResolver(shop_example=[["127.0.0.1"]])
        return RemoteImageFetcher(dialler=Dialler(trusted_networks, trust or self.trust, resolver), **options)


def _routes(shop: Shop) -> web.Application:
    async def answer(request: web.Request) -> web.StreamResponse:
        shop.requests.append(request)
        kind, _, argument = request.match_info["path"].partition("/")
        match kind:
            case "picture":
                return web.Response(body=PICTURE, content_type="text/plain")
            case "given" if argument in shop.given:
                return web.Response(body=shop.given[argument])
            case "status":
                return web.Response(status=int(argument), body=PICTURE)
            case "to":
                return web.Response(status=302, headers={"Location": request.query["url"]})
            case "hops":
                left = int(argument)
                return web.Response(status=307, headers={"Location": f"/hops/{left - 1}" if left > 1 else "/picture"})
            case "nowhere":
                return web.Response(status=302)
            case "page":
                return web.Response(text="<!doctype html>" + "x" * int(argument), content_type="image/jpeg")
            case "bytes":
                return web.Response(body=PICTURE.ljust(int(argument), b"\0"))
            case "announce":
                await web.StreamResponse(headers={"Content-Length": argument}).prepare(request)
                await asyncio.sleep(3)
            case "silent":
                await asyncio.sleep(3)
            case "stream":
                return await _stream(request, shop, pause_s=0.0)
            case "trickle":
                return await _stream(request, shop, pause_s=0.02)
            case "cut":
                return await _cut(request)
            case "reset":
                assert request.transport is not None
                request.transport.abort()
        return web.Response(status=404)

    application = web.Application()
    application.router.add_get("/{path:.*}", answer)
    return application


async def _stream(request: web.Request, shop: Shop, pause_s: float) -> web.StreamResponse:
    """Send 64 MiB without saying how much it will be."""
    response = web.StreamResponse()
    await response.prepare(request)
    for chunk in [PICTURE, *[bytes(64 * 1024)] * 1024]:
        await response.write(chunk)
        shop.bytes_sent += len(chunk)
        await asyncio.sleep(pause_s)
    return response


async def _cut(request: web.Request) -> web.StreamResponse:
    """Announce more than is sent, and hang up."""
    response = web.StreamResponse(headers={"Content-Length": str(len(PICTURE) + 1000)})
    await response.prepare(request)
    await response.write(PICTURE)
    assert request.transport is not None
    request.transport.close()
    return response


@asynccontextmanager
async def open_shop(certificate: Path, key: Path) -> AsyncIterator[Shop]:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    listener = socket.create_server(("127.0.0.1", 0))
    shop = Shop(port=listener.getsockname()[1], trust=ssl.create_default_context(cafile=str(certificate)))
    runner = web.AppRunner(_routes(shop), handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.SockSite(runner, listener, ssl_context=context).start()
    try:
        yield shop
    finally:
        await runner.cleanup()
