"""The service itself: HTTP, request rates, jobs, billing, secrets."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import SettingsConfigDict

from runtime.settings.concern import Concern


class ApiSettings(Concern):
    """The HTTP side."""

    model_config = SettingsConfigDict(env_prefix="TRYON_API_")
    title = "API"

    host: str = "127.0.0.1"
    """Address to listen on; a reverse proxy with TLS belongs in front of anything else."""

    port: int = Field(default=8000, ge=1, le=65535)
    """Port to listen on."""

    trusted_proxies: str = "127.0.0.1,::1"
    """Addresses and networks, with commas between them, of proxies whose ``X-Forwarded-For`` and ``X-Forwarded-Proto``
    are believed; empty believes nobody. Limits of the dashboard go by the address that a request comes from: a proxy
    that is not named here makes all visitors one, and whoever is named without need can call themselves anybody."""

    max_body_single_bytes: int = 36 * 1024 * 1024
    """Body cap of ``POST /api/v1/tryon``: three pictures of 8 MiB in base64, and some air."""

    max_body_combo_bytes: int = 100 * 1024 * 1024
    """Body cap of ``POST /api/v1/tryon/combo``: nine pictures of 8 MiB in base64."""

    max_body_product_bytes: int = 24 * 1024 * 1024
    """Body cap of adding and changing products: two pictures of 8 MiB in base64, and some air."""

    max_body_other_bytes: int = 64 * 1024
    """Body cap of every other route."""

    body_budget_bytes: int = 256 * 1024 * 1024
    """All bodies in flight in one process together; beyond it a POST gets 503 with Retry-After.
    An account may fill a quarter of it with several bodies. A body costs about twice its size in memory."""

    body_timeout_seconds: float = 60.0
    """Longest time for a body to arrive; a client that trickles is cut off with 400."""

    product_timeout_seconds: float = Field(default=40.0, gt=0)
    """Longest time that adding or changing a product may take, its pictures' downloads included; then it is given
    up and the answer is 503."""

    keep_alive_seconds: int = Field(default=75, ge=1)
    """How long an idle connection is kept. Longer than the proxy in front keeps it (most: 60 s), or the proxy sends
    requests into connections that are just being closed."""

    image_threads: int = Field(default=2, ge=1)
    """Pictures of calls checked at the same time in one process; the dashboard has half as many to itself."""

    @field_validator("trusted_proxies")
    @classmethod
    def _are_addresses(cls, value: str) -> str:
        """In one spelling. The server takes what it cannot read for a name, and says nothing."""
        return ",".join(
            str(ip_network(each.strip())).removesuffix("/32").removesuffix("/128")
            for each in value.split(",")
            if each.strip()
        )


class RateLimitSettings(Concern):
    """How often an API key may call. A call over its limit gets 429 with ``Retry-After`` and is not counted."""

    model_config = SettingsConfigDict(env_prefix="TRYON_RATE_LIMIT_")
    title = "Request rates"

    requests: int = Field(default=20, ge=1, le=10_000)
    """Starts and polls of try-ons, together, in any window; the contract's number. Each call writes up to this many
    time stamps."""

    window_seconds: int = Field(default=300, ge=1)
    """Length of that window; the contract's number."""

    management_requests: int = Field(default=60, ge=1, le=10_000)
    """All other calls with an API key in any window: products, usage, cancelling. Importing a catalogue goes by it."""

    management_window_seconds: int = Field(default=60, ge=1)
    """Length of that window."""

    url: SecretStr | None = None
    """Valkey or Redis server to count in instead of the database, such as ``valkey://host:6379/0`` (``valkeys://`` over
    TLS), for deployments with many API hosts. Needs the extra ``valkey``; while the server is away, calls get 503."""


class JobSettings(Concern):
    """Life of a job."""

    model_config = SettingsConfigDict(env_prefix="TRYON_JOB_")
    title = "Jobs"

    single_deadline_seconds: int = Field(default=300, ge=1)
    """A single-garment job that is not done by then fails and is not billed."""

    combo_deadline_seconds: int = Field(default=600, ge=1)
    """The same for a combo."""

    result_ttl_seconds: int = Field(default=3600, ge=1)
    """How long a finished job can be polled; then the picture is deleted and the poll is 404."""

    record_days: int = Field(default=90, ge=1)
    """How long a job's row, without any picture, is kept for the account's log. The ledger is kept for good."""

    longest_wait_seconds: int = Field(default=30, ge=1, le=300)
    """Longest time that a poll with ``Prefer: wait=N`` is held; proxies in front must allow for more."""


class BackfillSettings(Concern):
    """Backfills: many jobs started by an engineer at once."""

    model_config = SettingsConfigDict(env_prefix="TRYON_BACKFILL_")
    title = "Backfills"

    keep_days: int = Field(default=30, ge=1)
    """How long what lies below ``backfills/<id>/`` is kept after the last change there: photos, items, pictures,
    outcomes. A backfill that waits writes there every few hours."""


class BillingSettings(Concern):
    """What accounts pay for."""

    model_config = SettingsConfigDict(env_prefix="TRYON_")
    title = "Billing"

    plans_file: Path | None = None
    """TOML file with the plans: prices, volumes, daily caps, packs. None takes the ones that come with the service;
    copy ``domain/money/plans.toml`` to change them."""


class SecuritySettings(Concern):
    """Secrets."""

    model_config = SettingsConfigDict(env_prefix="TRYON_")
    title = "Security"

    key_pepper: SecretStr = SecretStr("")
    """Server-side secret of at least 32 characters that API-key digests are made with. Changing it makes every
    key invalid, unless the old one is still accepted (next setting). ``tryon up`` makes one of its own; any other
    deployment has to set it."""

    key_pepper_previous: SecretStr = SecretStr("")
    """Other peppers under which keys are still accepted, with commas between them; a key moves to the current one at
    its first use. Set while peppers are changed, see docs/rotation.md."""

    def peppers(self) -> tuple[str, list[str]]:
        """The current pepper, and the others."""
        others = self.key_pepper_previous.get_secret_value().split(",")
        return self.key_pepper.get_secret_value(), [part for each in others if (part := each.strip())]
