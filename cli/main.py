"""``tryon``: every command in one place."""

from __future__ import annotations

import contextlib
import logging
import os
import sys

import typer

from cli import (
    accounts,
    backfills,
    backup,
    bucket,
    database,
    demo,
    doctor,
    engines,
    keys,
    ledger,
    mails,
    operators,
    payments,
    products,
    render,
    rotation,
    stack,
    watermark,
)

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, help="A self-hosted virtual try-on service.")
app.command()(stack.up)
app.command()(stack.down)
app.command()(stack.status)
app.command()(doctor.doctor)
app.command("demo")(demo.demo)
app.command()(render.render)
app.add_typer(accounts.app, name="account")
app.add_typer(keys.app, name="key")
app.add_typer(ledger.app, name="ledger")
app.add_typer(payments.app, name="payments")
app.add_typer(operators.app, name="operator")
app.add_typer(mails.app, name="mail")
app.add_typer(products.app, name="products")
app.add_typer(backfills.app, name="backfill")
app.add_typer(watermark.app, name="watermark")
app.add_typer(engines.app, name="engines")
app.add_typer(database.app, name="db")
app.add_typer(rotation.app, name="rotate")
app.add_typer(backup.app, name="backup")
app.add_typer(bucket.app, name="bucket")


def main() -> None:
    """Run one command, and leave without taking the interpreter down in order.

    A thread of Temporal's client may just be delivering an answer then, and Python ends the process with an abort
    (temporalio/sdk-python#300): a command that did its work would fail, every third time.
    """
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
        with contextlib.suppress(OSError, ValueError):  # whoever read it has gone
            stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    main()
