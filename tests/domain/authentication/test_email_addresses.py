from __future__ import annotations

import pytest

from domain.authentication.email_addresses import address_to_keep, mailbox_of, spelling


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("Ann@Example.COM ", "ann@example.com"),
        ("ann@bücher.example", "ann@xn--bcher-kva.example"),
        ("ann+shop@mail.local", "ann+shop@mail.local"),
    ],
)
def test_an_address_is_kept_in_one_spelling(typed: str, kept: str) -> None:
    assert address_to_keep(typed) == kept
    assert spelling(typed) == kept


@pytest.mark.parametrize(
    "typed",
    ["", "ann", "ann@", "@example.com", "ann@exa mple.com", "ann@example.com\nBcc: x@example.com", "a@b@example.com",
     "<ann@example.com>", "ann@example..com", "ann,bob@example.com", f"{'a' * 400}@example.com", "änn@example.com"],
)  # fmt: skip
def test_what_is_no_address_is_refused(typed: str) -> None:
    with pytest.raises(ValueError, match="not an e-mail address"):
        address_to_keep(typed)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ann+shop@example.com", "ann@example.com"),
        ("a.n.n@gmail.com", "ann+1@googlemail.com"),
        ("ANN@bücher.example", "ann@xn--bcher-kva.example"),
    ],
)
def test_addresses_of_one_mailbox(one: str, other: str) -> None:
    assert mailbox_of(one) == mailbox_of(other)


def test_dots_mean_something_elsewhere() -> None:
    assert mailbox_of("a.nn@example.com") != mailbox_of("ann@example.com")
