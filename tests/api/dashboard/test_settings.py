from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import delete, select

from api.dashboard.settings import ttl_choices
from domain import accounts
from domain.authentication import email_tokens, logins, sessions
from domain.authentication.email_tokens import Purpose
from domain.mails import Letterhead
from domain.tables import Account, AuditEntry, EmailToken, Login, LoginSession, LoginThrottle, Mail
from gateway.temporal import TemporalGateway
from runtime.settings import Settings
from tests.api.conftest import Api, OpenApi
from tests.api.dashboard.browser import Browser, signed_in, words
from tests.factories import PLANS, create_caller

PASSWORD, NEW_PASSWORD = "four quiet words here", "another four quiet words"
FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"


@pytest.fixture
async def owner(api: Api, browser: Browser) -> Browser:
    """The API's caller, signed in, who has a password; nothing that earlier tests did from here is counted."""
    with api.parts.database.transaction() as session:
        session.execute(delete(LoginThrottle))
    password_hash = await api.parts.passwords.hash(PASSWORD)
    with api.parts.database.transaction() as session:
        session.get_one(Login, api.caller.account_id).password_hash = password_hash
    return browser


async def account_of(api: Api) -> Account:
    account = await api.parts.database.read(accounts.find_account, account_id=api.caller.account_id)
    assert account is not None
    return account


async def letters(api: Api) -> dict[str, str]:
    """Who was written to for the account, and the subject."""
    with api.parts.database.reading() as session:
        found = session.scalars(select(Mail).where(Mail.account_id == api.caller.account_id))
        return {mail.to_address: mail.subject for mail in found}


async def fits(api: Api, password: str) -> bool:
    with api.parts.database.reading() as session:
        login = session.get_one(Login, api.caller.account_id)
    return await api.parts.passwords.fits(password, login.password_hash)


async def test_the_page_shows_what_is_set(api: Api, browser: Browser) -> None:
    page = await browser.get("/settings")
    assert page.status_code == 200
    seen = words(page)
    assert (await account_of(api)).email in seen
    assert "1 hour (default)" in seen
    assert "this browser" in seen
    assert "Switch o" not in seen


async def test_results_are_kept_for_as_long_as_was_chosen(api: Api, browser: Browser) -> None:
    seen = await browser.follow(await browser.post("/settings/retention", {"result_ttl": "300"}, page="/settings"))
    assert "Saved." in words(seen)
    assert '<option value="300" selected>5 minutes</option>' in seen.text
    assert (await account_of(api)).result_ttl_seconds == 300
    await browser.post("/settings/retention", {"result_ttl": "service"}, page="/settings")
    assert (await account_of(api)).result_ttl_seconds is None


@pytest.mark.parametrize("value", ["", "59", "3601", "-300", "1e3", "soon"])
async def test_times_that_are_not_to_be_had_are_refused(api: Api, browser: Browser, value: str) -> None:
    answer = await browser.post("/settings/retention", {"result_ttl": value}, page="/settings")
    assert answer.status_code == 422
    assert "Choose a time from the list" in words(answer)
    assert (await account_of(api)).result_ttl_seconds is None


def test_what_is_offered_is_what_the_service_allows() -> None:
    assert ttl_choices(3600, 3600, None) == [60, 300, 900, 1800]
    assert ttl_choices(3600, 3600, 420) == [60, 300, 420, 900, 1800]
    assert ttl_choices(600, 600, 7200) == [60, 300, 600]
    assert ttl_choices(30, 30, None) == []
    assert ttl_choices(3600, 30 * 24 * 3600, None)[-2:] == [7 * 24 * 3600, 30 * 24 * 3600]


async def test_a_new_address_is_asked_to_confirm_and_the_old_one_is_told(api: Api, owner: Browser) -> None:
    old = (await account_of(api)).email
    fields = {"new_email": " New@Example.COM ", "email_password": PASSWORD}
    seen = await owner.follow(await owner.post("/settings/email", fields, page="/settings"))
    assert "We sent a link to the new address" in words(seen)
    assert (await account_of(api)).email == old
    written = await letters(api)
    assert set(written) == {old, "new@example.com"}
    assert "Confirm your new address" in written["new@example.com"]
    with api.parts.database.reading() as session:
        token = session.scalars(select(EmailToken).where(EmailToken.account_id == api.caller.account_id)).one()
    assert (token.purpose, token.email) == ("change", "new@example.com")


