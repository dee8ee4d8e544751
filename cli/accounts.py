"""``tryon account``: accounts, their plans and packs, and whether they may call."""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Annotated

import typer
from sqlalchemy.orm import Session

from api.administration import blocking, erasing, terms
from api.usage import UsageAnswer
from cli.transactions import AccountName, AsJson, account_named, in_reading, in_transaction, migrated_database
from domain.access.keys import KeyDigester
from domain.accounts import OwnTerms
from domain.money.plans import load_plans
from domain.money.usage import Usage, usage_of
from gateway.calls import TemporalAwayError
from gateway.temporal import TemporalGateway
from runtime.settings import Settings, load_settings

app = typer.Typer(no_args_is_help=True, help="Accounts.")

PlanName = Annotated[str, typer.Option(help="trial, starter, growth, scale or enterprise, or another of your plans.")]
Included = Annotated[int | None, typer.Option(min=0, help="Included try-ons of this account alone.")]
DailyCap = Annotated[int | None, typer.Option(min=0, help="Try-ons a day of this account alone.")]
MonthlyPrice = Annotated[str | None, typer.Option(help="Price per month of this account alone, in US dollars.")]
ExtraPrice = Annotated[str | None, typer.Option(help="Price of an extra try-on of this account alone, in US dollars.")]


@app.command("create")
def create_account(
    *,
    email: Annotated[str, typer.Option(help="E-mail address of the owner.")],
    plan: PlanName = "trial",
    included: Included = None,
    daily_cap: DailyCap = None,
    monthly_price: MonthlyPrice = None,
    extra_price: ExtraPrice = None,
    as_json: AsJson = False,
) -> None:
    """Add an account; its first period or trial starts now."""
    settings = load_settings()

    def work(session: Session) -> str:
        account = terms.create_account(
            session,
            settings.billing.plans(load_plans),
            email=email,
            plan=plan,
            own_terms=_own_terms(included, daily_cap, monthly_price, extra_price),
            operator_id=None,
            now=datetime.now(UTC),
        )
        return str(account.id)

    account_id = in_transaction(settings, work)
    typer.echo(json.dumps({"accountId": account_id}) if as_json else f"Account {account_id}")


@app.command("plan")
def change_plan(
    *,
    account: AccountName,
    plan: PlanName,
    included: Included = None,
    daily_cap: DailyCap = None,
    monthly_price: MonthlyPrice = None,
    extra_price: ExtraPrice = None,
) -> None:
    """Put an account on a plan: a new period with all its try-ons starts now; packs stay."""
    settings = load_settings()

    def work(session: Session) -> None:
        terms.change_plan(
            session,
            settings.billing.plans(load_plans),
            account_id=account_named(session, account),
            plan=plan,
            own_terms=_own_terms(included, daily_cap, monthly_price, extra_price),
            operator_id=None,
            now=datetime.now(UTC),
        )

    in_transaction(settings, work)
    typer.echo(f"{account} is on {plan} from now on.")


@app.command("top-up")
def top_up(
    account: AccountName,
    generations: Annotated[int, typer.Option(help="Size of the pack: one of topup_packs in the file of plans.")],
) -> None:
    """Credit a pack that was paid for."""
    settings = load_settings()

    def work(session: Session) -> int:
        pack = terms.credit_pack(
            session,
            settings.billing.plans(load_plans),
            account_id=account_named(session, account),
            generations=generations,
            reason=None,
            operator_id=None,
            now=datetime.now(UTC),
        )
        return pack.price_cents

    cents = in_transaction(settings, work)
    typer.echo(f"{generations} try-ons for {Decimal(cents) / 100:.2f} USD.")


@app.command("usage")
def usage(account: AccountName, as_json: AsJson = False) -> None:
    """Show what an account has used."""
    settings = load_settings()

    def work(session: Session) -> Usage:
        return usage_of(
            session,
            settings.billing.plans(load_plans),
            account_id=account_named(session, account),
            now=datetime.now(UTC),
        )

    answer = UsageAnswer.of(in_reading(settings, work)).model_dump(mode="json", by_alias=True)
    if as_json:
        typer.echo(json.dumps(answer))
        return
    rows = {**answer, "period": f"{answer['period']['start']} to {answer['period']['end']}"}
    typer.echo("\n".join(f"{name:<15} {'-' if value is None else value}" for name, value in rows.items()))


@app.command("block")
def block(
    account: AccountName, reason: Annotated[str, typer.Option(help="Shown to the owner, at most 200 characters.")]
) -> None:
    """Refuse every call of an account; its jobs in progress are cancelled and not billed."""
    settings = load_settings()
    if len(reason) > blocking.LONGEST_REASON:
        raise typer.BadParameter(f"at most {blocking.LONGEST_REASON} characters", param_hint="--reason")

    keep = timedelta(seconds=settings.jobs.result_ttl_seconds)
    with migrated_database(settings) as database:
        with database.reading() as session:
            account_id = account_named(session, account)
        cancelled = asyncio.run(
            blocking.block(database, account_id=account_id, reason=reason, operator_id=None, keep=keep)
        )
    asyncio.run(_cancel_runs(settings, cancelled))
    typer.echo(f"{account} is blocked; {len(cancelled)} jobs in progress were cancelled.")


@app.command("unblock")
def unblock(account: AccountName) -> None:
    """Let an account call again, with the keys it had."""

    def work(session: Session) -> None:
        account_id = account_named(session, account)
        blocking.unblock(session, account_id=account_id, operator_id=None, now=datetime.now(UTC))

    in_transaction(load_settings(), work)
    typer.echo(f"{account} may call again.")


@app.command("erase")
def erase(account: AccountName, yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False) -> None:
    """Erase an account and everything it stored, for good; its keys stop working at once."""
    settings = load_settings()
    digester = KeyDigester(*settings.security.peppers())
    if not yes:
        typer.confirm(f"Everything {account} has stored will be deleted for good. Continue?", abort=True)

    def work(session: Session) -> tuple[uuid.UUID, bool]:
        account_id = account_named(session, account)
        now = datetime.now(UTC)
        return account_id, erasing.begin(session, digester, account_id=account_id, erased_by=None, now=now)

    account_id, begun = in_transaction(settings, work)
    if not begun:
        typer.echo(f"{account_id} was erased before.")
        return
    started = asyncio.run(_start_erasure(settings, account_id))
    rest = "in about six minutes" if started else "once Temporal and a CPU worker run again"
    typer.echo(f"{account_id} is shut for good; the last of what it stored is gone {rest}.")


def _own_terms(
    included: int | None, daily_cap: int | None, monthly_price: str | None, extra_price: str | None
) -> OwnTerms:
    return OwnTerms(included, daily_cap, _dollars(monthly_price), _dollars(extra_price))


def _dollars(text: str | None) -> Decimal | None:
    if text is None:
        return None
    try:
        return Decimal(text).quantize(Decimal("0.01"))
    except ArithmeticError:
        raise typer.BadParameter(f"{text!r} is not an amount of dollars") from None


async def _cancel_runs(settings: Settings, job_ids: list[uuid.UUID]) -> None:
    if not job_ids:
        return
    with contextlib.suppress(TemporalAwayError):
        temporal = await TemporalGateway.connect(settings.temporal)
        for job_id in job_ids:
            await temporal.cancel_job(job_id)


async def _start_erasure(settings: Settings, account_id: uuid.UUID) -> bool:
    with contextlib.suppress(TemporalAwayError):
        return await erasing.start(await TemporalGateway.connect(settings.temporal), account_id)
    return False
