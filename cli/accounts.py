"""``tryon account``, ``ledger``, ``payments``, ``operator`` and ``mail``: accounts and everything that is theirs."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Annotated

import typer

from api.administration import blocking, erasing, orders, terms
from cli.answers import AsJson, show
from cli.service import AccountName, Service, account_named
from domain import mails
from domain.accounts import OwnTerms
from domain.billing import payments
from domain.money.ledger import check_ledger, entries_of_account
from domain.money.plans import RequestRate
from domain.money.quota import usage_of
from domain.operation import operators
from domain.tables import Mail
from gateway.calls import TemporalAwayError

app = typer.Typer(no_args_is_help=True, help="Accounts.")

PlanName = Annotated[str, typer.Option(help="trial, starter, growth, scale or enterprise, or another of your plans.")]
Included = Annotated[int | None, typer.Option(min=0, help="Included try-ons of this account alone.")]
DailyCap = Annotated[int | None, typer.Option(min=0, help="Try-ons a day of this account alone.")]
MonthlyPrice = Annotated[str | None, typer.Option(help="Price per month of this account alone, in US dollars.")]
ExtraPrice = Annotated[str | None, typer.Option(help="Price of an extra try-on of this account alone, in US dollars.")]
Requests = Annotated[int | None, typer.Option(help="Starts and polls in a window that each of its keys may make.")]
WindowSeconds = Annotated[int | None, typer.Option(help="Length of that window; given together with --requests.")]


@app.command("create")
def create_account(
    *,
    email: Annotated[str, typer.Option(help="E-mail address of the owner.")],
    plan: PlanName = "trial",
    included: Included = None,
    daily_cap: DailyCap = None,
    monthly_price: MonthlyPrice = None,
    extra_price: ExtraPrice = None,
    requests: Requests = None,
    window_seconds: WindowSeconds = None,
    as_json: AsJson = False,
) -> None:
    """Add an account; its first period or trial starts now."""
    service = Service()
    with service.transaction() as session:
        account = terms.create_account(
            session,
            service.plans,
            email=email,
            plan=plan,
            own_terms=OwnTerms(
                included,
                daily_cap,
                _dollars(monthly_price),
                _dollars(extra_price),
                RequestRate.of(requests, window_seconds),
            ),
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
    requests: Requests = None,
    window_seconds: WindowSeconds = None,
) -> None:
    """Put an account on a plan: a new period with all its try-ons starts now; packs stay."""
    service = Service()
    with service.transaction() as session:
        terms.change_plan(
            session,
            service.plans,
            account_id=account_named(session, account),
            plan=plan,
            own_terms=OwnTerms(
                included,
                daily_cap,
                _dollars(monthly_price),
                _dollars(extra_price),
                RequestRate.of(requests, window_seconds),
            ),
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
    service = Service()
    with service.transaction() as session:
        pack = terms.credit_pack(
            session,
            service.plans,
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
    from api.usage import UsageAnswer  # here, because it brings the whole API

    service = Service()
    with service.reading() as session:
        used = usage_of(session, service.plans, account_id=account_named(session, account), now=datetime.now(UTC))
    answer = UsageAnswer.model_validate(used).model_dump(mode="json", by_alias=True)
    rows = {**answer, "period": f"{answer['period']['start']} to {answer['period']['end']}"}
    lines = (f"{name:<15} {'-' if value is None else value}" for name, value in rows.items())
    show(answer, *lines, as_json=as_json)


@app.command("block")
def block(
    account: AccountName, reason: Annotated[str, typer.Option(help="Shown to the owner, at most 200 characters.")]
) -> None:
    """Refuse every call of an account; its jobs in progress are cancelled and not billed."""
    service = Service()
    if len(reason) > blocking.LONGEST_REASON:
        raise typer.BadParameter(f"at most {blocking.LONGEST_REASON} characters", param_hint="--reason")
    keep = timedelta(seconds=service.settings.jobs.result_ttl_seconds)
    with service.database() as database:
        with database.reading() as session:
            account_id = account_named(session, account)
        cancelled = asyncio.run(
            blocking.block(database, account_id=account_id, reason=reason, operator_id=None, keep=keep)
        )
    if cancelled:
        _cancel_runs(service, cancelled)
    typer.echo(f"{account} is blocked; {len(cancelled)} jobs in progress were cancelled.")


@app.command("unblock")
def unblock(account: AccountName) -> None:
    """Let an account call again, with the keys it had."""
    with Service().transaction() as session:
        account_id = account_named(session, account)
        blocking.unblock(session, account_id=account_id, operator_id=None, now=datetime.now(UTC))
    typer.echo(f"{account} may call again.")


@app.command("erase")
def erase(account: AccountName, yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False) -> None:
    """Erase an account and everything it stored, for good; its keys stop working at once."""
    service = Service()
    digester, started = service.digester, False
    if not yes:
        typer.confirm(f"Everything {account} has stored will be deleted for good. Continue?", abort=True)
    with service.transaction() as session:
        account_id = account_named(session, account)
        begun = erasing.begin(session, digester, account_id=account_id, erased_by=None, now=datetime.now(UTC))
    if not begun:
        typer.echo(f"{account_id} was erased before.")
        return
    with suppress(TemporalAwayError):
        started = service.ask_temporal(lambda temporal: erasing.start(temporal, account_id))
    rest = "in about six minutes" if started else "once Temporal and a CPU worker run again"
    typer.echo(f"{account_id} is shut for good; the last of what it stored is gone {rest}.")


def _dollars(text: str | None) -> Decimal | None:
    if text is None:
        return None
    try:
        return Decimal(text).quantize(Decimal("0.01"))
    except ArithmeticError:
        raise typer.BadParameter(f"{text!r} is not an amount of dollars") from None


def _cancel_runs(service: Service, job_ids: list[uuid.UUID]) -> None:
    with suppress(TemporalAwayError):
        service.ask_temporal(lambda temporal: asyncio.gather(*(temporal.cancel_job(job_id) for job_id in job_ids)))


ledger_app = typer.Typer(no_args_is_help=True, help="The ledger.")
payments_app = typer.Typer(no_args_is_help=True, help="Orders of packs and plans.")

Limit = Annotated[int, typer.Option(min=1)]
ALREADY_CLOSED = "This order was already closed."

PaymentId = Annotated[uuid.UUID, typer.Argument(help="Id of the order, from `tryon payments list`.")]


@ledger_app.command("check")
def check(as_json: AsJson = False) -> None:
    """Recompute every balance; prints what disagrees, and exits with 1 if anything does."""
    with Service().reading() as session:
        found = check_ledger(session)
    facts = [{**asdict(each), "account_id": str(each.account_id)} for each in found]
    lines = [
        f"{each.account_id}  {each.subject}: counted {each.counted}; recomputed {each.recomputed}" for each in found
    ]
    verdict = f"{len(found)} disagreements." if found else "Counters, ledger and jobs agree."
    show(facts, *lines, verdict, as_json=as_json)
    if found:
        raise typer.Exit(1)


@ledger_app.command("show")
def show_ledger(account: AccountName, limit: Limit = 50, as_json: AsJson = False) -> None:
    """The newest entries of an account."""
    with Service().reading() as session:
        entries = entries_of_account(session, account_id=account_named(session, account), limit=limit)
    for entry in entries:
        facts = {
            "at": entry.at.isoformat(timespec="seconds"),
            "kind": entry.kind,
            "generations": entry.generations,
            "allowance": str(entry.allowance_id),
            "job": str(entry.job_id) if entry.job_id else None,
        }
        show(facts, "  ".join(str(value or "") for value in facts.values()), as_json=as_json)


@payments_app.command("list")
def list_payments(
    *,
    only_open: Annotated[bool, typer.Option("--open", help="Only unpaid ones.")] = False,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Orders of all accounts, oldest first."""
    with Service().reading() as session:
        found = payments.page_of_all(session, limit=limit, status=payments.OPEN if only_open else None)
    for payment, email in found:
        facts = {
            "paymentId": str(payment.id),
            "at": payment.created_at.isoformat(timespec="seconds"),
            "account": email,
            "status": payment.status,
            "what": payment.plan or f"{payment.generations} generations",
            "priceUsd": f"{Decimal(payment.price_cents) / 100:.2f}",
            "provider": payment.provider,
            "reference": payment.reference,
        }
        show(facts, "  ".join(str(value) for value in facts.values() if value), as_json=as_json)


