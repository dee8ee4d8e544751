"""What those jobs cost: allowances, days and ledger, as the service itself would have written them."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from domain.money.plans import Period, month_around

PACK = 1000


@dataclass
class Books:
    """Rows of three tables that agree with one another.

    Args:
        account_id: Whose they are.
        anchor: When the account took its plan.
        included: Generations of a period.
        monthly_cents: Price of a period, in US cents.
        pack_cents: Price of a pack.
    """

    account_id: uuid.UUID
    anchor: datetime
    included: int
    monthly_cents: int
    pack_cents: int
    allowances: list[dict[str, Any]] = field(default_factory=list)
    entries: list[dict[str, Any]] = field(default_factory=list)
    _days: dict[date, Counter[str]] = field(default_factory=dict)

    @property
    def days(self) -> list[dict[str, Any]]:
        """Rows of daily usage."""
        return [
            {"account_id": self.account_id, "day": day, "reserved": spent["reserved"], "settled": spent["settled"]}
            for day, spent in self._days.items()
        ]

    def charge(self, jobs: Iterable[dict[str, Any]]) -> None:
        """Take a generation for each job that costs one, oldest first, and tell the job from what."""
        for job in jobs:
            if job["counted_on"] is None:
                continue
            allowance = self._spendable(job["created_at"])
            job["allowance_id"] = allowance["id"]
            self._enter(allowance, "reserve", job["created_at"], job_id=job["id"])
            day = self._days.setdefault(job["counted_on"], Counter())
            if job["status"] == "processing":
                allowance["reserved"] += 1
                day["reserved"] += 1
            elif job["status"] == "completed":
                allowance["settled"] += 1
                day["settled"] += 1
                self._enter(allowance, "settle", job["finished_at"], job_id=job["id"])
            else:
                self._enter(allowance, "release", job["finished_at"], job_id=job["id"])

    def _spendable(self, at: datetime) -> dict[str, Any]:
        """The plan's volume of the time, then packs, oldest first; another pack is bought where there is none left."""
        period = month_around(self.anchor, at)
        opened = [each for each in self.allowances if each["starts_at"] == period.start and each["ends_at"]]
        if not opened:
            opened = [self._open("included", self.included, self.monthly_cents, at, period)]
        packs = [each for each in self.allowances if each["ends_at"] is None]
        for allowance in opened + packs:
            if allowance["reserved"] + allowance["settled"] < allowance["generations"]:
                return allowance
        return self._open("topup", PACK, self.pack_cents, at)

    def _open(
        self, source: str, generations: int, price_cents: int, at: datetime, period: Period | None = None
    ) -> dict[str, Any]:
        allowance = {
            "id": uuid.uuid4(),
            "account_id": self.account_id,
            "source": source,
            "generations": generations,
            "reserved": 0,
            "settled": 0,
            "starts_at": period.start if period else at,
            "ends_at": period.end if period else None,
            "price_cents": price_cents,
        }
        self.allowances.append(allowance)
        self._enter(allowance, "topup" if source == "topup" else "grant", at, generations=generations)
        return allowance

    def _enter(
        self,
        allowance: dict[str, Any],
        kind: str,
        at: datetime,
        *,
        job_id: uuid.UUID | None = None,
        generations: int = 1,
    ) -> None:
        self.entries.append(
            {
                "id": uuid.uuid4(),
                "account_id": self.account_id,
                "allowance_id": allowance["id"],
                "job_id": job_id,
                "kind": kind,
                "generations": generations,
                "at": at,
            }
        )
