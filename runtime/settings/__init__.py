"""Every number and address an operator may change: one class per concern, each read from ``TRYON_…`` variables.

Environment variables win over the file that ``tryon up`` leaves in its data folder (so that ``tryon`` commands
find the embedded stack), and that file wins over the defaults here. ``docs/configuration.md`` is generated from
the docstrings below.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import get_type_hints

from engines.catalogue import ENGINES
from engines.registration import EngineOptions
from runtime.settings.concern import Concern, SettingsError
from runtime.settings.engines import CheckSettings, EngineSettings, concern_of
from runtime.settings.platform import (
    DatabaseSettings,
    ObjectStoreSettings,
    StackSettings,
    TemporalSettings,
    WorkerSettings,
)
from runtime.settings.service import (
    ApiSettings,
    BackfillSettings,
    BillingSettings,
    DashboardSettings,
    ImageSettings,
    JobSettings,
    LogSettings,
    MailSettings,
    MetricsSettings,
    PaymentSettings,
    RateLimitSettings,
    SecuritySettings,
    TracingSettings,
)

__all__ = [
    "EMBEDDED_FILE",
    "ApiSettings",
    "BackfillSettings",
    "BillingSettings",
    "CheckSettings",
    "DashboardSettings",
    "DatabaseSettings",
    "EngineSettings",
    "ImageSettings",
    "JobSettings",
    "LogSettings",
    "MailSettings",
    "MetricsSettings",
    "ObjectStoreSettings",
    "PaymentSettings",
    "RateLimitSettings",
    "SecuritySettings",
    "Settings",
    "SettingsError",
    "StackSettings",
    "TemporalSettings",
    "TracingSettings",
    "WorkerSettings",
    "load_settings",
    "without_tryon_variables",
]

EMBEDDED_FILE = "embedded.env"
"""Written into the data folder by ``tryon up``; holds the addresses and secrets of the embedded parts."""


class Settings:
    """All concerns, loaded once at the start of a process and handed on from there."""

    api: ApiSettings
    dashboard: DashboardSettings
    mail: MailSettings
    rate_limit: RateLimitSettings
    jobs: JobSettings
    backfills: BackfillSettings
    billing: BillingSettings
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
