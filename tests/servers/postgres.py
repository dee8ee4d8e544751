"""PostgreSQL for the length of a block: Debian's where it is installed, else the one in the ``pgserver`` wheel."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from sqlalchemy import create_engine, make_url, text

from tests.servers.processes import free_port, stop

UNPRIVILEGED_USER = "nobody"
"""PostgreSQL refuses to run as root, which is who tests are in many containers."""


class PostgresMissingError(Exception):
    """No PostgreSQL server is installed."""


def find_binaries() -> Path:
    """The folder with ``initdb`` and ``postgres``, newest version first."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: -float(folder.parent.name))
    wheel = find_spec("pgserver")
    if wheel is not None and wheel.origin is not None:
        folders.append(Path(wheel.origin).parent / "pginstall" / "bin")
    on_path = shutil.which("postgres")
    if on_path:
        folders.append(Path(on_path).parent)
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    raise PostgresMissingError("no PostgreSQL server: install Debian's postgresql or the PyPI package pgserver")


class PostgresServer:
    """A server on a port of its own, which may be killed and started again.

    Attributes:
        port: On loopback.
        url: Address for SQLAlchemy of the database that is there from the beginning.
    """

    def __init__(self, binaries: Path, data: Path, user: str | None) -> None:
        """Of a cluster that `initdb` made, as a user that is not root."""
        self.port = free_port()
        self.url = self.url_of("postgres")
        self._ready = [str(binaries / "pg_isready"), "-h", "127.0.0.1", "-p", str(self.port)]
        self._command = [str(binaries / "postgres"), "-D", str(data), "-p", str(self.port)]
        # Nobody cuts the power of a test, so nothing has to reach the disk.
        for setting in ("listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", "full_page_writes=off"):
            self._command += ["-c", setting]
        self._log, self._user = data.parent / "postgres.log", user
        self.start()

    def url_of(self, database: str) -> str:
        return f"postgresql://tryon@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start it, in a session of its own; returns at once."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, start_new_session=True, user=self._user
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """``None`` while it runs."""
        return self._process.poll()

    @property
    def answers(self) -> bool:
        """Whether it takes connections."""
        return subprocess.run(self._ready, check=False, capture_output=True).returncode == 0

    async def wait_ready(self, seconds: float) -> None:
        """Wait until it takes connections.

        Raises:
            TimeoutError: It did not in time.
        """
        async with asyncio.timeout(seconds):
            while not await asyncio.to_thread(lambda: self.answers):
                await asyncio.sleep(0.05)

    @property
    def said(self) -> str:
        """The end of its log."""
        return self._log.read_text()[-2000:]

    def stop(self) -> None:
        """End it, if it runs."""
        stop(self._process)


@contextmanager
def running_server() -> Iterator[PostgresServer]:
    """A server with an empty database, which takes connections.

    The data are not below pytest's own folder, which every session that starts closes to all users but its own. The
    user who runs the server would be shut out from then on, and PostgreSQL aborts at a checkpoint that finds its files
    closed: minutes later it would refuse connections.
    """
    binaries = find_binaries()
    with tempfile.TemporaryDirectory(prefix="tryon-postgres-", ignore_cleanup_errors=True) as folder:
        data, user = Path(folder) / "data", None
        if os.geteuid() == 0:
            user = UNPRIVILEGED_USER
            shutil.chown(folder, user)
        subprocess.run(
            [binaries / "initdb", "-D", data, "-U", "tryon", "-A", "trust", "-E", "UTF8", "--no-sync", "--no-locale"],
            check=True,
            capture_output=True,
            user=user,
            cwd="/",
        )
        server = PostgresServer(binaries, data, user)
        try:
            deadline = time.monotonic() + 30
            while not server.answers:
                assert time.monotonic() < deadline, "PostgreSQL did not come up"
                time.sleep(0.05)
            yield server
            assert server.exit_code is None, f"PostgreSQL ended by itself: {server.said}"
        finally:
            server.stop()


@contextmanager
def running_postgres() -> Iterator[str]:
    """The address of such a server, for SQLAlchemy."""
    with running_server() as server:
        yield server.url


def tell_server(url: str, statement: str) -> None:
    """Have the server of ``url`` do what no transaction can hold, such as making a database."""
    server = create_engine(
        make_url(url).set(drivername="postgresql+psycopg", database="postgres"), isolation_level="AUTOCOMMIT"
    )
    with server.connect() as connection:
        connection.execute(text(statement))
    server.dispose()
