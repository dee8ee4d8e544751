"""The public address: whether TLS, large bodies and held polls get through what stands in front of the API."""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from urllib.parse import urlsplit

import httpx

from cli.diagnosis import held_poll, large_body
from cli.diagnosis.findings import Case, Finding, Subject, counted, in_one_line
from runtime.settings import Settings
from runtime.settings.pictures import IN_COMBO, IN_SINGLE

ADDRESS = Subject("public address")
TLS = Subject("TLS")
READY = Subject("readiness")
SUBJECTS = (TLS, READY, large_body.BODY, held_poll.HOLD)

CONNECT_SECONDS = 5.0
READ_SECONDS = 10.0
SOON_DAYS = 14
"""A certificate that is renewed by a program is renewed earlier than that."""

LOOPBACK = ("127.0.0.1", "::1", "localhost")


async def look(case: Case) -> AsyncGenerator[Finding, None]:
    """Ask as a client on the internet would, from here."""
    if case.url is None:
        yield ADDRESS.skipped("--url https://… asks the API as its clients do")
        return
    url = case.url.rstrip("/")
    timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
    try:
        async with httpx.AsyncClient(timeout=timeout) as client, client.stream("GET", f"{url}/readyz") as answer:
            tls = _certificate(url, answer)
            await answer.aread()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        yield _unreachable(url, error)
        for subject in SUBJECTS:
            yield subject.skipped("the address does not answer")
        return
    yield ADDRESS.ok(f"{url} answers")
    yield tls
    ready = judged_readiness(answer)
    yield ready
    if not _is_ours(answer):
        for subject in (large_body.BODY, held_poll.HOLD):
            yield subject.skipped("something else than the API answers there")
        return
    for path, cap in _caps(case.settings).items():
        yield await large_body.look(url, path, cap, case.key)
    yield await held_poll.look(url, case.key, case.settings.jobs.longest_wait_seconds)


def _caps(settings: Settings) -> dict[str, int]:
    return {
        "/api/v1/tryon": settings.images.body_cap(IN_SINGLE),
        "/api/v1/tryon/combo": settings.images.body_cap(IN_COMBO),
    }


def _unreachable(url: str, error: Exception) -> Finding:
    reason = in_one_line(error)
    if isinstance(error.__cause__, ssl.SSLError) or "CERTIFICATE" in reason or "SSL" in reason:
        return TLS.error(
            f"{url}: {reason}",
            "Give the proxy a certificate for this name with its whole chain; look: openssl s_client -connect HOST:443",
        )
    return ADDRESS.error(f"{url} does not answer: {type(error).__name__} {reason}", f"curl -i {url}/readyz")


def _certificate(url: str, answer: httpx.Response) -> Finding:
    address = urlsplit(url)
    if address.scheme != "https":
        if address.hostname in LOOPBACK:
            return TLS.skipped("this address does not leave the machine")
        return TLS.warning("photos and keys travel unencrypted", "Put a proxy with a certificate in front of the API.")
    connection = answer.extensions["network_stream"].get_extra_info("ssl_object")
    ends = datetime.fromtimestamp(ssl.cert_time_to_seconds(connection.getpeercert()["notAfter"]), UTC)
    days = (ends - datetime.now(UTC)).days
    sentence = f"{connection.version()}, certificate valid for {counted(days, 'more day')}"
    if days < SOON_DAYS:
        return TLS.warning(sentence, "Renew it, and see why its renewal has not done so.")
    return TLS.ok(sentence)


def _is_ours(answer: httpx.Response) -> bool:
    """Whether the API itself answered, ready or not."""
    try:
        body = answer.json()
    except ValueError:
        return False
    return isinstance(body, dict) and isinstance(body.get("parts"), dict)


def judged_readiness(answer: httpx.Response) -> Finding:
    """What ``/readyz`` said."""
    if not _is_ours(answer):
        return READY.error(
            f"/readyz is answered with {answer.status_code} by something else than the API",
            "See where the proxy sends this name, and that it passes every path on.",
        )
    parts = answer.json()["parts"]
    away = [f"{name}: {state}" for name, state in parts.items() if state != "ok"]
    if answer.status_code != httpx.codes.OK:
        return READY.error(f"the API takes no jobs: {', '.join(away)}", "Mend that part, or start it.")
    if away:
        return READY.warning(
            f"the API takes jobs, but {', '.join(away)}", "Mend that part; jobs wait for it meanwhile."
        )
    return READY.ok("the API can accept jobs")
