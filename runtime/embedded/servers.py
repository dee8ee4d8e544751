"""The servers that PyPI packages carry, Temporal's and SeaweedFS: their programs, ports, disk and command lines.

Temporal's port asks for nothing. SeaweedFS is closed to everybody but us: it is five servers in one process, and only
its S3 port asks for a key. The others (master, volumes, filer, admin; HTTP and gRPC each) serve every object to all who
can reach loopback: other users of the machine, and web pages in a browser on it. So they speak mutual TLS, with a
certificate that is made anew at each start and that only the owner of the data folder can read.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import shutil
import socket
import ssl
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

import httpx

from runtime.embedded.record import write_privately

LOOPBACK = "127.0.0.1"
STEPS = 50  # how far a default port may move


class PortInUseError(Exception):
    """A port that has to be free is not."""


def is_free(port: int, host: str = LOOPBACK) -> bool:
    """Whether a server could listen there now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


_CLAIMED: set[int] = set()


def claim(port: int) -> bool:
    """Keep a port for this process until it ends, against other stacks of this user; False where one has it.

    Seconds go by between the choice of a port and the server that listens there. Two stacks that start side by side
    would choose the same, and one would take the other's API for its own.
    """
    if port in _CLAIMED:
        return True
    folder = Path(tempfile.gettempdir()) / f"tryon-ports-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    file = os.open(folder / str(port), os.O_WRONLY | os.O_CREAT, 0o600)  # open until this process ends
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return False
    _CLAIMED.add(port)
    return True


def choose_port(port: int, *, named: bool, offsets: Sequence[int] = (0,), host: str = LOOPBACK, what: str) -> int:
    """The port to use: the one that the operator named, or the next from there on that is free; it is claimed.

    Those at the offsets above it, 0 included, have to be free too; ``what`` wants it.

    Raises:
        PortInUseError: The named port, or every port of the search, is in use.
    """
    candidates = [port] if named else range(port, port + STEPS * len(offsets), len(offsets))
    for candidate in candidates:
        wanted = [candidate + offset for offset in offsets]
        if all(is_free(each, host) for each in wanted) and all(map(claim, wanted)):
            return candidate
    raise PortInUseError(
        f"Port {port} for {what} is in use. Stop what listens there, or choose another port."
        if named
        else f"No free port for {what} from {port} on."
    )


def find_program(name: str) -> str:
    """A program of this environment, whether or not it is activated.

    Raises:
        FileNotFoundError: Its package is not installed.
    """
    beside_python = Path(sys.executable).parent / name
    found = str(beside_python) if beside_python.exists() else shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"{name} was not found; install the project with its dependencies")
    return found


def temporal_command(
    database: Path, *, port: int, ui_port: int | None, namespace: str, search_attributes: Iterable[str]
) -> list[str]:
    """Temporal's dev server with its UI, unless that has no port, on a SQLite file.

    The server polls its history queues 20 times a second by default, which adds 50 ms to every step of every job;
    these limits take that away. The write-ahead log doubles its throughput.

    By default it keeps thousands of runs in memory, whether or not they have ended: in two hours of jobs it grew by
    140 KB with each. Only those that are under way are looked at again: it keeps 500, and reads others from the file.

    Its HTTP API is not used here, and would start and end runs for any web page in a browser on this machine: it takes
    a plain form post from anywhere. So it gets an empty list of allowed hosts.
    """
    dynamic = [f"history.{queue}ProcessorMaxPollRPS=2000" for queue in ("transfer", "timer", "visibility")]
    dynamic += ["history.hostLevelCacheMaxSize=500", "matching.enableFairness=true", "frontend.httpAllowedHosts=[]"]
    return [
        find_program("temporal"),
        *("server", "start-dev", "--ip", LOOPBACK, "--port", str(port)),
        *(("--ui-port", str(ui_port), "--ui-disable-news-fetch") if ui_port else ("--headless",)),
        *("--db-filename", str(database), "--namespace", namespace, "--log-level", "warn"),
        *("--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=NORMAL"),
        *(word for value in dynamic for word in ("--dynamic-config-value", value)),
        *(word for name in search_attributes for word in ("--search-attribute", f"{name}=Keyword")),
    ]


LEAST_FREE_SHARE = 0.01
"""SeaweedFS makes its volumes read-only below this share of the disk; ``weed mini`` takes no other."""

