"""The tables, all imported here so that migrations see them. Queries live in the module of their subject."""

from domain.tables.accounts import Account, ApiKey, Watermark
from domain.tables.audit import AuditEntry
from domain.tables.backfills import BackfillItem
from domain.tables.base import Table, UtcDateTime
from domain.tables.jobs import IdempotencyKey, Job
from domain.tables.logins import EmailToken, Login, LoginSession, LoginThrottle, Mail, TrialTaken
from domain.tables.money import Allowance, DailyUsage, LedgerEntry
from domain.tables.payments import Payment
from domain.tables.products import Product
from domain.tables.rates import RateWindow

__all__ = [
    "Account",
    "Allowance",
    "ApiKey",
    "AuditEntry",
    "BackfillItem",
    "DailyUsage",
    "EmailToken",
    "IdempotencyKey",
    "Job",
    "LedgerEntry",
    "Login",
    "LoginSession",
    "LoginThrottle",
    "Mail",
    "Payment",
    "Product",
    "RateWindow",
    "Table",
    "TrialTaken",
    "UtcDateTime",
    "Watermark",
]
