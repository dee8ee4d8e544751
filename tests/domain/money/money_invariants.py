"""What must be true of an account's rows after every step, whatever happened."""

from __future__ import annotations

from collections import Counter, defaultdict
from uuid import UUID

from domain.tables import LedgerEntry
from tests.domain.money.money_model import COMPLETED, FAILED, PROCESSING, AccountModel
from tests.domain.money.money_service import Standing


def kinds_of(entries: list[LedgerEntry]) -> dict[UUID, Counter[str]]:
    kinds: defaultdict[UUID, Counter[str]] = defaultdict(Counter)
    for entry in entries:
        if entry.job_id is not None:
            kinds[entry.job_id][entry.kind] += 1
    return kinds


def check_by_itself(standing: Standing) -> None:
    """Jobs, ledger and counters agree among themselves."""
    kinds = kinds_of(standing.entries)
    closing = {PROCESSING: Counter(), COMPLETED: Counter(settle=1), FAILED: Counter(release=1)}
    for job_id, job in standing.jobs.items():
        expected = Counter(reserve=1) + closing[job.status] if job.allowance_id is not None else Counter()
        assert kinds.pop(job_id, Counter()) == expected, f"a {job.status} job has other entries than {expected}"
    for forgotten in kinds.values():
        assert forgotten in (Counter(reserve=1, settle=1), Counter(reserve=1, release=1)), "a lost reservation"
    for allowance in standing.allowances:
        sums: Counter[str] = Counter()
        for entry in standing.entries:
            if entry.allowance_id == allowance.id:
                sums[entry.kind] += entry.generations
        assert allowance.generations == sums["grant"] + sums["topup"]
        assert allowance.settled == sums["settle"]
        assert allowance.reserved == sums["reserve"] - sums["settle"] - sums["release"]
        assert 0 <= allowance.reserved + allowance.settled <= allowance.generations, "overspent"


def check_transition(before: Standing, after: Standing) -> None:
    """What has ended stays as it ended, and the ledger only grows."""
    for job_id, job in before.jobs.items():
        now = after.jobs.get(job_id)
        if now is None:
            assert job.status != PROCESSING, "a job in progress was forgotten"
        elif job.status != PROCESSING:
            assert (now.status, now.finished_at) == (job.status, job.finished_at), "an end was changed"
    kept = {entry.id: entry for entry in after.entries}
    for entry in before.entries:
        same = kept[entry.id]
        assert (same.kind, same.generations, same.allowance_id) == (entry.kind, entry.generations, entry.allowance_id)


def check_against_model(model: AccountModel, standing: Standing) -> None:
    """Every pot, day and job stands where the contract's sentences put it."""
    pots = sorted(model.pots, key=lambda pot: (pot.starts_at, pot.source))
    assert [
        (row.source, row.generations, row.reserved, row.settled, row.starts_at, row.ends_at)
        for row in standing.allowances
    ] == [(pot.source, pot.generations, pot.reserved, pot.settled, pot.starts_at, pot.ends_at) for pot in pots]
    assert {row.day: (row.reserved, row.settled) for row in standing.days} == {
        day: (count.reserved, count.settled) for day, count in model.days.items()
    }
    taken_from = {row.id: (row.source, row.starts_at) for row in standing.allowances}
    assert {
        job_id: (job.status, taken_from.get(job.allowance_id) if job.allowance_id else None)
        for job_id, job in standing.jobs.items()
    } == {
        job_id: (job.status, (job.pot.source, job.pot.starts_at) if job.pot else None)
        for job_id, job in model.jobs.items()
        if not job.forgotten
    }