ENOUGH_AGAIN_SHARE = 0.015
"""A little above, so that the store is not restarted again and again at the limit."""

GIB = 1 << 30


class DiskFullError(Exception):
    """There is too little room for the embedded object store."""


def check_room(folder: Path) -> None:
    """See that the object store could write here.

    Raises:
        DiskFullError: It could not.
    """
    usage = shutil.disk_usage(folder)
    if usage.free < LEAST_FREE_SHARE * usage.total:
        raise DiskFullError(
            f"{usage.free / GIB:.1f} of {usage.total / GIB:.1f} GiB are free at {folder}; the embedded object store "
            f"takes no pictures below {LEAST_FREE_SHARE:.0%}. Make room, or name a folder on another disk in "
            "TRYON_DATA_DIR."
        )


class RoomRegained:
    """Tells, once, that a disk that was full has room again.

    SeaweedFS checks the disk once a minute and takes nothing until then; restarted, it checks at once.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._was_short = False

    def __call__(self) -> bool:
        """Whether there is room again since the last call; takes one system call."""
        usage = shutil.disk_usage(self._folder)
        share = usage.free / usage.total
        if share < LEAST_FREE_SHARE:
            self._was_short = True
        regained = self._was_short and share >= ENOUGH_AGAIN_SHARE
        self._was_short = self._was_short and not regained
        return regained


GRPC_OFFSET = 10_000
PROBE_SECONDS = 2.0

WEED_PORTS = ("s3", "master", "volume", "filer", "admin")
"""SeaweedFS takes consecutive ports in this order, and for each the one 10000 above for gRPC."""

WEED_OFFSETS = tuple(base + position for base in (0, GRPC_OFFSET) for position in range(len(WEED_PORTS)))

CLOSED_OFFSETS = tuple(offset for offset in WEED_OFFSETS if offset != WEED_PORTS.index("s3"))
"""All but S3 itself, where requests are signed."""

WEED_VOLUMES = 10_000
"""More than a disk holds, so that only the room on the disk counts.

By default SeaweedFS counts at its start how many volumes of full length (up to 1 GB) would still fit. The bucket takes
seven at once; where few are left its own log gets none, and then it does not stop when asked to.
"""

WEED_GARBAGE_PERCENT = "40"
"""SeaweedFS's heap grows by that much before Go tidies it; by default by 100. After 2,000 jobs' objects it holds 253 MB
instead of 403, for the same processor time."""

OBJECTS, CREDENTIALS, TLS = "objects", "s3.json", "store-tls"
"""Below the data folder: the objects, the S3 key, and the certificate with the configuration that names it."""

CERTIFICATE, KEY = "certificate.pem", "key.pem"
CERTIFICATE_DAYS = 36_500  # it is replaced at each start, and a stack may stay up for as long as it likes
HTTP2_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""What gRPC clients begin with. HTTP/1.1 servers answer it too, with a status."""

TLS_ALERT = b"\x15"


def prepare_weed(data_dir: Path, *, s3_port: int, access_key: str, secret_key: str) -> list[str]:
    """Write SeaweedFS's configuration, readable by its owner alone.

    Objects lie below the data folder, and are found again at the next start. Its one identity may do everything.

    Returns:
        The command that runs it in one process, bound to loopback, with its usage reports switched off.
    """
    objects, credentials, tls = data_dir / OBJECTS, data_dir / CREDENTIALS, data_dir / TLS
    objects.mkdir(parents=True, exist_ok=True)
    tls.mkdir(exist_ok=True)
    identity = {
        "name": "tryon",
        "credentials": [{"accessKey": access_key, "secretKey": secret_key}],
        "actions": ["Admin", "Read", "List", "Tagging", "Write"],
    }
    write_privately(credentials, json.dumps({"identities": [identity]}))
    for name, pem in zip((CERTIFICATE, KEY), _new_certificate(), strict=True):
        write_privately(tls / name, pem)
    write_privately(tls / "security.toml", _security(tls / CERTIFICATE, tls / KEY))
    ports = []
    for position, name in enumerate(WEED_PORTS):
        ports += [f"-{name}.port={s3_port + position}", f"-{name}.port.grpc={s3_port + position + GRPC_OFFSET}"]
    return [
        find_program("weed"),
        "-logtostderr=true",
        f"-config_dir={tls}",
        "mini",
        f"-dir={objects}",
        *(f"-ip={LOOPBACK}", f"-ip.bind={LOOPBACK}"),
        *ports,
        f"-s3.config={credentials}",
        *("-s3.port.iceberg=0", "-s3.port.lance=0", "-webdav=false", "-admin.ui=false"),
        f"-volume.max={WEED_VOLUMES}",
        "-master.telemetry=false",
    ]


