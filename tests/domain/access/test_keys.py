from __future__ import annotations

from datetime import UTC, datetime

import pytest

from domain import accounts
from domain.access import keys
from domain.access.keys import KeyDigester
from domain.tables import ApiKey
from runtime.database import Database
from tests.factories import create_caller


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
