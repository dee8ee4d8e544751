from __future__ import annotations

import re

import pytest

from api.dashboard.rendering import HERE
from tests.api.conftest import Api
from tests.api.dashboard.browser import Browser, signed_in, words
from tests.api.dashboard.routes import all_routes

MEGABYTE = 1024 * 1024
TEMPLATES = HERE / "templates"


async def test_too_much_is_refused_on_a_page(browser: Browser) -> None:
    answer = await browser.post("/products/new", {"name": "x" * 40 * MEGABYTE})
    assert (answer.status_code, answer.headers["Content-Type"]) == (413, "text/html; charset=utf-8")
    assert "The upload is too large" in words(answer)
    assert "form-action" in answer.headers["Content-Security-Policy"]
    told = await browser.post("/keys", {"mode": "x" * 4 * MEGABYTE}, headers={"Accept": "application/json"})
    assert told.status_code == 413
    assert told.json()["error"].startswith("The upload is too large")


async def test_a_null_character_is_no_fault_of_the_database(api: Api) -> None:
    operator = await signed_in(api, operator=True)
    for method, path in all_routes():
        if method == "POST" and "{" not in path and path != "/log-out":
            answer = await operator.post(path, {"email": "ann\0@example.com", "password": "\0"}, page="/keys")
            assert answer.status_code == 400, (path, answer.status_code)
            assert "The form could not be read" in words(answer)


@pytest.mark.parametrize(
    "media_type",
    ["multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=b", "text/plain", ""],
)
async def test_what_is_no_form_is_refused(browser: Browser, media_type: str) -> None:
    for body in (b"", b"--b", b"--b\r\n\r\n\r\n--b--", b"\xff\xfe", b"&" * 1000, b"a=1&" * 300):
        answer = await browser.client.post(
            "/dashboard/keys", content=body, headers={"Sec-Fetch-Site": "same-origin", "Content-Type": media_type}
        )
        assert answer.status_code in (400, 403), (body, answer.status_code)


def test_what_uses_up_a_link_or_writes_mail_is_not_sent_twice_by_a_double_click() -> None:
    """The second click would be told that the link does not work any more, or make the one in the mail useless."""
    for template in (TEMPLATES / "login_pages").glob("*.html"):
        for form in re.findall(r"<form[^>]*>", template.read_text()):
            assert "data-once" in form or "/log-out" in form, (template.name, form)
