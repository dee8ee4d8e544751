"""Faults of one line, and whether the suite finds them: ``python -m tests.seeded_faults [--against REVISION]``.

Each is put into a copy of the tree by itself, and the tests that stand beside it in the table are run. One that they
do not find is a hole in the suite. Run it before and after a change that makes tests quicker: both have to find as
many. All take most of an hour, so this is no part of the suite; `tests.test_seeded_faults` keeps it from rotting.
"""

from __future__ import annotations

import argparse
import io
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).parents[1]
PATIENCE_SECONDS = 300  # some ten times what the slowest of these tests take: beyond, the fault makes them hang
FAILED = (1, 2)  # pytest's status where a test failed, and where a module could not even be imported


@dataclass(frozen=True)
class Fault:
    """One change of one line in ``file``, and the test files, under ``tests/``, that have to find it."""

    file: str
    right: str
    wrong: str
    tests: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.file}: {self.right.strip()} -> {self.wrong.strip() or 'nothing'}"


def faults(file: str, *tests: str, changes: dict[str, str]) -> list[Fault]:
    """Faults of one file that the same tests find."""
    return [Fault(file, right, wrong, tests) for right, wrong in changes.items()]


FAULTS = [
    # Money: what is taken, given back and told.
    *faults(
        "domain/money/quota.py",
        "domain/money/test_quota.py",
        "domain/money/test_periods.py",
        "domain/money/test_two_guards.py",
        changes={
            "Allowance.reserved + Allowance.settled + 1 <= Allowance.generations": (
                "Allowance.reserved + Allowance.settled <= Allowance.generations"
            ),
            "DailyUsage.reserved + DailyUsage.settled + 1 <= cap": "DailyUsage.reserved + DailyUsage.settled <= cap",
            "values(reserved=Allowance.reserved + 1)": "values(reserved=Allowance.reserved)",
            '"settled": counted.settled + settled}': '"settled": counted.settled}',
            '{"reserved": counted.reserved - 1,': '{"reserved": counted.reserved,',
            '"settle" if settled else "release"': '"release" if settled else "settle"',
            "Allowance.ends_at > now),\n": "Allowance.ends_at >= now),\n",
            "case((Allowance.source == TOPUP, 1), else_=0)": "case((Allowance.source == TOPUP, 0), else_=1)",
            "_close(session, job, settled=0, now=now)": "_close(session, job, settled=1, now=now)",
            "return generations * terms.extra_cents": "return terms.extra_cents",
            "if terms.extra_cents is None:": "if terms.extra_cents == 0:",
            "if generations not in plans.topup_packs:": "if generations < 1:",
            '"volume_exhausted" if terms.trial_days is None else "trial_ended"': (
                '"trial_ended" if terms.trial_days is None else "volume_exhausted"'
            ),
            "price_cents=terms.monthly_cents": "price_cents=0",
            "used=sum(each.settled for each in volume)": "used=sum(each.settled for each in allowances)",
            "if generations_left(session, plans, account=account, now=now) < 1:": (
                "if generations_left(session, plans, account=account, now=now) < 0:"
            ),
            ">= terms.daily_cap:": "> terms.daily_cap:",
            "included += terms.included if opened": "included += 0 if opened",
            "        opened.ends_at = period.end\n": "        pass\n",
            '"topup" if allowance.source == TOPUP else "grant"': '"grant"',
        },
    ),
    *faults(
        "domain/money/ledger.py",
        "domain/money/test_ledger_check.py",
        "api/dashboard/test_billing.py",
        changes={
            "Allowance.reserved != RESERVED": "Allowance.reserved < RESERVED",
            "Allowance.settled != SETTLED": "Allowance.settled < SETTLED",
            "Allowance.generations != GIVEN": "Allowance.generations < GIVEN",
            ".having(RESERVED != 0)": ".having(RESERVED < 0)",
            "settled != DailyUsage.settled": "settled > DailyUsage.settled",
            "failed != RELEASED)": "failed < RELEASED)",
            '(LedgerEntry.kind == "reserve", -LedgerEntry.generations)': (
                '(LedgerEntry.kind == "reserve", LedgerEntry.generations)'
            ),
        },
    ),
    *faults(
        "domain/money/plans.py",
        "domain/money/test_periods.py",
        "domain/money/test_quota.py",
        "domain/test_accounts.py",
        "api/test_rate_limit.py",
        changes={
            "return usual if custom is None else custom": "return usual or custom",
            "int(dollars * 100)": "int(dollars) * 100",
            "if plan and own is None else own": "if plan else own",
        },
    ),
    *faults(
        "domain/jobs/jobs.py",
        "domain/jobs/test_jobs.py",
        "domain/jobs/test_ended_jobs.py",
        "domain/money/test_two_guards.py",
        "domain/money/test_quota.py",
        changes={
            ".where(Job.id == job.id, IS_OPEN)": ".where(Job.id == job.id)",
            "(settle if status == COMPLETED else release)": "(release if status == COMPLETED else settle)",
            "if ended.scalar_one_or_none() is None:": "if ended.scalar_one_or_none() is ...:",
            "if account.blocked_at is not None:": "if account.blocked_at is ...:",
            "if not new.test:": "if new.test:",
            "deadline_at=now + new.deadline": "deadline_at=now",
            "min(longest, timedelta(seconds=wanted))": "max(longest, timedelta(seconds=wanted))",
            "Job.account_id == account_id)\n    return session.scalar(found": (
                "Job.account_id.is_not(None))\n    return session.scalar(found"
            ),
            "return deadline_at + OVERDUE_GRACE <= now": "return deadline_at <= now",
            "Job.finished_at < finished_before, Job.result_key.is_(None)": "Job.finished_at < finished_before",
            "Job.expires_at <= now, Job.result_key": "Job.expires_at >= now, Job.result_key",
            "started_at=None if new.relayed else now": "started_at=now",
        },
    ),
    # Admission: who may call, how often, with how much.
    *faults(
        "api/admission.py",
        "api/test_admission.py",
        "api/test_scopes.py",
        "api/test_publishable_keys.py",
        "api/test_known_hosts.py",
        "api/test_key_use.py",
        "api/test_rate_limit.py",
        changes={
            "if owner.blocked:": "if owner.blocked and owner.test:",
            "if not owner.may(asked.scope):": "if owner.may(asked.scope) is None:",
            "if owner.publishable and not asked.publishable:": "if owner.publishable and asked.publishable is None:",
            "if owner.publishable and not is_allowed_page(owner, headers):": (
                "if owner.publishable and is_allowed_page(owner, headers) is None:"
            ),
            "        if not state.admitted:\n": "        if state.admitted is None:\n",
            "len(sent) == 1 and named": "named",
            'scheme.lower() != "bearer"': 'scheme != "Bearer"',
            'if asked.rate == "requests":': 'if asked.rate != "requests":',
            ">= LAST_USE_GRAIN": "<= LAST_USE_GRAIN",
            "(visitor_id(owner, scope), limiter.visitor), ": "",
        },
    ),
    *faults(
        "domain/access/rates.py",
        "domain/access/test_rates.py",
        changes={
            "if stamp + policy.window_seconds > now]": "if stamp + policy.window_seconds >= now]",
            "admitted = len(kept) < policy.requests": "admitted = len(kept) <= policy.requests",
            "[min(stamp, now) for": "[stamp for",
            "remaining=max(0, policy.requests - len(kept))": "remaining=max(0, policy.requests - len(stamps))",
            "RateWindow.policy == policy.name)": "RateWindow.policy != '')",
            "RateWindow.forget_at <= now": "RateWindow.forget_at >= now",
        },
    ),
    *faults(
        "domain/access/keys.py",
        "domain/access/test_keys.py",
        "domain/access/test_peppers.py",
        "api/test_publishable_keys.py",
        "api/test_scopes.py",
        changes={
            "ApiKey.revoked_at.is_(None), or_(": "or_(",
            "ApiKey.expires_at > now)": "ApiKey.expires_at < now)",
            "self.key.scopes is None or scope in self.key.scopes": "self.key.scopes is None or bool(self.key.scopes)",
            "counted < ApiKey.daily_cap": "counted <= ApiKey.daily_cap",
            "(ApiKey.started_on == today, func": "(ApiKey.started_on <= today, func",
            "(session.scalar(count) or 0) >= MOST_IN_USE": "(session.scalar(count) or 0) > MOST_IN_USE",
            "        old.revoked_at = now\n": "        old.expires_at = None\n",
            "min(now + overlap, old.expires_at or now + overlap)": "now + overlap",
            "query.where(ApiKey.account_id == account_id)": "query",
        },
    ),
    *faults(
        "domain/access/idempotency.py",
        "domain/access/test_idempotency.py",
        "api/test_idempotency.py",
        changes={
            "if row.fingerprint != fingerprint:": "if row.fingerprint == '':",
            "(LEASE if row.job_id is None else REMEMBERED)": "LEASE",
            "IdempotencyKey.claim == claim.token,": "",
            "session.execute(delete(IdempotencyKey).where(*_held(claim)))": "session.flush()",
        },
    ),
    *faults(
        "api/body_limit.py",
        "api/test_body_limit.py",
        "api/test_early_answer.py",
        changes={
            "if share.held + len(chunk) > cap:": "if len(chunk) > cap:",
            "int(announced) > cap:": "int(announced) > 2 * cap:",
            "self._budget.in_flight += more": "self._budget.in_flight += abs(more)",
            "self._budget.total // 4)": "self._budget.total)",
            'return TryOnError("body_incomplete")': 'return TryOnError("body_too_large")',
        },
    ),
    *faults(
        "api/tryon/accepting.py",
        "api/test_accepting.py",
        "api/test_lost_commit.py",
        "api/test_idempotency.py",
        "api/test_publishable_keys.py",
        "api/test_rehearsals.py",
        changes={
            "if requester.key_cap is not None and": "if requester.key_cap is ... and",
            "            if refused:\n": "            if not refused:\n",
            "digest.update(body)": "digest.update(b'')",
            "{owner.key.mode} {path}": "{path}",
            "            await self._give_up(claim)\n": "            pass\n",
            "    if products_only:\n": "    if not products_only:\n",
        },
    ),
    # Deadlines, and what ends jobs that nobody will finish.
    *faults(
        "workflows/tryon.py",
        "workflows/test_tryon.py",
        "workflows/test_progress.py",
        changes={
            '("timed_out", None) if deadline.expired()': '("cancelled", None) if deadline.expired()',
            "self._job.deadline_seconds if at is None": "86_400 if at is None",
            "(at - workflow.now()).total_seconds()": "self._job.deadline_seconds",
            '        if is_cancelled_exception(error):\n            return "cancelled", None': (
                '        if is_cancelled_exception(error):\n            return "timed_out", None'
            ),
            "await self._clean_up(job)\n        return outcome": "return outcome",
            "is_urgent(job.priority) and job.drawing_seconds": "not is_urgent(job.priority) and job.drawing_seconds",
            "WorkflowIDReusePolicy.REJECT_DUPLICATE": "WorkflowIDReusePolicy.ALLOW_DUPLICATE",
            "timedelta(seconds=job.deadline_seconds) + GRACE_AFTER_DEADLINE": "timedelta(seconds=job.deadline_seconds)",
            "self._newer = job.run_version > 1": "self._newer = True",
        },
    ),
    *faults(
        "workflows/steps.py",
        "workflows/test_tryon.py",
        "workflows/test_contracts.py",
        "workflows/test_failing_tasks.py",
        changes={
            'options["start_to_close_timeout"] = budget': "pass",
            "attempts=4, first_wait=0.5, longest_wait=10)": "attempts=1, first_wait=0.5, longest_wait=10)",
            "BOOKKEEPING = _budget(10,": "BOOKKEEPING = _budget(10, attempts=1,",
            'MISTAKES = ["ValidationError", "PayloadsTooLarge"]': "MISTAKES = list[str]()",
            "or cause.type != AWAY:": 'or cause.type != "gone":',
            "never = [*MISTAKES, AWAY]": "never = MISTAKES",
            "max(first, waited / 8)": "first",
            "_cancellations() > cancelled_before": "False",
        },
    ),
    *faults(
        "activities/backfills.py",
        "activities/test_backfill_items.py",
        changes={"if not accounts.is_there(account):  # an": "if account is None:  # an"},
    ),
    *faults(
        "activities/device.py",
        "activities/test_device.py",
        changes={"seconds - spent - min(10.0, seconds / 4)": "math.inf"},
    ),
    *faults(
        "api/tryon/checking.py",
        "api/test_checking.py",
        changes={'"storage_unavailable" if error.code == AWAY else "internal"': '"internal"'},
    ),
    *faults(
        "workflows/check.py",
        "workflows/test_check.py",
        changes={'FETCH_GARMENT.run(wanted, said, away="raised")': "FETCH_GARMENT.run(wanted, said)"},
    ),
    *faults(
        "activities/failures.py",
        "activities/test_failures.py",
        changes={
            "(ObjectStoreUnavailableError, OperationalError, PoolTimeoutError)": "(ObjectStoreUnavailableError,)",
            "type=AWAY, next_retry_delay": "type=type(error).__name__, next_retry_delay",
        },
    ),
    *faults(
        "activities/reconciling.py",
        "activities/test_reconciling.py",
        changes={
            "QUIET_PERIOD = timedelta(seconds=30)": "QUIET_PERIOD = timedelta(seconds=3000)",
            'code = "timed_out" if overdue else': 'code = "generation_failed" if overdue else',
            "            return 0\n": "            return 2\n",
            "job.place > self._reached.place": "job.place < self._reached.place",
            "        if overdue:  # its run may still be drawing": "        if not overdue:",
            "await self.store.delete_prefix(job_prefix(str(job.job_id)))": "pass",
            "                raise fault\n": "                pass\n",
            "until = clock() + ROUND_SECONDS": "until = clock() + 100 * ROUND_SECONDS",
        },
    ),
    *faults(
        "api/tryon/polling.py",
        "api/test_polling.py",
        "api/test_long_poll.py",
        "api/test_erasing.py",
        changes={
            "job.expires_at <= datetime.now(UTC)": "job.expires_at >= datetime.now(UTC)",
            "            jobs.end_access(session, job_id=job.id, now=now)\n": "",
            "        if cancelled:\n": "        if not cancelled:\n",
            "if job.started_at is None:\n": "if job.started_at is not None:\n",
            "for key in (result_key(str(job.id)), *kept):": "for key in kept:",
            "if job.status == jobs.PROCESSING and wait_seconds:": "if job.status == jobs.FAILED and wait_seconds:",
            "jobs.forget_results, job_ids=[job.id], copies=kept": "jobs.forget_results, job_ids=[job.id]",
        },
    ),
    *faults(
        "domain/jobs/jobs.py",
        "domain/jobs/test_backfills.py",
        changes={
            "or_(Job.erased_at.is_(None), Job.id.not_in(left))": "Job.id.is_not(None)",
            "BackfillItem.result_key.not_in(copies)": "BackfillItem.result_key.in_(copies)",
        },
    ),
    *faults(
        "activities/purging.py",
        "activities/test_purging.py",
        changes={
            "[job.id for job in expired if job.erased_at is not None]": "[job.id for job in expired]",
            "await self.store.delete_keys(copies)": "pass",
        },
    ),
    *faults(
        "workflows/sweeps.py",
        "workflows/test_sweeps.py",
        changes={"not page.more or not": "not", "_is_time_for(2 *": "_is_time_for(0 *"},
    ),
    # Contracts: what crosses the wire and Temporal.
    *faults(
        "api/tryon/schemas.py",
        "api/test_refusals.py",
        "api/test_accepting.py",
        "api/test_errors.py",
        "api/test_polling.py",
        "api/test_checking.py",
        "api/test_listing.py",
        "api/test_openapi.py",
        "api/test_pictures.py",
        changes={
            "not MIN_COMBO <= len(garments) <= MAX_GARMENTS": "not len(garments) <= MAX_GARMENTS",
            "if not is_data_uri(value):": "if not value:",
            'if value is None and info.data.get("product_id", "") is None:': "if value == '':",
            "if len(metadata) > MOST_METADATA or": "if len(metadata) > 1 + MOST_METADATA or",
            "len(text) <= LONGEST_METADATA and": "",
            'alias="resultImageBase64"': 'alias="resultImage"',
            "own.sort(key=lambda each: each.severity ==": "own.sort(key=lambda each: each.severity !=",
            "USUAL_LINK, ge=SHORTEST_LINK, le=LONGEST_LINK": "USUAL_LINK, ge=1, le=LONGEST_LINK",
        },
    ),
    *faults(
        "workflows/contracts.py",
        "workflows/test_contracts.py",
        "workflows/test_replay.py",
        "workflows/test_payloads.py",
        changes={
            "validate_by_name=True, validate_by_alias=True": "validate_by_name=True, validate_by_alias=False",
            "alias_generator=to_camel, ": "",
            "Url = Annotated[str, Field(max_length=2048)]": "Url = Annotated[str, Field()]",
            "segment_ms: Annotated[int, Field(ge=0)] = 0": "segment_ms: Annotated[int, Field(ge=0)]",
            "trained: bool = False\n    engine: Annotated": "trained: bool\n    engine: Annotated",
            "run_version: Literal[1, 2] = 1": "run_version: Literal[1, 2] = 2",
        },
    ),
    # What only tests find that start processes, race, or call by the document: the dearest ones.
    *faults(
        "domain/money/quota.py",
        "api/test_concurrent_accepts.py",
        changes={
            ".where(Account.id == account_id).with_for_update(key_share=True)": ".where(Account.id == account_id)",
            "Allowance.reserved + Allowance.settled + 1 <= Allowance.generations": "Allowance.reserved >= 0",
            "DailyUsage.reserved + DailyUsage.settled + 1 <= cap": "DailyUsage.reserved >= 0",
        },
    ),
    *faults(
        "domain/jobs/jobs.py",
        "domain/money/test_money_machine.py",
        changes={
            ".where(Job.id == job.id, IS_OPEN)": ".where(Job.id == job.id)",
        },
    ),
    *faults(
        "runtime/concern.py",
        "cli/test_wrong_settings.py",
        changes={
            "class SettingsError(SystemExit):": "class SettingsError(Exception):",
            "own_words or _admitted(schema)": "own_words or ''",
        },
    ),
    *faults("cli/main.py", "cli/test_wrong_settings.py", changes={"code = left.code": "code = 0"}),
    *faults(
        "api/main.py",
        "cli/test_wrong_settings.py",
        changes={'if __name__ == "__main__":': "if __name__ == __file__:"},
    ),
    *faults(
        "api/tryon/schemas.py",
        "api/test_schemathesis.py",
        changes={
            'pattern="^data:image/jpeg;base64,",': 'pattern="^data:image/png;base64,",',
            '"type": "string", "maxLength": LONGEST_METADATA,': '"type": "string",',
        },
    ),
    *faults(
        "api/products/schemas.py",
        "api/test_schemathesis.py",
        changes={'"What productId takes.", pattern=PUBLIC_ID_PATTERN': '"What productId takes.", pattern="^x$"'},
    ),
]


