"""The `Dockerfile` as the tests read it: stages, and what a stage inherits."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, field
from io import BytesIO

from dockerfile_parse import DockerfileParser

from tests.deployment.compose import PROJECT

FILE = PROJECT / "Dockerfile"


@dataclass
class Stage:
    """From one `FROM` to the next.

    Attributes:
        base: Another stage, or an image.
        instructions: Name and value, in order.
    """

    name: str
    base: str
    instructions: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Dockerfile:
    """Arguments before the first stage, and the stages by name."""

    arguments: dict[str, str]
    stages: dict[str, Stage]

    def line_of(self, target: str) -> list[Stage]:
        """The stages that a target is made of, the lowest first."""
        stage = self.stages[target]
        return [*(self.line_of(stage.base) if stage.base in self.stages else []), stage]

    def environment(self, target: str) -> dict[str, str]:
        words = [word for value in self.every(target, "ENV") for word in shlex.split(value)]
        return dict(word.split("=", 1) for word in words)

    def every(self, target: str, instruction: str) -> list[str]:
        """Values of an instruction in a target, in order."""
        return [value for stage in self.line_of(target) for name, value in stage.instructions if name == instruction]

    def command(self, target: str) -> list[str]:
        words: list[str] = json.loads(self.every(target, "CMD")[-1])
        return words

    def health_command(self, target: str) -> list[str]:
        words: list[str] = json.loads(self.every(target, "HEALTHCHECK")[-1].partition(" CMD ")[2])
        return words


def read(text: str) -> Dockerfile:
    parser = DockerfileParser(fileobj=BytesIO(text.encode()))
    found = Dockerfile({}, {})
    stage = None
    for line in parser.structure:
        name, value = line["instruction"], line["value"]
        if name == "FROM":
            base, _, own_name = value.partition(" AS ")
            stage = found.stages.setdefault(own_name, Stage(own_name, base))
        elif name == "ARG" and stage is None:
            found.arguments |= dict([value.split("=", 1)])
        elif stage is not None and name != "COMMENT":
            stage.instructions.append((name, value))
    return found
