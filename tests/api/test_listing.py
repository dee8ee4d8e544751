from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from domain.jobs import jobs
from tests.api.conftest import Api, combo, single
from tests.factories import create_caller

TRYONS = "/api/v1/tryon"


async def started(api: Api, **fields: Any) -> str:
    answer = await api.post(single(**fields))
    assert answer.status_code == 202, answer.text
    job_id: str = answer.json()["jobId"]
    return job_id


async def listed(api: Api, **query: Any) -> list[str]:
    answer = await api.client.get(TRYONS, params=query)
    assert answer.status_code == 200, answer.text
    return [each["jobId"] for each in answer.json()["jobs"]]


async def test_a_line_says_everything_but_the_picture(api: Api) -> None:
    job_id = await started(api, metadata={"orderId": "4711"})
    [line] = (await api.client.get(TRYONS)).json()["jobs"]
    assert datetime.fromisoformat(line.pop("createdAt")) <= datetime.now(UTC)
    nothing = dict.fromkeys(("finishedAt", "pictureExpiresAt", "generationTimeMs", "engine", "error", "errorCode"))
    assert line == {
        "jobId": job_id,
        "status": "processing",
        "kind": "single",
        "mode": "live",
        "erased": False,
        "products": [],
        "metadata": {"orderId": "4711"},
        **nothing,
    }
    await api.complete(job_id)
    [line] = (await api.client.get(TRYONS)).json()["jobs"]
    assert (line["status"], line["engine"]) == ("completed", "warp")
    ends = datetime.fromisoformat(line["pictureExpiresAt"]) - datetime.fromisoformat(line["finishedAt"])
    assert ends == timedelta(hours=1)


async def test_a_failure_is_told_in_the_words_of_the_poll(api: Api) -> None:
    job_id = await started(api)
    why: Any = {"error_code": "person_not_found", "keep": timedelta(hours=1), "now": datetime.now(UTC)}
    await api.parts.database.write(jobs.fail_job, job_id=uuid.UUID(job_id), **why)
    [line] = (await api.client.get(TRYONS)).json()["jobs"]
    assert line["error"] == (await api.poll(job_id)).json()["error"]
    assert line["errorCode"] == "person_not_found"


async def test_filters_and_pages(api: Api) -> None:
    first = await started(api, metadata={"shop": "north", "orderId": "1"})
    middle = datetime.now(UTC)
    second = await started(api, metadata={"shop": "north", "orderId": "2"})
    answer = await api.post(combo(metadata={"shop": "south"}), "/api/v1/tryon/combo")
    third = answer.json()["jobId"]
    await api.complete(second)
    assert await listed(api) == [third, second, first]
    assert await listed(api, status="completed") == [second]
    assert await listed(api, mode="test") == []
    assert await listed(api, createdBefore=middle.isoformat()) == [first]
    assert await listed(api, createdAfter=middle.isoformat()) == [third, second]
    assert await listed(api, **{"metadata[shop]": "north"}) == [second, first]
    assert await listed(api, **{"metadata[shop]": "north", "metadata[orderId]": "1"}) == [first]
    seen, cursor = [], None
    while True:
        answer = (await api.client.get(TRYONS, params={"limit": 2, **({"cursor": cursor} if cursor else {})})).json()
        seen += [each["jobId"] for each in answer["jobs"]]
        if (cursor := answer["nextCursor"]) is None:
            break
    assert seen == [third, second, first]


async def test_a_list_is_of_one_account_and_forgets_what_is_erased(api: Api) -> None:
    job_id = await started(api, metadata={"orderId": "1"})
    stranger = await create_caller(api.parts.database, api.parts.digester)
    answer = await api.client.get(TRYONS, headers=stranger.headers)
    assert answer.json() == {"jobs": [], "nextCursor": None}
    assert (await api.client.delete(f"{TRYONS}/{job_id}")).status_code == 204
    [line] = (await api.client.get(TRYONS)).json()["jobs"]
    assert (line["erased"], line["metadata"], line["products"]) == (True, None, [])


@pytest.mark.parametrize(
    "metadata",
    [
        {f"name-{number}": "x" for number in range(17)},
        {"": "x"},
        {"a" * 41: "x"},
        {"with space": "x"},
        {"a": "x" * 501},
        {"a": "\0"},
        {"a": 1},
        {"a": {"b": "c"}},
        "text",
    ],
)
async def test_metadata_has_bounds(api: Api, metadata: Any) -> None:
    answer = await api.post(single(metadata=metadata))
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (400, "field_invalid")
    assert "metadata" in answer.json()["error"]
    assert await listed(api) == []


async def test_the_most_that_metadata_may_hold(api: Api) -> None:
    most = {f"{number:02}" + "n" * 38: "ü'\"%_" + "[,{" * 165 for number in range(16)}
    job_id = await started(api, metadata=most)
    name, text = next(iter(most.items()))
    assert await listed(api, **{f"metadata[{name}]": text}) == [job_id]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"metadata": "x"}, "metadata"),
        ({"metadata[a b]": "x"}, "metadata"),
        ({"metadata[a": "x"}, "metadata"),
        ({f"metadata[{number}]": "x" for number in range(17)}, "metadata"),
        ({"cursor": "nonsense"}, "cursor"),
        ({"limit": 0}, "limit"),
        ({"status": "lost"}, "status"),
        ({"createdAfter": "yesterday"}, "createdAfter"),
        ({"createdAfter": "2026-01-01T00:00:00"}, "createdAfter"),
        ({"createdBefore": "0001-01-01T00:00:00+14:00"}, "createdBefore"),
    ],
)
async def test_a_question_that_is_wrong_names_its_field(api: Api, query: dict[str, Any], field: str) -> None:
    answer = await api.client.get(TRYONS, params=query)
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (400, "field_invalid")
    assert re.match(rf"{field}(\[.*\])?: ", answer.json()["error"])


async def test_looking_does_not_count_as_a_request_of_the_contract(api: Api) -> None:
    assert '"management"' in (await api.client.get(TRYONS)).headers["RateLimit-Policy"]
    assert await api.store.list_keys("results/") == []
