from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.orm import Session

from domain import accounts, erasure
from domain.access import keys
from domain.access.keys import KeyDigester, KeyTerms, PublishableTerms
from domain.money.quota import lock_account
from domain.tables import ApiKey
from runtime.database import Database
from tests.factories import create_caller
from tests.meanwhile import outcome_beside


async def find_owner(database: Database, digester: KeyDigester, key: str) -> keys.KeyOwner | None:
    return await database.read(lambda session: keys.find_owner(session, digester, key=key))


async def test_a_key_leads_to_its_account(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester)
    owner = await find_owner(database, digester, caller.key)
    assert owner is not None
    assert (owner.key_id, owner.account_id, owner.new_digest) == (caller.key_id, caller.account_id, None)
    assert (owner.blocked, owner.test, owner.publishable) == (False, False, False)


async def test_the_key_itself_is_not_stored(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester)
    with database.reading() as session:
        row = session.get_one(ApiKey, caller.key_id)
    assert caller.key.removeprefix("vto_live_") not in str(vars(row))
    assert (row.prefix, row.last_four) == (caller.key[:13], caller.key[-4:])


async def test_another_account_ends_no_key(database: Database, digester: KeyDigester) -> None:
    caller, other = await create_caller(database, digester), await create_caller(database, digester)
    someone_elses = {"key_id": caller.key_id, "account_id": other.account_id}
    with pytest.raises(ValueError, match="there is no key"):
        await database.write(keys.revoke_key, **someone_elses)
    with pytest.raises(ValueError, match="there is no key"):
        await database.write(keys.replace_key, digester, **someone_elses)
    assert await find_owner(database, digester, caller.key) is not None


async def test_a_key_that_is_replaced_without_an_overlap_ends_at_once(
    database: Database, digester: KeyDigester
) -> None:
    caller = await create_caller(database, digester)
    _, key = await database.write(keys.replace_key, digester, key_id=caller.key_id)
    assert await find_owner(database, digester, caller.key) is None
    assert await find_owner(database, digester, key) is not None


@pytest.mark.databases("postgresql")
async def test_replacing_and_erasing_do_not_wait_for_each_other_for_good(
    own_database: Database, digester: KeyDigester
) -> None:
    """Both take the account first, and then the key."""
    caller = await create_caller(own_database, digester)

    def shut(session: Session) -> None:
        account = lock_account(session, account_id=caller.account_id)
        account.email = erasure.erased_address(account.id)

    def revoke(session: Session) -> None:
        assert erasure.begin_erasure(session, account_id=caller.account_id, now=datetime.now(UTC))

    with pytest.raises(ValueError, match="there is no key"):
        await outcome_beside(
            own_database, shut, lambda session: keys.replace_key(session, digester, key_id=caller.key_id), revoke
        )


async def test_an_owner_may_have_so_many_keys(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester)
    make = {"account_id": caller.account_id, "mode": "live"}
    for _ in range(keys.MOST_IN_USE - 1):
        await database.write(keys.create_own_key, digester, **make)
    with pytest.raises(keys.TooManyKeysError):
        await database.write(keys.create_own_key, digester, **make)


async def test_a_revoked_key_leads_nowhere(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester)
    await database.write(keys.revoke_key, key_id=caller.key_id)
    assert await find_owner(database, digester, caller.key) is None


async def test_another_pepper_makes_every_key_unknown(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester)
    assert await find_owner(database, KeyDigester("p" * 32), caller.key) is None


async def test_the_owner_of_a_blocked_account_is_marked(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester)
    await database.write(accounts.block_account, account_id=caller.account_id, reason="abuse", now=datetime.now(UTC))
    owner = await find_owner(database, digester, caller.key)
    assert owner is not None
    assert owner.blocked


def test_a_short_pepper_is_refused() -> None:
    with pytest.raises(ValueError, match="TRYON_KEY_PEPPER"):
        KeyDigester("short")


@pytest.mark.parametrize("text", ["", "vto_live_", "vto_live_" + "a" * 42, "vto_live_" + "a" * 42 + "!", "x" * 52])
def test_what_is_no_key_is_not_looked_up(text: str) -> None:
    assert not keys.looks_like_key(text)


