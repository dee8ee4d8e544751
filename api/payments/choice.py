"""Which provider a process works with."""

from __future__ import annotations

from api.payments.provider import ManualPayments, PaymentProvider
from api.payments.stripe_checkout import StripePayments
from runtime.settings import PaymentSettings


def open_provider(settings: PaymentSettings) -> PaymentProvider:
    """The provider that the settings name.

    Raises:
        ValueError: It lacks a secret or a package.
    """
    return StripePayments(settings) if settings.provider == "stripe" else ManualPayments()
