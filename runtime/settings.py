"""Every number and address an operator may change: one class per concern, each read from ``TRYON_…`` variables.

Environment variables win over the file that ``tryon up`` leaves in its data folder (so that ``tryon`` commands
find the embedded stack), and that file wins over the defaults here. ``docs/configuration.md`` is generated from
the docstrings below.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar, Literal, Self, TypedDict, get_type_hints

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

EMBEDDED_FILE = "embedded.env"
"""Written into the data folder by ``tryon up``; holds the addresses and secrets of the embedded parts."""


class _Concern(BaseSettings):
    model_config = SettingsConfigDict(extra="ignore", use_attribute_docstrings=True, frozen=True)

    title: ClassVar[str]

    @classmethod
    def load(cls, embedded_file: Path | None) -> Self:
        return cls(_env_file=embedded_file)


class DatabaseSettings(_Concern):
    """Where accounts, jobs and the ledger are kept."""

    model_config = SettingsConfigDict(env_prefix="TRYON_DATABASE_")
    title = "Database"

    url: str = "sqlite+aiosqlite:///.tryon/tryon.db"
    """SQLAlchemy address: ``sqlite+aiosqlite:///file`` on one machine, ``postgresql+asyncpg://…`` beyond it."""

    pool_size: int = Field(default=8, ge=1)
    """Connections per process; a request holds one for a few milliseconds only."""

    busy_timeout_seconds: float = Field(default=5.0, gt=0)
    """How long a writer waits for SQLite's one write lock before the caller gets 503."""


class ObjectStoreSettings(_Concern):
    """Where pictures are kept: any S3."""

    model_config = SettingsConfigDict(env_prefix="TRYON_S3_")
    title = "Object store"

    endpoint: str = "http://127.0.0.1:8333"
    """Base address of the S3 service, with ``http://`` or ``https://``."""

    access_key: str = "tryon"
    """Access key id."""

    secret_key: SecretStr = SecretStr("")
    """Secret access key. ``tryon up`` makes one of its own."""

    bucket: str = "tryon"
    """One bucket for everything; made at start if it is not there."""

    region: str = "us-east-1"
    """Region name used in signatures; MinIO and SeaweedFS take any."""

    connect_timeout_seconds: float = Field(default=2.0, gt=0)
    """A store that does not answer within this is down; the minio client's own default waits 300 s."""

    read_timeout_seconds: float = Field(default=20.0, gt=0)
    """Longest silence in the middle of a transfer."""


class TemporalSettings(_Concern):
    """The Temporal service that carries the jobs."""

    model_config = SettingsConfigDict(env_prefix="TRYON_TEMPORAL_")
    title = "Temporal"

    address: str = "127.0.0.1:7233"
    """Host and port of the frontend."""

    namespace: str = "tryon"
    """Namespace; the embedded server registers it at start."""

    api_key: SecretStr | None = None
    """API key of Temporal Cloud; sent over TLS."""

    tls: bool = False
    """Speak TLS to the frontend."""

    ui_url: str = "http://127.0.0.1:8233"
    """Base address of the Temporal UI, for the links that commands print."""

    start_timeout_seconds: float = Field(default=1.0, gt=0)
    """How long a POST waits for Temporal before it leaves the start to the relay; the answer is 202 either way."""

    describe_timeout_seconds: float = Field(default=0.5, gt=0)
    """How long a poll waits to learn whether a run is still alive before it answers ``processing``."""


class ApiSettings(_Concern):
    """The HTTP side."""

    model_config = SettingsConfigDict(env_prefix="TRYON_API_")
    title = "API"

    host: str = "127.0.0.1"
    """Address to listen on; a reverse proxy with TLS belongs in front of anything else."""

    port: int = Field(default=8000, ge=1, le=65535)
    """Port to listen on."""

    max_body_single_bytes: int = 36 * 1024 * 1024
    """Body cap of ``POST /api/v1/tryon``: three pictures of 8 MiB in base64, and some air."""

    max_body_combo_bytes: int = 100 * 1024 * 1024
    """Body cap of ``POST /api/v1/tryon/combo``: nine pictures of 8 MiB in base64."""

    max_body_other_bytes: int = 64 * 1024
    """Body cap of every other route."""

    body_budget_bytes: int = 256 * 1024 * 1024
    """All bodies in flight in one process together; beyond it a POST gets 503 with Retry-After.
    A body costs about three times its size in memory while it is read."""

    body_timeout_seconds: float = 60.0
    """Longest time for a body to arrive; a client that trickles is cut off with 400."""

    image_threads: int = Field(default=2, ge=1)
    """Pictures checked at the same time in one process."""