@contextmanager
def copied_tree(revision: str | None) -> Iterator[Path]:
    """A tree to break: of a revision, or what git would commit of this one; environment and models are linked."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        tree.mkdir()
        if revision is None:
            listed = subprocess.run(
                ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
                cwd=PROJECT, capture_output=True, check=True,
            )  # fmt: skip
            for name in filter(None, listed.stdout.decode().split("\0")):
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                (tree / name).write_bytes((PROJECT / name).read_bytes())
                os.utime(tree / name, (0, 0))  # so that bytecode of the right text is never taken for the wrong one's
        else:
            archive = subprocess.run(["git", "archive", revision], cwd=PROJECT, capture_output=True, check=True).stdout
            with tarfile.open(fileobj=io.BytesIO(archive)) as packed:
                packed.extractall(tree, filter="data")
        for name in (".venv", ".models"):
            (tree / name).symlink_to(PROJECT / name)
        yield tree


def passes(tree: Path, tests: tuple[str, ...]) -> bool:
    """Whether these tests succeed there; those that hang do not."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    process = subprocess.Popen(
        [*command, *(f"tests/{each}" for each in tests)],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        status = process.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if status not in (0, *FAILED):
        raise RuntimeError(f"pytest ended with {status}")
    return status == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--against", metavar="REVISION", help="the tree of this commit instead of the one here")
    parser.add_argument("--only", default="", help="faults whose file, line or tests hold this text")
    parser.add_argument("--begin", type=int, default=1, help="with the fault of this number")
    options = parser.parse_args()
    chosen = [fault for fault in FAULTS if options.only in f"{fault} {fault.tests}"][options.begin - 1 :]
    missed, absent = [], 0
    with copied_tree(options.against) as tree:
        for tests in dict.fromkeys(fault.tests for fault in chosen):
            if not passes(tree, tests):
                sys.exit(f"without any fault, these do not pass: {' '.join(tests)}")
        for number, fault in enumerate(chosen, 1):
            path, began = tree / fault.file, time.monotonic()
            text = path.read_text()
            if text.count(fault.right) != 1:  # an older tree has other lines
                print(f"{number}/{len(chosen)} cannot be put in: {fault}", flush=True)  # noqa: T201
                absent += 1
                continue
            path.write_text(text.replace(fault.right, fault.wrong))
            found = not passes(tree, fault.tests)
            path.write_text(text)
            os.utime(path, (0, 0))
            missed += [] if found else [fault]
            seconds = time.monotonic() - began
            print(f"{number}/{len(chosen)} {'found' if found else 'MISSED'} in {seconds:.0f} s: {fault}", flush=True)  # noqa: T201
    tried = len(chosen) - absent
    print(f"{tried - len(missed)} of {tried} found")  # noqa: T201
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
