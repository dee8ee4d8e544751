"""Every way the service can say no, in one catalogue. ``docs/errors.md`` is generated from it.

HTTP answers carry the status, the sentence as ``{error}`` and the code as ``X-Error-Code``; a job that fails after
it was accepted carries the code, and advice where there is better than the catalogue's, on its row, and the sentence
in the poll. Nothing ever reads a sentence: which fields are to blame is a refusal's own attribute.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypeAlias, TypeGuard

from imaging.limits import LOGO_LIMITS, PHOTO_LIMITS, ImageLimits

LIMITS = {"photo": PHOTO_LIMITS, "logo": LOGO_LIMITS}
"""What the process keeps to, once `say_limits` has told: sentences name the limits in force."""

_LIMIT = re.compile(r"{(photo|logo)\.(\w+)}")


def say_limits(photo: ImageLimits, logo: ImageLimits) -> None:
    """Have sentences name these limits, from now on and wherever they are said in this process."""
    LIMITS.update(photo=photo, logo=logo)


def with_limits(text: str) -> str:
    """A text with the limits in place of their names, such as ``{photo.size}``."""
    return _LIMIT.sub(lambda found: str(getattr(LIMITS[found[1]], found[2])), text)


class Audience(StrEnum):
    """Who can do something about it."""

    CALLER = "caller"  # the program that called: its request is wrong
    SHOPPER = "shopper"  # the person in the photo, or the one who chose the pictures
    OPERATOR = "operator"  # the operator of the service


@dataclass(frozen=True)
class ErrorEntry:
    """One row of the catalogue.

    Attributes:
        status: HTTP status, or ``None`` for what is only found out after a job was accepted.
        retryable: Whether the same call may succeed later.
        problem: What is wrong; a limit of pictures is named, see `with_limits`. Safe to show to a shopper: it holds no
            internals and asks for nothing that only the shop can do.
        advice: What to do about it, as safe; what found the error may know better advice.
        remedy: What the shop does about it, for its owner and its programs. Shoppers do not read it.
    """

    status: int | None
    audience: Audience
    retryable: bool
    problem: str
    advice: str = ""
    remedy: str = ""

    @property
    def sentence(self) -> str:
        """What an end user reads."""
        return self.advised()

    def advised(self, advice: str | None = None) -> str:
        """What an end user reads, with this advice in place of the entry's own."""
        return with_limits(f"{self.problem} {advice or self.advice}".rstrip())


# fmt: off
ErrorCode: TypeAlias = Literal[
    "request_malformed", "headers_too_large", "headers_incomplete", "too_many_connections", "host_refused",
    "route_not_found", "method_not_allowed", "unauthorized", "account_blocked", "key_scope_missing", "key_publishable",
    "origin_not_allowed", "products_only", "body_too_large", "body_incomplete",
    "content_type_not_json", "json_invalid", "field_invalid", "idempotency_key_invalid", "idempotency_in_progress",
    "idempotency_mismatch", "product_not_found", "external_id_taken", "job_not_found", "job_not_completed",
    "job_without_picture", "picture_not_acceptable", "rate_limited", "trial_ended",
    "volume_exhausted", "daily_cap_reached", "key_daily_cap_reached", "malformed_data_uri", "image_too_large",
    "image_not_readable",
    "image_animated", "image_too_small", "image_too_many_pixels", "image_too_elongated", "image_too_complex",
    "garment_url_refused", "product_picture_refused", "logo_url_refused", "logo_unreachable", "logo_too_large",
    "logo_not_usable", "logo_being_set", "webhook_not_found", "webhook_delivery_not_found", "webhook_url_refused",
    "webhook_off", "webhooks_too_many", "garment_url_unreachable", "garment_url_too_large",
    "garment_url_not_an_image", "person_not_found", "several_people", "pose_not_usable", "garment_not_recognised",
    "result_not_usable", "timed_out", "cancelled", "generation_failed", "busy", "storage_unavailable", "internal",
]
# fmt: on
"""The keys of `CATALOGUE`, as a type: a job ends with one of them or not at all. Text becomes one by `known_code`."""

NOT_AVAILABLE = "Try-on is not available right now."
"""What a shopper reads where the shop has used up what it paid for."""


def _caller(status: int | None, problem: str, advice: str = "", *, again: bool = False, remedy: str = "") -> ErrorEntry:
    return ErrorEntry(status, Audience.CALLER, again, problem, advice, remedy)


def _shopper(status: int | None, problem: str, advice: str = "", *, again: bool = False) -> ErrorEntry:
    return ErrorEntry(status, Audience.SHOPPER, again, problem, advice)


def _operator(status: int | None, problem: str) -> ErrorEntry:
    return ErrorEntry(status, Audience.OPERATOR, True, problem)


