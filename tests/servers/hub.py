"""As much of the Hugging Face hub as a download needs: one repository's files, in pieces, with a line that breaks."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class FakeHub:
    """What the server gives, and what it was asked.

    Attributes:
        files: Path to content, of the one repository.
        lie: Paths whose content differs from its digest.
        break_once: Paths of which the first download ends in the middle.
        downloads: Path and first byte of each download.
    """

    files: dict[str, bytes]
    lie: set[str] = field(default_factory=set)
    break_once: set[str] = field(default_factory=set)
    downloads: list[tuple[str, int]] = field(default_factory=list)
    address: str = ""

    def described(self) -> dict[str, object]:
        """The answer about the repository."""
        siblings = []
        for path, content in self.files.items():
            digest = hashlib.sha256(content).hexdigest()
            lfs = {"sha256": digest, "size": len(content), "pointerSize": 130}
            siblings.append(
                {"rfilename": path, "size": len(content)} | ({} if path.endswith(".json") else {"lfs": lfs})
            )
        return {"id": "owner/model", "sha": COMMIT, "siblings": siblings}

    def content(self, path: str) -> bytes:
        """What is sent for a file."""
        return bytes(reversed(self.files[path])) if path in self.lie else self.files[path]


@contextmanager
def running_hub(hub: FakeHub) -> Iterator[FakeHub]:
    """Serve ``hub`` at its `FakeHub.address` for the length of a block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(hub))
    hub.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler_for(hub: FakeHub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_arguments: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self._file(send=False)

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            if not path.startswith("/api/"):
                self._file(send=True)
            elif path == f"/api/models/owner/model/revision/{COMMIT}":
                self._answer(200, json.dumps(hub.described()).encode(), {"Content-Type": "application/json"})
            else:
                self._answer(404, b'{"error": "Repository not found"}', {"X-Error-Code": "RepoNotFound"})

        def _file(self, *, send: bool) -> None:
            path = unquote(urlsplit(self.path).path).removeprefix(f"/owner/model/resolve/{COMMIT}/")
            if path not in hub.files:
                self._answer(404, b"", {"X-Error-Code": "EntryNotFound"})
                return
            content, first = hub.content(path), 0
            headers = {
                "ETag": f'"{hashlib.sha256(content).hexdigest()}"',
                "X-Repo-Commit": COMMIT,
                "Accept-Ranges": "bytes",
            }
            if send and (wanted := self.headers.get("Range")):
                first = int(wanted.removeprefix("bytes=").split("-")[0])
                headers["Content-Range"] = f"bytes {first}-{len(content) - 1}/{len(content)}"
            if not send:
                self._answer(200, b"", headers, len(content))
                return
            hub.downloads.append((path, first))
            broken = path in hub.break_once
            hub.break_once.discard(path)
            part = content[first:]
            self._answer(206 if first else 200, part[: len(part) // 2] if broken else part, headers, len(part))
            if broken:
                self.close_connection = True

        def _answer(self, status: int, body: bytes, headers: dict[str, str], length: int | None = None) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body) if length is None else length))
            self.end_headers()
            self.wfile.write(body)

    return Handler
