"""A sheet of engines and pairs, from the form to the pictures, with the backfill between them carried out by hand."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from domain.jobs import backfills, jobs
from domain.object_keys import backfill_key, backfill_picture_key, backfill_result_key, own_backfills_prefix
from intake.pages import read_page
from tests.api.conftest import Api
from tests.api.dashboard.browser import Browser, signed_in, words
from tests.factories import create_caller, create_job
from tests.pictures import encoded, photo
from workflows.backfills.contracts import BackfillInput, BackfillItem

PAGE = "/admin/comparisons"
PHOTO, OTHER_PHOTO, SHIRT, JEANS = [encoded(photo(256, 256 + 16 * more)) for more in range(4)]
FILES = [
    ("photos", ("anna.jpg", PHOTO, "image/jpeg")),
    ("photos", ("bela.jpg", OTHER_PHOTO, "image/jpeg")),
    ("upper_body", ("shirt.jpg", SHIRT, "image/jpeg")),
    ("lower_body", ("jeans.jpg", JEANS, "image/jpeg")),
]
ENGINES = {"engine_warp": "yes", "engine_fashn": "yes"}


@pytest.fixture
def started(api: Api, monkeypatch: pytest.MonkeyPatch) -> dict[str, BackfillInput]:
    """Backfills that were started, by their ids; none of them runs."""
    found: dict[str, BackfillInput] = {}

    async def start(backfill_id: str, backfill: BackfillInput) -> None:
        found[backfill_id] = backfill

    monkeypatch.setattr(api.parts.temporal, "start_backfill", start)
    return found


async def begin(operator: Browser, files: Any = FILES, fields: dict[str, str] | None = None) -> httpx.Response:
    return await operator.post(PAGE, ENGINES if fields is None else fields, files=files)


async def test_every_photo_is_drawn_with_every_garment_by_every_engine(
    api: Api, operator: Browser, started: dict[str, BackfillInput]
) -> None:
    answer = await begin(operator)
    assert answer.status_code == 303, words(answer)
    ((name, backfill),) = started.items()
    assert backfill.account == str(operator.account_id)
    items = read_page(await api.store.get(backfill_key(name, "manifest.jsonl")), BackfillItem)
    made = {(item.person, item.garments[0].garment_image_url, item.garments[0].category, item.engine) for item in items}
    assert len(items) == len(made) == len({item.key for item in items}) == 2 * 2 * 2
    assert {engine for *_, engine in made} == {"warp", "fashn"}
    assert {category for *_, category, _ in made} == {"upper_body", "lower_body"}
    stored = {await api.store.get(item.person or "") for item in items}
    assert stored == {PHOTO, OTHER_PHOTO}
    shown = words(await operator.get(f"{PAGE}/{name}"))
    assert "It is being drawn" in shown
    assert shown.count("waiting") == len(items)
    assert name in words(await operator.get(PAGE))


async def test_the_sheet_shows_pictures_times_checks_and_why_there_is_none(
    api: Api, operator: Browser, started: dict[str, BackfillInput]
) -> None:
    await begin(operator, [FILES[0], FILES[2]])
    (name,) = started
    items = read_page(await api.store.get(backfill_key(name, "manifest.jsonl")), BackfillItem)
    database, now, keep = api.parts.database, datetime.now(UTC), timedelta(hours=1)
    assert operator.account_id
    caller = replace(api.caller, account_id=operator.account_id)
    for item in items:
        job_id, key = await create_job(database, caller), item.key or ""
        of_item: dict[str, Any] = {"account_id": operator.account_id, "key": key, "job_id": job_id, "now": now}
        await database.write(backfills.note_job, backfill_id=name, **of_item)
        if item.engine == "fashn":
            said = "No GPU worker has the engine fashn: name it in TRYON_ENGINES_BESIDE."
            failed: dict[str, Any] = {"error_code": "generation_failed", "error_advice": said}
            await database.write(jobs.fail_job, job_id=job_id, keep=keep, now=now, **failed)
            continue
        report = {"engine": "warp", "timingsMs": {"stage_rendering": 640}, "checks": {"face": 0.93}}
        done: dict[str, Any] = {"result_key": "k", "engine": "warp", "report": report, "keep": keep}
        await database.write(jobs.complete_job, job_id=job_id, now=now, **done)
        kept = backfill_result_key(name, key)
        await api.store.put(kept, PHOTO, "image/jpeg")
        await database.write(backfills.note_result, result_key=kept, **of_item)
        drawn = job_id
    page = await operator.get(f"{PAGE}/{name}")
    shown = words(page)
    assert "640 ms of drawing" in shown
    assert "Likeness of the face 0.93" in shown
    assert "No GPU worker has the engine fashn" in shown
    assert "It is being drawn" not in shown
    addresses = set(re.findall(rf'src="/dashboard({PAGE}/[^"]+)"', page.text))
    assert len(addresses) == 3  # the photo, the garment, one picture
    for address in addresses:
        picture = await operator.get(address)
        assert (picture.status_code, picture.headers["Content-Type"]) == (200, "image/webp")
    assert (await operator.get(f"{PAGE}/{name}/items/000000.jsonl")).status_code == 404
    await database.write(jobs.end_access, job_id=drawn, now=now)
    page = await operator.get(f"{PAGE}/{name}")
    assert "/results/" not in page.text, "its copy is yet to go"
    assert "It was erased." in words(page)
    assert "It is being drawn" not in words(page)


@pytest.mark.parametrize(
    ("files", "fields", "said"),
    [
        (FILES[:2], ENGINES, "Choose 1 to 6 pictures of garments"),
        (FILES[2:], ENGINES, "Choose 1 to 6 photos"),
        ([*FILES, *[FILES[0]] * 5], ENGINES, "Choose 1 to 6 photos"),
        (FILES, {"engine_flat": "yes"}, "Choose at least one engine."),
        ([FILES[0], ("full_body", ("notes.txt", b"no picture", "text/plain"))], ENGINES, "2. notes.txt:"),
    ],
)
async def test_what_makes_no_sheet_is_said_and_nothing_is_stored(
    api: Api, operator: Browser, *, started: dict[str, BackfillInput], files: Any, fields: dict[str, str], said: str
) -> None:
    answer = await begin(operator, files, fields)
    assert answer.status_code == 422
    assert said in words(answer)
    assert not started
    assert await api.store.list_keys(own_backfills_prefix(str(operator.account_id))) == []


async def test_a_sheet_is_its_operators_own_and_goes_when_they_say_so(
    api: Api, operator: Browser, started: dict[str, BackfillInput], monkeypatch: pytest.MonkeyPatch
) -> None:
    await begin(operator)
    (name,) = started
    another = await create_caller(api.parts.database, api.parts.digester)
    stranger = await signed_in(api, another.account_id, operator=True)
    key = backfill_picture_key(name, hashlib.sha256(PHOTO).hexdigest())
    picture = f"{PAGE}/{name}/pictures/{key.rpartition('/')[2]}"
    assert (await operator.get(picture)).status_code == 200
    assert [(await stranger.get(path)).status_code for path in (f"{PAGE}/{name}", picture)] == [404, 404]
    assert name not in words(await stranger.get(PAGE))
    cancelled = list[tuple[str, str]]()

    async def steer(backfill_id: str, signal: str) -> None:
        cancelled.append((backfill_id, signal))

    monkeypatch.setattr(api.parts.temporal, "steer_backfill", steer)
    answer = await operator.post(f"{PAGE}/{name}/delete", page=f"{PAGE}/{name}")
    assert answer.status_code == 303
    assert cancelled == [(name, "cancel")]
    assert await api.store.list_keys(key) == []
    assert (await operator.get(f"{PAGE}/{name}")).status_code == 404
    await stranger.client.aclose()
