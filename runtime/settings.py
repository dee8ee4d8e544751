"""Every number and address an operator may change: one class per concern, each read from ``TRYON_…`` variables.

Environment variables win over the file that ``tryon up`` leaves in its data folder (so that ``tryon`` commands
find the embedded stack), and that file wins over the defaults here. ``docs/configuration.md`` is generated from
the docstrings below.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Literal, TypeVar, get_type_hints
from urllib.parse import quote

from pydantic import Field, HttpUrl, SecretStr, ValidationError, field_validator

from engines.catalogue import ENGINES
from engines.registration import AUTO, DEVICE, EngineOptions, Folder
from imaging.limits import LOGO_LIMITS, PHOTO_LIMITS, ImageLimits
from runtime.concern import (
    Concern,
    DatabaseUrl,
    File,
    Host,
    HostAndPort,
    Networks,
    OptionalWebAddress,
    Origin,
    Sender,
    SettingsError,
    WebAddress,
)

EMBEDDED_FILE = "embedded.env"
"""Written into the data folder by ``tryon up``; holds the addresses and secrets of the embedded parts."""

IN_SINGLE, IN_COMBO, IN_PRODUCT = 1 + 2, 1 + 4 * 2, 2
"""Pictures that a request may come with: the person's, and two of each garment."""

DAY = 86_400  # seconds
LARGEST_BODY = 1024**3  # no body of a request has to be larger; each is held in memory
SHORTEST_PEPPER = 32  # characters: 128 bits in hexadecimal digits

Plans = TypeVar("Plans")

HOST_NAME = re.compile(r"[a-z0-9._-]{1,253}|[0-9a-f:.]{2,45}")
"""A name or an address, in lower case; none with a port or brackets."""


class ApiSettings(Concern, title="API", env_prefix="TRYON_API_"):
    """The HTTP side."""

    host: Host = "127.0.0.1"
    """Address to listen on; a reverse proxy with TLS belongs in front of anything else."""

    port: int = Field(default=8000, ge=1, le=65535)
    """Port to listen on."""

    trusted_proxies: Networks = "127.0.0.1,::1"
    """Addresses and networks, with commas between them, of proxies whose ``X-Forwarded-For`` and ``X-Forwarded-Proto``
    are believed; empty believes nobody. Limits of the dashboard go by the address that a request comes from: a proxy
    that is not named here makes all visitors one, and one that is named without need can claim any address."""

    hosts: str = ""
    """Names, with commas between them, that requests may carry in ``Host`` besides those that are known anyway: the
    host of ``TRYON_DASHBOARD_PUBLIC_URL``, ``TRYON_API_HOST``, the address that a request comes to, and localhost. A
    proxy or health check that uses an inner name needs it here. Others get 400."""

    max_header_bytes: int = Field(default=64 * 1024, ge=1024, le=1024 * 1024)
    """Longest address and headers of a request together; beyond it 431."""

    header_timeout_seconds: float = Field(default=15.0, gt=0, le=DAY)
    """Longest time for a request's headers to arrive, from the connection or its first byte on; then 408, or nothing
    where nothing came."""

    max_connections: int = Field(default=1000, ge=1, le=1_000_000)
    """Open connections of one process, fewer where the system allows fewer files. One more takes the place of the one
    that has been idle longest; it gets 503 when all have requests under way."""

    max_connections_per_address: int = Field(default=100, ge=1, le=1_000_000)
    """The same for one address (of IPv6: one network of 64 bits). Proxies in ``TRYON_API_TRUSTED_PROXIES`` are
    exempt, everybody comes through them: let them count their visitors' connections."""

    max_body_other_bytes: int = Field(default=64 * 1024, ge=1024, le=LARGEST_BODY)
    """Body cap of every route that takes no picture."""

    body_budget_bytes: int = Field(default=256 * 1024 * 1024, ge=1024, le=1024 * LARGEST_BODY)
    """All bodies in flight in one process together; beyond it a POST gets 503 with Retry-After.
    An account may fill a quarter of it with several bodies. A body costs about twice its size in memory."""

    body_timeout_seconds: float = Field(default=60.0, gt=0, le=3600)
    """Longest time for a body to arrive; a client that trickles is cut off with 400."""

    product_timeout_seconds: float = Field(default=40.0, gt=0, le=3600)
    """Longest time that adding or changing a product may take, its pictures' downloads included; then it is given
    up and the answer is 503."""

    check_timeout_seconds: float = Field(default=10.0, gt=0, le=600)
    """Longest time that a check of pictures may take, its wait behind jobs included; then it is given up and the answer
    is 503. On two cores without a GPU it takes one second."""

    store_timeout_seconds: float = Field(default=15.0, gt=0, le=DAY)
    """Longest time that a request waits for the object store, all its calls together; then the answer is 503."""

    keep_alive_seconds: int = Field(default=75, ge=1, le=DAY)
    """How long an idle connection is kept. Longer than the proxy in front keeps it (most: 60 s), or the proxy sends
    requests into connections that are just being closed."""

    leave_seconds: float = Field(default=0.0, ge=0, le=600)
    """How long the process still takes requests once it was told to stop, while ``/readyz`` already says 503. Behind a
    balancer that asks there: longer than it takes to notice, so that it sends nothing to a process that closes its
    door. The drain of held polls follows. A second signal ends the wait."""

    image_threads: int = Field(default=2, ge=1, le=1024)
    """Pictures of calls checked at the same time, each in a process of its own. One account has half of them at
    most; with one alone, accounts take turns. The dashboard has two more."""

    @field_validator("hosts")
    @classmethod
    def _are_names(cls, value: str) -> str:
        names = [each.strip().lower().removesuffix(".") for each in value.split(",") if each.strip()]
        if wrong := [name for name in names if not HOST_NAME.fullmatch(name)]:
            raise ValueError(f"names of hosts with commas between them, and {wrong[0][:40]!r} is none")
        return ",".join(names)


