"""Somebody on the machine, or a web page in a browser there, who has neither key nor certificate, at every port.

What they try is what SeaweedFS's servers would do for anybody by default, over HTTP and gRPC, plain and over TLS.
"""

from __future__ import annotations

import itertools
import socket
import ssl
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psutil
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

SECONDS = 3.0
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""What every gRPC client says first. Who serves gRPC answers with a frame of settings."""

SETTINGS_FRAME = 4
EVIL = "http://evil.example"
HOSTS = ("127.0.0.1", "evil.example")
"""As it should be, and as sent by a page whose own name was pointed at this machine."""

BOUNDARY = "stranger"

FEW = 9
"""Of the requests, every so many are tried over TLS too: there the handshake decides, whatever comes after it."""


@dataclass(frozen=True)
class Breach:
    """Something that a stranger got."""

    port: int
    what: str
    answer: bytes


def listening(process: psutil.Process) -> list[int]:
    """TCP ports of a process and of everything that it has started, found by asking the kernel."""
    found = set()
    for each in (process, *process.children(recursive=True)):
        found |= {c.laddr.port for c in each.net_connections("tcp") if c.status == psutil.CONN_LISTEN}
    return sorted(found)


def requests_for(key: str, bucket: str, fid: str | None, picture: bytes) -> Iterator[bytes]:
    """Requests that would read, overwrite or delete an object, or everything, at one of SeaweedFS's servers."""
    objects = [f"/buckets/{bucket}/{key}", f"/{bucket}/{key}"] + ([f"/{fid}"] if fid else [])
    reads = [
        *(("GET", path) for path in objects),
        *(("GET", path) for path in ("/", f"/{bucket}/", "/buckets/", f"/buckets/{bucket}/?pretty=y", "/metrics")),
        *(("GET", path) for path in ("/dir/status", "/dir/assign", "/dir/lookup?volumeId=1", "/cluster/status")),
        *(("GET", path) for path in ("/ui/index.html", "/stats/disk", "/vol/status", "/admin", "/login")),
        *(("GET", path) for path in ("/etc/iam/identity.json", "/api/users", "/debug/pprof/", "/.tus/")),
    ]
    changes = [
        *(("DELETE", path) for path in objects),
        ("DELETE", f"/buckets/{bucket}?recursive=true"),
        ("GET", f"/col/delete?collection={bucket}"),
        ("POST", f"/col/delete?collection={bucket}"),
        ("GET", "/vol/grow?count=1"),
        ("GET", "/vol/vacuum"),
        ("POST", "/submit"),
        ("PUT", f"/buckets/{bucket}/{key}"),
        ("PUT", f"/{bucket}/{key}"),
        ("POST", f"/buckets/{bucket}/results/"),
        *(("POST", path) for path in objects),
        ("POST", "/?Action=CreateUser&UserName=evil"),
        ("POST", "/?Action=GetFederationToken&Name=evil"),
        ("POST", "/?Action=AssumeRoleWithWebIdentity&RoleArn=a&RoleSessionName=e&WebIdentityToken=t"),
        ("POST", "/api/users"),
    ]
    name = key.rpartition("/")[2]
    form = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        "Content-Type: image/jpeg\r\n\r\n"
    ).encode()
    form += picture + f"\r\n--{BOUNDARY}--\r\n".encode()
    for (method, path), host in itertools.product(reads + changes, HOSTS):
        body = form if method in {"POST", "PUT"} else b""
        lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", f"Origin: {EVIL}", "Connection: close"]
        if body:
            lines += [f"Content-Type: multipart/form-data; boundary={BOUNDARY}", f"Content-Length: {len(body)}"]
        yield "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def ways(folder: Path) -> dict[str, ssl.SSLContext | None]:
    """How a stranger connects: plain, over TLS without a certificate, and with one of his own making."""
    contexts = {}
    for name in ("TLS", "TLS with a certificate of another"):
        context = contexts[name] = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
    contexts["TLS with a certificate of another"].load_cert_chain(_certificate(folder))
    return {"plain": None, **contexts}


def breaches(
    ports: Iterable[int], requests: Iterable[bytes], contexts: dict[str, ssl.SSLContext | None]
) -> list[Breach]:
    """Try everything at every port.

    Returns:
        Every answer but a refusal. A refusal is a status from 400 on, an alert of TLS, or a closed connection.
    """
    found = []
    sent = list(requests)
    for port, (way, context) in itertools.product(ports, contexts.items()):
        answer = say(port, PREFACE, context)
        if answer[3:4] == bytes((SETTINGS_FRAME,)) and not answer.startswith(b"HTTP"):
            found.append(Breach(port, f"gRPC, {way}", answer))
        for request in sent if context is None else sent[::FEW]:
            if context is not None:
                context.set_alpn_protocols(["http/1.1"])
            answer = say(port, request, context)
            if answer.startswith((b"HTTP/1.1 2", b"HTTP/1.1 3", b"HTTP/1.0 2", b"HTTP/1.0 3")):
                found.append(Breach(port, f"{request.splitlines()[0].decode()}, {way}", answer))
        if context is not None:
            context.set_alpn_protocols(["h2"])
    return found


def say(port: int, request: bytes, context: ssl.SSLContext | None = None) -> bytes:
    """What comes back on a connection of its own; nothing where it is refused."""
    said = b""
    try:
        with socket.create_connection(("127.0.0.1", port), SECONDS) as plain:
            connection = context.wrap_socket(plain) if context else plain
            with connection:
                connection.sendall(request)
                while len(said) < 1 << 20 and (more := connection.recv(1 << 16)):
                    said += more
                    if request == PREFACE:
                        break
    except OSError:
        pass
    return said


def _certificate(folder: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "tryon embedded object store")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    file = folder / "stranger.pem"
    file.write_bytes(
        certificate.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return file
