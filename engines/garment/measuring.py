"""What cannot be measured as a garment is none."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from engines.base import EngineError

HOW_TO_BE_LAID = "Use a picture of it from the front, laid out flat, alone on a plain background."

Arguments = ParamSpec("Arguments")
Marks = TypeVar("Marks")


def measuring(find: Callable[Arguments, Marks]) -> Callable[Arguments, Marks]:
    """Make what looks for landmarks refuse a silhouette that has none of them.

    Looking for armpits, cuffs and hems in any blob at all ends in empty rows sooner or later: that says what the
    picture is, and is no fault of the service.
    """

    @wraps(find)
    def found(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Marks:
        try:
            return find(*args, **kwargs)
        except (ValueError, IndexError) as error:
            detail = f"It has not the form of such a garment ({error})."
            raise EngineError("garment_not_recognised", detail, advice=HOW_TO_BE_LAID) from error

    return found
