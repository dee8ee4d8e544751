"""Keys while peppers are changed."""

from __future__ import annotations

import pytest

from domain.access import keys
from domain.access.keys import KeyDigester
from domain.tables import ApiKey
from runtime.database import Database
from tests.conftest import PEPPER
from tests.factories import Caller, create_caller

NEW = "n" * 40
NEWEST = "another pepper, newer still, that is long enough"
ROTATING = KeyDigester(NEW, [PEPPER])


async def find_owner(database: Database, digester: KeyDigester, caller: Caller) -> keys.KeyOwner | None:
    return await database.read(lambda session: keys.find_owner(session, digester, key=caller.key))


async def renew(database: Database, digester: KeyDigester, caller: Caller) -> None:
    owner = await find_owner(database, digester, caller)
    assert owner is not None
    digest = owner.new_digest
    assert digest is not None
    await database.write(lambda session: keys.renew_digest(session, key_id=caller.key_id, digest=digest))


async def test_a_key_under_the_old_pepper_is_found_and_moves(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester)
    await renew(database, ROTATING, caller)
    owner = await find_owner(database, ROTATING, caller)
    assert owner is not None
    assert owner.new_digest is None
    assert await find_owner(database, digester, caller) is None
    after = await find_owner(database, KeyDigester(NEW), caller)
    assert after is not None
    assert (after.account_id, after.new_digest) == (caller.account_id, None)


async def test_a_key_made_under_the_new_pepper_after_the_rotation_moves_in_the_next(database: Database) -> None:
    caller = await create_caller(database, KeyDigester(NEW))
    next_rotation = KeyDigester(NEWEST, [NEW])
    await renew(database, next_rotation, caller)
    assert await find_owner(database, KeyDigester(NEWEST), caller) is not None


async def test_hosts_of_both_halves_of_a_rotation_find_every_key(database: Database, digester: KeyDigester) -> None:
    """First the new pepper is accepted everywhere, then it becomes the current one, host by host."""
    prepared = KeyDigester(PEPPER, [NEW])
    old = await create_caller(database, digester)
    made_on_a_prepared_host = await create_caller(database, prepared)
    made_on_a_moved_host = await create_caller(database, ROTATING)
    for caller in (old, made_on_a_prepared_host, made_on_a_moved_host):
        assert await find_owner(database, prepared, caller) is not None
        assert await find_owner(database, ROTATING, caller) is not None
    await renew(database, ROTATING, old)
    assert await find_owner(database, prepared, old) is not None


async def test_outside_of_a_rotation_digests_are_what_they_always_were(
    database: Database, digester: KeyDigester
) -> None:
    """An older version of the service has to find them."""
    caller = await create_caller(database, digester)
    with database.reading() as session:
        digest = session.get_one(ApiKey, caller.key_id).digest
    assert (len(digest), keys.MARK in digest) == (64, False)
    assert len(ROTATING.digest(caller.key)) == 64
    owner = await find_owner(database, digester, caller)
    assert owner is not None
    assert owner.new_digest is None


async def test_keys_that_have_not_moved_are_counted_and_revoked(database: Database, digester: KeyDigester) -> None:
    await database.write(keys.revoke_waiting, ROTATING)  # those of other tests
    waiting, moved = [await create_caller(database, digester) for _ in range(2)]
    revoked = await create_caller(database, digester)
    await renew(database, ROTATING, moved)
    await database.write(keys.revoke_key, key_id=revoked.key_id)
    with database.reading() as session:
        count = keys.count_by_pepper(session, ROTATING)
        assert keys.count_by_pepper(session, digester).waiting == ()
    assert [key.id for key in count.waiting] == [waiting.key_id]
    assert count.current >= 1
    with database.transaction() as session:
        assert keys.revoke_waiting(session, ROTATING) == 1
    assert await find_owner(database, ROTATING, waiting) is None
    assert await find_owner(database, ROTATING, moved) is not None


async def test_a_revoked_key_is_not_found_under_any_pepper(database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(database, digester)
    await database.write(keys.revoke_key, key_id=caller.key_id)
    assert await find_owner(database, ROTATING, caller) is None


def test_a_short_previous_pepper_is_refused() -> None:
    with pytest.raises(ValueError, match="TRYON_KEY_PEPPER_PREVIOUS"):
        KeyDigester(NEW, ["short"])
