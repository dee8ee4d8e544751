"""Mail: the server that takes it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from runtime.settings.concern import Concern, Host, Sender


class MailSettings(Concern):
    """The SMTP server that takes mail to owners: links to confirm an address, to choose a new password."""

    model_config = SettingsConfigDict(env_prefix="TRYON_MAIL_", env_ignore_empty=True)
    title = "Mail"

    host: Host | None = None
    """Its name. None keeps mail in the database, where ``tryon mail list`` and, on one machine, the page
    ``/dashboard/outbox`` show it."""

    port: int = Field(default=587, ge=1, le=65535)
    """Its port: 587 for ``starttls``, 465 for ``tls``, 25 for ``none``, as a rule."""

    security: Literal["starttls", "tls", "none"] = "starttls"
    """How the connection is made safe. Mail holds links that let people in: ``none`` is for a server on the same
    machine or in a network of one's own."""

    user: str | None = None
    """Name to sign in with, where the server wants one."""

    password: SecretStr | None = None
    """And the password."""

    sender: Sender = "tryon@localhost"
    """Address that mail comes from. Most servers take only some that they know."""

    timeout_seconds: float = Field(default=20.0, gt=0, le=120)
    """Longest wait for one answer of the server."""
