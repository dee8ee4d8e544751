"""The package as a whole."""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path

import pytest

import tryon_client
from tryon_client import AsyncTryOnClient, TryOnClient
from tryon_client.async_products import AsyncProducts
from tryon_client.sync_products import Products

FOLDER = Path(tryon_client.__file__).parent
ALLOWED = {*sys.stdlib_module_names, "httpx", "tryon_client"}


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda path: path.name)
def test_it_needs_httpx_and_python_alone(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            assert (node.module or "").partition(".")[0] in ALLOWED
        if isinstance(node, ast.Import):
            assert {name.name.partition(".")[0] for name in node.names} <= ALLOWED


def test_it_says_that_it_is_typed() -> None:
    assert (FOLDER / "py.typed").is_file()


def surface(kind: type) -> dict[str, str]:
    """Methods and what they take."""
    methods = inspect.getmembers(kind, inspect.isfunction)
    return {name: str(list(inspect.signature(method).parameters.values())) for name, method in methods}


@pytest.mark.parametrize(("blocking", "asyncio"), [(TryOnClient, AsyncTryOnClient), (Products, AsyncProducts)])
def test_both_clients_take_the_same(blocking: type, asyncio: type) -> None:
    def public(kind: type) -> dict[str, str]:
        return {name: taken for name, taken in surface(kind).items() if not name.startswith("_")}

    assert public(blocking) == public(asyncio)
    assert len(public(blocking)) >= 5
