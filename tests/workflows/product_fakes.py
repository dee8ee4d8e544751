"""Steps of a registration that remember what they were asked and do as a test says, under the real names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from temporalio import activity

from activities.failures import expected_failures
from domain.products import new_registration_id
from tests.workflows.fakes import ref
from workflows import steps
from workflows.contracts import SweepReport
from workflows.products.contracts import (
    CleanUpRegistrationInput,
    CopiedPictures,
    CopyPicturesInput,
    PictureSource,
    ProductFields,
    RegisterProductInput,
    SavedProduct,
    SaveProductInput,
)

Before = Callable[[str], Awaitable[None]]
SAVED = SavedProduct(product_id="prod_1", revision=1, created=True, picture_keys=["front-copy"])


class FakeProductSteps:
    """The steps by their names; ``before`` runs first and may wait or raise."""

    def __init__(self, before: Before | None = None) -> None:
        self.calls: list[tuple[str, Any]] = []
        self._before = before

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.calls]

    async def _enter(self, name: str, argument: Any) -> None:
        self.calls.append((name, argument))
        if self._before is not None:
            with expected_failures():
                await self._before(name)

    @activity.defn(name=steps.COPY_PRODUCT_PICTURES.name)
    async def copy(self, request: CopyPicturesInput) -> CopiedPictures:
        await self._enter("copy", request)
        return CopiedPictures(front=ref("front-copy"))

    @activity.defn(name=steps.SAVE_PRODUCT.name)
    async def save(self, request: SaveProductInput) -> SavedProduct:
        await self._enter("save", request)
        return SAVED

    @activity.defn(name=steps.CLEAN_UP_REGISTRATION.name)
    async def clean_up(self, request: CleanUpRegistrationInput) -> SweepReport:
        await self._enter("clean_up", request)
        return SweepReport()


def registration(**options: Any) -> RegisterProductInput:
    values = {
        "fields": ProductFields(name="Shirt", category="upper_body", external_id="SKU-1"),
        "front": PictureSource(field="garmentImageUrl", url="https://shop.example/a.jpg"),
        **options,
    }
    return RegisterProductInput(registration_id=new_registration_id(), account_id="an-account", **values)


def failing_in(step: str, error: Exception) -> Before:
    """What comes before the steps where one of them fails."""

    async def before(name: str) -> None:
        if name == step:
            raise error

    return before
