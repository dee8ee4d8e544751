"""What libraries say, in the one line that an operator reads."""

from __future__ import annotations


def first_line(error: Exception) -> str:
    """What an exception says, in one line; its type where it says nothing."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
