"""The playground: a form that checks pictures or starts a job as the API would, and how that job stands."""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeAlias, TypeVar

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from sqlalchemy.orm import Session
from starlette.background import BackgroundTask

from api.dashboard import samples
from api.dashboard.forms import HINTS, RULES, FieldsRefused, Form, SentForm, capitalised
from api.dashboard.jobs import STAGES, hint_name, report_of, stage_of
from api.dashboard.rendering import page, redirect, static_url, wants_json
from api.dashboard.samples import PORTRAIT, SAMPLES, picture_of
from api.parts import ApiParts, Decoders, Parts
from api.rate_limit import whole_seconds
from api.routes import AccountId, RoutePolicy
from api.tryon.accepting import (
    AcceptedJob,
    JobAcceptor,
    ReadRequest,
    Requester,
    RequestKey,
    TryOnRequest,
    read_request,
)
from api.tryon.checking import verdict_on
from api.tryon.polling import OwnJobs
from api.tryon.schemas import ComboRequest, JobId, SingleRequest, Verdict
from domain import accounts, products
from domain.access.rates import RatePolicy
from domain.errors import TryOnError
from domain.jobs import job_history, jobs
from domain.money import quota
from domain.money.plans import PlanBook
from domain.money.quota import usage_of
from domain.tables import Product
from engines.garment_kinds import GarmentKind
from imaging.data_uri import encode_data_uri_bytes
from imaging.decoder_pool import DecoderPool
from runtime.settings import IN_COMBO
from workflows.contracts import BACK, FRONT, MAX_GARMENTS

RUNS = RatePolicy("playground", requests=20, window_seconds=300)
"""How often one account may press either button: as often as a key may call, and apart from every key's own budget."""

WORDS_OF_CHECKS = {
    (True, False): "The pictures can be used.",
    (True, True): "The pictures can be used. The notes under them say what would be better.",
    (False, True): "These pictures cannot be used. The notes under them say what to change.",
}
"""By whether they are ok, and whether there is anything to say about one of them."""

PRODUCTS_OFFERED = 100

router = APIRouter()

PERSON = "customerPhotoBase64"

RUN_KEY = "run_key"
"""A form that is sent again under the same one is the same job: an answer may have been lost on its way."""

BEING_ACCEPTED = "This try-on is being accepted at this moment. Try again in a few seconds; it is not started twice."

PRODUCT, CATEGORY = "productId", "category"

TEXTS = [name for name in RULES if name not in (PRODUCT, FRONT, BACK)]
"""Fields of a garment that are sent as they are typed or chosen."""

UPLOADED, ADDRESS, REGISTERED, SAMPLE = "upload", "address", "product", "sample"

SOURCES = {UPLOADED: "Upload", ADDRESS: "Address", REGISTERED: "Product", SAMPLE: "Sample"}
"""Where a garment may come from."""

FieldValues: TypeAlias = dict[str, str | bytes]

_NAMED = re.compile(r"(?:garments\[(\d)\]\.)?(\w+)")


@router.get("/playground")
async def show(
    request: Request, parts: Parts, account_id: AccountId, productId: str = "", personSource: str = ""
) -> Response:
    """The form: empty, or with a product and the sample portrait chosen."""
    form = Form()
    form.add("personSource", personSource.replace("\0", ""))
    if productId := productId.replace("\0", ""):
        form.add(in_garment(0, "source"), "product")
        form.add(in_garment(0, PRODUCT), productId)
    return await _form_page(request, parts, account_id, form)


Outcome = TypeVar("Outcome")


async def _attempted(
    form: Form,
    parts: ApiParts,
    decoders: DecoderPool,
    account_id: uuid.UUID,
    act: Callable[[ReadRequest, RequestKey | None], Awaitable[Outcome]],
) -> tuple[Attempt, Outcome]:
    """Do with the form's request what a button asks for.

    Raises:
        FieldsRefused: A field is wrong, or the API refused the request.
    """
    attempt = Attempt.read(form)

    def read() -> tuple[ReadRequest, RequestKey | None]:
        body = attempt.body()
        return read_request(body, attempt.model, parts.limits), _key_of(form.text(RUN_KEY), body)

    rate = await parts.rate_limiter.log.hit(account_id, RUNS)
    try:
        if not rate.admitted:
            raise TryOnError("rate_limited", retry_after=whole_seconds(rate))
        asked, key = await decoders.in_thread(account_id, read)
        return attempt, await act(asked, key)
    except TryOnError as error:
        raise attempt.locate(error) from None


