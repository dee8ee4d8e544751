"""SeaweedFS for the length of a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from runtime.embedded.servers import WEED_OFFSETS, check_room, choose_port, prepare_weed
from tests.servers.processes import running

ACCESS_KEY, SECRET_KEY = "tests", "tests-secret-key"


@contextmanager
def running_object_store(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yields endpoint, access key and secret key; the server may still be coming up.

    Raises:
        DiskFullError: It would come up and take nothing.
    """
    check_room(folder)
    port = choose_port(21_333, named=False, offsets=WEED_OFFSETS, what="tests")
    command = prepare_weed(folder, s3_port=port, access_key=ACCESS_KEY, secret_key=SECRET_KEY)
    with running(command, folder / "weed.log"):
        yield f"http://127.0.0.1:{port}", ACCESS_KEY, SECRET_KEY
