"""The embedded object store by itself: closed to strangers, and at home in the folders of older versions."""

from __future__ import annotations

import asyncio
import io
import json
import ssl
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil
import urllib3
from minio import Minio
from minio.error import S3Error

from runtime.embedded.servers import (
    CERTIFICATE,
    KEY,
    TLS,
    WEED_OFFSETS,
    WEED_PORTS,
    StoreOpenError,
    VolumesMissingError,
    check_weed,
    choose_port,
    prepare_weed,
)
from tests.servers.processes import running
from tests.servers.stranger import breaches, listening, requests_for, say, ways
from tests.stack.stack import until

ACCESS_KEY, SECRET_KEY, BUCKET = "tests", "tests-secret-key", "tryon"
NOT_YET = (httpx.HTTPError, OSError, VolumesMissingError)
KEY_OF_PICTURE, PICTURE = "results/a.jpg", b"a customer's picture" * 500


class Store:
    """A running store and its owner."""

    def __init__(self, folder: Path, port: int, process: psutil.Process) -> None:
        self.folder, self.port, self.process = folder, port, process
        once = urllib3.PoolManager(retries=False, timeout=10)
        self.owner = Minio(f"127.0.0.1:{port}", ACCESS_KEY, SECRET_KEY, secure=False, http_client=once)

    def put(self) -> None:
        if not self.owner.bucket_exists(bucket_name=BUCKET):
            self.owner.make_bucket(bucket_name=BUCKET)
        self.owner.put_object(
            bucket_name=BUCKET, object_name=KEY_OF_PICTURE, data=io.BytesIO(PICTURE), length=len(PICTURE)
        )

    def get(self) -> bytes:
        answer = self.owner.get_object(bucket_name=BUCKET, object_name=KEY_OF_PICTURE)
        with answer:
            return bytes(answer.read())


@contextmanager
def running_store(folder: Path, *, as_before: bool = False) -> Iterator[Store]:
    """SeaweedFS in a folder, up to where it takes objects; ``as_before`` without certificates, as until 0.5."""
    port = choose_port(25_333, named=False, offsets=WEED_OFFSETS, what="tests")
    command = prepare_weed(folder, s3_port=port, access_key=ACCESS_KEY, secret_key=SECRET_KEY)
    if as_before:
        command = [word for word in command if not word.startswith("-config_dir=")]
    with running(command, folder / "weed.log") as process:
        store = Store(folder, port, psutil.Process(process.pid))

        def ready() -> bool | None:
            try:
                if as_before:
                    master = f"http://127.0.0.1:{port + WEED_PORTS.index('master')}"
                    assert '"DataNodes":[{' in httpx.get(f"{master}/dir/status", trust_env=False).text
                else:
                    asyncio.run(check_weed(folder, port))
                store.put()
            except (*NOT_YET, urllib3.exceptions.HTTPError, S3Error, AssertionError):
                return None
            return True

        until(ready, 60)
        until(lambda: True if len(listening(store.process)) >= len(WEED_OFFSETS) else None)
        yield store


def attacks(fid: str | None = None) -> list[bytes]:
    return list(requests_for(KEY_OF_PICTURE, BUCKET, fid, b"a stranger's picture"))


def fid_of(store: Store) -> str:
    """Where the picture lies on its volume: the filer tells those who have the certificate."""
    tls = store.folder / TLS
    context = ssl.create_default_context(cafile=tls / CERTIFICATE)
    context.verify_flags |= ssl.VERIFY_X509_STRICT  # Python's default from 3.13 on
    context.load_cert_chain(tls / CERTIFICATE, tls / KEY)
    filer = f"https://127.0.0.1:{store.port + WEED_PORTS.index('filer')}"
    with httpx.Client(verify=context, trust_env=False) as client:
        entry = client.get(f"{filer}/buckets/{BUCKET}/{KEY_OF_PICTURE}?metadata=true").json()
    return str(entry["chunks"][0]["file_id"])


def test_a_stranger_gets_nothing_at_any_port(tmp_path: Path) -> None:
    with running_store(tmp_path) as store:
        ports = listening(store.process)
        assert {store.port + offset for offset in WEED_OFFSETS} <= set(ports)
        assert breaches(ports, attacks(fid_of(store)), ways(tmp_path)) == []
        assert store.get() == PICTURE


def test_sockets_in_the_file_system_are_their_owners(tmp_path: Path) -> None:
    """They lie in a folder that everybody may enter, and who may write to one may talk to it."""
    with running_store(tmp_path) as store:
        sockets = {Path(c.laddr) for c in store.process.net_connections("unix") if str(c.laddr).startswith("/")}
        assert sockets
        for socket in sockets:
            mode = socket.stat().st_mode
            assert stat.S_ISSOCK(mode)
            assert mode & (stat.S_IWGRP | stat.S_IWOTH) == 0


def test_what_a_stranger_tries_works_where_nothing_is_closed(tmp_path: Path) -> None:
    """Otherwise the tests above would be about nothing."""
    with running_store(tmp_path, as_before=True) as store:
        port = {name: store.port + position for position, name in enumerate(WEED_PORTS)}
        picture = f"/buckets/{BUCKET}/{KEY_OF_PICTURE}"
        read = say(port["filer"], f"GET {picture} HTTP/1.0\r\nHost: evil.example\r\n\r\n".encode())
        assert read.endswith(PICTURE)
        found = breaches(listening(store.process), attacks(), {"plain": None})
        assert {breach.port for breach in found} >= {
            store.port + offset for offset in WEED_OFFSETS if offset != WEED_PORTS.index("s3")
        }
        assert any("col/delete" in breach.what for breach in found)
        try:
            left = store.get()
        except (S3Error, urllib3.exceptions.HTTPError):
            left = b""
        assert left != PICTURE


def test_a_store_that_does_not_know_the_certificates_is_never_ready(tmp_path: Path) -> None:
    """SeaweedFS goes on without TLS where it cannot read a certificate, and says so in its log alone."""
    port = choose_port(25_333, named=False, offsets=WEED_OFFSETS, what="tests")
    command = prepare_weed(tmp_path, s3_port=port, access_key=ACCESS_KEY, secret_key=SECRET_KEY)
    security = tmp_path / TLS / "security.toml"
    security.write_text(security.read_text().replace("[https.filer]", "[https.filler]"))
    with running(command, tmp_path / "weed.log"):

        def refused() -> bool | None:
            try:
                asyncio.run(check_weed(tmp_path, port))
            except StoreOpenError:
                return True
            except NOT_YET:
                pass
            return None

        until(refused)


def test_objects_of_an_older_version_are_found_again(tmp_path: Path) -> None:
    with running_store(tmp_path, as_before=True) as store:
        assert store.get() == PICTURE
    with running_store(tmp_path) as store:
        assert store.get() == PICTURE
        store.put()
    with running_store(tmp_path, as_before=True) as store:  # and an older version finds those of a newer one
        assert store.get() == PICTURE


def test_the_certificate_is_another_at_each_start_and_its_owners_alone(tmp_path: Path) -> None:
    def start() -> str:
        prepare_weed(tmp_path, s3_port=1, access_key=ACCESS_KEY, secret_key=SECRET_KEY)
        for file in (tmp_path / TLS).iterdir():
            assert file.stat().st_mode & 0o077 == 0
        return (tmp_path / TLS / KEY).read_text()

    assert start() != start()
    assert json.loads((tmp_path / "s3.json").read_text())["identities"][0]["credentials"][0]["secretKey"] == SECRET_KEY