class JobSettings(_Concern):
    """Life of a job."""

    model_config = SettingsConfigDict(env_prefix="TRYON_JOB_")
    title = "Jobs"

    single_deadline_seconds: int = Field(default=300, ge=1)
    """A single-garment job that is not done by then fails and is not billed."""

    combo_deadline_seconds: int = Field(default=600, ge=1)
    """The same for a combo."""

    result_ttl_seconds: int = Field(default=3600, ge=1)
    """How long a finished job can be polled; then the picture is deleted and the poll is 404."""


class PictureLimits(TypedDict):
    """The bounds among `ImageSettings`."""

    max_bytes: int
    min_side: int
    max_pixels: int
    max_aspect: float


class ImageSettings(_Concern):
    """What is accepted as a picture."""

    model_config = SettingsConfigDict(env_prefix="TRYON_IMAGE_")
    title = "Pictures"

    max_bytes: int = 8 * 1024 * 1024
    """Largest picture in bytes after base64; exactly that many passes."""

    min_side: int = 256
    """Shorter side in pixels."""

    max_pixels: int = 50_000_000
    """Width times height; a 48-megapixel phone photo passes, a decompression bomb does not."""

    max_aspect: float = 4.0
    """Longer side over shorter side."""

    jpeg_quality: int = Field(default=92, ge=60, le=100)
    """Quality of the result's JPEG."""

    def limits(self) -> PictureLimits:
        """The arguments of `imaging.limits.ImageLimits`."""
        return PictureLimits(
            max_bytes=self.max_bytes, min_side=self.min_side, max_pixels=self.max_pixels, max_aspect=self.max_aspect
        )


class SecuritySettings(_Concern):
    """Secrets."""

    model_config = SettingsConfigDict(env_prefix="TRYON_")
    title = "Security"

    key_pepper: SecretStr = SecretStr("")
    """Server-side secret of at least 32 characters that API-key digests are made with. Changing it makes every
    key invalid. ``tryon up`` makes one of its own; any other deployment has to set it."""


class EngineSettings(_Concern):
    """What draws the pictures."""

    model_config = SettingsConfigDict(env_prefix="TRYON_")
    title = "Engine"

    engine: Literal["auto", "warp"] = "auto"
    """Which engine renders. ``auto`` takes the best one that this machine can run; today that is ``warp``."""

    models_dir: Path = Path(".models")
    """Folder of the downloaded model files (``tryon engines fetch``)."""

    engine_threads: int = Field(default=2, ge=1)
    """CPU threads of one render."""


class StackSettings(_Concern):
    """The embedded stack of ``tryon up``.

    A port that is set is taken or refused; one that is left at its default moves to the next free one when it
    is in use.
    """

    model_config = SettingsConfigDict(env_prefix="TRYON_")
    title = "Embedded stack"

    data_dir: Path = Path(".tryon")
    """Everything that the embedded stack keeps: database, pictures, Temporal's file, logs, secrets."""

    temporal_port: int = Field(default=7233, ge=1024, le=64535)
    """Embedded Temporal frontend."""

    temporal_ui_port: int = Field(default=8233, ge=1024, le=65535)
    """Embedded Temporal UI."""

    s3_port: int = Field(default=8333, ge=1024, le=55535)
    """Embedded object store; its gRPC port lies 10000 above."""


class LogSettings(_Concern):
    """Logs."""

    model_config = SettingsConfigDict(env_prefix="TRYON_LOG_")
    title = "Logs"

    level: Literal["debug", "info", "warning", "error"] = "info"
    """Least severity that is written."""

    format: Literal["json", "text"] = "json"
    """One JSON object a line, or text for people."""


class Settings:
    """All concerns, loaded once at the start of a process and handed on from there."""

    api: ApiSettings
    jobs: JobSettings
    images: ImageSettings
    engine: EngineSettings
    database: DatabaseSettings
    object_store: ObjectStoreSettings
    temporal: TemporalSettings
    security: SecuritySettings
    stack: StackSettings
    logs: LogSettings

    def __init__(self, embedded_file: Path | None = None) -> None:
        for name, concern in self.concerns().items():
            setattr(self, name, concern.load(embedded_file))

    @classmethod
    def concerns(cls) -> dict[str, type[_Concern]]:
        """Every concern by the name of its attribute."""
        return get_type_hints(cls)


def load_settings() -> Settings:
    """Read the environment, and the embedded stack's file where there is one."""
    embedded_file = StackSettings.load(None).data_dir / EMBEDDED_FILE
    return Settings(embedded_file if embedded_file.is_file() else None)


def without_tryon_variables() -> dict[str, str]:
    """The process environment less every ``TRYON_…`` variable, for child processes with settings of their own."""
    return {name: value for name, value in os.environ.items() if not name.startswith("TRYON_")}
