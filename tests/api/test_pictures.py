from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest
from PIL import Image

from api.tryon import pictures
from domain import accounts
from domain.access.keys import KeyDigester
from domain.jobs import jobs
from imaging.encode import TRAINED_COMPOSITE_XMP, encode_jpeg
from tests.api.conftest import Api, single
from tests.factories import create_caller

TRYONS = "/api/v1/tryon"
CHROMIUM = "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"
PICTURE = encode_jpeg(np.full((300, 200, 3), (200, 30, 30), dtype=np.uint8), xmp=TRAINED_COMPOSITE_XMP)


async def done(api: Api, keep: timedelta = timedelta(hours=1)) -> str:
    job_id: str = (await api.post(single())).json()["jobId"]
    await api.complete(job_id, PICTURE, keep)
    return job_id


async def asked(api: Api, job_id: str, accept: str | None = None, **query: Any) -> httpx.Response:
    headers = {} if accept is None else {"Accept": accept}
    return await api.client.get(f"{TRYONS}/{job_id}/picture", headers=headers, params=query)


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        (None, "image/jpeg"),
        ("", "image/jpeg"),
        ("*/*", "image/jpeg"),
        ("image/jpeg", "image/jpeg"),
        ("image/png", "image/png"),
        ("IMAGE/WEBP", "image/webp"),
        ("image/png;q=0.5, image/webp;q=0.9", "image/webp"),
        ("image/jpeg;q=0, image/*;q=0.3", "image/png"),
        ("text/html, image/*;q=0.1", "image/jpeg"),
        (CHROMIUM, "image/jpeg"),
    ],
)
async def test_the_format_is_the_one_that_is_asked_for(api: Api, accept: str | None, media_type: str) -> None:
    answer = await asked(api, await done(api), accept)
    assert (answer.status_code, answer.headers["Content-Type"], answer.headers["Vary"]) == (200, media_type, "Accept")
    with Image.open(BytesIO(answer.content)) as picture:
        assert (picture.get_format_mimetype(), picture.size) == (media_type, (200, 300))
        assert picture.info.get("xmp", picture.info.get("XML:com.adobe.xmp")) in (
            TRAINED_COMPOSITE_XMP,
            TRAINED_COMPOSITE_XMP.decode(),
        )
        assert np.abs(np.asarray(picture.convert("RGB"), dtype=int) - (200, 30, 30)).max() < 12
    if media_type == "image/jpeg":
        assert answer.content == PICTURE


@pytest.mark.parametrize("accept", ["text/html", "image/gif", "image/*;q=0", "application/json"])
async def test_no_other_format_is_made(api: Api, accept: str) -> None:
    answer = await asked(api, await done(api), accept)
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (406, "picture_not_acceptable")


@pytest.mark.parametrize(("size", "seen"), [(64, (43, 64)), (150, (100, 150)), (300, (200, 300)), (5000, (200, 300))])
async def test_a_picture_is_made_smaller_and_never_larger(api: Api, size: int, seen: tuple[int, int]) -> None:
    job_id = await done(api)
    for media_type in ("image/jpeg", "image/webp"):
        with Image.open(BytesIO((await asked(api, job_id, media_type, size=size)).content)) as picture:
            assert picture.size == seen