class RateLimitSettings(Concern, title="Request rates", env_prefix="TRYON_RATE_LIMIT_"):
    """How often an API key may call. A call over its limit gets 429 with ``Retry-After`` and is not counted."""

    requests: int = Field(default=20, ge=1, le=10_000)
    """Starts and polls of try-ons, together, in any window; the contract's number. A plan or an account may have a rate
    of its own. Each call writes up to this many time stamps."""

    window_seconds: int = Field(default=300, ge=1, le=30 * DAY)
    """Length of that window; the contract's number."""

    management_requests: int = Field(default=60, ge=1, le=10_000)
    """All other calls with an API key in any window: products, webhooks, usage, cancelling. Imports go by it."""

    management_window_seconds: int = Field(default=60, ge=1, le=30 * DAY)
    """Length of that window."""

    visitor_requests: int = Field(default=20, ge=1, le=10_000)
    """Starts and polls of one visitor of a web page with a publishable key (one address; of IPv6, one network of 64
    bits) in any window; the contract's number for a key."""

    visitor_window_seconds: int = Field(default=300, ge=1, le=30 * DAY)
    """Length of that window."""

    publishable_requests: int = Field(default=600, ge=1, le=10_000)
    """Starts and polls with one publishable key by all visitors together in any window: 30 visitors who use up their
    own rate. Each call writes up to this many time stamps."""

    publishable_window_seconds: int = Field(default=300, ge=1, le=30 * DAY)
    """Length of that window."""

    url: SecretStr | None = None
    """Valkey or Redis server to count in instead of the database, such as ``valkey://host:6379/0`` (``valkeys://`` over
    TLS), for deployments with many API hosts. Needs the extra ``valkey``; while the server is away, calls get 503."""