@payments_app.command("approve")
def approve(payment_id: PaymentId) -> None:
    """Credit an order whose payment has arrived."""
    service = Service()
    plans = service.plans
    with service.transaction() as session:
        if not orders.approve(session, plans, payment_id=payment_id, operator_id=None, now=datetime.now(UTC)):
            raise ValueError(ALREADY_CLOSED)
    typer.echo("Credited.")


@payments_app.command("reject")
def reject(
    payment_id: PaymentId, note: Annotated[str, typer.Option(help="Shown to the owner, at most 200 characters.")]
) -> None:
    """Close an order without crediting anything."""
    with Service().transaction() as session:
        if not orders.reject(session, payment_id=payment_id, note=note, operator_id=None, now=datetime.now(UTC)):
            raise ValueError(ALREADY_CLOSED)
    typer.echo("Rejected.")


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
    with Service().transaction() as session:
        account_id = account_named(session, account)
        return operators.set_operator(session, account_id=account_id, operator=operator, now=datetime.now(UTC))


@operator_app.command("list")
def list_operators(as_json: AsJson = False) -> None:
    """Everybody who sees the admin pages."""
    facts, lines = [], []
    with Service().reading() as session:
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
    with Service().reading() as session:
        facts = [_facts_of_mail(mail) for mail in mails.list_mail(session)]
    lines = (
        f"{each['mailId']}  {each['written']}  {each['state']:<8}  {each['to']}  {each['subject']}" for each in facts
    )
    show(facts, *lines, as_json=as_json)


@mail_app.command("show")
def show_mail(mail_id: Annotated[uuid.UUID, typer.Argument(help="Id of the message, from `tryon mail list`.")]) -> None:
    """One message, with its links; one that was sent is empty."""
    with Service().reading() as session:
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
