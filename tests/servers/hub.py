"""As much of the Hugging Face hub as a download needs: repositories' files, in pieces, with a line that breaks."""

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
BRANCH = "main"
REPOSITORY = "owner/model"


@dataclass
class FakeHub:
    """What the server gives, and what it was asked.

    Attributes:
        files: Path to content, of `REPOSITORY`.
        others: The same of other repositories, by their names.
        lie: Paths whose content differs from its digest.
        break_once: Paths of which the first download ends in the middle.
        downloads: Path and first byte of each download.
    """

    files: dict[str, bytes]
    others: dict[str, dict[str, bytes]] = field(default_factory=dict)
    lie: set[str] = field(default_factory=set)
    break_once: set[str] = field(default_factory=set)
    downloads: list[tuple[str, int]] = field(default_factory=list)
    address: str = ""

    def described(self, repository: str) -> dict[str, object]:
        """The answer about a repository.

        Raises:
            KeyError: There is none of that name.
        """
        siblings = []
        for path, content in self.files_of(repository).items():
            digest = hashlib.sha256(content).hexdigest()
            lfs = {"sha256": digest, "size": len(content), "pointerSize": 130}
            siblings.append(
                {"rfilename": path, "size": len(content)} | ({} if path.endswith(".json") else {"lfs": lfs})
            )
        return {"id": repository, "sha": COMMIT, "siblings": siblings}

    def files_of(self, repository: str) -> dict[str, bytes]:
        """Its files."""
        return self.files if repository == REPOSITORY else self.others[repository]


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
                return
            repository, _, revision = path.removeprefix("/api/models/").partition("/revision/")
            if revision in {COMMIT, BRANCH} and repository in {REPOSITORY, *hub.others}:
                self._answer(200, json.dumps(hub.described(repository)).encode(), {"Content-Type": "application/json"})
            else:
                self._answer(404, b'{"error": "Repository not found"}', {"X-Error-Code": "RepoNotFound"})

        def _file(self, *, send: bool) -> None:
            repository, _, path = unquote(urlsplit(self.path).path)[1:].partition(f"/resolve/{COMMIT}/")
            files = hub.files_of(repository)
            if path not in files:
                self._answer(404, b"", {"X-Error-Code": "EntryNotFound"})
                return
            content, first = files[path], 0
            if path in hub.lie:
                content = bytes(reversed(content))
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