def _key_of(run_key: str, body: bytes) -> RequestKey | None:
    """The body is part of it: a form that was changed asks for another job."""
    if not run_key:
        return None
    digest = hashlib.sha256(f"{run_key}\n".encode())
    digest.update(body)
    return RequestKey(f"playground:{digest.hexdigest()}", digest.hexdigest())


async def _refused(
    request: Request, parts: ApiParts, account_id: uuid.UUID, form: Form, refused: FieldsRefused
) -> Response:
    headers = {} if refused.retry_after is None else {"Retry-After": str(refused.retry_after)}
    if wants_json(request):
        said = {"error": " ".join(refused.errors.values()), "fields": refused.errors}
        return JSONResponse(said, refused.status, headers=headers)
    shown = await _form_page(request, parts, account_id, form, status=refused.status, errors=refused.errors)
    shown.headers.update(headers)
    return shown


@router.post("/playground/check")
@RoutePolicy(pictures=IN_COMBO)
async def check(request: Request, form: SentForm, parts: Parts, decoders: Decoders, account_id: AccountId) -> Response:
    """Say what the pictures of the form show, as the API would; nothing is started or billed."""

    async def look(asked: ReadRequest, _: RequestKey | None) -> Verdict:
        return await verdict_on(asked, Requester(account_id), parts, decoders)

    try:
        attempt, verdict = await _attempted(form, parts, decoders, account_id, look)
    except FieldsRefused as refused:
        return await _refused(request, parts, account_id, form, refused)
    findings = attempt.findings(verdict)
    said = WORDS_OF_CHECKS[verdict.ok, any(findings.values())]
    if wants_json(request):
        return JSONResponse({"ok": verdict.ok, "said": said, "findings": findings})
    checked = {"ok": verdict.ok, "said": said}
    return await _form_page(request, parts, account_id, form, checked=checked, findings=findings)


@router.post("/playground/run")
@RoutePolicy(pictures=IN_COMBO)
async def run(request: Request, form: SentForm, parts: Parts, decoders: Decoders, account_id: AccountId) -> Response:
    """Start the job that the form describes, through the very checks, quota and ledger of the API."""
    acceptor = JobAcceptor(parts, decoders)

    async def accept(asked: ReadRequest, key: RequestKey | None) -> AcceptedJob:
        return await acceptor.accept(Requester(account_id), asked, key)

    try:
        _, accepted = await _attempted(form, parts, decoders, account_id, accept)
    except FieldsRefused as refused:
        return await _refused(request, parts, account_id, form, refused)
    if wants_json(request):
        answer: Response = JSONResponse({"jobId": str(accepted.job_id)}, 202)
    else:
        answer = redirect(f"/jobs/{accepted.job_id}")
    answer.background = BackgroundTask(acceptor.note_started, accepted)
    return answer


@router.get("/playground/jobs/{jobId}/state")
async def state(parts: Parts, account_id: AccountId, own: OwnJobs, jobId: JobId) -> Response:
    """How a job stands, for the script that waits for it."""
    standing = await own.state(jobId)
    answer: dict[str, Any] = {"status": standing.status}
    if standing.status != jobs.PROCESSING:
        means = await parts.database.read(standing_of, parts.plans, account_id=account_id, now=datetime.now(UTC))
        answer |= {"means": means.sentence, "refusal": means.refusal}
    if standing.status == jobs.FAILED:
        return JSONResponse({**answer, "error": standing.error})
    job = await parts.database.read(jobs.find_job, job_id=uuid.UUID(jobId), account_id=account_id)
    if job is None:
        raise TryOnError("job_not_found")
    if standing.status == jobs.COMPLETED:
        report = report_of(job)
        answer["generationTimeMs"] = standing.generation_ms
        answer["hintsNotFollowed"] = [hint_name(name) for name in report.hints_not_applied] if report else []
        return JSONResponse(answer)
    garments = len(job.workflow_input.get("garments", ()))
    stage = await stage_of(parts.temporal, str(job.id), garments)
    answer |= {
        "stage": stage.name,
        "words": stage.words,
        "garment": stage.garment,
        "garments": garments,
        "elapsedMs": round((datetime.now(UTC) - job.created_at).total_seconds() * 1000),
    }
    return JSONResponse(answer)


