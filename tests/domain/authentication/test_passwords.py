from __future__ import annotations

import pytest

from domain.authentication.passwords import LONGEST, SHORTEST, Passwords, check_password, usual_passwords

EMAIL = "ann.of.shop@example.com"
GOOD = "three plain words"


@pytest.mark.parametrize(
    "password",
    [
        "x" * (SHORTEST - 1),
        GOOD * LONGEST,
        "",
        EMAIL,
        EMAIL.upper(),
        "Ann.Of.Shop",
        "Password123",
        "  qwertyuiop ",
        "aaaaaaaaaaaa",
        "abababababab",
    ],
)
def test_what_is_guessed_too_easily_is_refused(password: str) -> None:
    with pytest.raises(ValueError, match=r"Use at|Do not use your address|too easy to guess"):
        check_password(password, email=EMAIL)


@pytest.mark.parametrize("password", [GOOD, "ünïcödé wörds", "x1y2z3x1y2", "correct horse " * 14])
def test_anything_else_is_a_password(password: str) -> None:
    check_password(password, email=EMAIL)


def test_the_list_holds_only_what_the_length_lets_through() -> None:
    assert len(usual_passwords()) > 50
    assert all(len(each) >= SHORTEST and each == each.lower() for each in usual_passwords())


async def test_only_the_same_password_fits() -> None:
    passwords = Passwords()
    kept = await passwords.hash(GOOD)
    assert kept.startswith("$argon2id$")
    assert len(kept) <= 200
    assert await passwords.fits(GOOD, kept)
    assert not await passwords.fits(GOOD + " ", kept)
    assert not await passwords.fits(GOOD, None)
    assert not await passwords.fits("nobody has this password", None)
    assert not await passwords.fits(GOOD, "not a hash")


async def test_a_hash_of_other_parameters_fits_and_is_not_current() -> None:
    older, newer = Passwords(memory_kib=8 * 1024, passes=1), Passwords()
    kept = await older.hash(GOOD)
    assert await newer.fits(GOOD, kept)
    assert not newer.is_current(kept)
    assert newer.is_current(await newer.hash(GOOD))
