from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from api.dashboard.overview import plot_of, top_of_scale, trial_days_left
from domain import products
from domain.jobs import jobs
from domain.jobs.job_history import Day
from domain.money.plans import Period
from domain.money.quota import Usage
from tests.api.conftest import Api
from tests.api.dashboard.browser import Browser, signed_in, words
from tests.factories import PLANS, create_caller, new_job

NOW = datetime(2026, 5, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


ADVICE = "Show yourself from head to hips."


async def ended(api: Api, *, error_code: str | None = None, milliseconds: int = 12_300) -> str:
    new, now = new_job(api.caller), datetime.now(UTC)
    with api.parts.database.transaction() as session:
        jobs.accept_job(session, PLANS, new, now=now)
        if error_code is None:
            jobs.complete_job(
                session,
                job_id=new.job_id,
                result_key="r",
                engine="warp",
                report={},
                keep=HOUR,
                now=now + timedelta(milliseconds=milliseconds),
            )
        else:
            jobs.fail_job(session, job_id=new.job_id, error_code=error_code, error_advice=ADVICE, keep=HOUR, now=now)
    return str(new.job_id)


async def test_the_figures_are_those_of_the_api(api: Api, browser: Browser) -> None:
    await ended(api)
    await ended(api, milliseconds=900)
    failed = await ended(api, error_code="several_people")
    usage = (await api.client.get("/api/v1/usage")).json()
    answer = await browser.get("/")
    text = words(answer)
    assert (answer.status_code, usage["used"], usage["dailyUsed"]) == (200, 2, 2)
    assert f"Try-ons used {usage['used']} of {usage['included']}" in text
    assert f"Started today {usage['dailyUsed']} of {usage['dailyCap']}" in text
    assert "2 completed 1 failed 0 in progress" in text
    assert "Median 900 ms 95th percentile 12.3 s From request to picture, over 2 jobs completed" in text
    assert f'href="/dashboard/jobs/{failed}"' in answer.text
    assert f"There are several people in the photo. {ADVICE}" in text


async def test_a_new_account_is_shown_the_way_until_it_has_gone_it(api: Api) -> None:
    caller = await create_caller(api.parts.database, api.parts.digester, plan="trial")
    browser = await signed_in(api, caller.account_id)
    text = words(await browser.get("/"))
    assert "First steps Try it Try a garment on" in text
    assert "Create a key done" in text
    assert "(7 days left)" in text
    assert "No jobs in this period." in text
    values = {"name": "Shirt", "category": "upper_body", "front": {"key": "k", "sha256": "0" * 64}}
    new = new_job(caller)
    with api.parts.database.transaction() as session:
        products.register_product(session, account_id=caller.account_id, new_id=new.job_id, values=values)
        jobs.accept_job(session, PLANS, new, now=datetime.now(UTC))
    page = await browser.get("/")
    assert "First steps" not in words(page)
    for shown in (page, await browser.get("/billing")):
        assert '<a href="/dashboard/jobs?status=processing">1 in progress</a>' in shown.text


async def test_a_trial_that_is_over_says_what_to_do(api: Api) -> None:
    caller = await create_caller(
        api.parts.database, api.parts.digester, plan="trial", now=datetime.now(UTC) - timedelta(days=8)
    )
    text = words(await (await signed_in(api, caller.account_id)).get("/"))
    assert "Your trial is over. Choose a plan to continue." in text


@pytest.mark.parametrize(("hours", "days"), [(24 * 7, 7), (25, 2), (24, 1), (1, 1), (0, 0), (-5, 0)])
def test_a_day_that_has_begun_counts(hours: int, days: int) -> None:
    ends = NOW + timedelta(hours=hours)
    usage = Usage("trial", Period(NOW, ends), 10, 0, 0, 0, 10, 0, ends)
    assert trial_days_left(usage, NOW) == days


def test_a_plan_has_no_trial() -> None:
    assert trial_days_left(Usage("scale", Period(NOW, NOW), 10, 0, 0, 0, 10, 0, None), NOW) is None


def test_bars_stand_on_one_another_and_none_is_taller_than_the_scale() -> None:
    today = NOW.date()
    plot = plot_of([Day(today, completed=30, failed=8, processing=2), Day(today + timedelta(days=1)), Day(today, 1)])
    assert plot.top == 40
    assert [(piece.outcome, piece.y, piece.height) for piece in plot.bars[0].pieces] == [
        ("completed", 25.0, 75.0),
        ("failed", 5.0, 20.0),
        ("processing", 0.0, 5.0),
    ]
    assert plot.bars[1].pieces == []
    assert plot.totals == {"completed": 31, "failed": 8, "processing": 2}
    assert plot.bars[0].label == "20 May"


@pytest.mark.parametrize(
    ("most", "top"), [(0, 2), (1, 2), (3, 4), (10, 10), (11, 20), (41, 60), (99, 100), (101, 200), (9_999, 10_000)]
)
def test_the_scale_ends_at_an_even_round_number(most: int, top: int) -> None:
    assert top_of_scale(most) == top


async def test_the_plot_says_the_same_in_words_and_in_a_table(api: Api, browser: Browser) -> None:
    await ended(api)
    page = (await browser.get("/")).text
    today = datetime.now(UTC)
    label = f"{today.day} {today:%b}"
    plot = re.search(r'role="img" aria-label="(Jobs per day[^"]*)"', page)
    assert plot
    assert f"to {label}: 1 completed, 0 failed, 0 in progress." in plot[1]
    assert re.search(rf'<th scope="row">{label}</th><td class="number">1</td><td class="number">0</td>', page)
