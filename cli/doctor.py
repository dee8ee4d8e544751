"""``tryon doctor``: what is wrong, and what to do about it."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cli.database import AsJson
from cli.diagnosis.examination import PROBES, examine
from cli.diagnosis.findings import Case, Finding, counted
from runtime.settings import load_settings

NAMES = [probe.name for probe in PROBES]


def doctor(  # noqa: PLR0917  # Typer makes options of them
    ledger: Annotated[bool, typer.Option("--ledger", help="Recompute every balance too.")] = False,
    weights: Annotated[bool, typer.Option("--weights", help="Read all weights and compare their SHA-256.")] = False,
    url: Annotated[
        str | None, typer.Option(help="Public address of the API, to be asked as a client does: https://….")
    ] = None,
    key_file: Annotated[
        Path | None,
        typer.Option(help="File with an API key for --url, - for standard input. A test key costs nothing."),
    ] = None,
    skip: Annotated[
        list[str] | None, typer.Option(help=f"Leave one out; may be given often. One of {', '.join(NAMES)}.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Look at every part of the service; exit 0 only when nothing is wrong. Warnings are not wrong."""
    unknown = [name for name in skip or [] if name not in NAMES]
    if unknown:
        raise typer.BadParameter(f"{unknown[0]} is none of {', '.join(NAMES)}")
    if key_file is not None and url is None:
        raise typer.BadParameter("--key-file is for --url")
    key = None
    if key_file is not None:
        key = (sys.stdin.read() if str(key_file) == "-" else key_file.read_text()).strip()
    case = Case(load_settings(), ledger=ledger, weights=weights, url=url, key=key)
    findings = asyncio.run(examine(case, without=skip or []))
    if as_json:
        typer.echo(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        typer.echo("\n".join(lines_of(findings)))
    if any(finding.level == "error" for finding in findings):
        raise typer.Exit(1)


def lines_of(findings: list[Finding]) -> list[str]:
    """The findings for a person to read."""
    widest = max(len(finding.subject) for finding in findings)
    lines = []
    for finding in findings:
        lines.append(f"{finding.level:<8} {finding.subject:<{widest}}  {finding.sentence}")
        if finding.remedy:
            lines.append(f"{'':<8} {'':<{widest}}  → {finding.remedy}")
    errors, warnings = (sum(finding.level == level for finding in findings) for level in ("error", "warning"))
    verdict = f"{counted(errors, 'error')}, {counted(warnings, 'warning')}." if errors or warnings else "All is well."
    return [*lines, "", verdict]
