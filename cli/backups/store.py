"""The embedded object store without the rest of the stack."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from cli.checks import check_object_store
from runtime.embedded.child import Child, ChildSpec, marked_environment
from runtime.embedded.ports import choose_port
from runtime.embedded.store import WEED_OFFSETS, prepare_weed
from runtime.object_store import ObjectStore, S3ObjectStore
from runtime.settings import Settings

NAME = "object-store"
READY_SECONDS = 60.0
"""As of a whole stack."""

STOP_SECONDS = 40.0


@asynccontextmanager
async def store_alone(settings: Settings, data_dir: Path) -> AsyncIterator[ObjectStore]:
    """Run the object store of a stack that is down for the length of a block.

    Args:
        settings: With the store's access key, secret key and bucket; the store listens on a free port.
        data_dir: Where its objects lie; the caller has sole use of it.

    Raises:
        ChildFailedError: It did not come up.
    """
    port = choose_port(settings.stack.s3_port, named=False, offsets=WEED_OFFSETS, what="the object store")
    settings.object_store = settings.object_store.model_copy(update={"endpoint": f"http://127.0.0.1:{port}"})
    spec = ChildSpec(
        NAME,
        prepare_weed(
            data_dir,
            s3_port=port,
            access_key=settings.object_store.access_key,
            secret_key=settings.object_store.secret_key.get_secret_value(),
        ),
        check_object_store(settings, data_dir),
        environment=marked_environment(data_dir),
        stop_seconds=STOP_SECONDS,
    )
    child = Child(spec, data_dir / "logs" / f"{NAME}.log")
    child.start()
    try:
        await child.wait_ready(READY_SECONDS)
        yield S3ObjectStore(settings.object_store)
    finally:
        await child.stop()
