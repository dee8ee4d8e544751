import random
from itertools import pairwise

import pytest

from engines.sizes import Fit, SizeSystem, fit_of, parse_size

LETTERS = ["3XS", "XXS", "XS", "S", "M", "L", "XL", "2XL", "3XL", "4XL", "5XL", "6XL"]


def test_letters_are_one_size_apart() -> None:
    for smaller, larger in pairwise(LETTERS):
        assert fit_of(larger, smaller) == Fit(1.0)
        assert fit_of(smaller, larger) == Fit(-1.0)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("xxl", "2XL"),
        ("XXXL", "3XL"),
        ("2X", "XXL"),
        ("medium", "M"),
        ("Large", "L"),
        ("extra large", "XL"),
        ("X-Small", "XS"),
        ("Extra Extra Large", "XXL"),
        ("Größe M", "M"),
        ("Size: 10", "10"),
        ("EUR40", "EU 40"),
        ("40 EU", "EU 40"),
        ("DE 40", "EU 40"),
        ("uk12", "UK 12"),
        ("32/34", "W32/L34"),
        ("32x34", "W32/L34"),
        ("32 × 34", "W32/L34"),  # noqa: RUF001 - shops write the sign for times
        ("W32 L34", "W32/L34"),
        ("w32l34", "W32/L34"),
        ("32W 34L", "W32/L34"),
        ("３８", "38"),  # noqa: RUF001 - full-width digits
    ],
)
def test_spellings_of_one_size(text: str, same: str) -> None:
    assert parse_size(text) == parse_size(same) is not None
    assert fit_of(text, same) == Fit(0.0)


@pytest.mark.parametrize(
    ("size", "customer", "fit"),
    [
        ("42", "38", Fit(2.0)),
        ("EU 36", "EU 38", Fit(-1.0)),
        ("US 00", "US 0", Fit(-1.0)),
        ("S/M", "M", Fit(-0.5)),
        ("134", "128", Fit(1.0)),
        ("W34/L32", "W32/L34", Fit(1.0, -1.0)),
        ("W34", "W32/L34", Fit(1.0)),
        ("31", "30", Fit(0.5)),
    ],
)
def test_difference(size: str, customer: str, fit: Fit) -> None:
    found = fit_of(size, customer)
    assert found is not None
    assert (found.tightness, found.length) == pytest.approx((fit.tightness, fit.length))


@pytest.mark.parametrize(
    ("size", "customer"),
    [
        ("M", "38"),
        ("EU 38", "38"),
        ("EU 38", "UK 38"),
        ("W32/L34", "32"),
        ("38", "128"),
        ("US M", "M"),
        ("M", "quite slim"),
        ("cosy", "cosy"),
        ("M", None),
        (None, "M"),
    ],
)
def test_not_one_system(size: str | None, customer: str | None) -> None:
    assert fit_of(size, customer) is None


@pytest.mark.parametrize("text", ["one size", "One-Size", "OS", "O/S", "Einheitsgröße", "taille unique", "TU"])
def test_one_size_fits_as_it_is_meant_to(text: str) -> None:
    assert fit_of(text, "XL") == fit_of("EU 36", text) == fit_of(text, text) == Fit(0.0)


@pytest.mark.parametrize("text", ["7XL", "W99", "3234", "40/42", "3.5", "999", "XL tall", "M/L/XL", "", "-", "W32/L99"])
def test_what_is_no_size(text: str) -> None:
    assert parse_size(text) is None


def test_parsing_never_raises() -> None:
    generator = random.Random(3)
    letters = "XSML0123456789 /-.WwLxEUKJeu\u00b2\u0663\u00d7\u00df\u0301💥"
    for _ in range(3000):
        text = "".join(generator.choice(letters) for _ in range(generator.randint(0, 8)))
        size = parse_size(text)
        assert size is None or size.system in SizeSystem
