from __future__ import annotations

import re

from tests.e2e.person import Person


async def test_from_nothing_to_a_key_without_reading_anything(person: Person) -> None:
    await person.page.goto(person.site.address)
    await person.sees_heading("Sign in")
    await person.sign_up()
    await person.reads("(7 days left)")
    key = await person.new_key("test")
    assert re.fullmatch(r"vto_test_[\w-]{43}", key)
    await person.visit("API keys")
    assert key not in await person.page.content()
    await person.reads(f"{key[:13]}…{key[-4:]}")
    assert person.complaints == []


async def test_out_and_in_again(person: Person) -> None:
    await person.sign_up()
    await person.press("Log out")
    await person.sees_heading("Sign in")
    await person.open("/keys")
    await person.sees_heading("Sign in")
    await person.label("E-mail address").fill(person.email)
    await person.label("Password").fill("not my password")
    await person.press("Sign in")
    await person.reads("The address or the password is wrong.")
    await person.label("Password").fill(person.password)
    await person.press("Sign in")
    await person.sees_heading("API keys")
