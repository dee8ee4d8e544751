"""`tryon account`, `tryon key` and `tryon ledger`, as an operator types them."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import pysqlite3.dbapi2 as fixed_sqlite
import pytest
from sqlalchemy.orm import Session
from typer.testing import CliRunner, Result

from api.usage import UsageAnswer
from cli import accounts as commands
from cli.main import app
from cli.service import Service
from domain.accounts import find_account_named
from domain.errors import TryOnError
from domain.jobs import jobs
from domain.money.quota import usage_of
from domain.operation import audit
from runtime.database import Database
from runtime.settings import Settings
from tests.factories import PLANS, Caller, new_job
from tests.ledger_entries import entries_of_job

EMAIL = "owner@example.com"
Answer = TypeVar("Answer")


@pytest.fixture(autouse=True)
def own_database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRYON_DATABASE_URL", f"sqlite:///{tmp_path}/tryon.db")
    monkeypatch.setenv("TRYON_KEY_PEPPER", "p" * 40)
    # Not the server of whoever runs the tests, should there be one at the usual address.
    monkeypatch.setenv("TRYON_TEMPORAL_ADDRESS", "127.0.0.1:1")


def tryon(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def answer(*arguments: str) -> Any:
    done = tryon(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def in_database(work: Callable[[Session], Answer]) -> Answer:
    """Something done beside the commands, in the same file."""
    with closing(Database(Settings().database)) as database, database.transaction() as session:
        return work(session)


def accepted_job(account: str) -> uuid.UUID:
    key = answer("key", "create", "--account", account)
    new = new_job(Caller(uuid.UUID(account), uuid.UUID(key["keyId"]), key["apiKey"]))

    def accept(session: Session) -> None:
        jobs.accept_job(session, PLANS, new, now=datetime.now(UTC))

    in_database(accept)
    return new.job_id


def standing(job_id: uuid.UUID) -> tuple[str, str | None, list[str]]:
    """Status, error code and ledger entries of a job."""

    def read(session: Session) -> tuple[str, str | None, list[str]]:
        job = jobs.get_job(session, job_id=job_id)
        return job.status, job.error_code, entries_of_job(session, job_id=job_id)

    return in_database(read)


@contextmanager
def another_writer(tmp_path: Path) -> Iterator[None]:
    """Holds SQLite's one write lock."""
    connection = fixed_sqlite.connect(str(tmp_path / "tryon.db"), isolation_level=None)
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
    finally:
        connection.close()


@pytest.fixture
def account() -> str:
    created: str = answer("account", "create", "--email", EMAIL, "--plan", "starter")["accountId"]
    return created


def test_an_account_is_known_by_address_and_by_id(account: str) -> None:
    by_address, by_id = (answer("account", "usage", "--account", name) for name in (EMAIL, account))
    assert by_address == by_id
    assert (by_address["plan"], by_address["included"], by_address["dailyCap"]) == ("starter", 250, 50)


def test_usage_is_what_the_api_answers() -> None:
    account = answer("account", "create", "--email", EMAIL)["accountId"]

    def usage(session: Session) -> UsageAnswer:
        return UsageAnswer.model_validate(
            usage_of(session, PLANS, account_id=uuid.UUID(account), now=datetime.now(UTC))
        )

    told = answer("account", "usage", "--account", account)
    assert told == json.loads(in_database(usage).model_dump_json(by_alias=True))
    assert told["trialEndsAt"] is not None
    lines = tryon("account", "usage", "--account", account).stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(told)
    assert f"{'trialEndsAt':<15} {told['trialEndsAt']}" in lines


def test_a_pack_is_credited_at_the_plans_price(account: str) -> None:
    done = tryon("account", "top-up", "--account", account, "--generations", "50")
    assert (done.exit_code, "10.00 USD" in done.output) == (0, True)
    assert answer("account", "usage", "--account", account)["topUpRemaining"] == 50
    assert "topup  50" in tryon("ledger", "show", "--account", account).output


