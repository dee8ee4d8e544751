"""What a connection may cost before there is a request, against a process of its own, byte by byte."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp

from api.edge import SPARE_FILES, Edge, allow_open_files
from api.main import options_of
from domain.errors import CATALOGUE
from runtime.settings import ApiSettings, Settings
from tests.servers.api import ApiProcess, running_api

MIB = 1024 * 1024
HEALTHZ = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
PROXY, STRANGER, ANOTHER = "127.0.0.1", "127.0.0.2", "127.0.0.3"
"""Addresses of this machine, as if they were several; the first is a trusted proxy by default."""

HEADER_SECONDS, KEEP_ALIVE_SECONDS, PER_ADDRESS, IN_ALL = 2, 4, 5, 12


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiProcess]:
    """With the limits of the settings."""
    with running_api(tmp_path_factory.mktemp("api")) as process:
        yield process


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiProcess]:
    """With limits that are soon met."""
    with running_api(
        tmp_path_factory.mktemp("narrow"),
        TRYON_API_HEADER_TIMEOUT_SECONDS=str(HEADER_SECONDS),
        TRYON_API_KEEP_ALIVE_SECONDS=str(KEEP_ALIVE_SECONDS),
        TRYON_API_MAX_CONNECTIONS=str(IN_ALL),
        TRYON_API_MAX_CONNECTIONS_PER_ADDRESS=str(PER_ADDRESS),
    ) as process:
        yield process


class Said:
    """An answer as it came over the wire."""

    def __init__(self, raw: bytes) -> None:
        head, _, self.body = raw.partition(b"\r\n\r\n")
        status, *lines = head.decode("latin-1").split("\r\n")
        self.status = int(status.split()[1])
        self.headers = dict(line.lower().split(": ", 1) for line in lines)

    def assert_refused(self, code: str) -> None:
        """In the form of every refusal."""
        assert (self.status, self.headers["x-error-code"]) == (CATALOGUE[code].status, code)
        assert json.loads(self.body) == {"error": CATALOGUE[code].sentence}
        assert len(self.headers["x-request-id"]) == 32
        assert self.headers["connection"] == "close"
        assert self.headers["cache-control"] == "no-store"


def heard(connection: socket.socket) -> bytes:
    """All that comes until the other side closes."""
    pieces = []
    with contextlib.suppress(ConnectionResetError):
        while piece := connection.recv(65536):
            pieces.append(piece)
    return b"".join(pieces)


def is_answered(connection: socket.socket) -> bool:
    """Whether all of the answer comes that says the service is well; head and body may come one after the other."""
    said = b""
    while not said.endswith(b"}") and (piece := connection.recv(65536)):
        said += piece
    return said.startswith(b"HTTP/1.1 200")


def ask(api: ApiProcess, raw: bytes, come_from: str = PROXY) -> Said:
    with api.connect(come_from) as connection:
        connection.sendall(raw)
        return Said(heard(connection))


def is_well(api: ApiProcess, come_from: str = PROXY) -> bool:
    return ask(api, HEALTHZ + b"Connection: close\r\n\r\n", come_from).status == 200


def send_all_that_is_taken(connection: socket.socket, piece: bytes, times: int) -> None:
    with contextlib.suppress(ConnectionError, TimeoutError):
        for _ in range(times):
            connection.sendall(piece)


@pytest.mark.parametrize(
    ("start", "piece", "times"),
    [
        (HEALTHZ + b"X-Large: ", b"x" * MIB, 140),
        (HEALTHZ, b"".join(b"X-%d: %s\r\n" % (each, b"x" * 1000) for each in range(1000)), 100),
        (b"GET /", b"x" * MIB, 100),
        (b"", b"\r\n" * (MIB // 2), 20),
        (
            b"POST /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Large: ",
            b"x" * MIB,
            40,
        ),
    ],
    ids=["one header of 140 MB", "100 MB of many headers", "an address of 100 MB", "empty lines", "a trailer"],
)
def test_headers_without_end_are_not_kept(api: ApiProcess, start: bytes, piece: bytes, times: int) -> None:
    assert is_well(api)
    before = api.resident
    with api.connect() as connection:
        connection.sendall(start)
        send_all_that_is_taken(connection, piece, times)
        Said(heard(connection)).assert_refused("headers_too_large")
    assert api.resident - before < 8 * MIB
    assert is_well(api)


def test_headers_up_to_the_limit_are_taken(api: ApiProcess) -> None:
    ask(api, HEALTHZ + b"X: %s\r\n\r\n" % (b"x" * 65_536)).assert_refused("headers_too_large")
    small = b"".join(b"X-%d: %s\r\n" % (each, b"x" * 100) for each in range(1000))
    ask(api, HEALTHZ + small + b"\r\n").assert_refused("headers_too_large")
    assert ask(api, HEALTHZ + b"Connection: close\r\nX: %s\r\n\r\n" % (b"x" * 65_000)).status == 200


def test_a_connection_counts_its_headers_anew_for_each_request(api: ApiProcess) -> None:
    request = HEALTHZ + b"X: %s\r\n" % (b"x" * 40_000)
    last = request + b"Connection: close\r\n\r\n"
    with api.connect() as connection:
        connection.sendall((request + b"\r\n") * 3 + last)
        assert heard(connection).count(b"HTTP/1.1 200") == 4


def test_many_small_chunks_of_a_body_are_no_headers(api: ApiProcess) -> None:
    chunked = (
        b"POST /api/v1/tryon HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    )
    answer = ask(api, chunked + b"1\r\nx\r\n" * 100_000 + b"0\r\n\r\n")
    assert answer.headers["x-error-code"] == "unauthorized"


@pytest.mark.parametrize("raw", [b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\nHost : x\r\n\r\n", b"\x16\x03\x01\x02\x00"])
def test_what_is_no_request_is_refused_like_any_other(api: ApiProcess, raw: bytes) -> None:
    ask(api, raw).assert_refused("request_malformed")


@pytest.mark.parametrize("come_from", [PROXY, STRANGER])
def test_a_hundred_silent_connections_hold_up_nobody(api: ApiProcess, come_from: str) -> None:
    with ExitStack() as stack:
        silent = [stack.enter_context(api.connect(come_from)) for _ in range(100)]
        for each in silent[::2]:
            each.sendall(b"GET / HT")
        for _ in range(3):
            assert is_well(api, come_from)


def test_headers_have_to_arrive_in_time_however_they_drip(narrow: ApiProcess) -> None:
    began = time.monotonic()
    with narrow.connect() as silent, narrow.connect() as dripping:
        dripping.sendall(HEALTHZ)
        dripping.settimeout(0.1)
        said = b""
        while not said:
            dripping.sendall(b"X: y\r\n")
            with contextlib.suppress(TimeoutError):
                said = dripping.recv(65536)
            assert time.monotonic() - began < HEADER_SECONDS + 5
        Said(said).assert_refused("headers_incomplete")
        assert heard(silent) == b""
    assert HEADER_SECONDS <= time.monotonic() - began < HEADER_SECONDS + 5


def test_an_idle_connection_is_closed_and_one_that_drips_after_an_answer_sooner(narrow: ApiProcess) -> None:
    with narrow.connect() as idle, narrow.connect() as dripping:
        for each in (idle, dripping):
            each.sendall(HEALTHZ + b"\r\n")
            assert is_answered(each)
        began = time.monotonic()
        dripping.sendall(b"GET /healthz HTTP/1.1\r\n")
        Said(heard(dripping)).assert_refused("headers_incomplete")
        assert time.monotonic() - began < KEEP_ALIVE_SECONDS
        assert heard(idle) == b""
        assert KEEP_ALIVE_SECONDS - 1 <= time.monotonic() - began < KEEP_ALIVE_SECONDS + 5


def test_the_rest_of_a_body_that_was_answered_without_cannot_drip_for_ever(narrow: ApiProcess) -> None:
    with narrow.connect() as connection:
        connection.sendall(HEALTHZ + b"Content-Length: 1000000\r\n\r\n")
        assert is_answered(connection)
        began = time.monotonic()
        with contextlib.suppress(ConnectionError):
            while time.monotonic() - began < 20:
                connection.sendall(b"x")
                time.sleep(0.1)
        assert time.monotonic() - began < HEADER_SECONDS + KEEP_ALIVE_SECONDS + 2


@contextmanager
def under_way(api: ApiProcess, come_from: str, count: int) -> Iterator[list[socket.socket]]:
    """Connections with a request each whose body is awaited."""
    upload = b"POST /dashboard/log-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n"
    with ExitStack() as stack:
        opened = [stack.enter_context(api.connect(come_from)) for _ in range(count)]
        for each in opened:
            each.sendall(upload)
        time.sleep(0.5)  # until they are
        yield opened


def test_connections_are_counted_per_address_but_not_those_of_a_proxy(narrow: ApiProcess) -> None:
    with under_way(narrow, STRANGER, PER_ADDRESS):
        ask(narrow, b"", STRANGER).assert_refused("too_many_connections")
        assert is_well(narrow, ANOTHER)
        with under_way(narrow, PROXY, PER_ADDRESS + 1):
            assert is_well(narrow, PROXY)
    assert until_well(narrow, STRANGER)


def test_connections_are_counted_in_all(narrow: ApiProcess) -> None:
    with under_way(narrow, PROXY, IN_ALL):
        ask(narrow, b"", ANOTHER).assert_refused("too_many_connections")
        ask(narrow, HEALTHZ + b"\r\n").assert_refused("too_many_connections")
    assert until_well(narrow, PROXY)


def test_one_that_is_idle_gives_way_to_the_next(narrow: ApiProcess) -> None:
    with ExitStack() as stack:
        answered = stack.enter_context(narrow.connect(STRANGER))
        answered.sendall(HEALTHZ + b"\r\n")
        assert is_answered(answered)
        silent = [stack.enter_context(narrow.connect(STRANGER)) for _ in range(PER_ADDRESS)]
        assert heard(answered) == b"", "which must not take a refusal for the answer to its next request"
        assert is_well(narrow, STRANGER)
        Said(heard(silent[0])).assert_refused("too_many_connections")


def until_well(api: ApiProcess, come_from: str) -> bool:
    """Connections that end are counted no more, though not in the same moment."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        with contextlib.suppress(ConnectionError):
            if is_well(api, come_from):
                return True
        time.sleep(0.1)
    return False


