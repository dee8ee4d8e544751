"""``tryon account``, ``tryon operator`` and ``tryon mail``: accounts, those who see the admin pages, mail to owners."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Annotated

import typer

from api.administration import blocking, erasing, terms
from api.usage import UsageAnswer
from cli.answers import AsJson, show
from cli.database import AccountName, account_named, migrated_database, reading, transaction
from domain import mails
from domain.access.keys import KeyDigester
from domain.accounts import OwnTerms
from domain.money.plans import load_plans
from domain.money.quota import usage_of
from domain.operation import operators
from domain.tables import Mail
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
    with transaction(settings) as session:
        account = terms.create_account(
            session,
            settings.billing.plans(load_plans),
            email=email,
            plan=plan,
            own_terms=OwnTerms(included, daily_cap, _dollars(monthly_price), _dollars(extra_price)),
            operator_id=None,
            now=datetime.now(UTC),
        )
    show({"accountId": str(account.id)}, f"Account {account.id}", as_json=as_json)


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
    with transaction(settings) as session:
        terms.change_plan(
            session,
            settings.billing.plans(load_plans),
            account_id=account_named(session, account),
            plan=plan,
            own_terms=OwnTerms(included, daily_cap, _dollars(monthly_price), _dollars(extra_price)),
            operator_id=None,
            now=datetime.now(UTC),
        )
    typer.echo(f"{account} is on {plan} from now on.")


@app.command("top-up")
def top_up(
    account: AccountName,
    generations: Annotated[int, typer.Option(help="Size of the pack: one of topup_packs in the file of plans.")],
) -> None:
    """Credit a pack that was paid for."""
    settings = load_settings()
    with transaction(settings) as session:
        pack = terms.credit_pack(
            session,
            settings.billing.plans(load_plans),
            account_id=account_named(session, account),
            generations=generations,
            reason=None,
            operator_id=None,
            now=datetime.now(UTC),
        )
    typer.echo(f"{generations} try-ons for {Decimal(pack.price_cents) / 100:.2f} USD.")


@app.command("usage")
def usage(account: AccountName, as_json: AsJson = False) -> None:
    """Show what an account has used."""
    settings = load_settings()
    plans, now = settings.billing.plans(load_plans), datetime.now(UTC)
    with reading(settings) as session:
        used = usage_of(session, plans, account_id=account_named(session, account), now=now)
    answer = UsageAnswer.model_validate(used).model_dump(mode="json", by_alias=True)
    rows = {**answer, "period": f"{answer['period']['start']} to {answer['period']['end']}"}
    lines = (f"{name:<15} {'-' if value is None else value}" for name, value in rows.items())
    show(answer, *lines, as_json=as_json)


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
    if cancelled:
        asyncio.run(_cancel_runs(settings, cancelled))
    typer.echo(f"{account} is blocked; {len(cancelled)} jobs in progress were cancelled.")


@app.command("unblock")
def unblock(account: AccountName) -> None:
    """Let an account call again, with the keys it had."""
    with transaction(load_settings()) as session:
        account_id = account_named(session, account)
        blocking.unblock(session, account_id=account_id, operator_id=None, now=datetime.now(UTC))
    typer.echo(f"{account} may call again.")


@app.command("erase")
def erase(account: AccountName, yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False) -> None:
    """Erase an account and everything it stored, for good; its keys stop working at once."""
    settings = load_settings()
    digester = KeyDigester(*settings.security.peppers())
    if not yes:
        typer.confirm(f"Everything {account} has stored will be deleted for good. Continue?", abort=True)
    with transaction(settings) as session:
        account_id = account_named(session, account)
        begun = erasing.begin(session, digester, account_id=account_id, erased_by=None, now=datetime.now(UTC))
    if not begun:
        typer.echo(f"{account_id} was erased before.")
        return
    started = asyncio.run(_start_erasure(settings, account_id))
    rest = "in about six minutes" if started else "once Temporal and a CPU worker run again"
    typer.echo(f"{account_id} is shut for good; the last of what it stored is gone {rest}.")


def _dollars(text: str | None) -> Decimal | None:
    if text is None:
        return None
    try:
        return Decimal(text).quantize(Decimal("0.01"))
    except ArithmeticError:
        raise typer.BadParameter(f"{text!r} is not an amount of dollars") from None


async def _cancel_runs(settings: Settings, job_ids: list[uuid.UUID]) -> None:
    with contextlib.suppress(TemporalAwayError):
        temporal = await TemporalGateway.connect(settings.temporal)
        for job_id in job_ids:
            await temporal.cancel_job(job_id)


async def _start_erasure(settings: Settings, account_id: uuid.UUID) -> bool:
    with contextlib.suppress(TemporalAwayError):
        return await erasing.start(await TemporalGateway.connect(settings.temporal), account_id)
    return False


operator_app = typer.Typer(no_args_is_help=True, help="Operators: owners of accounts who see the admin pages.")

Email = Annotated[str, typer.Argument(help="E-mail address of an account, or its id.")]


@operator_app.command("add")
def add_operator(account: Email) -> None:
    """Open the admin pages to the owner of an account, who signs in anew for that."""
    changed = _set_operator(account, operator=True)
    typer.echo(f"{account} is an operator{' from now on' if changed else ' already'}.")
    typer.echo('No password yet? Use "Forgot your password" on the sign-in page.')


@operator_app.command("remove")
def remove_operator(account: Email) -> None:
    """Close the admin pages to somebody; the account stays as it is."""
    changed = _set_operator(account, operator=False)
    typer.echo(f"{account} is no operator{' from now on' if changed else ''}.")


def _set_operator(account: str, *, operator: bool) -> bool:
    with transaction(load_settings()) as session:
        account_id = account_named(session, account)
        return operators.set_operator(session, account_id=account_id, operator=operator, now=datetime.now(UTC))


@operator_app.command("list")
def list_operators(as_json: AsJson = False) -> None:
    """Everybody who sees the admin pages."""
    facts, lines = [], []
    with reading(load_settings()) as session:
        for account, login in operators.list_operators(session):
            confirmed = login.verified_at is not None
            facts.append({"accountId": str(account.id), "email": account.email, "confirmed": confirmed})
            lines.append(f"{account.id}  {account.email}{'' if confirmed else '  address not confirmed yet'}")
    show(facts, *lines, as_json=as_json)


mail_app = typer.Typer(
    no_args_is_help=True, help="Mail to owners. It holds links that let people in: keep it to yourself."
)


@mail_app.command("list")
def list_mail(as_json: AsJson = False) -> None:
    """The newest fifty messages of the last week."""
    with reading(load_settings()) as session:
        facts = [_facts_of_mail(mail) for mail in mails.list_mail(session)]
    lines = (
        f"{each['mailId']}  {each['written']}  {each['state']:<8}  {each['to']}  {each['subject']}" for each in facts
    )
    show(facts, *lines, as_json=as_json)


@mail_app.command("show")
def show_mail(mail_id: Annotated[uuid.UUID, typer.Argument(help="Id of the message, from `tryon mail list`.")]) -> None:
    """One message, with its links; one that was sent is empty."""
    with reading(load_settings()) as session:
        mail = mails.find_mail(session, mail_id=mail_id)
        if mail is None:
            raise ValueError(f"there is no message {mail_id}")
    typer.echo(f"To: {mail.to_address}\nSubject: {mail.subject}\n")
    typer.echo(mail.body or f"({_facts_of_mail(mail)['state']}; what has been handled is not kept)")


def _facts_of_mail(mail: Mail) -> dict[str, str]:
    return {
        "mailId": str(mail.id),
        "to": mail.to_address,
        "subject": mail.subject,
        "written": mail.created_at.strftime("%Y-%m-%dT%H:%MZ"),
        "state": "sent" if mail.sent_at else "refused" if mail.refused_at else "waiting",
    }
