from __future__ import annotations

from typing import Any

import pytest

from api import payments
from cli.diagnosis import host as probe
from cli.diagnosis.findings import Case
from runtime.settings import ApiSettings, DashboardSettings, MailSettings, PaymentSettings, Settings
from tests.cli.diagnosis.conftest import findings_of, levels_of, the

PUBLIC = "https://tryon.example.com"
SECRETS = {"stripe_secret_key": "sk_test_0123456789", "stripe_webhook_secret": "whsec_0123456789"}


async def test_one_machine_as_it_comes(case: Case) -> None:
    assert await levels_of(probe.look_at_dashboard, case) == {"public URL": "ok", "mail server": "ok", "payments": "ok"}


@pytest.mark.parametrize(
    ("host", "given", "level"),
    [
        ("127.0.0.1", {}, "ok"),
        ("127.0.0.1", {"public_url": PUBLIC}, "ok"),
        ("0.0.0.0", {"public_url": PUBLIC}, "ok"),
        ("0.0.0.0", {}, "warning"),
        ("0.0.0.0", {"public_url": "http://tryon.example.com"}, "error"),
        ("127.0.0.1", {"public_url": "http://192.168.1.5:8000"}, "error"),
        ("192.168.1.5", {}, "error"),
        ("192.168.1.5", {"secure_cookies": False}, "warning"),
    ],
)
async def test_the_address_that_links_lead_to(
    case: Case, settings: Settings, host: str, given: dict[str, Any], level: str
) -> None:
    settings.api, settings.dashboard = ApiSettings(host=host), DashboardSettings(**given)
    assert the(await findings_of(probe.look_at_dashboard, case), "public URL", level)


@pytest.mark.parametrize(
    ("where", "mail", "level"),
    [
        (("127.0.0.1", "http://localhost:8000"), {}, "ok"),
        (("0.0.0.0", None), {}, "warning"),
        (("127.0.0.1", PUBLIC), {}, "warning"),
        (("0.0.0.0", PUBLIC), {"host": "mail.example.com"}, "warning"),
        (("0.0.0.0", PUBLIC), {"host": "mail.example.com", "sender": "tryon@example.com"}, "ok"),
        (("0.0.0.0", PUBLIC), {"host": "localhost"}, "ok"),
    ],
)
async def test_the_server_that_takes_mail(
    case: Case, settings: Settings, where: tuple[str, str | None], mail: dict[str, Any], level: str
) -> None:
    host, public_url = where
    settings.api, settings.mail = ApiSettings(host=host), MailSettings(password="sesame", **mail)
    settings.dashboard = DashboardSettings(public_url=public_url)
    found = the(await findings_of(probe.look_at_dashboard, case), "mail server", level)
    assert level == "ok" or "TRYON_MAIL_" in (found.remedy or "")
    assert "sesame" not in repr(found)


@pytest.mark.parametrize("missing", SECRETS)
async def test_stripe_without_a_secret(case: Case, settings: Settings, missing: str) -> None:
    given = {name: value for name, value in SECRETS.items() if name != missing}
    settings.payments = PaymentSettings(provider="stripe", **given)
    found = the(await findings_of(probe.look_at_dashboard, case), "payments", "error")
    assert "WEBHOOK_SECRET" in found.sentence
    assert "0123456789" not in repr(found)


async def test_stripe_without_its_package(case: Case, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.payments = PaymentSettings(provider="stripe", **SECRETS)
    assert the(await findings_of(probe.look_at_dashboard, case), "payments", "ok").sentence == "stripe"
    monkeypatch.setattr(payments, "find_spec", lambda _name: None)
    assert "extra `stripe`" in the(await findings_of(probe.look_at_dashboard, case), "payments", "error").sentence