async def test_a_client_that_does_not_read_is_given_up_and_a_slow_one_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.edge.UNREAD_SECONDS", 0.5)
    large = b"x" * 8 * MIB
    async with serving(PlainTextResponse(large)) as port:
        (slow, slow_out), (deaf, deaf_out) = [
            await asyncio.open_connection("127.0.0.1", port, limit=1024) for _ in range(2)
        ]
        for each in (slow_out, deaf_out):
            each.write(HEALTHZ + b"Connection: close\r\n\r\n")
        taken = 0
        while piece := await slow.read(64 * 1024):
            taken += len(piece)
            await asyncio.sleep(0.03)
        assert taken > len(large), "which took several times as long as the other was waited for"
        with pytest.raises(ConnectionResetError):
            while await deaf.read(MIB):
                pass
        for each in (slow_out, deaf_out):
            each.close()


@asynccontextmanager
async def serving(app: ASGIApp) -> AsyncIterator[int]:
    """The real server with its options around another application, in this process."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", **options_of(Settings())))
    running = asyncio.create_task(server.serve(sockets=[listener]))
    yield listener.getsockname()[1]
    server.should_exit = True
    await running


@pytest.mark.parametrize(
    ("hosts", "status"),
    [
        ([b"localhost"], 200),
        ([b"LOCALHOST.:8000"], 200),
        ([b"127.0.0.1:1"], 200),
        ([b"[::1]:8000"], 200),
        ([], 400),
        ([b""], 400),
        ([b"localhost", b"localhost"], 400),
        ([b"evil.example"], 400),
        ([b"localhost.evil.example"], 400),
        ([b"localhost@evil.example"], 400),
        ([b"localhost:80:80"], 400),
        ([b"localhost, evil.example"], 400),
        ([b"10.0.0.1"], 400),
    ],
)
def test_a_request_names_one_host_a_known_one(api: ApiProcess, hosts: list[bytes], status: int) -> None:
    for path in (b"/healthz", b"/docs", b"/dashboard/log-in", b"/api/v1/usage"):
        lines = b"".join(b"Host: %s\r\n" % each for each in hosts)
        answer = ask(api, b"GET %s HTTP/1.1\r\n%sConnection: close\r\n\r\n" % (path, lines))
        if status == 400:
            answer.assert_refused("host_refused")
        else:
            assert answer.status in (200, 401)


def test_http_1_0_has_no_host(api: ApiProcess) -> None:
    assert ask(api, b"GET /healthz HTTP/1.0\r\n\r\n").status == 200
    ask(api, b"GET /healthz HTTP/1.0\r\nHost: evil.example\r\n\r\n").assert_refused("host_refused")


def test_no_more_connections_are_allowed_than_files(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = [300, 400]
    monkeypatch.setattr("resource.getrlimit", lambda _which: tuple(limits))
    monkeypatch.setattr("resource.setrlimit", lambda _which, wanted: limits.__setitem__(slice(None), wanted))
    assert allow_open_files(100) == 300 - SPARE_FILES
    assert allow_open_files(250) == 378 - SPARE_FILES
    assert allow_open_files(1000) == 400 - SPARE_FILES
    assert limits == [400, 400]
    assert Edge(ApiSettings())._most == 400 - SPARE_FILES
