"""The real API on a port, and proxies with bad habits in front of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from cli.diagnosis import public_address
from cli.diagnosis.findings import Case, Finding
from cli.diagnosis.public_address import Answer
from runtime.settings import ApiSettings, JobSettings, Settings
from tests.api.live_service import LiveService, live_service
from tests.cli.diagnosis.conftest import findings_of, the
from tests.cli.diagnosis.proxies import Handle, another_site, closing, listening, passing_to
from tests.imaging.shop import make_certificate

MIB = 1 << 20


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    with live_service(f"sqlite:///{tmp_path_factory.mktemp('live')}/tryon.db") as running:
        yield running


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """The API's own caps, and polls that are held for a second."""
    settings.api = ApiSettings()
    settings.jobs = JobSettings(longest_wait_seconds=1)
    return settings


async def through(
    proxy: Handle, settings: Settings, key: str | None = None, certificate: tuple[Path, Path] | None = None
) -> list[Finding]:
    async with listening(proxy, certificate) as url:
        return await findings_of(public_address.look, Case(settings, url=url, key=key))


def bodies(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.level, finding.sentence) for finding in findings if finding.subject == "large bodies"]


async def test_only_on_request(case: Case) -> None:
    assert [finding.level for finding in await findings_of(public_address.look, case)] == ["skipped"]


async def test_the_api_without_a_proxy(service: LiveService, settings: Settings) -> None:
    findings = await findings_of(public_address.look, Case(settings, url=service.url))
    assert {finding.level for finding in findings} == {"ok", "skipped"}
    assert ["by its headers" in sentence for _, sentence in bodies(findings)] == [True, True]
    assert the(findings, "held polls", "skipped")


async def test_with_a_key_bodies_arrive_and_polls_are_held(service: LiveService, settings: Settings) -> None:
    findings = await through(passing_to(service.url), settings, service.keys[0])
    assert [(level, "to its last byte" in sentence) for level, sentence in bodies(findings)] == [("ok", True)] * 2
    assert "held for 1 s and came back" in the(findings, "held polls", "ok").sentence


async def test_a_proxy_that_takes_small_bodies_only(service: LiveService, settings: Settings) -> None:
    findings = await through(passing_to(service.url, longest=50 * MIB), settings)
    (single, _), (combo, sentence) = bodies(findings)
    assert (single, combo) == ("ok", "error")
    assert "413 by something in front" in sentence
    assert "client_max_body_size 100m;" in (the(findings, "large bodies", "error").remedy or "")


async def test_a_proxy_that_collects_bodies_is_sent_one(service: LiveService, settings: Settings) -> None:
    findings = await through(passing_to(service.url, collects=True), settings)
    assert [(level, "taken whole" in sentence) for level, sentence in bodies(findings)] == [("ok", True)] * 2


async def test_a_proxy_that_does_not_wait(service: LiveService, settings: Settings) -> None:
    findings = await through(passing_to(service.url, patience=0.5), settings, service.keys[1])
    assert "504" in the(findings, "held polls", "error").sentence
    assert "proxy_read_timeout" in (the(findings, "held polls", "error").remedy or "")


async def test_something_else_answers(settings: Settings) -> None:
    findings = await through(another_site, settings)
    assert "something else than the API" in the(findings, "readiness", "error").sentence
    assert the(findings, "large bodies", "skipped")


@pytest.mark.parametrize("url", ["http://127.0.0.1:9", "http://", "nonsense"])
async def test_nothing_answers(settings: Settings, url: str) -> None:
    findings = await findings_of(public_address.look, Case(settings, url=url))
    assert the(findings, "public address", "error")
    assert the(findings, "readiness", "skipped")


async def test_a_certificate_that_nobody_trusts(service: LiveService, settings: Settings, tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)
    findings = await through(passing_to(service.url), settings, certificate=certificate)
    assert "certificate verify failed" in the(findings, "TLS", "error").sentence


async def test_a_certificate_that_soon_ends(
    service: LiveService, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = make_certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    findings = await through(passing_to(service.url), settings, certificate=certificate)
    assert "1 more day" in the(findings, "TLS", "warning").sentence
    assert [level for level, _ in bodies(findings)] == ["ok", "ok"]
    monkeypatch.setattr(public_address, "SOON_DAYS", 1)
    assert the(await through(passing_to(service.url), settings, certificate=certificate), "TLS", "ok")


async def test_a_connection_that_is_closed_in_the_middle() -> None:
    async with listening(closing) as url:
        found = await public_address.look_at_large_body(url, "/api/v1/tryon", MIB, None)
    assert (found.level, "got no answer" in found.sentence) == ("error", True)


@pytest.mark.parametrize(
    ("answer", "with_key", "level"),
    [
        (Answer(413, None, 0), False, "error"),
        (Answer(413, "body_too_large", 0), False, "warning"),
        (Answer(502, None, 0), False, "error"),
        (Answer(401, None, 0), False, "error"),
        (Answer(401, "unauthorized", 0), False, "ok"),
        (Answer(400, "malformed", MIB), True, "ok"),
        (Answer(401, "unauthorized", 0), True, "warning"),
        (Answer(429, "rate_limited", 0), True, "warning"),
        (Answer(503, "service_busy", MIB), True, "warning"),
    ],
)
def test_whose_answer_it_is(answer: Answer, with_key: bool, level: str) -> None:
    assert public_address.judged_body("/x", MIB, answer, with_key=with_key).level == level


@pytest.mark.parametrize(
    ("status", "temporal", "database", "level"),
    [(200, "ok", "ok", "ok"), (200, "away", "ok", "warning"), (503, "ok", "away", "error")],
)
def test_readiness(status: int, temporal: str, database: str, level: str) -> None:
    parts = {"database": database, "objectStore": "ok", "temporal": temporal}
    found = public_address.judged_readiness(httpx.Response(status, json={"status": "…", "parts": parts}))
    assert found.level == level
    assert level == "ok" or "away" in found.sentence


def test_polls_that_are_not_answered() -> None:
    assert public_address.judged_hold(200, 15.0, 30).level == "ok"
    assert public_address.judged_hold(504, 10.0, 30).level == "error"
