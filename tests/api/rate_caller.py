"""One process of several that call with one key: ``python -m tests.api.rate_caller DATABASE_URL KEY_ID CALLS``.

Says ``ready`` when it has connected, begins when a line comes in, and ends by saying how many calls were admitted.
"""

from __future__ import annotations

import asyncio
import sys
import uuid

from api.rate_limit import DatabaseRateLog
from domain.access.rates import RatePolicy
from runtime.database import Database
from runtime.settings import DatabaseSettings

POLICY = RatePolicy("requests", requests=20, window_seconds=300)


async def call(url: str, key_id: uuid.UUID, calls: int) -> None:
    database = Database(DatabaseSettings(url=url, busy_timeout_seconds=60))
    log = DatabaseRateLog(database)
    await database.ping()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    states = await asyncio.gather(*(log.hit(key_id, POLICY) for _ in range(calls)))
    sys.stdout.write(f"{sum(state.admitted for state in states)}\n")
    database.close()


if __name__ == "__main__":
    asyncio.run(call(sys.argv[1], uuid.UUID(sys.argv[2]), int(sys.argv[3])))
