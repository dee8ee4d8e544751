from __future__ import annotations

import asyncio
import re
import uuid
from datetime import UTC, datetime, timedelta
from html import unescape
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from api.cursor import cursor_at
from domain import accounts, products
from domain.jobs import backfills, jobs
from domain.object_keys import input_key, result_key
from domain.products import public_id
from domain.tables import ApiKey, BackfillItem, Job
from tests.api.conftest import Api
from tests.api.dashboard.browser import Browser, signed_in, words
from tests.factories import PLANS, create_caller, new_job
from tests.pictures import encoded
from workflows.contracts import GarmentHints, GarmentSource, ObjectRef, ProductRef, RenderReport, TryOnInput
from workflows.queues import BULK_PRIORITY, INTERACTIVE_PRIORITY

HOUR = timedelta(hours=1)
JPEG = b"\xff\xd8 a picture"
PERSON = ObjectRef(bucket="b", key="jobs/x/input/person", sha256="0" * 64, size=3, content_type="image/jpeg")
REPORT = RenderReport(
    engine="warp",
    hints_applied=["tuck_state"],
    hints_not_applied={"kind": "This garment is drawn as its picture shows it."},
    timings_ms={"segment": 900, "stage_preparing": 1000, "stage_rendering": 4000},
    checks={"face": 0.9731, "novel_figure": 2.0},
)


async def accepted(api: Api, *, garments: list[GarmentSource] | None = None, **fields: Any) -> uuid.UUID:
    """A job in progress that nobody works on."""
    job_id = uuid.uuid4()
    garments = garments or [GarmentSource(category="upper_body", picture_url="https://shop.example/shirt.jpg")]
    request = TryOnInput(
        job_id=str(job_id),
        account_id=str(api.caller.account_id),
        person=PERSON,
        garments=garments,
        priority=fields.pop("priority", INTERACTIVE_PRIORITY),
    )
    used = [{"index": 0, "id": each.product.id, "revision": each.product.revision} for each in garments if each.product]
    sent = request.model_dump(mode="json")
    new = new_job(api.caller, job_id=job_id, workflow_input=sent, products=used, relayed=False, **fields)
    await api.parts.database.write(jobs.accept_job, PLANS, new, now=datetime.now(UTC))
    return job_id


async def completed(api: Api, job_id: uuid.UUID, *, ago: timedelta = timedelta(0)) -> uuid.UUID:
    await api.store.put(result_key(str(job_id)), JPEG, "image/jpeg")
    await api.parts.database.write(
        jobs.complete_job,
        job_id=job_id,
        result_key=result_key(str(job_id)),
        engine="warp",
        report=REPORT.model_dump(mode="json", by_alias=True),
        keep=HOUR,
        now=datetime.now(UTC) - ago,
    )
    return job_id


async def failed(api: Api, job_id: uuid.UUID, code: str = "several_people", advice: str | None = None) -> uuid.UUID:
    await api.parts.database.write(
        jobs.fail_job, job_id=job_id, error_code=code, error_advice=advice, keep=HOUR, now=datetime.now(UTC)
    )
    return job_id


def linked(page: str) -> list[str]:
    """Ids of the jobs that a list links to, in its order."""
    return re.findall(r'<a href="/dashboard/jobs/([0-9a-f-]{36})">', page)


async def test_the_list_says_what_came_of_each_and_what_it_cost(api: Api, browser: Browser) -> None:
    done, lost = await completed(api, await accepted(api)), await failed(api, await accepted(api))
    test, now_open = await accepted(api, test=True), await accepted(api, kind="combo")
    answer = await browser.get("/jobs")
    assert linked(answer.text) == [str(each) for each in (now_open, test, lost, done)]
    rows = [words_of(row) for row in re.findall(r"<tr>.*?</tr>", answer.text, re.DOTALL)[1:]]
    assert "in progress Combo Sent with the request — — reserved" in rows[0]
    assert rows[1].endswith("test")
    assert "failed several_people Single" in rows[2]
    assert rows[2].endswith("no")
    assert rows[3].endswith("yes")