class JobSettings(Concern, title="Jobs", env_prefix="TRYON_JOB_"):
    """Life of a job."""

    single_deadline_seconds: int = Field(default=300, ge=1, le=DAY)
    """A single-garment job that is not done by then fails and is not billed; it has longer where the machines of GPU
    workers need it."""

    combo_deadline_seconds: int = Field(default=600, ge=1, le=DAY)
    """The same for a combo."""

    result_ttl_seconds: int = Field(default=3600, ge=1, le=365 * DAY)
    """How long a finished job can be polled, unless its account has chosen another time; then the picture is deleted
    and the poll is 404."""

    result_ttl_max_seconds: int = Field(default=3600, ge=1, le=365 * DAY)
    """The longest time that an account may choose for its results, such as 2592000 for 30 days. What is above it in
    `TRYON_JOB_RESULT_TTL_SECONDS` counts too."""

    record_days: int = Field(default=90, ge=1, le=36_500)
    """How long a job's row, without any picture, is kept for the account's log. The ledger is kept for good."""

    longest_wait_seconds: int = Field(default=30, ge=1, le=300)
    """Longest time that a poll with ``Prefer: wait=N`` is held; proxies in front must allow for more."""

    @property
    def longest_result_ttl(self) -> int:
        """Seconds that an account may have its results kept for."""
        return max(self.result_ttl_seconds, self.result_ttl_max_seconds)


class BackfillSettings(Concern, title="Backfills", env_prefix="TRYON_BACKFILL_"):
    """Backfills: many jobs started by an engineer at once."""

    keep_days: int = Field(default=30, ge=1, le=36_500)
    """How long what lies below ``backfills/<id>/`` is kept after the last change there: photos, items, pictures,
    outcomes. A backfill that waits writes there every few hours."""


class BillingSettings(Concern, title="Billing", env_prefix="TRYON_"):
    """What accounts pay for."""

    plans_file: File | None = None
    """TOML file with the plans: prices, volumes, daily caps, packs. None takes the ones that come with the service;
    copy ``domain/money/plans.toml`` to change them."""

    def plans(self, read: Callable[[Path | None], Plans]) -> Plans:
        """What ``read`` makes of the file.

        Raises:
            SettingsError: It is not a file of plans.
        """
        try:
            return read(self.plans_file)
        except ValidationError as error:
            problems = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        except (OSError, ValueError) as error:
            problems = str(error)
        raise self.refusal("plans_file", f"a file of plans: {problems}")


class SecuritySettings(Concern, title="Security", env_prefix="TRYON_"):
    """Secrets."""

    key_pepper: SecretStr = SecretStr("")
    """Server-side secret of at least 32 characters that API-key digests are made with. Changing it makes every
    key invalid, unless the old one is still accepted (next setting). ``tryon up`` makes one of its own; any other
    deployment has to set it."""

    key_pepper_previous: SecretStr = SecretStr("")
    """Other peppers under which keys are still accepted, with commas between them; a key moves to the current one at
    its first use. Set while peppers are changed, see docs/rotation.md."""

    def peppers(self) -> tuple[str, list[str]]:
        """The current pepper, and the others.

        Raises:
            SettingsError: One is too short to be a secret. It is checked only here, since `tryon up` makes its own
                and not every command needs them.
        """
        current = self.key_pepper.get_secret_value()
        others = [part for each in self.key_pepper_previous.get_secret_value().split(",") if (part := each.strip())]
        for name, values in (("key_pepper", [current]), ("key_pepper_previous", others)):
            if any(len(each) < SHORTEST_PEPPER for each in values):
                raise self.refusal(name, f"a secret of at least {SHORTEST_PEPPER} characters")
        return current, others


class DashboardSettings(Concern, title="Dashboard", env_prefix="TRYON_DASHBOARD_", env_ignore_empty=True):
    """The pages for account owners and operators."""

    name: str = Field(default="Fitting Room", min_length=1, max_length=40)
    """Name of the service on its pages and in its mail."""

    public_url: HttpUrl | None = None
    """Where browsers find the service, such as ``https://tryon.example.com``: links in mail begin with it. None
    takes the API's own host and port. A request's Host header is never trusted for that."""

    secure_cookies: bool = True
    """Cookies for https only (browsers take http://127.0.0.1 and http://localhost for as safe). Off is for a trial
    over plain http in your own network: anybody who listens there can take over a session."""

    session_idle_hours: int = Field(default=12, ge=1, le=24 * 14)
    """A browser that shows nothing for this long is signed out."""

    session_days: int = Field(default=14, ge=1, le=90)
    """Longest time that a browser stays signed in, however busy it is."""

    def base_url(self, api: ApiSettings) -> str:
        """Where browsers find the service, without a slash at the end."""
        if self.public_url is not None:
            return str(self.public_url).rstrip("/")
        host = "127.0.0.1" if api.host in ("0.0.0.0", "::") else api.host  # noqa: S104  # compared with, not bound to
        return f"http://{host}:{api.port}"


