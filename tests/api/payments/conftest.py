from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from runtime.settings import Settings
from tests.api.conftest import Api, OpenApi
from tests.api.payments.stand_in import SECRET, StripeStandIn, running_stand_in


@pytest.fixture
async def stripe_api() -> AsyncIterator[StripeStandIn]:
    """What stands in for Stripe."""
    async with running_stand_in() as stand_in:
        yield stand_in


@pytest.fixture
def stripe_settings(stripe_api: StripeStandIn, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Those of a service whose owners pay with Stripe."""
    monkeypatch.setenv("TRYON_PAYMENTS_PROVIDER", "stripe")
    monkeypatch.setenv("TRYON_PAYMENTS_STRIPE_SECRET_KEY", "sk_test_of_the_tests")
    monkeypatch.setenv("TRYON_PAYMENTS_STRIPE_WEBHOOK_SECRET", SECRET)
    monkeypatch.setenv("TRYON_PAYMENTS_STRIPE_API_BASE", f"http://127.0.0.1:{stripe_api.port}")
    return Settings()


@pytest.fixture
async def paid_api(open_api: OpenApi, stripe_settings: Settings) -> AsyncIterator[Api]:
    """The application, with Stripe as the provider."""
    async with open_api(settings=stripe_settings) as opened:
        yield opened
        await opened.parts.payments.close()