def test_an_agreed_plan_takes_effect_at_once(account: str) -> None:
    own = ["--included", "40000", "--daily-cap", "5000", "--monthly-price", "4000", "--extra-price", "0.08"]
    assert tryon("account", "plan", "--account", account, "--plan", "enterprise", *own).exit_code == 0
    usage = answer("account", "usage", "--account", account)
    assert (usage["plan"], usage["included"], usage["dailyCap"]) == ("enterprise", 40_000, 5_000)
    rate = ["--requests", "200", "--window-seconds", "60"]
    assert tryon("account", "plan", "--account", account, "--plan", "growth", *rate[:2]).exit_code == 1
    assert tryon("account", "plan", "--account", account, "--plan", "growth", *rate).exit_code == 0
    agreed = in_database(lambda session: find_account_named(session, name=account))
    assert agreed is not None
    assert (agreed.custom_requests, agreed.custom_window_seconds) == (200, 60)


@pytest.mark.parametrize(
    "arguments",
    [
        ("account", "create", "--email", "nobody"),
        ("account", "create", "--email", "a@example.com", "--plan", "gold"),
        ("account", "create", "--email", "a@example.com", "--plan", "enterprise"),
        ("account", "usage", "--account", "stranger@example.com"),
        ("account", "top-up", "--account", "stranger@example.com", "--generations", "50"),
        ("key", "revoke", "00000000-0000-0000-0000-000000000000"),
        ("key", "replace", "00000000-0000-0000-0000-000000000000"),
    ],
)
def test_a_mistake_is_one_sentence_and_exit_code_1(arguments: tuple[str, ...]) -> None:
    done = tryon(*arguments)
    assert done.exit_code == 1
    assert len(done.stderr.strip().splitlines()) == 1


def test_amounts_that_are_none_are_refused(account: str) -> None:
    wrong = ["account", "plan", "--account", account, "--plan", "starter"]
    assert tryon(*wrong, "--monthly-price", "much").exit_code == 2
    assert tryon(*wrong, "--extra-price", "-1").exit_code == 1
    assert answer("account", "usage", "--account", account)["plan"] == "starter"


def test_a_key_is_shown_once_and_listed_without_its_secret(account: str) -> None:
    key = answer("key", "create", "--account", account)["apiKey"]
    test_key = answer("key", "create", "--account", account, "--test")["apiKey"]
    assert (key[:9], test_key[:9]) == ("vto_live_", "vto_test_")
    listed = tryon("key", "list", "--account", account)
    assert key not in listed.output
    assert f"{key[:13]}…{key[-4:]}" in listed.output
    assert {row["mode"] for row in answer("key", "list", "--account", account)} == {"live", "test"}


def test_a_key_that_is_replaced_is_revoked(account: str) -> None:
    first = answer("key", "create", "--account", account)
    second = answer("key", "replace", first["keyId"])
    assert first["apiKey"] != second["apiKey"]
    rows = {row["keyId"]: row["revoked"] for row in answer("key", "list", "--account", account)}
    assert rows[first["keyId"]] is not None
    assert rows[second["keyId"]] is None
    assert tryon("key", "replace", first["keyId"]).exit_code == 1


def test_a_replaced_key_may_work_on_for_a_while(account: str) -> None:
    first = answer("key", "create", "--account", account, "--name", "Server", "--scope", "tryons", "--scope", "reading")
    second = answer("key", "replace", first["keyId"], "--overlap", "24h")
    rows = {row["keyId"]: row for row in answer("key", "list", "--account", account)}
    old, new = rows[first["keyId"]], rows[second["keyId"]]
    assert (old["revoked"], old["replaced"] is not None, old["expires"] is not None) == (None, True, True)
    assert (new["name"], new["scopes"], new["expires"]) == ("Server", ["reading", "tryons"], None)
    assert f"works until {old['expires']}" in tryon("key", "list", "--account", account).output
    assert tryon("key", "replace", first["keyId"], "--overlap", "1h").exit_code == 1


