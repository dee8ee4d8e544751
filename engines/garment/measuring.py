"""Refuses a silhouette that cannot be measured as a garment."""

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

    The search for armpits, cuffs and hems in an arbitrary shape ends in empty rows at some point. That is a property of
    the picture, not a fault of the service.
    """

    @wraps(find)
    def found(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Marks:
        try:
            return find(*args, **kwargs)
        except (ValueError, IndexError) as error:
            detail = f"It has not the form of such a garment ({error})."
            raise EngineError("garment_not_recognised", detail, advice=HOW_TO_BE_LAID) from error

    return found