async def test_a_key_expires_to_the_moment(
    database: Database, digester: KeyDigester, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller, end = await create_caller(database, digester), datetime.now(UTC) + timedelta(days=3)
    _, key = await database.write(
        keys.create_key, digester, account_id=caller.account_id, terms=KeyTerms("Until then", expires_at=end)
    )

    class Then(datetime):
        moment = end

        @classmethod
        def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
            return cls.moment

    monkeypatch.setattr(keys, "datetime", Then)
    assert await find_owner(database, digester, key) is None
    Then.moment = end - timedelta(seconds=1)
    assert await find_owner(database, digester, key) is not None


async def test_a_replaced_key_works_until_its_overlap_is_over_and_no_longer_than_it_would_have(
    database: Database, digester: KeyDigester
) -> None:
    caller, now = await create_caller(database, digester), datetime.now(UTC)
    hour = timedelta(hours=1)
    soon, _ = await database.write(
        keys.create_key, digester, account_id=caller.account_id, terms=KeyTerms("Soon", ["products"], now + hour)
    )
    first, first_key = await database.write(
        keys.replace_key, digester, key_id=caller.key_id, account_id=caller.account_id, overlap=keys.OVERLAPS["24h"]
    )
    second, _ = await database.write(keys.replace_key, digester, key_id=soon.id, overlap=keys.OVERLAPS["7d"])
    with database.reading() as session:
        old, cut = session.get_one(ApiKey, caller.key_id), session.get_one(ApiKey, soon.id)
    assert old.expires_at is not None
    assert timedelta(0) <= old.expires_at - now - 24 * hour < timedelta(minutes=1)
    assert cut.expires_at == now + hour
    assert (old.revoked_at, first.expires_at, first.scopes) == (None, None, None)
    assert (second.name, second.scopes) == ("Soon", ["products"])
    assert second.expires_at is not None
    assert timedelta(0) < second.expires_at - now - hour < timedelta(minutes=1)
    for key in (caller.key, first_key):
        assert await find_owner(database, digester, key) is not None
    with pytest.raises(ValueError, match="replaced already"):
        await database.write(keys.replace_key, digester, key_id=caller.key_id)


async def test_the_successor_of_a_publishable_key_has_its_bounds(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester)
    bounds = PublishableTerms(["https://shop.example"], 7)
    old, old_key = await database.write(
        keys.create_key, digester, account_id=caller.account_id, mode=keys.TEST, publishable=bounds
    )
    new, key = await database.write(keys.replace_key, digester, key_id=old.id)
    assert (new.origins, new.daily_cap, new.scopes, new.mode) == (["https://shop.example"], 7, ["tryons"], "test")
    assert new.publishable_key == key != old_key
    assert key.startswith("vto_pub_test_")
    owner = await find_owner(database, digester, key)
    assert owner is not None
    assert (owner.publishable, owner.test) == (True, True)


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("https://shop.example", "https://shop.example"),
        ("  https://Shop.Example/ ", "https://shop.example"),
        ("https://shop.example:443", "https://shop.example"),
        ("https://shop.example:8443", "https://shop.example:8443"),
        ("https://b\u00fccher.example", "https://xn--bcher-kva.example"),
        ("http://localhost", "http://localhost"),
        ("http://LOCALHOST:3000", "http://localhost:3000"),
    ],
)
def test_an_origin_is_kept_as_browsers_send_it(text: str, origin: str) -> None:
    assert keys.read_origins([text, text, ""]) == [origin]


@pytest.mark.parametrize(
    "text",
    [
        "shop.example",
        "http://shop.example",
        "http://127.0.0.1:3000",
        "http://localhost.thief.example",
        "https://*.shop.example",
        "https://*",
        "*",
        "null",
        "https://",
        "https://shop.example/path",
        "https://shop.example?x",
        "https://shop.example#x",
        "https://me@shop.example",
        "https://shop.example:",
        "https://shop.example:99999",
        "https://shop",
        "https://shop.example https://other.example",
        "https://-shop.example",
        "https://[::1]",
        "file:///",
        "javascript://shop.example",
    ],
)
def test_what_is_no_origin_is_refused_by_name(text: str) -> None:
    with pytest.raises(ValueError, match="is not an origin"):
        keys.read_origins([text])


@pytest.mark.parametrize(
    ("text", "name"), [("  Shop \n server ", "Shop server"), ("x" * 60, "x" * 60), ("", None), ("x" * 61, None)]
)
def test_a_name_is_one_line(text: str, name: str | None) -> None:
    if name is None:
        with pytest.raises(ValueError, match="1 to 60 characters"):
            keys.read_name(text)
    else:
        assert keys.read_name(text) == name