CATALOGUE: dict[str, ErrorEntry] = {
    # The connection
    "request_malformed": _caller(400, "This is not a valid HTTP request."),
    "headers_too_large": _caller(431, "The request headers are too large."),
    "headers_incomplete": _caller(408, "The request headers did not arrive in time.", again=True),
    "too_many_connections": _caller(503, "Too many connections are open. Please try again shortly.", again=True),
    "host_refused": _caller(400, "The Host header must name this service, once."),
    # The request itself
    "route_not_found": _caller(404, "There is nothing at this address."),
    "method_not_allowed": _caller(405, "This address does not take that method."),
    "unauthorized": _caller(401, "The API key is missing or not valid."),
    "account_blocked": _caller(403, "This account is blocked."),
    "key_scope_missing": _caller(403, "This API key lacks the scope that this address needs."),
    "key_publishable": _caller(403, "A publishable API key can only start try-ons and look at those that it started."),
    "origin_not_allowed": _caller(
        403,
        "This publishable API key does not take calls from this origin.",
        remedy="Call it from a web page whose origin is among those of the key, or add the origin to the key.",
    ),
    "products_only": _caller(
        403,
        "With a publishable API key, name each garment by its productId alone.",
        remedy="Register the garment, and send neither pictures of it nor category or garmentCategory.",
    ),
    "body_too_large": _caller(413, "The request body is too large."),
    "body_incomplete": _caller(400, "The request body did not arrive completely.", again=True),
    "content_type_not_json": _caller(400, "Content-Type must be application/json."),
    "json_invalid": _caller(400, "The request body is not valid JSON."),
    "field_invalid": _caller(400, "A field of the request is missing or not valid."),
    "idempotency_key_invalid": _caller(400, "Idempotency-Key must have 1 to 255 printable ASCII characters."),
    "idempotency_in_progress": _caller(
        409, "A request with this Idempotency-Key is being accepted at this moment.", again=True
    ),
    "idempotency_mismatch": _caller(422, "This Idempotency-Key was used for a request with another body."),
    "product_not_found": _caller(404, "No product was found for this productId."),
    "external_id_taken": _caller(409, "Another product of this account has this externalId."),
    "job_not_found": _caller(404, "Job not found or expired."),
    "job_not_completed": _caller(409, "The picture of this job is still being made.", again=True),
    "job_without_picture": _caller(
        409, "There is no picture of this job.", remedy="The job failed; polling it tells why."
    ),
    "picture_not_acceptable": _caller(406, "The picture can be had as image/jpeg, image/png or image/webp."),
    # Money and time
    "rate_limited": _caller(
        429,
        "Too many requests. Please wait a moment and try again.",
        again=True,
        remedy="Wait as many seconds as Retry-After says.",
    ),
    "trial_ended": _caller(402, NOT_AVAILABLE, remedy="The free trial is over. Choose a plan to continue."),
    "volume_exhausted": _caller(
        402, NOT_AVAILABLE, remedy="All included try-ons and packs are used up. Buy a pack to continue."
    ),
    "daily_cap_reached": _caller(
        429,
        NOT_AVAILABLE,
        "Please try again tomorrow.",
        again=True,
        remedy="All try-ons for today are used. The limit resets at 00:00 UTC. A larger plan raises it.",
    ),
    "key_daily_cap_reached": _caller(
        429,
        NOT_AVAILABLE,
        "Please try again tomorrow.",
        again=True,
        remedy="The publishable key has started its try-ons of the day. Its cap resets at 00:00 UTC; change it on the "
        "page API keys.",
    ),
    # Pictures that came with the request
    "malformed_data_uri": _caller(
        400, "A picture must be a base64 data: URI of type image/jpeg, image/png or image/webp."
    ),
    "image_too_large": _shopper(413, "A picture is larger than {photo.size}."),
    "image_not_readable": _shopper(422, "A picture could not be read as JPEG, PNG or WebP."),
    "image_animated": _shopper(422, "Animated pictures cannot be used."),
    "image_too_small": _shopper(422, "A picture is too small: both sides need at least {photo.min_side} pixels."),
    "image_too_many_pixels": _shopper(422, "A picture has more than {photo.megapixels}."),
    "image_too_elongated": _shopper(
        422, "One side of a picture is more than {photo.times} times as long as the other."
    ),
    "image_too_complex": _shopper(
        422, "A picture takes too much work to open.", "Save it again as an ordinary JPEG and use that."
    ),
    "garment_url_refused": _caller(400, "A garment URL must be a public https:// address."),
    "product_picture_refused": _caller(422, "The garment picture could not be fetched from its address."),
    # The logo of an account's watermark
    "logo_url_refused": _caller(422, "The logo URL must be a public https:// address."),
    "logo_unreachable": _caller(422, "The logo could not be downloaded from its address.", again=True),
    "logo_too_large": _caller(422, "The logo file is larger than {logo.size}."),
    "logo_not_usable": _caller(
        422,
        "The logo must be a still PNG, WebP or JPEG that shows something, at least {logo.min_side} pixels a side, at "
        "most {logo.megapixels}, and not more than {logo.times} times as long as wide.",
    ),
    "logo_being_set": _caller(409, "Another logo is being fetched for this account at this moment.", again=True),
    # Webhooks
    "webhook_not_found": _caller(404, "No webhook endpoint was found for this id."),
    "webhook_delivery_not_found": _caller(404, "No delivery to this webhook endpoint was found for this id."),
    "webhook_url_refused": _caller(422, "The URL of a webhook endpoint must be a public https:// address."),
    "webhook_off": _caller(409, "This webhook endpoint is switched off.", remedy="Switch it on, then send."),
    "webhooks_too_many": _caller(409, "This account has as many webhook endpoints as it can.", remedy="Delete one."),
    # Found out once the job runs. Engines may put better advice in place of an entry's: see `advice=` in engines/.
    "garment_url_unreachable": _caller(None, "The garment picture could not be downloaded."),
    "garment_url_too_large": _caller(None, "The garment picture is larger than {photo.size}."),
    "garment_url_not_an_image": _caller(
        None, "There is no usable JPEG, PNG or WebP picture at the address of the garment."
    ),
    "person_not_found": _shopper(
        None, "No person was found in the photo.", "Use a photo that shows you from the front."
    ),
    "several_people": _shopper(None, "There are several people in the photo.", "Use a photo that shows only you."),
    "pose_not_usable": _shopper(
        None,
        "The pose in the photo cannot be used.",
        "Stand facing the camera with your arms a little away from your body.",
    ),
    "garment_not_recognised": _caller(
        None, "The garment could not be recognised.", "Its picture must show the garment alone on a plain background."
    ),
    "result_not_usable": _shopper(
        None, "No good picture came out.", "Please try again, or use another photo.", again=True
    ),
    "timed_out": _operator(None, "The picture took too long to make. Please try again."),
    "cancelled": _operator(None, "The try-on was cancelled."),
    "generation_failed": _operator(None, "The picture could not be made. Please try again."),
    # The service itself
    "busy": _operator(503, "The service is busy. Please try again in a moment."),
    "storage_unavailable": _operator(503, "The service is not available. Please try again shortly."),
    "internal": _operator(500, "Something went wrong on our side. Please try again."),
}


