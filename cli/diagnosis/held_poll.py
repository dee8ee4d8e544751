"""Whether a poll that is held for seconds comes back through whatever stands in front of the API."""

from __future__ import annotations

import base64
import time

import httpx

from cli.diagnosis.findings import Finding, Subject, in_one_line
from domain.access.keys import TEST

HOLD = Subject("held polls")

TEST_KEY_PREFIX = f"vto_{TEST}_"
SLOW_PRODUCT = "test_slow"
"""A test key's job with it takes a quarter of a minute and costs nothing."""

CALL_SECONDS = 20.0
AIR_SECONDS = 15.0
"""A poll may take so much longer than it is held."""


async def look(url: str, key: str | None, longest_wait_seconds: int) -> Finding:
    """Start a slow rehearsal and wait for it with one held poll."""
    if key is None or not key.startswith(TEST_KEY_PREFIX):
        return HOLD.skipped("--key-file with a test key tries one")
    headers = {"Authorization": f"Bearer {key}"}
    try:
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=CALL_SECONDS) as client:
            accepted = await client.post(
                "/api/v1/tryon", json={"customerPhotoBase64": _portrait(), "productId": SLOW_PRODUCT}
            )
            if accepted.status_code != httpx.codes.ACCEPTED:
                code = accepted.headers.get("X-Error-Code")
                return HOLD.skipped(f"no job was accepted to wait for: {accepted.status_code} {code}")
            began = time.monotonic()
            answer = await client.get(
                f"/api/v1/tryon/{accepted.json()['jobId']}",
                headers={"Prefer": f"wait={longest_wait_seconds}"},
                timeout=longest_wait_seconds + AIR_SECONDS,
            )
            held = time.monotonic() - began
    except httpx.HTTPError as error:
        return _cut_off(f"a held poll got no answer: {type(error).__name__} {in_one_line(error)}", longest_wait_seconds)
    return judged(answer.status_code, held, longest_wait_seconds)


def judged(status: int, held: float, longest_wait_seconds: int) -> Finding:
    """What a poll's answer says, and how long it took."""
    if status != httpx.codes.OK:
        return _cut_off(f"a poll was answered with {status} after {held:.0f} s", longest_wait_seconds)
    return HOLD.ok(
        f"one was held for {held:.0f} s and came back (clients may ask for {longest_wait_seconds} s: not tried)"
    )


def _cut_off(sentence: str, longest_wait_seconds: int) -> Finding:
    return HOLD.error(
        sentence,
        f"Let the proxy wait longer than {longest_wait_seconds} s for an answer; in nginx: proxy_read_timeout 60s;",
    )


def _portrait() -> str:
    """A person that may be sent anywhere, as a data: URI."""
    from api.dashboard.samples import PORTRAIT, picture_of

    return "data:image/webp;base64," + base64.b64encode(picture_of(PORTRAIT)).decode()
