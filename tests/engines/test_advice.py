from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import engines
from domain.errors import CATALOGUE
from engines.finish.zone import HOW_TO_BE_SHOWN
from engines.garment.lifting import ASK_FOR_ANOTHER
from engines.garment.measuring import HOW_TO_BE_LAID
from workflows.contracts import LONGEST_SENTENCE

FOLDER = Path(engines.__file__).parent


def refusals() -> Iterator[ast.Call]:
    """Every place where an engine says no."""
    for path in FOLDER.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "EngineError":
                yield node


def advice() -> Iterator[str]:
    """Every sentence of theirs for whoever chose the pictures."""
    yield from (ASK_FOR_ANOTHER, HOW_TO_BE_LAID, *HOW_TO_BE_SHOWN.values())
    for call in refusals():
        for keyword in call.keywords:
            if keyword.arg == "advice" and isinstance(keyword.value, ast.Constant):
                yield str(keyword.value.value)


def test_every_refusal_is_one_that_a_job_may_end_with() -> None:
    codes = {str(call.args[0].value) for call in refusals() if isinstance(call.args[0], ast.Constant)}
    assert {"pose_not_usable", "garment_not_recognised", "several_people"} <= codes
    assert all(CATALOGUE[code].status is None for code in codes)


def test_advice_is_a_whole_sentence_that_reaches_the_poll_uncut() -> None:
    sentences = list(advice())
    assert len(sentences) > 15
    for sentence in sentences:
        assert sentence[0].isupper()
        assert sentence.endswith(".")
        assert len(sentence) <= LONGEST_SENTENCE
