"""Whether the settings let people in (links that lead here, cookies that browsers keep, mail, keys) and pay."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from urllib.parse import urlsplit

from api.dashboard.outbox import is_own
from api.payments import open_provider
from cli.diagnosis.findings import Case, Finding, Subject
from runtime.concern import SettingsError
from runtime.settings import MailSettings, PaymentSettings, Settings

PUBLIC_URL = Subject("public URL")
MAIL_SERVER = Subject("mail server")
PAYMENTS = Subject("payments")
SENDER = MailSettings.model_fields["sender"].default  # no server outside takes it
PEPPER = Subject("key pepper")


async def look(case: Case) -> AsyncGenerator[Finding, None]:
    """Read the settings; nobody is asked."""
    yield judged_url(case.settings)
    yield judged_mail(case.settings)
    yield judged_payments(case.settings.payments)


def judged_url(settings: Settings) -> Finding:
    """Whether a browser that follows a link gets here, and stays signed in."""
    url = settings.dashboard.base_url(settings.api)
    address = urlsplit(url)
    if is_own(address.hostname):
        if not is_own(settings.api.host):
            return PUBLIC_URL.warning(
                f"links in mail begin with {url}, which is everybody's own machine",
                "Set TRYON_DASHBOARD_PUBLIC_URL to where browsers find the service: https://…",
            )
        return PUBLIC_URL.ok(f"{url}, for this machine alone")
    if address.scheme != "https" and settings.dashboard.secure_cookies:
        return PUBLIC_URL.error(
            f"{url} is plain http, over which browsers keep no cookie of ours: nobody can sign in",
            "Put a proxy with a certificate in front, and give TRYON_DASHBOARD_PUBLIC_URL its https://… address.",
        )
    if address.scheme != "https":
        return PUBLIC_URL.warning(
            f"{url} is plain http: anybody who listens can take over a session",
            "Put a proxy with a certificate in front, then leave TRYON_DASHBOARD_SECURE_COOKIES on.",
        )
    return PUBLIC_URL.ok(url)


def judged_mail(settings: Settings) -> Finding:
    """Whether those who sign up get the link that lets them in."""
    mail, api, url = settings.mail, settings.api, settings.dashboard.public_url
    if mail.host is None:
        if is_own(api.host) and (url is None or is_own(url.host)):
            return MAIL_SERVER.ok("none; mail is shown on /dashboard/outbox to whoever sits at this machine")
        return MAIL_SERVER.warning(
            "none, so nobody who signs up can confirm an address",
            "Set TRYON_MAIL_HOST and what goes with it; until then read out links yourself: tryon mail list",
        )
    if mail.sender == SENDER and not is_own(mail.host):
        return MAIL_SERVER.warning(
            f"{mail.host} will hardly take mail from {mail.sender}",
            "Set TRYON_MAIL_SENDER to an address that it knows.",
        )
    return MAIL_SERVER.ok(f"{mail.host}:{mail.port}, {mail.security}, from {mail.sender}")


def judged_payments(settings: PaymentSettings) -> Finding:
    """Whether the provider could be set up; nothing is sent to it."""
    try:
        provider = open_provider(settings)
    except ValueError as error:
        return PAYMENTS.error(str(error), "Set what it names for the API, or TRYON_PAYMENTS_PROVIDER=manual.")
    return PAYMENTS.ok(provider.name)


async def look_at_pepper(case: Case) -> AsyncGenerator[Finding, None]:
    """See that API keys can be checked at all.

    Whether it is the pepper that they were made with, only a key can tell: a poll with one that answers 401.
    """
    try:
        case.settings.security.peppers()
    except SettingsError as error:
        yield PEPPER.error(
            str(error),
            "Give every process the one that keys were made with; for a new deployment make one: openssl rand -hex 32",
        )
        return
    yield PEPPER.ok("is set and long enough")
