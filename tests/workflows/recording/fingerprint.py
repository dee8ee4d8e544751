"""Everything that decides what a workflow asks for, as a digest of each part.

The parts are the workflow's class, what of our own code it uses, and that code in turn: functions and classes by
their syntax tree, steps and other constants by their values. Comments, docstrings, formatting, log lines and queries
are left out. So a part's digest changes with everything that may change a run's commands, and with little else.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator
from dataclasses import asdict, is_dataclass
from datetime import timedelta
from enum import Enum
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from temporalio import workflow
from temporalio.common import SearchAttributeKey

from workflows.contracts import Contract
from workflows.steps import Step

PACKAGE = "workflows"

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# Where another Python has a field that this one has not, or that says nothing about what runs.
_LEFT_OUT = {"ctx", "kind", "lineno", "type_comment", "type_params"}


def fingerprint(workflow_class: type) -> dict[str, str]:
    """Part to digest, for one workflow."""
    walk = _Walk()
    namespace = next(value for value in vars(workflow_class).values() if isinstance(value, FunctionType)).__globals__
    walk.definition(workflow_class.__name__, namespace)
    return dict(sorted(walk.parts.items()))


class _Walk:
    """Collects the parts; each is looked at once."""

    def __init__(self) -> None:
        self.parts: dict[str, str] = {}

    def definition(self, name: str, namespace: dict[str, Any]) -> None:
        """A class or function of ours, and what it uses."""
        part = f"{namespace['__name__']}.{name}"
        if part in self.parts:
            return
        node = _find(name, namespace["__file__"])
        if isinstance(node, ast.ClassDef) and _is_contract(namespace.get(name)):
            # Its fields are data, and compared by `contract_schemas`; what it works out from them may decide something.
            node.body = [item for item in node.body if isinstance(item, _DEFINITIONS)]
            if not node.body:
                return
        node = _Plain().visit(node)
        self.parts[part] = _digest(_text_of(node))
        for owner, used in _names_in(node):
            self._use(owner, used, namespace)

    def _use(self, owner: str | None, name: str, namespace: dict[str, Any]) -> None:
        if owner is not None:
            module = namespace.get(owner)
            if not isinstance(module, ModuleType) or not _is_ours(module.__name__):
                return
            namespace = vars(module)
        if name in namespace:
            self._value(name, namespace[name], namespace)

    def _value(self, name: str, value: object, namespace: dict[str, Any]) -> None:
        if isinstance(value, ModuleType):
            return
        if isinstance(value, type | FunctionType):
            if not _is_ours(value.__module__):
                return
            if isinstance(value, type) and (other := workflow._Definition.from_class(value)) is not None:
                # A child decides for itself; its parent only names it.
                self.parts[f"{value.__module__}.{value.__name__}"] = _digest(str(other.name))
                return
            # A class or function that was imported under this name is looked up where it is defined.
            home = namespace if value.__module__ == namespace["__name__"] else vars(sys.modules[value.__module__])
            self.definition(value.__name__, home)
        elif (known := _constant(value)) is not None:
            self.parts[f"{namespace['__name__']}.{name}"] = _digest(known)
            if isinstance(value, Step):
                self.definition("Step", vars(sys.modules[Step.__module__]))


def _is_ours(module: str) -> bool:
    return module == PACKAGE or module.startswith(f"{PACKAGE}.")


def _is_contract(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Contract)


def _find(name: str, path: str) -> Definition:
    for node in ast.walk(ast.parse(Path(path).read_text())):
        if isinstance(node, _DEFINITIONS) and node.name == name:
            return node
    raise LookupError(f"{name} is not defined in {path}")


class _Plain(ast.NodeTransformer):
    """Takes away what no command follows from."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for block in ("body", "orelse", "finalbody"):
            statements = getattr(node, block, None)
            if isinstance(statements, list):
                kept = [statement for statement in statements if not _says_nothing(statement)]
                setattr(node, block, kept or ([ast.Pass()] if block == "body" else []))
        return node


def _says_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        value = statement.value
        logs = isinstance(value, ast.Call) and ast.unparse(value.func).startswith("workflow.logger.")
        return logs or (isinstance(value, ast.Constant) and isinstance(value.value, str))
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        return any(ast.unparse(decorator).startswith("workflow.query") for decorator in statement.decorator_list)
    return isinstance(statement, ast.Pass)


def _text_of(node: object) -> str:
    """A syntax tree as text that does not depend on the version of Python."""
    if isinstance(node, ast.AST):
        fields = [
            f"{name}={_text_of(value)}"
            for name, value in ast.iter_fields(node)
            if name not in _LEFT_OUT and value not in (None, [])
        ]
        return f"{type(node).__name__}({','.join(fields)})"
    if isinstance(node, list):
        return f"[{','.join(_text_of(item) for item in node)}]"
    return repr(node)


def _names_in(node: ast.AST) -> Iterator[tuple[str | None, str]]:
    """Names that a definition reads: alone, or of something (``steps.RENDER`` gives ``steps`` and ``RENDER``)."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            yield None, inner.id
        elif isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name):
            yield inner.value.id, inner.attr


def _constant(value: object) -> str | None:
    """A value as text; None for one that is not known to be constant."""
    if isinstance(value, Step):
        types = f"{value.input_type.__name__} {value.output_type.__name__}"
        return f"{value.name} {value.task_queue} {types} {_constant(dict(value.options))}"
    if isinstance(value, SearchAttributeKey):
        return f"{value.name} {value.indexed_value_type}"
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if value is None or isinstance(value, str | int | float | timedelta):
        return repr(value)
    if isinstance(value, dict):
        items = ",".join(f"{name!r}:{_constant(item)}" for name, item in sorted(value.items()))
        return f"{{{items}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(str(_constant(item)) for item in value)}]"
    if isinstance(value, set | frozenset):
        return f"{{{','.join(sorted(str(_constant(item)) for item in value))}}}"
    if is_dataclass(value) and not isinstance(value, type):
        return _constant(asdict(value))
    return None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