async def test_nobody_learns_from_it_who_has_an_account(api: Api, owner: Browser) -> None:
    other = await create_caller(api.parts.database, api.parts.digester)
    with api.parts.database.reading() as session:
        email = session.get_one(Account, other.account_id).email
    fields = {"email_password": PASSWORD}
    taken = await owner.post("/settings/email", {**fields, "new_email": email}, page="/settings")
    free = await owner.post("/settings/email", {**fields, "new_email": "free@example.com"}, page="/settings")
    assert (taken.status_code, taken.headers["Location"]) == (free.status_code, free.headers["Location"])
    with api.parts.database.reading() as session:
        [subject] = session.scalars(select(Mail.subject).where(Mail.to_address == email))
    assert "You have an account" in subject


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"new_email": "no address", "email_password": PASSWORD}, "not an e-mail address"),
        ({"new_email": "", "email_password": PASSWORD}, "not an e-mail address"),
        ({"new_email": "new@example.com", "email_password": "wrong"}, "The password is wrong."),
        ({"new_email": "new@example.com"}, "The password is wrong."),
    ],
)
async def test_a_change_of_address_that_is_refused_mails_nothing(
    api: Api, owner: Browser, fields: dict[str, str], said: str
) -> None:
    answer = await owner.post("/settings/email", fields, page="/settings")
    assert answer.status_code == 422
    assert said in words(answer)
    assert not fields["new_email"] or f'value="{fields["new_email"]}"' in answer.text
    assert PASSWORD not in answer.text
    assert await letters(api) == {}


async def test_nobody_is_flooded_with_mail(api: Api, owner: Browser) -> None:
    fields = {"new_email": "new@example.com", "email_password": PASSWORD}
    answers = [await owner.post("/settings/email", fields, page="/settings") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [303, 303, 303, 429]
    assert "Try again later" in words(answers[3])


async def test_a_new_password_signs_the_others_out_and_renews_this_session(api: Api, owner: Browser) -> None:
    other = await signed_in(api)
    before = dict(owner.client.cookies)
    fields = {"old_password": PASSWORD, "new_password": NEW_PASSWORD}
    answer = await owner.post("/settings/password", fields, page="/settings")
    assert "Your password was changed" in words(await owner.follow(answer))
    assert dict(owner.client.cookies) != before
    assert await fits(api, NEW_PASSWORD)
    assert (await other.get("/settings")).status_code == 303
    assert (await owner.get("/settings")).status_code == 200
    owner.client.cookies.clear()
    for name, value in before.items():
        owner.client.cookies.set(name, value, domain="tryon.example", path="/")
    assert (await owner.get("/settings")).status_code == 303
    assert [subject for subject in (await letters(api)).values() if "was changed" in subject]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("wrong", NEW_PASSWORD, "The password is wrong."),
        ("", NEW_PASSWORD, "The password is wrong."),
        (PASSWORD, "short", "at least 10 characters"),
        (PASSWORD, "x" * 201, "at most 200 characters"),
        (PASSWORD, "aaaaaaaaaaaa", "too easy to guess"),
    ],
)
async def test_a_password_that_is_refused_changes_nothing(
    api: Api, owner: Browser, old: str, new: str, said: str
) -> None:
    other = await signed_in(api)
    answer = await owner.post("/settings/password", {"old_password": old, "new_password": new}, page="/settings")
    assert answer.status_code == 422
    assert said in words(answer)
    assert NEW_PASSWORD not in answer.text
    assert await fits(api, PASSWORD)
    assert (await other.get("/settings")).status_code == 200


async def test_a_stolen_session_cannot_guess_the_password(api: Api, owner: Browser) -> None:
    """Three forms ask for it, and all count together."""
    forms = [
        ("/settings/password", {"old_password": "wrong", "new_password": NEW_PASSWORD}, "/settings"),
        ("/settings/email", {"email_password": "wrong", "new_email": "new@example.com"}, "/settings"),
        ("/settings/erase", {"password": "wrong", "word": "erase"}, "/settings/erase"),
    ]
    for path, fields, page in (forms + forms)[:5]:
        assert (await owner.post(path, fields, page=page)).status_code == 422
    for path, fields, page in forms:
        answer = await owner.post(path, {**fields, "password": PASSWORD}, page=page)
        assert answer.status_code == 429
        assert "Too many attempts" in words(answer)


async def test_browsers_are_listed_in_words_and_can_be_signed_out(api: Api, browser: Browser) -> None:
    with api.parts.database.transaction() as session:
        for address in ("203.0.113.7", "203.0.113.8"):
            sessions.open_session(
                session,
                account_id=api.caller.account_id,
                address=address,
                user_agent=FIREFOX,
                now=datetime.now(UTC) - timedelta(minutes=5),
            )
        [one, _] = session.scalars(
            select(LoginSession.id).where(LoginSession.user_agent == FIREFOX).order_by(LoginSession.address)
        )
    seen = words(await browser.get("/settings"))
    assert seen.count("Firefox on Windows") == 4  # in the row, and in the words of its button
    answer = await browser.post(f"/settings/sessions/{one}/end", page="/settings")
    seen = words(await browser.follow(answer))
    assert "203.0.113.7" not in seen
    assert "203.0.113.8" in seen
    seen = words(await browser.follow(await browser.post("/settings/sessions/end-others", page="/settings")))
    assert "Firefox" not in seen
    assert "this browser" in seen