def _new_certificate() -> tuple[str, str]:
    """A self-signed certificate for both ends of every connection, and its key, as PEM."""
    # Here, since commands that only ask for the store's state need none.
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    public, now = key.public_key(), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tryon embedded object store")])
    usage = dict.fromkeys(
        ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "crl_sign"), False
    ) | {"encipher_only": False, "decipher_only": False}
    purposes = [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    certificate = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))  # clocks are set back now and then
        .not_valid_after(now + timedelta(days=CERTIFICATE_DAYS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.KeyUsage(digital_signature=True, key_cert_sign=True, **usage), critical=True)
        .add_extension(x509.ExtendedKeyUsage(purposes), critical=False)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address(LOOPBACK))]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate.public_bytes(serialization.Encoding.PEM).decode(), private.decode()


def _security(certificate: Path, key: Path) -> str:
    """SeaweedFS's ``security.toml``: every server asks for the certificate, and every client shows it."""
    # A JSON string is a TOML string.
    pair = {"cert": json.dumps(str(certificate)), "key": json.dumps(str(key))}
    ca = {"ca": pair["cert"]}
    tables: dict[str, Mapping[str, str]] = {"grpc": ca, "https.client": {"enabled": "true"} | pair | ca}
    tables |= {f"grpc.{part}": pair for part in ("master", "volume", "filer", "s3", "admin", "worker", "client")}
    tables |= {f"https.{part}": pair | ca for part in ("master", "volume", "filer", "admin")}
    return "\n".join(
        f"[{name}]\n" + "".join(f"{option} = {value}\n" for option, value in table.items())
        for name, table in tables.items()
    )


class VolumesMissingError(Exception):
    """SeaweedFS answers, but has no volume for objects yet."""


class StoreOpenError(Exception):
    """SeaweedFS answers a client that has neither key nor certificate."""


async def check_weed(data_dir: Path, s3_port: int) -> None:
    """See that the server can take objects, and that its inner ports are closed.

    Its volume server sometimes asks its master for admission a moment too early and then waits five seconds; an
    object that is put meanwhile is held up for as long as twenty.

    Raises:
        VolumesMissingError: It has nowhere to put an object yet.
        StoreOpenError: A port is open. SeaweedFS drops to plain connections, without a word, where it cannot read a
            certificate or does not know the name of a setting.
        httpx.HTTPError: It does not answer.
    """
    ours = ssl.create_default_context(cafile=data_dir / TLS / CERTIFICATE)
    ours.load_cert_chain(data_dir / TLS / CERTIFICATE, data_dir / TLS / KEY)
    master = f"https://{LOOPBACK}:{s3_port + WEED_PORTS.index('master')}"
    async with httpx.AsyncClient(timeout=PROBE_SECONDS, trust_env=False, verify=ours) as client:
        topology = (await client.get(f"{master}/dir/status")).json()["Topology"]
    racks = [rack for center in topology["DataCenters"] or [] for rack in center["Racks"] or []]
    if not any(rack["DataNodes"] for rack in racks):
        raise VolumesMissingError
    strangers = ssl.create_default_context(cafile=data_dir / TLS / CERTIFICATE)
    strangers.set_alpn_protocols(["h2", "http/1.1"])
    for port in (s3_port + offset for offset in CLOSED_OFFSETS):
        for context in (None, strangers):
            if await _answers(port, context):
                raise StoreOpenError(f"port {port} of the object store answers without a certificate")


async def _answers(port: int, context: ssl.SSLContext | None) -> bool:
    """Whether a server answers a client that shows no certificate with anything but a refusal."""
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            reader, writer = await asyncio.open_connection(LOOPBACK, port, ssl=context)
            try:
                writer.write(HTTP2_PREFACE)
                said = await reader.read(1)
            finally:
                writer.close()
    except OSError:  # refused, reset, or an alert of TLS
        return False
    return said not in (b"", TLS_ALERT)
