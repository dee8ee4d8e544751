"""An HTTP server on loopback that answers as a test tells it to, and remembers what it got."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """An answer; a body that is not bytes is sent as JSON."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def content(self) -> bytes:
        if self.body is None:
            return b""
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


DROP = Reply(0)
"""Read the request and hang up."""


@dataclass(frozen=True)
class Received:
    method: str
    path: str
    headers: Message
    content: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.content)


Answer = Callable[[Received], Reply]


class ScriptedServer:
    """Gives its replies one after the other; when there are none left, ``answer`` decides."""

    def __init__(self, answer: Answer | None) -> None:
        self.script: list[Reply] = []
        self.received: list[Received] = []
        self.answer = answer
        self.url = ""

    def reply(self, *replies: Reply) -> None:
        self.script += replies

    def next_reply(self, request: Received) -> Reply:
        self.received.append(request)
        if self.script:
            return self.script.pop(0)
        assert self.answer is not None, f"nobody expected {request.method} {request.path}"
        return self.answer(request)


@contextmanager
def running_server(answer: Answer | None = None) -> Iterator[ScriptedServer]:
    scripted = ScriptedServer(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # an answer goes out in two parts

        def handle_any(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            reply = scripted.next_reply(Received(self.command, self.path, self.headers, content))
            if reply is DROP:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.content)))
            self.end_headers()
            self.wfile.write(reply.content)

        do_GET = do_POST = do_PATCH = do_DELETE = handle_any  # noqa: N815 - the base class asks for these names

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    scripted.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield scripted
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
