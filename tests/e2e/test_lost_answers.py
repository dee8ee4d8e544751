"""Answers that are lost, late or no answers any more: what pages that wait for them do."""

from __future__ import annotations

import asyncio
import re

from playwright.async_api import Route, expect

from tests.e2e.person import JOB_MS, Person

RUN, CHECK, STATE = "**/playground/run", "**/playground/check", "**/playground/jobs/*/state"
REPORT = re.compile("/products/import/[^/]+$")


async def run_to_the_end(person: Person) -> str:
    """Press the button; returns where the job is that the page shows in the end."""
    await person.page.locator("#go").click()
    await person.page.locator("#done").wait_for(state="visible", timeout=JOB_MS)
    return str(await person.page.locator("#job").get_attribute("href"))


async def test_a_run_whose_answer_was_lost_is_not_started_twice(person: Person) -> None:
    async def lose(route: Route) -> None:
        await route.fetch()
        await route.abort()

    await person.sign_up()
    await person.open("/playground")
    await person.press("Fill in samples")
    await person.page.route(RUN, lose, times=1)
    await person.page.locator("#go").click()
    await person.reads("The try-on may have been started: look under Jobs")
    first = await run_to_the_end(person)
    await person.press("Try another")
    assert await run_to_the_end(person) != first, "the same pictures are another job once there was an answer"
    await person.open("/jobs")
    assert await person.page.get_by_role("table").get_by_role("link").count() == 2


async def test_a_run_is_waited_for_while_answers_about_it_break_off(person: Person) -> None:
    async def broken(route: Route) -> None:
        await route.fulfill(body='{"stat', content_type="application/json")

    await person.sign_up()
    await person.open("/playground")
    await person.press("Fill in samples")
    await person.page.route(STATE, broken, times=2)
    await run_to_the_end(person)


async def test_the_end_of_the_session_is_not_told_as_a_failed_run(person: Person) -> None:
    async def signed_out(route: Route) -> None:
        await route.fulfill(status=401, json={"error": "You are signed out. Sign in again to continue."})

    await person.sign_up()
    await person.open("/playground")
    await person.press("Fill in samples")
    await person.page.route(STATE, signed_out)
    await person.page.locator("#go").click()
    await person.reads("You are signed out. Sign in again to continue. What comes of the try-on is shown under Jobs.")
    await expect(person.page.locator("#failed")).to_be_hidden()
    await expect(person.page.locator("#under-way")).to_be_hidden()


async def test_what_a_check_finds_out_too_late_is_dropped(person: Person) -> None:
    asked, answered = asyncio.Event(), asyncio.Event()

    async def late(route: Route) -> None:
        asked.set()
        await answered.wait()
        await route.fulfill(json={"ok": True, "said": "What was true before.", "findings": {}})

    await person.sign_up()
    await person.open("/playground")
    await person.press("Fill in samples")
    await person.page.route(CHECK, late, times=1)
    await person.press("Check the pictures")
    await asyncio.wait_for(asked.wait(), 30)
    await person.page.locator("[name='garments[0].category']").select_option("lower_body")
    answered.set()
    await expect(person.page.locator("#check")).to_be_enabled()
    await person.page.wait_for_timeout(500)
    await expect(person.page.locator("#checked")).to_be_hidden()
    await expect(person.page.locator("#trouble")).to_be_hidden()
    assert person.complaints == []


async def test_a_report_that_waits_for_its_import_notices_the_end_of_the_session(person: Person) -> None:
    async def still_running(route: Route) -> None:
        answer = await route.fetch()
        body = re.sub(r'data-state="\w+"', 'data-state="running"', await answer.text())
        await route.fulfill(response=answer, body=body)

    await person.sign_up()
    await person.open("/products/import")
    rows = b"externalId,name,category,garmentImageUrl\nA-1,Shirt,upper_body,https://shop.invalid/shirt.jpg\n"
    await person.page.locator("input[type=file]").set_input_files(
        {"name": "spring.csv", "mimeType": "text/csv", "buffer": rows}
    )
    await person.page.route(REPORT, still_running)
    await person.page.locator("form:has(input[type=file]) button[type=submit]").click()
    await expect(person.page.locator("#import-report[data-state=running]")).to_be_attached()
    async with person.page.expect_response(REPORT):  # it asks by itself
        pass
    await person.page.context.clear_cookies()
    await person.sees_heading("Sign in")
