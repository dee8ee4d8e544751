"""What can be seen without asking a server: settings for signing in and paying, the disk, and who else logs in here."""

from __future__ import annotations

import os
import pwd
import shutil
from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import psutil

from api.payments import open_provider
from cli.diagnosis.findings import Case, Finding, Subject, counted
from imaging.provenance import SigningError, open_signer
from runtime.concern import SettingsError
from runtime.embedded.record import has_secrets, is_private
from runtime.embedded.servers import GIB, LEAST_FREE_SHARE
from runtime.own_machine import is_own
from runtime.settings import MailSettings, PaymentSettings, Settings, StackSettings, TemporalSettings

PUBLIC_URL = Subject("public URL")
MAIL_SERVER = Subject("mail server")
PAYMENTS = Subject("payments")
PEPPER = Subject("key pepper")
SIGNING = Subject("signed pictures")
DISK = Subject("disk")
FOLDER = Subject("data folder")
TEMPORAL_PORT = Subject("port of Temporal")

SENDER = MailSettings.model_fields["sender"].default  # no server outside takes it

COMFORTABLE_SHARE, COMFORTABLE_BYTES = 0.15, GIB
"""Below either there is a warning. The embedded store stops taking pictures before a disk is quite full, and deleting
does not make room at once."""

NOTHING_LEFT_BYTES = 200 * (1 << 20)  # a few requests' worth of pictures
FIRST_OF_PEOPLE = 1000  # accounts below belong to the system, nearly everywhere
NOBODY = 65534
NO_SHELLS = ("nologin", "false", "sync", "halt", "shutdown")
SHOWN = 3
EXPIRES_SOON = timedelta(days=30)


async def look_at_dashboard(case: Case) -> AsyncGenerator[Finding, None]:
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

    Only a call with a key shows whether it is the pepper that keys were made with: it answers 401 if not.
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


async def look_at_signing(case: Case) -> AsyncGenerator[Finding, None]:
    """See that results can be signed, for some time to come."""
    try:
        signer = open_signer(name=case.settings.dashboard.name, **case.settings.signing.model_dump())
    except SigningError as error:
        yield SIGNING.error(str(error), "Name files that fit, or none: docs/signed-pictures.md.")
        return
    if signer is None:
        yield SIGNING.ok("results are not signed; docs/signed-pictures.md says how")
    elif signer.expires_at < datetime.now(UTC) + EXPIRES_SOON:
        yield SIGNING.warning(
            f"the certificate expires on {signer.expires_at:%Y-%m-%d}; from then on results are not signed",
            "Get another one: docs/signed-pictures.md.",
        )
    else:
        yield SIGNING.ok(f"results are signed; the certificate is good until {signer.expires_at:%Y-%m-%d}")


async def look_at_disk(case: Case) -> AsyncGenerator[Finding, None]:
    """Ask each disk once."""
    for folder in _folders(case.settings):
        usage = shutil.disk_usage(folder)
        yield judged_disk(folder, total=usage.total, free=usage.free)


def judged_disk(folder: Path, *, total: int, free: int) -> Finding:
    """Whether there is room."""
    sentence = f"{free / GIB:.1f} of {total / GIB:.1f} GiB free at {folder}"
    remedy = f"See what takes it: du -xh --max-depth=2 {folder} | sort -h | tail"
    if free < NOTHING_LEFT_BYTES or free < LEAST_FREE_SHARE * total:
        return DISK.error(sentence, remedy)
    if free < COMFORTABLE_BYTES or free < COMFORTABLE_SHARE * total:
        return DISK.warning(sentence, remedy)
    return DISK.ok(sentence)


def _folders(settings: Settings) -> list[Path]:
    """Where data lies on this machine, one folder for each disk."""
    file = settings.database.file()
    wanted = [settings.stack.data_dir, *([file.parent] if file else [])]
    by_disk: dict[int, Path] = {}
    for folder in wanted:
        there = next(place for place in (folder.resolve(), *folder.resolve().parents) if place.is_dir())
        by_disk.setdefault(there.stat().st_dev, there)
    return list(by_disk.values())


async def look_at_privacy(case: Case) -> AsyncGenerator[Finding, None]:
    """Look at rights in the file system, and at who has an account here; nothing is changed."""
    yield judged_folder(case.settings.stack)
    yield judged_temporal(case.settings.temporal, other_people())


def judged_folder(settings: StackSettings) -> Finding:
    """Whether the data folder of an embedded stack is its owner's alone."""
    folder = settings.data_dir.resolve()
    if not has_secrets(folder):
        return FOLDER.skipped(f"no stack has run in {folder}")
    if is_private(folder):
        return FOLDER.ok(f"{folder} is its owner's alone")
    return FOLDER.error(
        f"{folder} is open to other users of this machine: photos, secrets, mail with links that let people in",
        f"chmod -R go= {folder}; `tryon up` does so when it starts",
    )


def judged_temporal(settings: TemporalSettings, people: list[str]) -> Finding:
    """Whether other users of this machine can reach a Temporal that asks for no key."""
    if settings.tls or settings.api_key:
        return TEMPORAL_PORT.ok(f"{settings.address} is spoken to over TLS")
    if not is_own(settings.address.rpartition(":")[0]):
        return TEMPORAL_PORT.skipped(f"{settings.address} is not on this machine; let nobody but the service reach it")
    if not people:
        return TEMPORAL_PORT.ok(f"{settings.address} asks for no key, and nobody else has an account on this machine")
    shown = ", ".join(people[:SHOWN]) + (", …" if len(people) > SHOWN else "")
    return TEMPORAL_PORT.warning(
        f"{settings.address} asks for no key, and {counted(len(people), 'other user')} can log in here ({shown}): each "
        "can read, end and start runs",
        "Run the service on a machine, or in a container, where nobody else logs in; see docs/deployment.md.",
    )


def other_people() -> list[str]:
    """Names of the others who can log in on this machine or have done so, without its administrator."""
    accounts = {account.pw_name: account for account in pwd.getpwall()}
    named = {
        name
        for name, account in accounts.items()
        if account.pw_uid >= FIRST_OF_PEOPLE
        and account.pw_uid != NOBODY
        and account.pw_shell.rpartition("/")[2] not in NO_SHELLS
    }
    # Accounts of a directory service are not in the list until they are asked for by name.
    named |= {user.name for user in psutil.users()}
    own = {name for name, account in accounts.items() if account.pw_uid in (0, os.getuid())}
    return sorted(named - own)
