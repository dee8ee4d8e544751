"""A client of the try-on service, for blocking programs and for asyncio.

It knows the service's API and nothing of its code, and needs httpx alone.
"""

from tryon_client.answers import (
    Finding,
    Job,
    JobStatus,
    ListedJob,
    PictureLink,
    PictureVerdict,
    Product,
    Result,
    Usage,
    Verdict,
)
from tryon_client.calls import Category, Garment
from tryon_client.clients import AsyncTryOnClient, TryOnClient
from tryon_client.errors import (
    AccountBlocked,
    AuthenticationFailed,
    Conflict,
    ConnectionFailed,
    DailyCapReached,
    IdempotencyConflict,
    InvalidRequest,
    JobFailed,
    NotAllowed,
    NotFound,
    PaymentRequired,
    RateLimited,
    ServiceUnavailable,
    TryOnApiError,
    TryOnError,
    UnexpectedAnswer,
    WaitTimeout,
)

__all__ = [
    "AccountBlocked",
    "AsyncTryOnClient",
    "AuthenticationFailed",
    "Category",
    "Conflict",
    "ConnectionFailed",
    "DailyCapReached",
    "Finding",
    "Garment",
    "IdempotencyConflict",
    "InvalidRequest",
    "Job",
    "JobFailed",
    "JobStatus",
    "ListedJob",
    "NotAllowed",
    "NotFound",
    "PaymentRequired",
    "PictureLink",
    "PictureVerdict",
    "Product",
    "RateLimited",
    "Result",
    "ServiceUnavailable",
    "TryOnApiError",
    "TryOnClient",
    "TryOnError",
    "UnexpectedAnswer",
    "Usage",
    "Verdict",
    "WaitTimeout",
]
