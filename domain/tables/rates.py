"""Request rates."""

from __future__ import annotations

import uuid

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from domain.tables.base import Table


class RateWindow(Table):
    """The sliding log of one caller under one policy. Losing it forgets a few requests and nothing else."""

    __tablename__ = "rate_window"

    caller_id: Mapped[uuid.UUID] = mapped_column("api_key_id", primary_key=True)
    """Who is limited: an API key, or an account for what its owner tries out in the dashboard. No foreign key: the row
    is written on every request. The column keeps its first name, by which processes of older releases know it."""
    policy: Mapped[str] = mapped_column(String(32), primary_key=True)
    stamps: Mapped[list[float]]
    """Unix times in seconds of the requests that were let through within the window, oldest first."""