async def test_nobody_signs_out_a_browser_of_another_account(api: Api, browser: Browser) -> None:
    other = await create_caller(api.parts.database, api.parts.digester)
    neighbour = await signed_in(api, other.account_id)
    with api.parts.database.reading() as session:
        theirs = session.scalar(select(LoginSession.id).where(LoginSession.account_id == other.account_id))
    await browser.post(f"/settings/sessions/{theirs}/end", page="/settings")
    await browser.post("/settings/sessions/end-others", page="/settings")
    assert (await neighbour.get("/settings")).status_code == 200
    assert (await browser.post("/settings/sessions/nothing/end", page="/settings")).status_code == 404


async def test_an_account_is_erased_by_its_owner(api: Api, owner: Browser) -> None:
    email = (await account_of(api)).email
    explained = words(await owner.get("/settings/erase"))
    assert "What stays" in explained
    answer = await owner.post("/settings/erase", {"password": PASSWORD, "word": " Erase "})
    assert answer.status_code == 200
    assert "Your account is erased" in words(answer)
    assert not dict(owner.client.cookies) or all("session" not in name for name in owner.client.cookies)
    assert (await owner.get("/settings")).headers["Location"].startswith("/dashboard/log-in")
    account = await account_of(api)
    assert account.erased_at is not None
    assert account.email != email
    assert (await api.client.get("/api/v1/usage")).status_code == 401
    with api.parts.database.reading() as session:
        left = select(LoginSession).where(LoginSession.account_id == api.caller.account_id)
        assert session.scalars(left).all() == []
        act = select(AuditEntry).where(AuditEntry.account_id == api.caller.account_id)
        entry = session.scalars(act).one()
    assert (entry.action, entry.operator_id) == ("account.erased", api.caller.account_id)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"password": PASSWORD, "word": ""}, "Type the word erase"),
        ({"password": PASSWORD, "word": "yes"}, "Type the word erase"),
        ({"password": "wrong", "word": "erase"}, "The password is wrong."),
    ],
)
async def test_nothing_is_erased_without_password_and_word(
    api: Api, owner: Browser, fields: dict[str, str], said: str
) -> None:
    answer = await owner.post("/settings/erase", fields)
    assert answer.status_code == 422
    assert said in words(answer)
    assert (await account_of(api)).erased_at is None


async def test_an_erasure_begins_while_temporal_is_away(open_api: OpenApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRYON_TEMPORAL_ADDRESS", "127.0.0.1:1")
    monkeypatch.setenv("TRYON_TEMPORAL_START_TIMEOUT_SECONDS", "0.2")
    settings = Settings()
    async with open_api(settings, await TemporalGateway.connect(settings.temporal, for_requests=True)) as api:
        browser = await signed_in(api)
        password_hash = await api.parts.passwords.hash(PASSWORD)
        with api.parts.database.transaction() as session:
            session.get_one(Login, api.caller.account_id).password_hash = password_hash
        answer = await browser.post("/settings/erase", {"password": PASSWORD, "word": "erase"})
        assert "Your account is erased" in words(answer)
        assert (await account_of(api)).erased_at is not None


@pytest.mark.parametrize(
    "form",
    [
        ("/settings/password", {"old_password": PASSWORD, "new_password": NEW_PASSWORD}, "/settings"),
        ("/settings/email", {"email_password": PASSWORD, "new_email": "new@example.com"}, "/settings"),
        ("/settings/erase", {"password": PASSWORD, "word": "erase"}, "/settings/erase"),
    ],
    ids=["password", "address", "erasure"],
)
async def test_a_reset_undoes_what_the_old_password_has_begun(
    api: Api, owner: Browser, monkeypatch: pytest.MonkeyPatch, form: tuple[str, dict[str, str], str]
) -> None:
    path, fields, page = form
    compare, email = api.parts.passwords.fits, (await account_of(api)).email
    reset_hash = await api.parts.passwords.hash("five words of the owner")

    async def fits_until_the_reset(password: str, kept: str | None) -> bool:
        said, now = await compare(password, kept), datetime.now(UTC)
        own: dict[str, Any] = {"account_id": api.caller.account_id, "email": email, "now": now}
        with api.parts.database.transaction() as session:
            token = email_tokens.make_token(session, purpose=Purpose.RESET, **own)
            given: dict[str, Any] = {"token": token, "password_hash": reset_hash, "now": now}
            assert logins.reset(session, PLANS, api.parts.digester, Letterhead("Fitting Room", ""), **given)
        return said

    monkeypatch.setattr(api.parts.passwords, "fits", fits_until_the_reset)
    answer = await owner.post(path, fields, page=page)
    assert "Sign in to continue." in words(await owner.follow(answer))
    assert dict(owner.client.cookies).keys() == {"__Host-tryon-form"}
    with api.parts.database.reading() as session:
        assert session.get_one(Login, api.caller.account_id).password_hash == reset_hash
        assert session.scalars(select(EmailToken).where(EmailToken.account_id == api.caller.account_id)).all() == []
        [letter] = session.scalars(select(Mail).where(Mail.account_id == api.caller.account_id))
    assert "was changed" in letter.subject  # by the reset
    assert (await account_of(api)).erased_at is None
