"""The stretches of time that money is counted in: without gap, without overlap."""

from __future__ import annotations

import calendar
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.money.plans import Period, month_around, seconds_to_next_day, trial_from

MOMENTS = st.timedeltas(timedelta(0), timedelta(days=40 * 365)).map(datetime(2020, 1, 1, tzinfo=UTC).__add__)
LATER = st.timedeltas(timedelta(0), timedelta(days=4000))
INSTANT = timedelta(microseconds=1)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@given(MOMENTS, LATER)
def test_now_lies_in_its_month(anchor: datetime, later: timedelta) -> None:
    period = month_around(anchor, anchor + later)
    assert anchor <= period.start <= anchor + later < period.end


@given(MOMENTS, LATER)
def test_months_meet_without_gap_or_overlap(anchor: datetime, later: timedelta) -> None:
    period = month_around(anchor, anchor + later)
    assert month_around(anchor, period.start) == period
    assert month_around(anchor, period.end - INSTANT) == period
    assert month_around(anchor, period.end).start == period.end
    if period.start > anchor:
        assert month_around(anchor, period.start - INSTANT).end == period.start


@given(MOMENTS, LATER)
def test_a_month_begins_on_the_anchors_day_or_the_months_last(anchor: datetime, later: timedelta) -> None:
    start = month_around(anchor, anchor + later).start
    assert start.day == min(anchor.day, calendar.monthrange(start.year, start.month)[1])
    assert start.timetz() == anchor.timetz()


@given(MOMENTS, LATER)
def test_a_month_has_28_to_31_days(anchor: datetime, later: timedelta) -> None:
    period = month_around(anchor, anchor + later)
    assert timedelta(days=28) <= period.end - period.start <= timedelta(days=31)


@given(MOMENTS, LATER)
def test_time_zones_change_nothing(anchor: datetime, later: timedelta) -> None:
    elsewhere = timezone(timedelta(hours=-11))
    now = anchor + later
    assert month_around(anchor.astimezone(elsewhere), now.astimezone(elsewhere)) == month_around(anchor, now)


def test_a_clamped_day_does_not_stay_clamped() -> None:
    anchor, starts = at("2027-01-31T10:00"), []
    now = anchor
    for _ in range(6):
        period = month_around(anchor, now)
        starts.append(f"{period.start:%m-%d}")
        now = period.end
    assert starts == ["01-31", "02-28", "03-31", "04-30", "05-31", "06-30"]


@pytest.mark.parametrize(("year", "last"), [(2027, 28), (2028, 29)])
def test_february_of_an_account_of_the_30th(year: int, last: int) -> None:
    anchor = at(f"{year}-01-30T00:00")
    assert month_around(anchor, at(f"{year}-02-{last}T00:00")) == Period(
        at(f"{year}-02-{last}T00:00"), at(f"{year}-03-30T00:00")
    )


def test_an_account_of_the_leap_day_renews_on_the_29th_where_there_is_one() -> None:
    anchor = at("2028-02-29T12:00")
    assert month_around(anchor, at("2029-02-28T12:00")).start == at("2029-02-28T12:00")
    assert month_around(anchor, at("2029-03-29T12:00")).start == at("2029-03-29T12:00")
    assert month_around(anchor, at("2032-02-29T12:00")).start == at("2032-02-29T12:00")


def test_a_clock_that_is_behind_is_in_the_first_month() -> None:
    anchor = at("2027-05-15T08:00")
    assert month_around(anchor, anchor - timedelta(days=40)) == month_around(anchor, anchor)


@given(MOMENTS, st.integers(1, 60))
def test_a_trial_is_whole_days_from_its_beginning(anchor: datetime, days: int) -> None:
    assert trial_from(anchor, days) == Period(anchor, anchor + timedelta(days=days))


@given(MOMENTS)
def test_the_next_day_has_begun_after_that_many_seconds_and_not_before(now: datetime) -> None:
    seconds = seconds_to_next_day(now)
    assert 1 <= seconds <= 86_400
    assert (now + timedelta(seconds=seconds)).date() == now.date() + timedelta(days=1)
    assert (now + timedelta(seconds=seconds - 1)).date() == now.date() or seconds == 1


def test_at_midnight_the_next_day_is_a_day_away() -> None:
    assert seconds_to_next_day(at("2027-05-15T00:00")) == 86_400


def test_a_day_is_a_day_in_utc() -> None:
    tokyo = timezone(timedelta(hours=9))
    assert seconds_to_next_day(datetime(2027, 5, 15, 8, 59, tzinfo=tokyo)) == 60
