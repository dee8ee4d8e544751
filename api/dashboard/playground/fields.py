"""From the playground's form to the body that the API takes, and what a run costs before it is started.

Which fields there are is for the API's own models to say.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from sqlalchemy.orm import Session

from api.dashboard.forms import RULES, Form
from api.dashboard.samples import PORTRAIT, SAMPLES, picture_of
from api.tryon.accepting import TryOnRequest
from api.tryon.schemas import ComboRequest, SingleRequest
from domain import accounts
from domain.errors import TryOnError
from domain.money import quota
from domain.money.plans import PlanBook
from domain.money.usage import usage_of
from imaging.data_uri import encode_data_uri_bytes
from workflows.contracts import MAX_GARMENTS

PERSON = "customerPhotoBase64"

PRODUCT, FRONT, BACK, CATEGORY = "productId", "garmentImageUrl", "garmentBackImageUrl", "category"

TEXTS = [name for name in RULES if name not in (PRODUCT, FRONT, BACK)]
"""Fields of a garment that are sent as they are typed or chosen."""

UPLOADED, ADDRESS, REGISTERED, SAMPLE = "upload", "address", "product", "sample"

SOURCES = {UPLOADED: "Upload", ADDRESS: "Address", REGISTERED: "Product", SAMPLE: "Sample"}
"""Where a garment may come from."""

FieldValues: TypeAlias = dict[str, str | bytes]

_NAMED = re.compile(r"(?:garments\[(\d)\]\.)?(\w+)")


@dataclass
class AttemptRefused(Exception):
    """Something that has to be put right first.

    Attributes:
        errors: A sentence for the visitor by the name of the field in the form, with ``garments[n].`` before it; the
            name is empty where it is about no field in particular.
    """

    errors: dict[str, str]
    status: int = 422
    retry_after: int | None = None


@dataclass(frozen=True)
class Attempt:
    """What a form asks for.

    Attributes:
        garments: The API's fields of each garment; bytes stand for a picture that came along.
        places: Where in the form each of them stands, from 0.
    """

    person: bytes
    garments: Sequence[FieldValues]
    places: Sequence[int]

    @classmethod
    def read(cls, form: Form) -> Attempt:
        """Take the form apart.

        Raises:
            AttemptRefused: Something that nothing goes without is not there; it names all of it.
        """
        upload = form.file(PERSON)
        person = picture_of(PORTRAIT) if form.text("personSource") == SAMPLE else upload.data if upload else None
        read = {place: _garment(form, place) for place in range(MAX_GARMENTS)}
        used = {place: garment for place, garment in read.items() if garment or place == 0}
        errors = {name: said for place, garment in used.items() for name, said in _missing(place, garment)}
        if person is None:
            raise AttemptRefused({PERSON: "Choose a photo of the person, or use the sample.", **errors})
        if errors:
            raise AttemptRefused(errors)
        return cls(person, list(used.values()), list(used))

    @property
    def model(self) -> type[TryOnRequest]:
        """Which of the API's requests it is."""
        return SingleRequest if len(self.garments) == 1 else ComboRequest

    def body(self) -> bytes:
        """The request as a program would send it. Takes a while with large pictures."""
        if len(self.garments) == 1:
            return _written({PERSON: self.person, **self.garments[0]})
        return _written({PERSON: self.person, "garments": self.garments})

    def locate(self, error: TryOnError) -> AttemptRefused:
        """A refusal of the API, each sentence beside the field of the form that it is about."""
        status = error.entry.status or 422
        errors = {self._in_form(name): f"{said[:1].upper()}{said[1:]}" for name, said in error.fields.items()}
        if not errors or "" in errors:
            errors = {"": error.entry.remedy or error.sentence}
        return AttemptRefused(errors, status, error.retry_after)

    def _in_form(self, name: str) -> str:
        named = _NAMED.fullmatch(name)
        if named is None or named[2] not in (PERSON, *RULES):
            return ""
        return PERSON if named[2] == PERSON else in_garment(self.places[int(named[1] or 0)], named[2])


def in_garment(place: int, name: str) -> str:
    """The name of a garment's field in the form: as the API calls it in its refusals of a combo."""
    return f"garments[{place}].{name}"


def is_filled(form: Form, place: int) -> bool:
    """Whether anything was said about this garment."""
    return bool(_garment(form, place)) or form.text(in_garment(place, "source")) not in ("", UPLOADED)


def _garment(form: Form, place: int) -> FieldValues:
    def text(name: str) -> str:
        return form.text(in_garment(place, name))

    def upload(name: str) -> bytes | None:
        file = form.file(in_garment(place, name))
        return file.data if file else None

    sample = SAMPLES.get(text("sample"))
    front: Mapping[str, FieldValues] = {
        UPLOADED: {FRONT: upload(f"{FRONT}.file") or b""},
        ADDRESS: {FRONT: text(FRONT)},
        REGISTERED: {PRODUCT: text(f"{PRODUCT}.other") or text(PRODUCT)},
        SAMPLE: {FRONT: picture_of(sample.name), CATEGORY: sample.category} if sample else {},
    }
    values = front.get(text("source") or UPLOADED, {})
    values |= {BACK: upload(f"{BACK}.file") or text(BACK)}
    values |= {name: said for name in TEXTS if (said := text(name))}
    return {name: value for name, value in values.items() if value}


def _missing(place: int, garment: FieldValues) -> Iterator[tuple[str, str]]:
    if PRODUCT in garment:
        return
    if FRONT not in garment:
        yield in_garment(place, FRONT), "Choose a picture, a link, a product or a sample."
    if CATEGORY not in garment:
        yield in_garment(place, CATEGORY), "Choose the part of the body."


def _written(value: object) -> bytes:
    """As JSON; pictures are put in as bytes, since making text of them first would stop everybody else."""
    if isinstance(value, bytes):
        return b'"%b"' % encode_data_uri_bytes(value)
    if isinstance(value, dict):
        return b"{%b}" % b",".join(_written(name) + b":" + _written(each) for name, each in value.items())
    if isinstance(value, list):
        return b"[%b]" % b",".join(map(_written, value))
    return json.dumps(value).encode()


@dataclass(frozen=True)
class Standing:
    """An account's means, in generations.

    Attributes:
        left: Of the period or the trial.
        packs: Left in top-up packs.
        today: Started today (UTC) and not failed.
        daily_cap: How many of those there may be.
        trial: Whether the account is on one.
        refusal: Why nothing can be started now; None where something can.
    """

    left: int
    packs: int
    today: int
    daily_cap: int
    trial: bool
    refusal: str | None

    @property
    def sentence(self) -> str:
        """For people."""
        period = "your trial" if self.trial else "this period"
        today = f"Used today: {self.today:,} of {self.daily_cap:,}."
        return f"{self.left:,} left in {period}, {self.packs:,} in packs. {today}"


def standing_of(session: Session, plans: PlanBook, *, account_id: uuid.UUID, now: datetime) -> Standing:
    """Look, without changing anything."""
    usage = usage_of(session, plans, account_id=account_id, now=now)
    try:
        quota.check(session, plans, account_id=account_id, now=now)
    except TryOnError as error:
        refusal: str | None = error.entry.remedy or error.sentence
    else:
        refusal = None
    account = accounts.find_account(session, account_id=account_id)
    left = quota.generations_left(session, plans, account=account, now=now) if account else 0
    return Standing(
        left=max(0, left - usage.topup_remaining),
        packs=usage.topup_remaining,
        today=usage.daily_used,
        daily_cap=usage.daily_cap,
        trial=usage.trial_ends_at is not None,
        refusal=refusal,
    )
