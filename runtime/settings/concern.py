"""What every concern shares."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Self

from pydantic_settings import BaseSettings, SettingsConfigDict


class Concern(BaseSettings):
    """A group of settings with a common prefix; each field's docstring says why the number is that number."""

    model_config = SettingsConfigDict(extra="ignore", use_attribute_docstrings=True, frozen=True)

    title: ClassVar[str]

    @classmethod
    def load(cls, embedded_file: Path | None) -> Self:
        return cls(_env_file=embedded_file)