async def _form_page(
    request: Request,
    parts: ApiParts,
    account_id: uuid.UUID,
    form: Form,
    *,
    status: int = 200,
    errors: Mapping[str, str] | None = None,
    checked: Mapping[str, Any] | None = None,
    findings: Mapping[str, Sequence[Mapping[str, str]]] | None = None,
) -> Response:
    standing = await parts.database.read(standing_of, parts.plans, account_id=account_id, now=datetime.now(UTC))
    newest = await parts.database.read(products.list_products, account_id=account_id, limit=PRODUCTS_OFFERED)
    under_way = await parts.database.read(job_history.newest_open_of_owner, account_id=account_id)
    offered = _told_apart(newest)
    chosen = form.text(in_garment(0, PRODUCT))
    if chosen and chosen not in offered:
        form.add(in_garment(0, f"{PRODUCT}.other"), chosen)
    return page(
        request,
        "playground/form.html",
        status,
        form=form,
        run_key=form.text(RUN_KEY) or uuid.uuid4(),
        errors=errors or {},
        checked=checked,
        findings=findings or {},
        standing=standing,
        under_way=under_way,
        products=list(offered.items()),
        samples=[(garment.name, garment.label) for garment in samples.SAMPLES.values()],
        sample_details=json.dumps(
            {garment.name: [static_url(garment.file), garment.category] for garment in samples.SAMPLES.values()}
        ),
        portrait=samples.file_of(samples.PORTRAIT),
        sources=SOURCES,
        stages=STAGES,
        kinds=[kind.value for kind in GarmentKind],
        hints=HINTS,
        rules=RULES,
        in_garment=in_garment,
        garment_places=range(MAX_GARMENTS),
        filled_places=[place for place in range(MAX_GARMENTS) if is_filled(form, place)],
        largest=parts.limits.max_bytes,
        base_url=parts.settings.dashboard.base_url(parts.settings.api),
    )


def _told_apart(found: Sequence[Product]) -> dict[str, str]:
    """What each product is called in a list, by public id: those of one name by something more."""
    times = Counter(product.name for product in found)
    labels = {}
    for product in found:
        public_id = products.public_id(product.id)
        more = product.external_id or f"…{public_id[-6:]}"
        labels[public_id] = product.name if times[product.name] == 1 else f"{product.name} ({more})"
    return labels


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
            FieldsRefused: Something that nothing goes without is not there; it names all of it.
        """
        upload = form.file(PERSON)
        person = picture_of(PORTRAIT) if form.text("personSource") == SAMPLE else upload.data if upload else None
        read = {place: _garment(form, place) for place in range(MAX_GARMENTS)}
        used = {place: garment for place, garment in read.items() if garment or place == 0}
        errors = {name: said for place, garment in used.items() for name, said in _missing(place, garment)}
        if person is None:
            raise FieldsRefused({PERSON: "Choose a photo of the person, or use the sample.", **errors})
        if errors:
            raise FieldsRefused(errors)
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

    def locate(self, error: TryOnError) -> FieldsRefused:
        """A refusal of the API, each sentence beside the field of the form that it is about."""
        status = error.entry.status or 422
        errors = {self._in_form(name): said for name, said in capitalised(error.fields).items()}
        if not errors or "" in errors:
            in_progress = error.code == "idempotency_in_progress"
            errors = {"": BEING_ACCEPTED if in_progress else error.entry.remedy or error.sentence}
        return FieldsRefused(errors, status, error.retry_after)

    def findings(self, verdict: Verdict) -> dict[str, list[dict[str, str]]]:
        """What was found, by the field of the form that it is about."""
        fronts = {in_garment(place, FRONT): each for place, each in zip(self.places, verdict.garments, strict=True)}
        return {
            name: [finding.model_dump(include={"severity", "message"}) for finding in picture.findings]
            for name, picture in {PERSON: verdict.photo, **fronts}.items()
        }

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


class Standing(NamedTuple):
    """An account's means.

    Attributes:
        sentence: How many try-ons there are, for people.
        refusal: Why nothing can be started now; None where something can.
    """

    sentence: str
    refusal: str | None


def standing_of(session: Session, plans: PlanBook, *, account_id: uuid.UUID, now: datetime) -> Standing:
    """Look, without changing anything."""
    usage = usage_of(session, plans, account_id=account_id, now=now)
    refusal: str | None = None
    try:
        quota.check(session, plans, account_id=account_id, now=now)
    except TryOnError as error:
        refusal = error.entry.remedy or error.sentence
    account = accounts.find_account(session, account_id=account_id)
    included, packs = quota.what_is_left(session, plans, account=account, now=now) if account else (0, 0)
    period = "this period" if usage.trial_ends_at is None else "your trial"
    sentence = (
        f"{included:,} left in {period}, {packs:,} in packs. Used today: {usage.daily_used:,} of {usage.daily_cap:,}."
    )
    return Standing(sentence, refusal)
