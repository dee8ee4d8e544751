from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.redaction import _PATTERNS, LONGEST_TEXT, LONGEST_TRACEBACK, redact, redact_text, redact_traceback
from tests.runtime.hostile_events import EVENTS, KEY, PICTURE, SECRETS


@pytest.mark.parametrize("name", EVENTS)
def test_nothing_secret_is_left_of_a_value(name: str) -> None:
    shown = json.dumps(redact(EVENTS[name]), ensure_ascii=False)
    for secret in SECRETS:
        assert secret not in shown


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        17,
        0.5,
        "job handed to Temporal by the relay",
        "/api/v1/tryon/3b241101-e2bb-4255-8caf-4136c566a962",
        "https://shop.example/a.jpg",
        "data is missing: the form, the rest",
        "unreachable (TimeoutError)",
        "the basic plan",
        "the cookie jar",
        "cookies are not read",
        {"tokens": 3, "password_set": True},
        "redis://127.0.0.1:6379/0, then http://a.example/b://c://d",
        {"kept": [1, "two", {"three": None}]},
    ],
)
def test_what_is_harmless_stays_as_it_is(value: Any) -> None:
    assert redact(value) == value


def test_ids_and_times_are_readable() -> None:
    job_id = uuid.uuid4()
    assert redact({"job": job_id, "at": datetime(2026, 1, 2, tzinfo=UTC)}) == {
        "job": str(job_id),
        "at": "2026-01-02 00:00:00+00:00",
    }


def test_long_texts_are_cut_and_tracebacks_keep_their_end() -> None:
    assert len(redact_text("x" * (LONGEST_TEXT + 1))) < 100
    assert redact_text("x" * LONGEST_TEXT) == "x" * LONGEST_TEXT
    traceback = redact_traceback("line\n" * LONGEST_TRACEBACK + "KeyError: 17")
    assert traceback.endswith("KeyError: 17")
    assert len(traceback) < 2 * LONGEST_TRACEBACK


def test_an_address_is_searched_once_however_many_it_looks_like() -> None:
    """Else the time that a text takes grows with the square of its length."""
    hostile = "ab://x" * 10_000
    (rule,) = [pattern for pattern, _ in _PATTERNS if pattern.search("https://shop.example/a.jpg?b")]
    assert [found.span() for found in rule.finditer(hostile)] == [(0, len(hostile))]


def test_the_query_of_a_long_address_is_not_shown() -> None:
    assert redact_traceback(f"https://shop.example/{'a' * 3000}.jpg?s3cr3t") == (
        f"https://shop.example/{'a' * 3000}.jpg?[query]"
    )


@given(st.text(max_size=40), st.text(max_size=40), st.sampled_from([KEY, PICTURE]))
def test_whatever_stands_around_them_keys_and_pictures_are_found(before: str, after: str, secret: str) -> None:
    shown = redact_text(f"{before} {secret} {after}")
    assert secret[12:] not in shown