class MailSettings(Concern, title="Mail", env_prefix="TRYON_MAIL_", env_ignore_empty=True):
    """The SMTP server that takes mail to owners: links to confirm an address, to choose a new password."""

    host: Host | None = None
    """Its name. None keeps mail in the database, where ``tryon mail list`` and, on one machine, the page
    ``/dashboard/outbox`` show it."""

    port: int = Field(default=587, ge=1, le=65535)
    """Its port: 587 for ``starttls``, 465 for ``tls``, 25 for ``none``, as a rule."""

    security: Literal["starttls", "tls", "none"] = "starttls"
    """How the connection is made safe. Mail holds links that let people in: ``none`` is for a server on the same
    machine or in your own network."""

    user: str | None = None
    """Name to sign in with, where the server wants one."""

    password: SecretStr | None = None
    """And the password."""

    sender: Sender = "tryon@localhost"
    """Address that mail comes from, or ``Name <address>`` where the name is not the service's. Most servers take only
    some that they know."""

    timeout_seconds: float = Field(default=20.0, gt=0, le=120)
    """Longest wait for one answer of the server."""


class WebhookSettings(Concern, title="Webhooks", env_prefix="TRYON_WEBHOOK_"):
    """Messages to owners' own servers."""

    trusted_networks: Networks = ""
    """Networks, with commas between them, that endpoints may lead to though they are not public, on any port and by
    http too: ``10.4.0.0/16`` for shops beside the service, ``127.0.0.0/8`` on a developer's machine. Whoever has an
    account can then have messages sent to any server in them. Without it endpoints are public https addresses."""

    def networks(self) -> list[IPv4Network | IPv6Network]:
        """These networks."""
        return [ip_network(each) for each in self.trusted_networks.split(",") if each]


class PaymentSettings(Concern, title="Payments", env_prefix="TRYON_PAYMENTS_", env_ignore_empty=True):
    """How packs and plans are paid that owners buy in the dashboard: [billing.md](billing.md)."""

    provider: Literal["manual", "stripe"] = "manual"
    """``manual``: an order waits until an operator has seen the money and approves it. ``stripe``: owners pay on
    Stripe's own page and the order is closed by Stripe's message; needs the extra ``stripe`` and both secrets below."""

    stripe_secret_key: SecretStr | None = None
    """Secret key of the Stripe account, ``sk_live_…`` or ``sk_test_…``; a restricted key that may write Checkout
    Sessions is enough."""

    stripe_webhook_secret: SecretStr | None = None
    """Signing secret, ``whsec_…``, of the webhook endpoint that sends to ``/webhooks/stripe``."""

    stripe_api_base: HttpUrl | None = None
    """Where Stripe's API is; None is Stripe's own address. For tests."""

    timeout_seconds: float = Field(default=10.0, gt=0, le=3600)
    """Longest wait for one answer of the provider; an owner looks at a blank page meanwhile."""


