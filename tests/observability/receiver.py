"""As much of an OTLP collector as the tests need: it takes spans over HTTP on loopback and keeps them."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span


@dataclass
class Receiver:
    """What was sent to it.

    Attributes:
        endpoint: For `TRYON_TRACING_ENDPOINT`.
        spans: In the order in which they came.
        headers: Of the last request.
        raw: Everything that came, as text, for searches.
    """

    endpoint: str = ""
    spans: list[Span] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    raw: str = ""

    def named(self, name: str) -> Span:
        """The one span of this name."""
        (span,) = [span for span in self.spans if span.name == name]
        return span


@contextmanager
def running_receiver() -> Iterator[Receiver]:
    """A receiver on a free port."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            request = ExportTraceServiceRequest.FromString(body)
            receiver.spans += [span for of in request.resource_spans for each in of.scope_spans for span in each.spans]
            receiver.headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.raw += str(request)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
