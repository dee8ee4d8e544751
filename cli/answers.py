"""How commands answer: as text or as JSON, and in one sentence where they fail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, NoReturn

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def show(facts: object, *lines: str, as_json: bool) -> None:
    """Print facts as JSON, or lines for people."""
    for line in [json.dumps(facts)] if as_json else lines:
        typer.echo(line)


def fail(sentence: str) -> NoReturn:
    """End the command with a sentence on standard error and exit code 1."""
    typer.echo(sentence, err=True)
    raise typer.Exit(1)


@contextmanager
def failing_on(*errors: type[Exception]) -> Iterator[None]:
    """`fail` with what an error of these kinds says, instead of a traceback."""
    try:
        yield
    except errors as error:
        sentence = str(error)
    else:
        return
    fail(sentence)