class TryOnError(Exception):
    """A refusal with a code of the catalogue.

    Attributes:
        code: Key of `CATALOGUE`, whose row is the ``entry``.
        fields: What is wrong with each field that is to blame, by its name as the caller sent it; a clause or
            sentence each, with its full stop. The empty name stands for the whole request.
        sentence: What the client reads: the entry's sentence, or a more exact one that is as safe to show; or every
            field with what is wrong with it.
        retry_after: Whole seconds after which the same call may succeed, where that is known.
    """

    def __init__(
        self,
        code: str,
        sentence: str | None = None,
        *,
        fields: Mapping[str, str] | None = None,
        retry_after: int | None = None,
    ) -> None:
        self.code = code
        self.entry = CATALOGUE[code]
        self.fields = dict(fields or {})
        named = " ".join(f"{name or 'The request'}: {said}" for name, said in self.fields.items())
        self.sentence = sentence or named or self.entry.sentence
        self.retry_after = retry_after
        super().__init__(f"{code}: {self.sentence}")

    @classmethod
    def naming_all(cls, errors: Sequence[TryOnError]) -> TryOnError:
        """One refusal for the fields of several, at least one, so that a caller need not find them one by one.

        It has the code that they share; where they differ, ``field_invalid``, or where their statuses differ, the code
        of the first.
        """
        first, fields = errors[0], {name: said for error in errors for name, said in error.fields.items()}
        if any(error.entry.status != first.entry.status for error in errors):
            together = cls(first.code, fields=first.fields)
        else:
            together = cls(first.code if len({error.code for error in errors}) == 1 else "field_invalid", fields=fields)
        together.__cause__ = ExceptionGroup("what it is made of", errors)
        return together


def is_code(text: str | None) -> TypeGuard[ErrorCode]:
    """Whether a text is a code of the catalogue, and not such as the name of an exception nobody expected."""
    return text in CATALOGUE


def known_code(text: str | None, otherwise: ErrorCode = "generation_failed") -> ErrorCode:
    """The code that a text is; ``otherwise`` for any other text."""
    return text if is_code(text) else otherwise


def sentence_of(code: str, advice: str | None = None) -> str:
    """The end user's sentence for a failed job, with better advice where there is some; any unknown code is a fault."""
    return CATALOGUE[known_code(code)].advised(advice)