def test_a_publishable_key_is_listed_whole(account: str) -> None:
    made = ["--publishable", "--test", "--origin", "https://shop.example", "--origin", "http://localhost:3000"]
    key = answer("key", "create", "--account", account, *made, "--daily-cap", "7", "--last-day", "2127-03-31")["apiKey"]
    (row,) = answer("key", "list", "--account", account)
    assert row["publishableKey"] == key
    assert key.startswith("vto_pub_test_")
    assert (row["origins"], row["dailyCap"]) == (["https://shop.example", "http://localhost:3000"], 7)
    assert row["expires"] == "2127-04-01T00:00Z"
    assert key in tryon("key", "list", "--account", account).output


@pytest.mark.parametrize(
    ("options", "exit_code"),
    [
        (["--scope", "money"], 2),
        (["--origin", "https://shop.example"], 2),
        (["--publishable", "--origin", "https://shop.example", "--scope", "tryons"], 2),
        (["--publishable"], 1),
        (["--publishable", "--origin", "https://*"], 1),
        (["--publishable", "--origin", "https://shop.example", "--daily-cap", "0"], 2),
        (["--name", "x" * 61], 1),
        (["--last-day", "soon"], 2),
    ],
)
def test_a_key_that_makes_no_sense_is_not_made(account: str, options: list[str], exit_code: int) -> None:
    assert tryon("key", "create", "--account", account, *options).exit_code == exit_code
    assert answer("key", "list", "--account", account) == []


def test_blocking_needs_a_reason_that_fits(account: str) -> None:
    assert tryon("account", "block", "--account", account, "--reason", "x" * 201).exit_code == 2
    assert "0 jobs" in tryon("account", "block", "--account", account, "--reason", "abuse").output
    assert tryon("account", "unblock", "--account", account).exit_code == 0


@pytest.fixture
def cancelled_runs(monkeypatch: pytest.MonkeyPatch) -> list[uuid.UUID]:
    """Jobs whose run Temporal, which is not there, was told to cancel."""
    told: list[uuid.UUID] = []

    def cancel_runs(_service: Service, job_ids: list[uuid.UUID]) -> None:
        told.extend(job_ids)

    monkeypatch.setattr(commands, "_cancel_runs", cancel_runs)
    return told


def test_blocking_cancels_the_jobs_in_progress_and_bills_none(account: str, cancelled_runs: list[uuid.UUID]) -> None:
    running = {accepted_job(account), accepted_job(account)}
    assert answer("account", "usage", "--account", account)["reserved"] == 2
    done = tryon("account", "block", "--account", account, "--reason", "abuse")
    assert f"{account} is blocked; 2 jobs in progress were cancelled." in done.output
    for job_id in running:
        status, code, entries = standing(job_id)
        assert (status, code, sorted(entries)) == ("failed", "cancelled", ["release", "reserve"])
    assert set(cancelled_runs) == running
    usage = answer("account", "usage", "--account", account)
    assert (usage["reserved"], usage["used"], usage["dailyUsed"]) == (0, 0, 0)
    assert answer("ledger", "check") == []


