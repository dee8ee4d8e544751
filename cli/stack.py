"""``tryon up``, ``down`` and ``status``: light to load, since `tryon up --detach` loads it twice."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from typing import Annotated

import typer

from cli.answers import fail, failing_on
from runtime.embedded.record import UP_LOG, FolderInUseError, StackRecord
from runtime.settings import LogSettings, Settings, StackSettings, load_settings

START_SECONDS = 1920.0
"""Longest time for everything to come up; a part that fails ends it at once. Two minutes more than the slowest part
has, see `cli.embedded.GPU_WORKER_READY_SECONDS`."""
STOP_SECONDS = 120.0  # longer than the slowest part may take to drain
HEALTHY = "healthy"


def running_stack() -> StackRecord | None:
    """The stack of this data folder, if its supervisor runs."""
    record = StackRecord.read(StackSettings.load(None).data_dir)
    return record if record and record.supervisor.find() else None


def up(
    detach: Annotated[
        bool, typer.Option("--detach", help="Return once everything is up; `tryon down` stops it.")
    ] = False,
) -> None:
    """Start the whole service on this machine, and stop it on Ctrl-C."""
    record = running_stack()
    if record:
        typer.echo("The stack is already up:")
        for name, address in record.addresses.items():
            typer.echo(f"  {name:<12} {address}")
        typer.echo("It keeps the settings that it was started with; to change one: tryon down, then tryon up.")
        return
    if detach:
        start_detached()
        return
    from cli.embedded import EmbeddedStack
    from engines.models import models_present
    from runtime.embedded.servers import DiskFullError, PortInUseError
    from runtime.embedded.supervisor import ChildFailedError
    from runtime.logs import configure_logs
    from runtime.metrics import MetricsAddressError

    configure_logs(LogSettings(format="text", level="warning"), "up")
    settings = Settings()
    if not models_present(settings.engine.models_dir):
        fail(f"Model files are missing in {settings.engine.models_dir}. Run: tryon engines fetch warp")
    typer.echo("Starting …")
    with failing_on(FolderInUseError, PortInUseError, DiskFullError, MetricsAddressError, ChildFailedError, OSError):
        asyncio.run(EmbeddedStack(settings, typer.echo).run())


def start_detached() -> StackRecord:
    """Start the stack in the background and wait until it is healthy.

    Raises:
        typer.Exit: It did not come up; its last words were printed.
    """
    data_dir = StackSettings.load(None).data_dir
    (data_dir / "logs").mkdir(parents=True, exist_ok=True)
    log_file = data_dir / "logs" / UP_LOG
    log_file.unlink(missing_ok=True)
    # Opened to append, so that it can be emptied while it is written. It is read through a second handle, because
    # another `up` may replace the file.
    with log_file.open("ab") as log, log_file.open() as words:
        process = subprocess.Popen(
            [sys.executable, "-m", "cli.main", "up"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        said = ""
        deadline = time.monotonic() + START_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            said += words.read()
            record = running_stack() if "Ready." in said else None
            if record:
                typer.echo(said, nl=False)
                return record
            time.sleep(0.1)
        typer.echo(said + words.read(), err=True, nl=False)
    if process.poll() is None:
        process.terminate()
    raise typer.Exit(1)


def down() -> None:
    """Stop the stack that runs in this data folder."""
    record = running_stack()
    process = record.supervisor.find() if record else None
    if process is None:
        typer.echo("The stack is not up.")
        return
    process.terminate()
    deadline = time.monotonic() + STOP_SECONDS
    while record and record.supervisor.find():
        if time.monotonic() > deadline:
            fail(f"The stack did not stop within {STOP_SECONDS:.0f} s.")
        time.sleep(0.05)
    typer.echo("Stopped.")


def status() -> None:
    """Show the state of each part; exit 0 only when all of them are healthy."""
    record = running_stack()
    if record is None:
        typer.echo("The stack is not up.")
        raise typer.Exit(1)
    states = asyncio.run(_states(record))
    for name, state in states.items():
        told, endings = "", record.endings.get(name)
        if endings:
            times = "once" if endings.count == 1 else f"{endings.count} times"
            code = endings.exit_code
            how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
            told = f"; ended {times} since the stack came up, last {how}"
        typer.echo(f"  {name:<13} {state}{told}")
    for name, address in record.addresses.items():
        typer.echo(f"  {name:<13} {address}")
    if any(state != HEALTHY for state in states.values()):
        raise typer.Exit(1)


async def _states(record: StackRecord) -> dict[str, str]:
    from cli.health import all_checks

    async def state_of(name: str) -> str:
        identity = record.children.get(name)
        if identity is None or identity.find() is None:
            return "not running"
        try:
            await asyncio.wait_for(checks[name](identity.pid), 5.0)
        except Exception as error:  # noqa: BLE001  # any error means that the part is not healthy
            return f"not healthy: {type(error).__name__} {error}"[:200]
        return HEALTHY

    settings = load_settings()
    checks = all_checks(settings, settings.stack.data_dir)
    return dict(zip(checks, await asyncio.gather(*(state_of(name) for name in checks)), strict=True))
