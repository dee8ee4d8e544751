"""PostgreSQL for the length of a block: Debian's where it is installed, else the one in the ``pgserver`` wheel."""

from __future__ import annotations

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

from tests.servers.processes import free_port, running

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


@contextmanager
def running_postgres() -> Iterator[str]:
    """Yields an address for SQLAlchemy.

    The data are not below pytest's own folder, which every session that starts closes to all users but its own. The
    user who runs the server would be shut out from then on, and PostgreSQL aborts at a checkpoint that finds its files
    closed: minutes later it would refuse connections.
    """
    binaries, port = find_binaries(), free_port()
    with tempfile.TemporaryDirectory(prefix="tryon-postgres-", ignore_cleanup_errors=True) as folder:
        data, log, user = Path(folder) / "data", Path(folder) / "postgres.log", None
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
        command = [str(binaries / "postgres"), "-D", str(data), "-p", str(port), "-c", "listen_addresses=127.0.0.1"]
        # Nobody cuts the power of a test, so nothing has to reach the disk.
        command += ["-c", "unix_socket_directories=", "-c", "fsync=off", "-c", "full_page_writes=off"]
        with running(command, log, user=user) as server:
            _wait(binaries, port)
            yield f"postgresql://tryon@127.0.0.1:{port}/postgres"
            assert server.poll() is None, f"PostgreSQL ended by itself: {log.read_text()[-2000:]}"


def _wait(binaries: Path, port: int) -> None:
    deadline = time.monotonic() + 30
    ready = [str(binaries / "pg_isready"), "-h", "127.0.0.1", "-p", str(port)]
    while subprocess.run(ready, check=False, capture_output=True).returncode != 0:
        if time.monotonic() > deadline:
            raise TimeoutError("PostgreSQL did not come up")
        time.sleep(0.05)


def tell_server(url: str, statement: str) -> None:
    """Have the server of ``url`` do what no transaction can hold, such as making a database."""
    server = create_engine(
        make_url(url).set(drivername="postgresql+psycopg", database="postgres"), isolation_level="AUTOCOMMIT"
    )
    with server.connect() as connection:
        connection.execute(text(statement))
    server.dispose()
