"""``tryon``: every command in one place."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

UMASK = 0o077  # commands, and the processes that a stack starts, write files for their own user alone

PLACES = {
    "up": "stack:up",
    "down": "stack:down",
    "status": "stack:status",
    "doctor": "doctor:doctor",
    "demo": "demo:demo",
    "render": "engines:render",
    "account": "accounts:app",
    "key": "keys:app",
    "ledger": "accounts:ledger_app",
    "payments": "accounts:payments_app",
    "operator": "accounts:operator_app",
    "mail": "accounts:mail_app",
    "products": "products:app",
    "backfill": "backfills:app",
    "watermark": "watermark:app",
    "picture": "picture:app",
    "engines": "engines:app",
    "db": "service:db_app",
    "rotate": "keys:rotate_app",
    "backup": "backup:app",
    "bucket": "service:bucket_app",
}
"""Module and name of each command, or group of commands, in the order of ``tryon --help``."""

if find_spec("tryon_client") is None:
    del PLACES["demo"]  # it calls the service as a customer would, with the client, which is installed by itself


class OnDemand(TyperGroup):
    """Loads each command when it is asked for: importing all of them takes seconds."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands: dict[str, Any] = dict.fromkeys(PLACES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002  # Typer's signature
        if cmd_name in PLACES and self.commands[cmd_name] is None:
            module, _, attribute = PLACES[cmd_name].partition(":")
            found = getattr(import_module(f"cli.{module}"), attribute)
            alone = typer.Typer()
            if isinstance(found, typer.Typer):
                alone.add_typer(found, name=cmd_name)
            else:
                alone.command(cmd_name)(found)
            self.commands[cmd_name] = get_group(alone).commands[cmd_name]
        return self.commands.get(cmd_name)


app = typer.Typer(
    cls=OnDemand,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="A self-hosted virtual try-on service.",
)


@app.callback()
def _commands() -> None:
    """Typer refuses an app without commands or a callback."""


def main() -> None:
    """Run one command, and leave without taking the interpreter down in order.

    A thread of Temporal's client may deliver an answer while the interpreter shuts down, and Python then aborts the
    process (temporalio/sdk-python#300): every third command would fail after it had done its work.
    """
    os.umask(UMASK)
    code: object = 0
    try:
        app()
    except SystemExit as left:
        code = left.code
    except BaseException:  # noqa: BLE001  # it is shown, and the process ends
        sys.excepthook(*sys.exc_info())
        code = 1
    if isinstance(code, str):
        sys.stderr.write(f"{code}\n")
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):  # the reader has gone
            stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    main()
