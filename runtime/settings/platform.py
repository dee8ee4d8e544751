"""What the service stands on: database, object store, Temporal, the embedded stack, workers."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from runtime.settings.concern import Concern, DatabaseUrl, Folder, HostAndPort, OptionalWebAddress, Origin


class DatabaseSettings(Concern):
    """Where accounts, jobs and the ledger are kept."""

    model_config = SettingsConfigDict(env_prefix="TRYON_DATABASE_")
    title = "Database"

    url: DatabaseUrl = "sqlite:///.tryon/tryon.db"
    """``sqlite:///file`` on one machine, ``postgresql://user:password@host/database`` beyond it."""

    pool_size: int = Field(default=8, ge=1, le=1000)
    """Connections of a process; a request holds one for a few milliseconds only. On PostgreSQL there may be twice as
    many under load; on SQLite these read, and one more writes."""

    busy_timeout_seconds: float = Field(default=5.0, gt=0, le=3600)
    """How long to wait for SQLite's one write lock, or for a lock or a connection of PostgreSQL, before the caller
    gets 503."""


class ObjectStoreSettings(Concern):
    """Where pictures are kept: any S3."""

    model_config = SettingsConfigDict(env_prefix="TRYON_S3_")
    title = "Object store"

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
            SettingsError: There is none. Only here, for `tryon up` makes its own.
        """
        secret = self.secret_key.get_secret_value()
        if not secret:
            raise self.refusal("secret_key", "set to the store's secret access key")
        return secret


class TemporalSettings(Concern):
    """The Temporal service that carries the jobs."""

    model_config = SettingsConfigDict(env_prefix="TRYON_TEMPORAL_")
    title = "Temporal"

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
    """What the deployments of versioned workers are called: this with ``-cpu`` and with ``-gpu`` behind it."""

    build_id: str | None = Field(default=None, pattern=r"^[A-Za-z0-9._-]{0,100}$")
    """Which build a worker is. Without it (or empty) workers are not versioned; with it a worker is given nothing
    until its build is made the current one: docs/versions.md."""

    def run_url(self, workflow_id: str) -> str:
        """Where the Temporal UI shows a run; empty where there is no UI."""
        if not self.ui_url:
            return ""
        namespace, run = quote(self.namespace, safe=""), quote(workflow_id, safe="")
        return f"{self.ui_url.rstrip('/')}/namespaces/{namespace}/workflows/{run}"


class StackSettings(Concern):
    """The embedded stack of ``tryon up``.

    A port that is set is taken or refused; one that is left at its default moves to the next free one when it
    is in use.
    """

    model_config = SettingsConfigDict(env_prefix="TRYON_")
    title = "Embedded stack"

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


class WorkerSettings(Concern):
    """The workers."""

    model_config = SettingsConfigDict(env_prefix="TRYON_WORKER_")
    title = "Workers"

    niceness: int = Field(default=5, ge=0, le=19)
    """How far workers stand back for other processes of their machine. Where everything runs on one, a render
    would otherwise be felt in every poll; on a machine of their own it changes nothing."""

    decoders: int = Field(default=2, ge=1, le=1024)
    """Pictures that one worker decodes at the same time, each in a process of its own. One account has half of them
    at most; with one alone, accounts take turns."""