class ImageSettings(Concern, title="Pictures", env_prefix="TRYON_IMAGE_"):
    """What is accepted as a picture."""

    max_bytes: int = Field(default=PHOTO_LIMITS.max_bytes, ge=1024, le=128 * 1024 * 1024)
    """Largest picture in bytes after base64; exactly that many passes. The largest bodies follow: one garment may come
    with three pictures, a combo with nine, a product with two, each a third larger in base64, and some air."""

    min_side: int = Field(default=PHOTO_LIMITS.min_side, ge=1, le=10_000)
    """Shorter side in pixels."""

    max_pixels: int = Field(default=PHOTO_LIMITS.max_pixels, ge=1, le=178_000_000)  # Pillow opens no more
    """Width times height; a 48-megapixel phone photo passes, a decompression bomb does not."""

    max_aspect: float = Field(default=PHOTO_LIMITS.max_aspect, ge=1, le=100)
    """Longer side over shorter side."""

    jpeg_quality: int = Field(default=92, ge=60, le=100)
    """Quality of the result's JPEG."""

    logo_max_bytes: int = Field(default=LOGO_LIMITS.max_bytes, ge=1024, le=128 * 1024 * 1024)
    """Largest logo file of an account's watermark; exactly that many bytes pass."""

    watermark_width_share: float = Field(default=0.18, gt=0, le=0.5)
    """Width of an account's logo on its results, as a share of the picture's width."""

    watermark_margin_share: float = Field(default=0.03, ge=0, le=0.2)
    """Distance of the logo from the right and lower edge, as a share of the picture's width."""

    def limits(self) -> ImageLimits:
        """What photos and pictures of garments have to meet."""
        return ImageLimits(self.max_bytes, self.min_side, self.max_pixels, self.max_aspect)

    def logo_limits(self) -> ImageLimits:
        """What logos have to meet."""
        return replace(LOGO_LIMITS, max_bytes=self.logo_max_bytes)

    def body_cap(self, pictures: int) -> int:
        """The largest body in bytes of a request with so many pictures: all in base64, and some air.

        That is a sixth of a picture for each, up to three.
        """
        return self.max_bytes * (8 * pictures + min(pictures, 3)) // 6


class SigningSettings(Concern, title="Signed pictures", env_prefix="TRYON_SIGNING_", env_ignore_empty=True):
    """The certificate that results are signed with, in the form of C2PA. Without one they are not signed."""

    certificates: File | None = None
    """PEM file with the certificate and those that lead to its root, in this order. ``tryon up`` makes one of its own
    at its first start, for which nobody vouches."""

    key: File | None = None
    """PEM file with its private key, unencrypted: an elliptic curve, Ed25519 or RSA."""

    earlier: File | None = None
    """PEM file with certificates that were used before, and those that lead to their roots: what they signed is still
    told as this service's."""

    timestamp_url: OptionalWebAddress = ""
    """Time-stamp authority (RFC 3161) that is asked at every signature, but for a minute after it failed, so that it
    can be checked after the certificate has expired; nobody is asked without."""


class LogSettings(Concern, title="Logs", env_prefix="TRYON_LOG_"):
    """Logs."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """Least severity that is written."""

    format: Literal["json", "text"] = "json"
    """One JSON object a line, or text for people."""


class MetricsSettings(Concern, title="Metrics", env_prefix="TRYON_METRICS_"):
    """Prometheus metrics: [observability.md](observability.md). Serve them to your own network alone."""

    api_address: HostAndPort | None = None
    """Host and port where the API serves ``/metrics``, apart from its public port; None serves none. ``tryon up``
    serves the metrics of all three processes on loopback."""

    worker_cpu_address: HostAndPort | None = None
    """The same of the CPU worker: Temporal's SDK, the jobs, and the state of the database."""

    worker_gpu_address: HostAndPort | None = None
    """The same of the GPU worker. Each process of a host needs a port of its own."""

    state_interval_seconds: float = Field(default=15.0, ge=1.0, le=3600)
    """How often each CPU worker reads the state (jobs, outbox, reservations, queues); some milliseconds of the
    database each time. As often as Prometheus asks is often enough."""


class TracingSettings(Concern, title="Traces", env_prefix="TRYON_TRACING_"):
    """OpenTelemetry traces, from the request through the workflow to the engine. Need the extra ``tracing``."""

    endpoint: WebAddress | None = None
    """Base address of an OTLP collector that is spoken to over HTTP, such as ``http://127.0.0.1:4318``; None makes no
    traces."""

    headers: SecretStr | None = None
    """Headers for the collector, ``name=value`` with commas between, where it wants a key."""

    sample_ratio: float = Field(default=1.0, ge=0.0, le=1.0)
    """Share of requests that are traced, whole: 0.1 is every tenth."""

    continue_incoming: bool = False
    """Go on with the trace that a request's ``traceparent`` names. Only behind a proxy of your own that sets it: who
    may choose it decides what is traced."""


