"""Three months of jobs as an account of some size leaves them."""

from __future__ import annotations

import math
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from domain.products import public_id
from workflows.contracts import (
    Category,
    GarmentHints,
    GarmentSource,
    ObjectRef,
    ProductRef,
    RenderReport,
    TryOnInput,
)

KEPT_FOR, DEADLINE = timedelta(hours=1), timedelta(minutes=5)

CATEGORIES: tuple[Category, ...] = ("upper_body", "lower_body", "full_body")

FAILURES = {
    "person_not_found": 30,
    "garment_not_recognised": 22,
    "several_people": 14,
    "pose_not_usable": 12,
    "garment_url_unreachable": 10,
    "result_not_usable": 6,
    "timed_out": 4,
    "cancelled": 2,
}
"""Codes of the failed ones, and how they compare."""

FAILED_SHARE, COMBO_SHARE, TEST_SHARE, KEYLESS_SHARE, ERASED_SHARE = 0.07, 0.12, 0.05, 0.04, 0.01
OPEN = 3
"""The last few are in progress."""

LEAST_MINUTES = 3
"""What the newest of all the others is older than."""


@dataclass(frozen=True)
class Owned:
    """What jobs point at.

    Attributes:
        live_keys: Ids of keys that cost something.
        test_key: Id of one that does not.
        products: Registered garments.
    """

    account_id: uuid.UUID
    live_keys: Sequence[uuid.UUID]
    test_key: uuid.UUID
    products: Sequence[uuid.UUID]


def job_rows(owned: Owned, *, count: int, days: int, now: datetime, random: Random) -> list[dict[str, Any]]:
    """Values of every column of so many jobs, oldest first; what they cost is left to `bench.dashboard.money`."""
    newest = now - timedelta(minutes=LEAST_MINUTES)
    ages = sorted((random.random() * days for _ in range(count - OPEN)), reverse=True)
    moments = [newest - timedelta(days=age) for age in ages] + [
        now - timedelta(seconds=OPEN - each) for each in range(OPEN)
    ]
    return [_job(owned, moment, now, random, is_open=index >= count - OPEN) for index, moment in enumerate(moments)]


def _job(owned: Owned, moment: datetime, now: datetime, random: Random, *, is_open: bool) -> dict[str, Any]:
    job_id = uuid.uuid4()
    combo, test = random.random() < COMBO_SHARE, not is_open and random.random() < TEST_SHARE
    garments = [_garment(owned, job_id, index, random) for index in range(random.randint(2, 4) if combo else 1)]
    request = TryOnInput(
        job_id=str(job_id),
        account_id=str(owned.account_id),
        kind="combo" if combo else "single",
        person=_picture(f"jobs/{job_id}/input/person"),
        garments=garments,
        seed=job_id.int % 2**31,
    )
    keyless = not test and random.random() < KEYLESS_SHARE
    row = {
        "id": job_id,
        "account_id": owned.account_id,
        "api_key_id": owned.test_key if test else None if keyless else random.choice(owned.live_keys),
        "allowance_id": None,
        "counted_on": None if test else moment.astimezone(UTC).date(),
        "kind": request.kind,
        "status": "processing",
        "workflow_input": request.model_dump(mode="json"),
        "products": [
            {"index": garment.index, "id": garment.product.id, "revision": garment.product.revision}
            for garment in garments
            if garment.product is not None
        ]
        or None,
        "created_at": moment,
        "deadline_at": moment + DEADLINE,
        "started_at": moment,
        "erased_at": None,
        **dict.fromkeys(("finished_at", "expires_at", "generation_ms", "result_key", "engine", "report", "error_code")),
    }
    return row if is_open else row | _end(row, garments, now, random)


def _end(row: dict[str, Any], garments: Sequence[GarmentSource], now: datetime, random: Random) -> dict[str, Any]:
    test = row["counted_on"] is None
    spent = round(1000 * random.lognormvariate(math.log(1.2 if test else 9 + 4 * len(garments)), 0.25))
    finished = row["created_at"] + timedelta(milliseconds=spent)
    expires = finished + KEPT_FOR
    ended: dict[str, Any] = {"finished_at": finished, "expires_at": expires}
    if random.random() < FAILED_SHARE:
        code = random.choices(list(FAILURES), list(FAILURES.values()))[0]
        return ended | {"status": "failed", "error_code": code}
    engine = "rehearsal" if test else "warp"
    ended |= {"status": "completed", "generation_ms": spent, "engine": engine}
    ended["report"] = _report(engine, spent, garments, random).model_dump(mode="json", by_alias=True)
    if random.random() < ERASED_SHARE:
        return ended | {"erased_at": expires, "workflow_input": {}, "products": None, "report": None}
    return ended | {"result_key": f"results/{row['id']}.jpg" if expires > now else None}


def _garment(owned: Owned, job_id: uuid.UUID, index: int, random: Random) -> GarmentSource:
    product = random.choice(owned.products) if owned.products and random.random() < 0.7 else None
    key = f"products/{product}/front.png" if product else f"jobs/{job_id}/input/garment-{index}"
    return GarmentSource(
        index=index,
        category=random.choice(CATEGORIES),
        hints=GarmentHints(
            garment_category=random.choice(("t-shirt", "jeans", "summer dress", None)),
            size=random.choice(("S", "M", "L", None)),
            tuck_state=random.choice(("tucked", "untucked", None)),
        ),
        picture=_picture(key),
        product=ProductRef(id=public_id(product), revision=random.randint(1, 4)) if product else None,
    )


def _picture(key: str) -> ObjectRef:
    return ObjectRef(bucket="tryon", key=key, sha256="0" * 64, size=340_000, content_type="image/jpeg")


def _report(engine: str, spent: int, garments: Sequence[GarmentSource], random: Random) -> RenderReport:
    if engine == "rehearsal":
        return RenderReport(engine=engine, timings_ms={"stage_accepted": 20, "stage_rehearsing": spent - 20})
    shares = {"segment": 0.22, "cut": 0.12, "drape": 0.2, "lay": 0.14, "compose": 0.16}
    stages = {"stage_accepted": 0.01, "stage_preparing": 0.3, "stage_rendering": 0.63, "stage_watermarking": 0.06}
    given = garments[0].hints
    return RenderReport(
        engine=engine,
        hints_applied=[name for name in ("tuck_state", "size") if getattr(given, name)],
        hints_not_applied={"kind": "This garment is drawn as its picture shows it."} if given.garment_category else {},
        timings_ms={name: round(share * spent) for name, share in (shares | stages).items()},
        checks={
            name: round(random.uniform(low, high), 3)
            for name, low, high in (("contrast", 12, 48), ("changed", 9, 30), ("outside", 0, 0.08), ("face", 0.9, 1))
        },
    )
