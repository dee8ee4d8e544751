from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from domain.access.keys import KeyDigester
from domain.authentication.throttles import (
    DAY,
    MAIL_PER_ADDRESS,
    SIGN_IN,
    SIGN_IN_BY_STRANGERS,
    SIGN_IN_PER_NETWORK,
    SIGN_IN_PER_PAIR,
    SignInTries,
    Subject,
    address_subject,
    forget_address,
    forget_old,
    forgive,
    network_of,
    network_subject,
    seconds_to_wait,
    sign_in_wait,
)
from domain.tables import LoginThrottle
from runtime.database import Database

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def subject(limit: object = SIGN_IN_PER_PAIR) -> Subject:
    return Subject(uuid.uuid4().hex * 2, limit)  # type: ignore[arg-type]


async def tries(database: Database, *subjects: Subject, at: datetime = NOW) -> int:
    return await database.write(lambda session: seconds_to_wait(session, subjects, now=at))


async def test_the_wait_grows_with_every_try(database: Database) -> None:
    one, at, waits = subject(), NOW, []
    for _ in range(12):
        wait = await tries(database, one, at=at)
        waits.append(wait)
        at += timedelta(seconds=wait)
        if wait:
            assert await tries(database, one, at=at) == 0
    assert waits == [0, 0, 0, 0, 0, 2, 4, 8, 16, 32, 900, 900]


async def test_a_try_that_has_to_wait_is_not_counted(database: Database) -> None:
    one = subject()
    for _ in range(5):
        await tries(database, one)
    assert [await tries(database, one) for _ in range(20)] == [2] * 20
    assert await tries(database, one, at=NOW + timedelta(seconds=2)) == 0


async def test_many_at_once_are_all_counted(database: Database) -> None:
    one = subject()
    waits = await asyncio.gather(*(tries(database, one) for _ in range(30)))
    assert sorted(waits)[:6] == [0, 0, 0, 0, 0, 2]


async def test_success_clears_the_address_and_one_try_of_the_network(database: Database) -> None:
    address, network = subject(), subject()
    for _ in range(5):
        await tries(database, address, network)
    await database.write(lambda session: forgive(session, wholly=(address,), once=(network,)))
    assert [await tries(database, address) for _ in range(5)] == [0] * 5
    assert [await tries(database, network) for _ in range(2)] == [0, 2]


async def test_tries_and_forgiving_at_once_do_not_stand_in_each_others_way(database: Database) -> None:
    one, other = sorted((subject(), subject()), key=lambda each: each.digest)

    async def succeed() -> None:
        await database.write(lambda session: forgive(session, wholly=(other,), once=(one,)))

    await asyncio.gather(*(each for _ in range(20) for each in (tries(database, one, other), succeed())))
    await succeed()
    assert await tries(database, other) == 0


async def test_where_one_subject_has_to_wait_the_other_is_not_counted(database: Database) -> None:
    locked, other = subject(), subject()
    for _ in range(5):
        await tries(database, locked)
    for _ in range(10):
        assert await tries(database, locked, other) == 2
    assert [await tries(database, other) for _ in range(6)] == [0, 0, 0, 0, 0, 2]


async def test_tries_that_have_to_wait_leave_no_rows(database: Database) -> None:
    network, strangers = subject(), [subject() for _ in range(20)]
    for _ in range(5):
        await tries(database, network)
    for stranger in strangers:
        assert await tries(database, network, stranger) == 2
    digests = [each.digest for each in strangers]
    rows = await database.read(
        lambda session: session.scalars(select(LoginThrottle).where(LoginThrottle.subject.in_(digests))).all()
    )
    assert list(rows) == []


async def test_a_quiet_day_begins_anew(database: Database) -> None:
    one = subject()
    for _ in range(5):
        await tries(database, one)
    assert [await tries(database, one, at=NOW + DAY) for _ in range(6)] == [0, 0, 0, 0, 0, 2]


async def test_three_messages_an_hour(database: Database) -> None:
    one = subject(MAIL_PER_ADDRESS)
    assert [await tries(database, one) for _ in range(4)] == [0, 0, 0, 3600]
    assert await tries(database, one, at=NOW + timedelta(hours=1)) == 0


async def test_a_clock_that_jumped_back_locks_nobody_out_for_longer(database: Database) -> None:
    one = subject()
    for _ in range(5):
        await tries(database, one, at=NOW + timedelta(days=300))
    assert await tries(database, one) == 2


async def test_what_is_a_day_old_is_deleted(database: Database) -> None:
    one = subject()
    await tries(database, one, at=NOW - 30 * DAY)
    assert await database.write(lambda session: forget_old(session, now=NOW - 29 * DAY)) >= 1


async def test_a_day_of_eight_networks_is_less_than_slows_strangers(database: Database, digester: KeyDigester) -> None:
    """Each tries as soon as it may: what the limits add up to, and what an owner elsewhere notices of it."""
    email, guesses = f"{uuid.uuid4().hex}@example.com", 0
    network = SignInTries.of(digester, email=email, address="192.0.2.1")
    at = NOW
    while at < NOW + DAY:
        wait = await database.write(lambda session, at=at: sign_in_wait(session, network, known_network=False, now=at))
        guesses += wait == 0
        at += timedelta(seconds=wait)
    assert guesses <= 106
    assert 8 * guesses < SIGN_IN_BY_STRANGERS.free


async def test_all_that_is_counted_for_an_address_is_forgotten_and_nothing_else(
    database: Database, digester: KeyDigester
) -> None:
    one, other = (f"{uuid.uuid4().hex}@example.com" for _ in range(2))
    for email in (one, other):
        for address in ("192.0.2.1", "198.51.100.1"):
            tries_from = SignInTries.of(digester, email=email, address=address)
            for _ in range(5):
                await tries(database, tries_from.pair, tries_from.everywhere)
    await database.write(lambda session: forget_address(session, digester, SIGN_IN, email=one))
    waits = []
    for email in (one, other):
        tries_from = SignInTries.of(digester, email=email, address="192.0.2.1")
        waits.append(await tries(database, tries_from.pair))
    assert waits == [0, 2]


def test_spelling_makes_no_other_address(digester: KeyDigester) -> None:
    found = {
        address_subject(digester, "x", SIGN_IN_PER_PAIR, email=email).digest
        for email in ("ann@example.com", " Ann@EXAMPLE.com ")
    }
    assert len(found) == 1


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.77", "192.0.2.0/24"),
        ("::ffff:192.0.2.9", "192.0.2.0/24"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "unknown"),
        ("", "unknown"),
    ],
)
def test_networks(address: str, network: str) -> None:
    assert network_of(address) == network


def test_neighbours_share_a_count(digester: KeyDigester) -> None:
    def digest(address: str) -> str:
        return network_subject(digester, "x", SIGN_IN_PER_NETWORK, address=address).digest

    assert digest("192.0.2.1") == digest("192.0.2.254")
    assert digest("192.0.2.1") != digest("192.0.3.1")
