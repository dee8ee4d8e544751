"""`docker-compose.temporal.yml` as the tests read it: interpolated like compose does, from given variables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

PROJECT = Path(__file__).parents[2]
FILE = PROJECT / "docker-compose.temporal.yml"
EXAMPLE = PROJECT / ".env.example"
VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?P<kind>:[-?])?(?P<rest>[^}]*)\}")
OURS = ("api", "worker-cpu", "worker-warp", "worker-gpu", "migrations", "bucket")
"""Services that run our own images."""

Service = dict[str, Any]


@dataclass(frozen=True)
class Compose:
    """A compose file.

    Attributes:
        text: As it is written.
        document: With every variable replaced.
    """

    text: str
    document: dict[str, Any]

    @property
    def services(self) -> dict[str, Service]:
        found: dict[str, Service] = self.document["services"]
        return found


def example_variables() -> dict[str, str]:
    """What `.env.example` sets, an empty text where it leaves a secret to the reader."""
    lines = [line for line in EXAMPLE.read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)


def filled_in() -> dict[str, str]:
    """The same with secrets; what may be empty stays so."""
    missing = {found["name"] for found in VARIABLE.finditer(FILE.read_text()) if found["kind"] == ":?"}
    made = {name: f"{name.lower()}-of-the-tests-0123456789abcdef" for name in missing}
    return example_variables() | made


def read(text: str, variables: dict[str, str]) -> Compose:
    """Interpolate and parse.

    Raises:
        KeyError: A required variable has no value; its message follows the name.
    """

    def value(found: re.Match[str]) -> str:
        given = variables.get(found["name"], "")
        if given or not found["kind"]:
            return given
        if found["kind"] == ":?":
            raise KeyError(found["name"], found["rest"])
        return found["rest"]

    return Compose(text, yaml.safe_load(VARIABLE.sub(value, text)))


def environment_of(service: Service) -> dict[str, str]:
    """Its environment; every value has to be text, for compose would write ``yes`` and ``1_000`` its own way."""
    environment: dict[str, str] = service.get("environment", {})
    return environment