class DatabaseSettings(Concern, title="Database", env_prefix="TRYON_DATABASE_"):
    """Where accounts, jobs and the ledger are kept."""

    url: DatabaseUrl = "sqlite:///.tryon/tryon.db"
    """``sqlite:///file`` on one machine, ``postgresql://user:password@host/database`` beyond it."""

    pool_size: int = Field(default=8, ge=1, le=1000)
    """Connections of a process; a request holds one for a few milliseconds only. On PostgreSQL there may be twice as
    many under load; on SQLite these read, and one more writes."""

    busy_timeout_seconds: float = Field(default=5.0, gt=0, le=3600)
    """How long to wait for SQLite's one write lock, or for a lock or a connection of PostgreSQL, before the caller
    gets 503."""

    def file(self) -> Path | None:
        """The file of a SQLite database; None of another database, or one in memory."""
        kind, _, place = self.url.partition(":///")
        return Path(place.partition("?")[0]) if kind == "sqlite" and not place.startswith(":memory:") else None


class ObjectStoreSettings(Concern, title="Object store", env_prefix="TRYON_S3_"):
    """Where pictures are kept: any S3."""

    endpoint: Origin = "http://127.0.0.1:8333"
    """Base address of the S3 service, with ``http://`` or ``https://``."""

    access_key: str = Field(default="tryon", min_length=1)
    """Access key id."""

    secret_key: SecretStr = SecretStr("")
    """Secret access key. ``tryon up`` makes one of its own."""

    bucket: str = Field(default="tryon", pattern=r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$")
    """One bucket for everything; ``tryon up`` and ``tryon bucket create`` make it if it is not there."""

    region: str = Field(default="us-east-1", pattern=r"^[A-Za-z0-9_-]{1,64}$")
    """Region name used in signatures; MinIO and SeaweedFS take any."""

    connect_timeout_seconds: float = Field(default=2.0, gt=0, le=3600)
    """A store that does not answer within this is down; the minio client's own default waits 300 s."""

    read_timeout_seconds: float = Field(default=20.0, gt=0, le=3600)
    """Longest silence in the middle of a transfer."""

    def secret(self) -> str:
        """The secret access key.

        Raises:
            SettingsError: There is none. It is checked only here, since `tryon up` makes its own.
        """
        secret = self.secret_key.get_secret_value()
        if not secret:
            raise self.refusal("secret_key", "set to the store's secret access key")
        return secret


class TemporalSettings(Concern, title="Temporal", env_prefix="TRYON_TEMPORAL_"):
    """The Temporal service that carries the jobs."""

    address: HostAndPort = "127.0.0.1:7233"
    """Host and port of the frontend."""

    namespace: str = Field(default="tryon", pattern=r"^[A-Za-z0-9._-]{1,255}$")
    """Namespace; the embedded server registers it at start."""

    api_key: SecretStr | None = None
    """API key of Temporal Cloud; sent over TLS."""

    tls: bool = False
    """Speak TLS to the frontend."""

    ui_url: OptionalWebAddress = "http://127.0.0.1:8233"
    """Base address of the Temporal UI, for the links that commands print and the admin pages show; empty where there
    is none."""

    start_timeout_seconds: float = Field(default=1.0, gt=0, le=3600)
    """How long a POST waits for Temporal before it leaves the start to the relay; the answer is 202 either way."""

    describe_timeout_seconds: float = Field(default=0.5, gt=0, le=3600)
    """How long a poll waits to learn whether a run is still alive before it answers ``processing``."""

    deployment: str = Field(default="tryon", pattern=r"^[A-Za-z0-9_-]{1,100}$")
    """Name of the deployments of versioned workers, to which ``-cpu`` and ``-gpu`` are added."""

    build_id: str | None = Field(default=None, pattern=r"^[A-Za-z0-9._-]{0,100}$")
    """Which build a worker is. Without it (or empty) workers are not versioned; with it a worker is given nothing
    until its build is made the current one: docs/versions.md."""

    def run_url(self, workflow_id: str) -> str:
        """Where the Temporal UI shows a run; empty where there is no UI."""
        if not self.ui_url:
            return ""
        namespace, run = quote(self.namespace, safe=""), quote(workflow_id, safe="")
        return f"{self.ui_url.rstrip('/')}/namespaces/{namespace}/workflows/{run}"


class StackSettings(Concern, title="Embedded stack", env_prefix="TRYON_"):
    """The embedded stack of ``tryon up``.

    A port that is set is taken or refused; one that is left at its default moves to the next free one when it
    is in use.
    """

    data_dir: Folder = Path(".tryon")
    """Everything that the embedded stack keeps: database, pictures, Temporal's file, logs, secrets."""

    temporal_port: int = Field(default=7233, ge=1024, le=64535)
    """Embedded Temporal frontend."""

    temporal_ui_port: int = Field(default=8233, ge=1024, le=65535)
    """Embedded Temporal UI."""

    temporal_ui: bool = True
    """Whether there is one. It looks at no request's ``Host``: a web page whose own name was pointed at this machine
    can read and end runs through it, from a browser that lets public pages reach local ones."""

    s3_port: int = Field(default=8333, ge=1024, le=55535)
    """Embedded object store; its gRPC port lies 10000 above."""


class WorkerSettings(Concern, title="Workers", env_prefix="TRYON_WORKER_"):
    """The workers."""

    niceness: int = Field(default=5, ge=0, le=19)
    """How far workers stand back for other processes of their machine. Where everything runs on one, a render
    would otherwise be felt in every poll; on a machine of their own it changes nothing."""

    decoders: int = Field(default=2, ge=1, le=1024)
    """Pictures that one worker decodes at the same time, each in a process of its own. One account has half of them
    at most; with one alone, accounts take turns."""


class EngineSettings(Concern, title="Engine", env_prefix="TRYON_"):
    """What draws the pictures."""

    engine: str = Field(default="auto", pattern=r"^[a-z0-9_*=, ]+$")
    """Which engine renders: ``warp``, ``klein``, ``fashn``, or ``auto``: ``klein`` where there is a CUDA device and its
    weights were fetched, else ``warp``. A route per category is allowed: ``upper_body=fashn,*=klein``."""

    engines_beside: str = ""
    """Engines, with commas between them, that the GPU worker has besides those of ``TRYON_ENGINE``. They draw only what
    names them: items of backfills, and comparisons in the dashboard."""

    models_dir: Folder = Path(".models")
    """Folder of the small model files that find people (``tryon engines fetch warp``)."""

    weights_dir: Folder = Path(".weights")
    """Folder of the generative engines' weights, one folder each (``tryon engines fetch klein``)."""

    engine_threads: int = Field(default=2, ge=1, le=1024)
    """CPU threads of one render."""

    licence_acknowledged: str | None = None
    """Names, with commas, of engines whose weights are not known to allow commercial use and that may start all the
    same."""

    device: str = Field(default=AUTO, pattern=DEVICE)
    """Device of the generative engines: ``cuda``, ``mps`` (Apple's GPUs), ``cpu``, or ``auto``: the first of these that
    is there. A picture takes seconds on CUDA, and minutes to more than an hour on a CPU. With several GPUs start one
    worker for each and give it ``CUDA_VISIBLE_DEVICES``."""

    precision: Literal["auto", "bfloat16", "float16", "float32"] = AUTO
    """What generative networks are computed in. ``auto`` is ``bfloat16`` where the device does that well, and
    ``float32`` elsewhere; a CPU is tried with both."""

    compile: bool = False
    """Compile the blocks of generative networks at the start: minutes then, faster pictures afterwards."""

    @field_validator("engines_beside")
    @classmethod
    def _are_engines(cls, value: str) -> str:
        names = [each.strip() for each in value.split(",") if each.strip()]
        if not {*names} <= {*ENGINES}:
            raise ValueError(f"some of {', '.join(ENGINES)}, with commas between them")
        return ",".join(names)

    def beside(self) -> list[str]:
        """The engines besides the route's."""
        return [each for each in self.engines_beside.split(",") if each]


class CheckSettings(Concern, title="Checks of finished pictures", env_prefix="TRYON_CHECK_"):
    """How far a picture's figures may go before it is drawn again, and then failed and not billed."""

    contrast: float = Field(default=4.0, ge=0, le=50)
    """Least deviation of the lightness, 0 to 50."""

    changed: float = Field(default=3.0, ge=0, le=100)
    """Least mean colour difference where old clothes were; an echo of the photo has none."""

    outside: float = Field(default=0.15, ge=0, le=1)
    """Largest share of the frame away from the garments that shows something else than the photo."""

    shift: float = Field(default=0.02, ge=0, le=1)
    """Largest shift of the whole picture, as a share of its longer side."""

    cast: float = Field(default=8.0, ge=0, le=200)
    """Largest tint of the whole picture, in Lab."""

    face: float = Field(default=0.5, ge=-1, le=1)
    """Least correlation of the face with the photo's, -1 to 1."""

    people_off_by: float = Field(default=0.0, ge=0, le=100)
    """Largest difference between the people drawn and one."""

    pose: float = Field(default=0.4, ge=0, le=100)
    """Largest way that joints moved, in shoulder widths."""

    colours: float = Field(default=0.25, ge=0, le=1)
    """Least share of a garment's colours that is seen where it is worn."""


@cache
def concern_of(engine: str, options: type[EngineOptions]) -> type[Concern]:
    """An engine's own settings as they are read from the environment."""

    class Read(options, Concern, env_prefix=f"TRYON_{engine.upper()}_", title=f"Engine {engine}"):  # type: ignore[misc, valid-type]  # a base that is a value
        __doc__ = options.__doc__

    return Read


class Settings:
    """All concerns, loaded once at the start of a process and handed on from there."""

    api: ApiSettings
    dashboard: DashboardSettings
    mail: MailSettings
    rate_limit: RateLimitSettings
    jobs: JobSettings
    backfills: BackfillSettings
    billing: BillingSettings
    webhooks: WebhookSettings
    payments: PaymentSettings
    images: ImageSettings
    engine: EngineSettings
    checks: CheckSettings
    database: DatabaseSettings
    object_store: ObjectStoreSettings
    temporal: TemporalSettings
    workers: WorkerSettings
    security: SecuritySettings
    stack: StackSettings
    signing: SigningSettings
    logs: LogSettings
    metrics: MetricsSettings
    tracing: TracingSettings

    def __init__(self, embedded_file: Path | None = None) -> None:
        """Read them.

        Raises:
            SettingsError: Names every setting that is wrong.
        """
        self.options: dict[str, EngineOptions] = {name: each.options() for name, each in ENGINES.items()}
        """Of each engine, by its name."""
        wrong = []
        for name, concern in self.concerns().items():
            try:
                read = concern.load(embedded_file)
            except SettingsError as error:
                wrong.append(str(error))
                continue
            if isinstance(read, EngineOptions):
                self.options[name] = read
            else:
                setattr(self, name, read)
        if wrong:
            raise SettingsError("\n".join(wrong))

    @classmethod
    def concerns(cls) -> dict[str, type[Concern]]:
        """Every concern by the name of its attribute, or of its engine."""
        own = get_type_hints(cls)
        engines = {name: concern_of(name, each.options) for name, each in ENGINES.items() if each.options.model_fields}
        at = list(own).index("engine") + 1
        return dict([*list(own.items())[:at], *engines.items(), *list(own.items())[at:]])


def load_settings() -> Settings:
    """Read the environment, and the embedded stack's file where there is one."""
    embedded_file = StackSettings.load(None).data_dir / EMBEDDED_FILE
    return Settings(embedded_file if embedded_file.is_file() else None)


def without_tryon_variables() -> dict[str, str]:
    """The process environment less every ``TRYON_…`` variable, for child processes with settings of their own."""
    return {name: value for name, value in os.environ.items() if not name.startswith("TRYON_")}
