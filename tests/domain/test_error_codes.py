"""The codes are a closed set, and whoever decides by them knows all of them."""

from __future__ import annotations

from typing import get_args

import pytest

from domain.errors import CATALOGUE, Audience, ErrorCode, known_code
from workflows.backfills.workflow import TRIED_AGAIN

FAULTS_OF_OURS = {
    code for code, entry in CATALOGUE.items() if entry.status is None and entry.audience is Audience.OPERATOR
} - {"cancelled"}


def test_the_type_names_what_is_in_the_catalogue() -> None:
    assert list(get_args(ErrorCode)) == list(CATALOGUE)


@pytest.mark.parametrize("text", ["RuntimeError", "Generation_Failed", "", None, "no_such_code"])
def test_any_other_text_is_a_fault_of_ours(text: str | None) -> None:
    assert known_code(text) == "generation_failed"
    assert known_code(text, "storage_unavailable") == "storage_unavailable"


@pytest.mark.parametrize("code", CATALOGUE)
def test_a_code_stays_itself(code: str) -> None:
    assert known_code(code) == code == code.lower(), "and is told from an exception's name by its small letters"


def test_a_backfill_tries_again_what_the_item_is_not_to_blame_for() -> None:
    assert TRIED_AGAIN == FAULTS_OF_OURS