async def test_a_picture_that_has_not_changed_is_not_sent_again(api: Api) -> None:
    job_id = await done(api)
    first = await asked(api, job_id)
    again = await api.client.get(f"{TRYONS}/{job_id}/picture", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    other = await api.client.get(
        f"{TRYONS}/{job_id}/picture", headers={"If-None-Match": first.headers["ETag"], "Accept": "image/png"}
    )
    assert other.status_code == 200


async def test_what_has_no_picture_says_why(api: Api, digester: KeyDigester) -> None:
    open_job = (await api.post(single())).json()["jobId"]
    failed = (await api.post(single())).json()["jobId"]
    why: Any = {"error_code": "timed_out", "keep": timedelta(hours=1), "now": datetime.now(UTC)}
    await api.parts.database.write(jobs.fail_job, job_id=uuid.UUID(failed), **why)
    expired = await done(api, keep=timedelta(seconds=-1))
    theirs = await done(api)
    stranger = await create_caller(api.parts.database, digester)
    for job_id, headers, said in (
        (open_job, {}, (409, "job_not_completed")),
        (failed, {}, (409, "job_without_picture")),
        (expired, {}, (404, "job_not_found")),
        ("nonsense", {}, (404, "job_not_found")),
        (theirs, stranger.headers, (404, "job_not_found")),
    ):
        for method, path in (("GET", "picture"), ("POST", "picture/link")):
            answer = await api.client.request(method, f"{TRYONS}/{job_id}/{path}", headers=headers)
            assert (answer.status_code, answer.headers["X-Error-Code"]) == said


async def linked(api: Api, job_id: str, **body: Any) -> dict[str, Any]:
    answer = await api.client.post(f"{TRYONS}/{job_id}/picture/link", **({"json": body} if body else {}))
    assert answer.status_code == 200, answer.text
    link: dict[str, Any] = answer.json()
    return link


async def opened(api: Api, url: str, method: str = "GET", **headers: str) -> httpx.Response:
    """As a browser without a key would."""
    parts = urlsplit(url)
    transport = api.client._transport
    async with httpx.AsyncClient(transport=transport, base_url="http://tryon") as browser:
        return await browser.request(method, f"{parts.path}?{parts.query}", headers=headers)


async def test_a_link_works_without_a_key_until_its_time_is_up(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    link = await linked(api, await done(api), seconds=60)
    left = datetime.fromisoformat(link["expiresAt"]) - datetime.now(UTC)
    assert timedelta(seconds=55) < left <= timedelta(seconds=60)
    shown = await opened(api, link["url"], Accept=CHROMIUM)
    assert (shown.status_code, shown.content) == (200, PICTURE)
    assert shown.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert shown.headers["X-Content-Type-Options"] == "nosniff"
    looked = await opened(api, link["url"], "HEAD", Accept=CHROMIUM)
    assert (looked.status_code, looked.headers["ETag"]) == (200, shown.headers["ETag"])
    with Image.open(BytesIO((await opened(api, link["url"] + "&size=64")).content)) as picture:
        assert picture.size == (43, 64)

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime.now(tz) + timedelta(seconds=61)

    monkeypatch.setattr(pictures, "datetime", Later)
    assert (await opened(api, link["url"])).status_code == 404


async def test_a_link_is_not_longer_than_the_picture(api: Api) -> None:
    link = await linked(api, await done(api, keep=timedelta(seconds=100)))
    assert datetime.fromisoformat(link["expiresAt"]) <= datetime.now(UTC) + timedelta(seconds=100)


async def test_nobody_makes_a_link_of_their_own(api: Api) -> None:
    one, other = await done(api), await done(api)
    url = (await linked(api, one))["url"]
    until = urlsplit(url).query.partition("until=")[2].partition("&")[0]
    for changed in (
        url.replace(one, other),
        url.replace(until, str(int(until) + 1)),
        url + "&format=png",
        url[:-1] + ("0" if url[-1] != "0" else "1"),
        url.partition("&signature")[0],
    ):
        assert (await opened(api, changed)).status_code == 404


async def test_a_link_ends_with_the_job_or_the_account(api: Api) -> None:
    one, other = await done(api), await done(api)
    links = [(await linked(api, each))["url"] for each in (one, other)]
    assert (await api.client.delete(f"{TRYONS}/{one}")).status_code == 204
    assert (await opened(api, links[0])).status_code == 404
    await api.parts.database.write(
        accounts.block_account, account_id=api.caller.account_id, reason="Unpaid.", now=datetime.now(UTC)
    )
    assert (await opened(api, links[1])).status_code == 404


@pytest.mark.parametrize("seconds", [59, 3601, "soon"])
async def test_a_link_has_bounds(api: Api, seconds: Any) -> None:
    answer = await api.client.post(f"{TRYONS}/{await done(api)}/picture/link", json={"seconds": seconds})
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (400, "field_invalid")


async def test_pictures_are_kept_as_long_as_the_account_wants_within_what_the_operator_allows(api: Api) -> None:
    for wanted, longest, kept in ((None, 30, 1), (72, 1000, 72), (72, 48, 48), (1, 48, 1)):
        with api.parts.database.transaction() as session:
            account = accounts.find_account(session, account_id=api.caller.account_id)
            assert account
            account.result_ttl_seconds = wanted and wanted * 3600
        job_id = (await api.post(single())).json()["jobId"]
        now = datetime.now(UTC)
        hours: Any = {"keep": timedelta(hours=1), "longest": timedelta(hours=longest), "now": now}
        drawn: Any = {"result_key": "r", "engine": "warp", "report": {}}
        await api.parts.database.write(jobs.complete_job, job_id=uuid.UUID(job_id), **drawn, **hours)
        job = await api.parts.database.read(jobs.get_job, job_id=uuid.UUID(job_id))
        assert job.expires_at == now + timedelta(hours=kept)