def test_each_job_of_a_blocked_account_ends_in_a_transaction_of_its_own(
    account: str, cancelled_runs: list[uuid.UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    running = [accepted_job(account), accepted_job(account)]
    ended: list[uuid.UUID] = []
    fail_job = jobs.fail_job

    def fail_one_job(session: Session, *, job_id: uuid.UUID, **fields: Any) -> bool:
        if ended:
            raise RuntimeError("the database went away")
        ended.append(job_id)
        return fail_job(session, job_id=job_id, **fields)

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "fail_job", fail_one_job)
        assert tryon("account", "block", "--account", account, "--reason", "abuse").exit_code == 1
    assert sorted(standing(job_id)[0] for job_id in running) == ["failed", "processing"]
    with pytest.raises(TryOnError, match="account_blocked"):
        accepted_job(account)
    assert "1 jobs" in tryon("account", "block", "--account", account, "--reason", "abuse").output, "the rest follows"
    assert [standing(job_id)[0] for job_id in running] == ["failed", "failed"]


@pytest.mark.parametrize(
    "words",
    [
        ("account", "usage"),
        ("ledger", "show"),
        ("ledger", "check"),
        ("key", "list"),
        ("products", "list"),
        ("watermark", "show"),
    ],
)
def test_who_only_reads_waits_for_no_writer(
    account: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TRYON_DATABASE_BUSY_TIMEOUT_SECONDS", "0.1")
    owner = () if words == ("ledger", "check") else ("--account", account)
    with another_writer(tmp_path):
        assert tryon(*words, *owner).exit_code == 0


def acts(account: str) -> list[tuple[str, dict[str, Any]]]:
    """What the audit log says was done to an account, oldest first."""

    def read(session: Session) -> list[tuple[str, dict[str, Any]]]:
        found = audit.page(session, limit=100, account_id=uuid.UUID(account))
        assert {entry.operator_id for entry in found} <= {None}
        return [(entry.action, entry.details) for entry in reversed(found)]

    return in_database(read)


def test_what_is_done_on_the_command_line_is_written_down(account: str) -> None:
    tryon("account", "top-up", "--account", account, "--generations", "50")
    tryon("account", "plan", "--account", account, "--plan", "growth")
    tryon("account", "block", "--account", account, "--reason", "abuse")
    tryon("account", "unblock", "--account", account)
    told = acts(account)
    assert [action for action, _ in told] == [
        *("account.created", "account.topped_up", "account.plan_changed", "account.blocked", "account.unblocked")
    ]
    assert (told[0][1]["plan"], told[0][1]["included"]) == ("starter", None)
    assert (told[1][1]["generations"], told[2][1]["plan"], told[3][1]) == (50, "growth", {"reason": "abuse"})


def test_keys_that_an_operator_makes_and_takes_away_are_written_down(account: str) -> None:
    first = answer("key", "create", "--account", account, "--test")
    second = answer("key", "replace", first["keyId"])
    for _ in range(2):
        tryon("key", "revoke", second["keyId"])
    told = acts(account)[1:]
    assert sorted(told, key=str) == sorted(
        [
            ("key.created", {"keyId": first["keyId"], "mode": "test"}),
            ("key.revoked", {"keyId": first["keyId"], "mode": "test"}),
            ("key.created", {"keyId": second["keyId"], "mode": "test"}),
            ("key.revoked", {"keyId": second["keyId"], "mode": "test"}),
        ],
        key=str,
    )
    assert first["apiKey"] not in str(told)


def test_an_account_is_erased_once_it_was_confirmed(account: str) -> None:
    key = answer("key", "create", "--account", account)
    assert CliRunner().invoke(app, ["account", "erase", "--account", EMAIL], input="n\n").exit_code == 1
    assert answer("account", "usage", "--account", EMAIL)["plan"] == "starter"
    done = tryon("account", "erase", "--account", EMAIL, "--yes")
    assert (done.exit_code, "shut for good" in done.output) == (0, True)
    assert "once Temporal and a CPU worker run again" in done.output
    assert tryon("account", "usage", "--account", EMAIL).exit_code == 1, "nobody has that address any more"
    assert [row["revoked"] is not None for row in answer("key", "list", "--account", account)] == [True]
    assert key["apiKey"] not in done.output
    assert "was erased before" in tryon("account", "erase", "--account", account, "--yes").output
    assert tryon("account", "unblock", "--account", account).exit_code == 1
    assert [action for action, _ in acts(account)] == ["account.created", "key.created", "account.erased"]


def test_a_database_without_tables_gets_them_before_it_is_read() -> None:
    assert answer("ledger", "check") == []


def test_the_ledger_of_a_fresh_database_adds_up(account: str) -> None:
    assert "agree" in tryon("ledger", "check").output
    assert answer("ledger", "check") == []
