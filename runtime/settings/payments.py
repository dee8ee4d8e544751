"""Who takes the money of owners."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, HttpUrl, SecretStr
from pydantic_settings import SettingsConfigDict

from runtime.settings.concern import Concern


class PaymentSettings(Concern):
    """How packs and plans are paid that owners buy in the dashboard: [billing.md](billing.md)."""

    model_config = SettingsConfigDict(env_prefix="TRYON_PAYMENTS_", env_ignore_empty=True)
    title = "Payments"

    provider: Literal["manual", "stripe"] = "manual"
    """``manual``: an order waits until an operator has seen the money and approves it. ``stripe``: owners pay on
    Stripe's own page and the order is closed by Stripe's message; needs the extra ``stripe`` and both secrets below."""

    stripe_secret_key: SecretStr | None = None
    """Secret key of the Stripe account, ``sk_live_…`` or ``sk_test_…``; a restricted key that may write Checkout
    Sessions is enough."""

    stripe_webhook_secret: SecretStr | None = None
    """Signing secret, ``whsec_…``, of the webhook endpoint that sends to ``/webhooks/stripe``."""

    stripe_api_base: HttpUrl | None = None
    """Where Stripe's API is; None is Stripe's own address. For tests."""

    timeout_seconds: float = Field(default=10.0, gt=0, le=3600)
    """Longest wait for one answer of the provider; an owner looks at a blank page meanwhile."""