def words_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


async def test_filters_are_kept_while_paging(api: Api, browser: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.dashboard.jobs.PAGE_JOBS", 2)
    lost = [str(await failed(api, await accepted(api))) for _ in range(3)][::-1]
    await accepted(api)
    first = await browser.get("/jobs?status=failed")
    assert linked(first.text) == lost[:2]
    older = re.search(r'rel="next" href="([^"]+)"', first.text)
    assert older
    second = await browser.get(unescape(older[1]).removeprefix("/dashboard"))
    assert linked(second.text) == lost[2:]
    assert 'rel="next"' not in second.text
    assert 'rel="prev" href="/dashboard/jobs?status=failed"' in second.text


async def test_an_empty_page_with_more_to_come_leads_further_back(
    api: Api, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("domain.jobs.job_history.MOST_SEARCHED", 2)
    monkeypatch.setattr("api.dashboard.jobs.MOST_SEARCHED", 2)
    combo = await accepted(api, kind="combo")
    for _ in range(2):
        await accepted(api)
    first = await browser.get("/jobs?kind=combo")
    assert linked(first.text) == []
    assert "None of these 2 jobs matches this filter. Older ones may. Look further back" in words(first)
    older = re.search(r'rel="next" href="([^"]+)"', first.text)
    assert older
    second = await browser.get(unescape(older[1]).removeprefix("/dashboard"))
    assert linked(second.text) == [str(combo)]
    last = await browser.get("/jobs?kind=combo&before=" + cursor_at((datetime(2026, 1, 1, tzinfo=UTC), combo)))
    assert "No older job matches this filter." in words(last)
    assert 'rel="prev" href="/dashboard/jobs?kind=combo"' in last.text


async def test_filters_that_make_no_sense_are_named(browser: Browser) -> None:
    answer = await browser.get("/jobs?status=lost&from=2026-02-30&to=9999-12-31&error=x")
    text = words(answer)
    assert answer.status_code == 422
    assert text.count("Choose one from the list.") == 2
    assert text.count("Write the day like 2026-03-31.") == 2
    answer = await browser.get("/jobs?from=2026-02-03&to=2026-02-02")
    assert (answer.status_code, "before the first" in words(answer)) == (422, True)


async def test_a_day_ends_at_midnight_utc(api: Api, browser: Browser) -> None:
    job_id = await accepted(api)
    with api.parts.database.transaction() as session:
        session.get_one(Job, job_id).created_at = datetime(2026, 3, 31, 23, 59, 59, tzinfo=UTC)
    assert linked((await browser.get("/jobs?from=2026-03-31&to=2026-03-31")).text) == [str(job_id)]
    assert linked((await browser.get("/jobs?to=2026-03-30")).text) == []
    assert "No job matches this filter" in words(await browser.get("/jobs?from=2026-04-01&to=2026-04-02"))


async def test_a_whole_id_leads_to_its_job(api: Api, browser: Browser) -> None:
    job_id = await accepted(api)
    answer = await browser.get(f"/jobs?job=%20{job_id}%20")
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/dashboard/jobs/{job_id}")
    for text in (str(uuid.uuid4()), "%00", "nonsense"):
        answer = await browser.get(f"/jobs?job={text}")
        assert (answer.status_code, "No job with this ID" in words(answer)) == (404, True)


@pytest.mark.parametrize("cursor", ["x", "MjAyNg==", "%00"])
async def test_a_cursor_that_is_none_is_refused(browser: Browser, cursor: str) -> None:
    answer = await browser.get(f"/jobs?before={cursor}")
    assert (answer.status_code, "no such page of the list" in words(answer)) == (400, True)


async def test_jobs_of_others_are_as_unknown_as_those_that_never_were(api: Api) -> None:
    job_id = await completed(api, await accepted(api))
    stranger = await create_caller(api.parts.database, api.parts.digester)
    other = await signed_in(api, stranger.account_id)
    for path in ("", "/state", "/result.jpg", "/result.png", "/delete"):
        answers = [await other.get(f"/jobs/{each}{path}") for each in (job_id, uuid.uuid4(), "nonsense")]
        assert {answer.status_code for answer in answers} == {404}, path
        assert len({re.sub(r'"[^"]*form_token[^>]*>', "", words(answer)) for answer in answers}) == 1
    assert linked((await other.get("/jobs")).text) == []
    answer = await other.post(f"/jobs/{job_id}/delete", page="/jobs")
    assert answer.status_code == 404
    assert await api.store.get(result_key(str(job_id))) == JPEG


async def test_a_completed_job_tells_everything(api: Api, browser: Browser) -> None:
    values = {"name": "Linen shirt", "category": "upper_body", "front": {"key": "k", "sha256": "0" * 64}}
    with api.parts.database.transaction() as session:
        saved = products.register_product(session, account_id=api.caller.account_id, new_id=uuid.uuid4(), values=values)
        key = session.get_one(ApiKey, api.caller.key_id)
    product = public_id(saved.product.id)
    hints = GarmentHints(tuck_state="tucked", size="M")
    garment = GarmentSource(category="upper_body", hints=hints, product=ProductRef(id=product, revision=3))
    job_id = await completed(api, await accepted(api, garments=[garment]))
    answer = await browser.get(f"/jobs/{job_id}")
    text = words(answer)
    assert f"Requested by Key {key.prefix}…{key.last_four}" in text
    assert "Billed: one try-on from the try-ons included from " in text
    assert f'href="/dashboard/products/{product}">Linen shirt</a>' in answer.text
    assert "revision 3 Upper body · size M · tuckState tucked" in text
    assert "Reading the photo and the garments 1.0 s" in text
    assert "Drawing 4.0 s" in text
    assert "Inside the engine Segment 900 ms" in text
    assert "tuckState applied garmentCategory not applied This garment is drawn as its picture shows it." in text
    assert "Likeness of the face 0.973 Novel figure 2" in text
    assert "Available until" in text
    assert f'src="/dashboard/jobs/{job_id}/result.jpg"' in answer.text


async def test_the_picture_is_shown_to_its_owner_and_kept_by_nobody(api: Api, browser: Browser) -> None:
    job_id = await completed(api, await accepted(api))
    answer = await browser.get(f"/jobs/{job_id}/result.jpg")
    assert (answer.status_code, answer.content, answer.headers["Content-Type"]) == (200, JPEG, "image/jpeg")
    assert answer.headers["Cache-Control"] == "no-store, private"
    name = f'filename="tryon-{job_id.hex[:8]}.jpg"'
    assert answer.headers["Content-Disposition"] == f"inline; {name}"
    answer = await browser.get(f"/jobs/{job_id}/result.jpg?download=1")
    assert answer.headers["Content-Disposition"] == f"attachment; {name}"


@pytest.mark.parametrize(
    ("ending", "media_type"), [("jpg", "image/jpeg"), ("png", "image/png"), ("webp", "image/webp")]
)
async def test_every_format_that_a_job_offers_can_be_downloaded(
    api: Api, browser: Browser, ending: str, media_type: str
) -> None:
    job_id = await accepted(api)
    await api.complete(str(job_id), encoded())
    offered = f"/dashboard/jobs/{job_id}/result.{ending}?download=1"
    assert f'href="{offered}" download' in (await browser.get(f"/jobs/{job_id}")).text
    answer = await browser.get(offered.removeprefix("/dashboard"))
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, media_type)
    assert answer.headers["Cache-Control"] == "no-store, private"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="tryon-{job_id.hex[:8]}.{ending}"'
    with Image.open(BytesIO(answer.content)) as picture:
        assert picture.get_format_mimetype() == media_type
    assert (await browser.get(f"/jobs/{job_id}/result.gif")).status_code == 404


async def test_a_job_stays_when_its_picture_has_gone(api: Api, browser: Browser) -> None:
    job_id = await completed(api, await accepted(api), ago=2 * HOUR)
    assert (await api.poll(str(job_id))).status_code == 404
    answer = await browser.get(f"/jobs/{job_id}")
    text = words(answer)
    assert answer.status_code == 200
    assert "Expired and deleted on" in text
    assert "Billed: one try-on" in text
    assert "result.jpg" not in answer.text
    assert "Delete job data" not in text
    assert (await browser.get(f"/jobs/{job_id}/result.jpg")).status_code == 404
    answer = await browser.follow(await browser.get(f"/jobs/{job_id}/delete"))
    assert "nothing left to delete" in words(answer)


async def test_the_copy_of_a_backfill_can_be_deleted_when_the_picture_has_gone(api: Api, browser: Browser) -> None:
    job_id = await completed(api, await accepted(api), ago=2 * HOUR)
    copy, now = "backfills/b/results/one.jpg", datetime.now(UTC)
    of_item: dict[str, Any] = {"account_id": api.caller.account_id, "key": "one", "job_id": job_id, "now": now}
    await api.store.put(copy, JPEG, "image/jpeg")
    await api.parts.database.write(backfills.note_job, backfill_id="b", **of_item)
    await api.parts.database.write(backfills.note_result, result_key=copy, **of_item)
    assert "Delete job data" in words(await browser.get(f"/jobs/{job_id}"))
    await browser.post(f"/jobs/{job_id}/delete", page=f"/jobs/{job_id}/delete")
    assert await api.store.list_keys(copy) == []
    text = words(await browser.get(f"/jobs/{job_id}"))
    assert "You deleted the picture and inputs on" in text
    assert "Delete job data" not in text


async def test_a_failed_job_says_why_and_what_to_do(api: Api, browser: Browser) -> None:
    text = words(await browser.get(f"/jobs/{await failed(api, await accepted(api))}"))
    assert "There are several people in the photo." in text
    assert "Use another picture: the same one will fail again. Error code: several_people ." in text
    assert "Not billed: failed try-ons are free." in text
    job_id = await failed(api, await accepted(api), "pose_not_usable", "Stand upright.")
    assert "The pose in the photo cannot be used. Stand upright. Use another" in words(
        await browser.get(f"/jobs/{job_id}")
    )
    text = words(await browser.get(f"/jobs/{await failed(api, await accepted(api), 'timed_out')}"))
    assert "The same request may succeed if you retry it." in text
    text = words(await browser.get(f"/jobs/{await failed(api, await accepted(api), 'cancelled')}"))
    assert "Not billed: cancelled try-ons are free." in text


async def test_who_asked_is_told_without_a_key_too(api: Api, browser: Browser) -> None:
    playground, bulk, item = await accepted(api), await accepted(api, priority=BULK_PRIORITY), await accepted(api)
    test = await accepted(api, test=True)
    with api.parts.database.transaction() as session:
        for job_id in (playground, bulk, item):
            session.get_one(Job, job_id).api_key_id = None
        session.add(
            BackfillItem(
                account_id=api.caller.account_id,
                key="sku",
                job_id=item,
                backfill_id="spring",
                touched_at=datetime.now(UTC),
            )
        )
    for job_id, said in ((playground, "Playground"), (bulk, "A backfill"), (item, "Backfill spring")):
        assert f"Requested by {said} Accepted" in words(await browser.get(f"/jobs/{job_id}"))
    assert "Not billed: it used a test key." in words(await browser.get(f"/jobs/{test}"))


async def test_a_pack_and_a_trial_are_named_on_the_bill(api: Api) -> None:
    caller = await create_caller(api.parts.database, api.parts.digester, plan="trial")
    new = new_job(caller)
    await api.parts.database.write(jobs.accept_job, PLANS, new, now=datetime.now(UTC))
    text = words(await (await signed_in(api, caller.account_id)).get(f"/jobs/{new.job_id}"))
    assert "Reserved: one try-on from the trial. You get it back if there is no picture." in text


async def test_an_open_job_is_watched_until_it_ends(
    api: Api, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.dashboard.jobs.HELD_SECONDS", 0)
    job_id = await accepted(api)
    page = await browser.get(f"/jobs/{job_id}")
    assert f'data-job-state="/dashboard/jobs/{job_id}/state"' in page.text
    assert '<noscript><meta http-equiv="refresh"' in page.text
    json_please = {"Accept": "application/json"}
    open_state = {"status": "processing", "words": "In the queue"}
    assert "data-progress>In the queue<" in page.text
    assert (await browser.get(f"/jobs/{job_id}/state", headers=json_please)).json() == open_state
    await completed(api, job_id)
    ended = (await browser.get(f"/jobs/{job_id}/state", headers=json_please)).json()
    assert ended == {"status": "completed", "words": None}
    assert "data-job-state" not in (await browser.get(f"/jobs/{job_id}")).text


async def test_the_question_is_held_until_the_job_ends(api: Api, browser: Browser) -> None:
    job_id = await accepted(api)
    asked = asyncio.create_task(browser.get(f"/jobs/{job_id}/state"))
    await asyncio.sleep(0.2)
    assert not asked.done()
    await failed(api, job_id)
    assert (await asked).json()["status"] == "failed"


async def test_deleting_asks_first_and_leaves_the_bill(api: Api, browser: Browser) -> None:
    job_id = await completed(api, await accepted(api))
    assert "This cannot be undone." in words(await browser.get(f"/jobs/{job_id}/delete"))
    answer = await browser.follow(await browser.post(f"/jobs/{job_id}/delete"))
    text = words(answer)
    assert "Picture and inputs are deleted. The billing record stays." in text
    assert "You deleted the picture and inputs on" in text
    assert "Billed: one try-on" in text
    assert "Where the time went" not in text
    assert await api.store.list_keys(result_key(str(job_id))) == []
    assert (await api.poll(str(job_id))).status_code == 404


async def test_deleting_an_open_job_cancels_it_unbilled(api: Api, browser: Browser) -> None:
    job_id = await accepted(api)
    await api.store.put(input_key(str(job_id), "person"), JPEG, "image/jpeg")
    assert "The job is cancelled" in words(await browser.get(f"/jobs/{job_id}/delete"))
    text = words(await browser.follow(await browser.post(f"/jobs/{job_id}/delete")))
    assert "Not billed: cancelled try-ons are free." in text
    assert await api.store.list_keys(f"jobs/{job_id}/") == []


async def test_a_blocked_account_sees_its_jobs_and_deletes_none(api: Api, browser: Browser) -> None:
    job_id = await completed(api, await accepted(api))
    await api.parts.database.write(
        accounts.block_account, account_id=api.caller.account_id, reason="Unpaid.", now=datetime.now(UTC)
    )
    assert (await browser.get(f"/jobs/{job_id}")).status_code == 200
    assert (await browser.post(f"/jobs/{job_id}/delete")).status_code == 403
    assert await api.store.get(result_key(str(job_id))) == JPEG


async def test_only_operators_are_shown_the_way_to_temporal(api: Api, browser: Browser) -> None:
    job_id = await accepted(api)
    assert "Temporal" not in words(await browser.get(f"/jobs/{job_id}"))
    caller = await create_caller(api.parts.database, api.parts.digester)
    new = new_job(caller)
    await api.parts.database.write(jobs.accept_job, PLANS, new, now=datetime.now(UTC))
    operator = await signed_in(api, caller.account_id, operator=True)
    page = (await operator.get(f"/jobs/{new.job_id}")).text
    assert f"/workflows/tryon-{new.job_id}" in page
