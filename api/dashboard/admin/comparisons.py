"""Engines compared on an operator's own photos: a sheet of engines and pairs, drawn as a backfill of their account."""

from __future__ import annotations

import hashlib
import secrets
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from sqlalchemy.orm import Session

from api.dashboard.forms import CATEGORIES, Form, SentForm, Upload
from api.dashboard.jobs import CHECKS, report_of, words_for
from api.dashboard.rendering import page, redirect
from api.errors import PageRefused
from api.parts import ApiParts, PageDecoders, Parts
from api.routes import AccountId, RoutePolicy
from domain.errors import TryOnError, sentence_of
from domain.jobs import backfills
from domain.jobs.backfills import ItemStanding
from domain.jobs.jobs import COMPLETED, FAILED, PROCESSING
from domain.object_keys import (
    PICTURES,
    backfill_key,
    backfill_picture_key,
    backfill_prefix,
    backfill_result_key,
    own_backfills_prefix,
)
from engines.catalogue import OFFERED
from gateway.calls import RunNotFoundError, TemporalAwayError
from imaging.decode import decode_image
from imaging.encode import encode_webp
from imaging.limits import STORED_LIMITS
from intake.job import Picture, inspect_pictures
from intake.pages import CONTENT_TYPE, lines_of, read_page
from runtime.object_store import ObjectMissingError
from workflows.backfills.contracts import BackfillInput, BackfillItem, BackfillState, ItemGarment

PATH = "/admin/comparisons"

PREFIX = "compare-"
"""What the ids of these backfills begin with."""

MANIFEST = "manifest.jsonl"

MOST_PHOTOS, MOST_GARMENTS = 6, 6
"""36 pairs: what somebody looks at on one sheet."""

SHOWN = 50  # comparisons in the list

PREVIEW = 480  # pixels of the longer side

RESULTS = "results/"

UNKNOWN = "There is no such comparison of yours, or its pictures were kept long enough."

router = APIRouter()


@dataclass(frozen=True)
class Drawing:
    """What became of a pair with one engine.

    Attributes:
        status: ``waiting``, or a job's.
        picture: The name of the picture, below the results.
        said: Why there is none, if it failed.
        milliseconds: From the acceptance of the job, and of them drawing.
        checks: Names and figures.
    """

    status: str
    picture: str | None = None
    said: str = ""
    milliseconds: int | None = None
    drawing_milliseconds: int | None = None
    checks: Sequence[tuple[str, float]] = ()


@dataclass
class Pair:
    """A photo and a garment, by the names of their pictures, and the drawings by engine."""

    photo: str
    garment: str
    category: str
    drawings: dict[str, Drawing]


async def _own_items(parts: Parts, account_id: AccountId, comparisonId: str) -> list[BackfillItem]:
    """What the comparison draws.

    Raises:
        PageRefused: It is not the operator's, or is not kept any more.
    """
    mark = own_backfills_prefix(str(account_id)) + comparisonId
    if not comparisonId.startswith(PREFIX) or mark not in await parts.store.list_keys(mark):
        raise PageRefused(404, UNKNOWN)
    try:
        return read_page(await parts.store.get(backfill_key(comparisonId, MANIFEST)), BackfillItem)
    except ObjectMissingError:
        raise PageRefused(404, UNKNOWN) from None


OwnItems = Annotated[list[BackfillItem], Depends(_own_items)]


@router.get(PATH)
async def list_comparisons(request: Request, parts: Parts, account_id: AccountId) -> Response:
    """The operator's own, newest first, and a form for another."""
    return await _list_page(request, parts, account_id)


@router.post(PATH)
@RoutePolicy(pictures=MOST_PHOTOS + MOST_GARMENTS)
async def start_comparison(
    request: Request, form: SentForm, parts: Parts, decoders: PageDecoders, account_id: AccountId
) -> Response:
    """Draw every photo with every garment, with each of the chosen engines."""
    photos = form.files("photos")
    garments = [(category, each) for category in CATEGORIES for each in form.files(category)]
    engines = [name for name in OFFERED if f"engine_{name}" in form]
    errors = _problems(photos, garments, engines)
    if not errors:
        uploads = [*photos, *(upload for _, upload in garments)]
        pictures = [Picture(f"{number}. {each.filename}", each.data) for number, each in enumerate(uploads, 1)]
        try:
            media_types = await inspect_pictures(pictures, parts.settings.images.limits(), decoders, account_id)
        except TryOnError as error:
            errors = {"": " ".join(f"{name}: {said}" for name, said in error.fields.items()) or error.sentence}
    if errors:
        return await _list_page(request, parts, account_id, form, errors)
    now = datetime.now(UTC)
    name = f"{PREFIX}{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    key_of = {each.field: backfill_picture_key(name, hashlib.sha256(each.data or b"").hexdigest()) for each in pictures}
    keys = list(key_of.values())
    items = [
        BackfillItem(
            key=f"{name}.{photo + 1}.{garment + 1}.{engine}",
            person=keys[photo],
            engine=engine,
            garments=[ItemGarment(garment_image_url=keys[len(photos) + garment], category=category)],
        )
        for photo in range(len(photos))
        for garment, (category, _) in enumerate(garments)
        for engine in engines
    ]
    await parts.store.put(own_backfills_prefix(str(account_id)) + name, b"", CONTENT_TYPE)
    for each in pictures:
        await parts.store.put(key_of[each.field], each.data or b"", media_types[each.field])
    await parts.store.put(backfill_key(name, MANIFEST), lines_of(items), CONTENT_TYPE)
    wanted = BackfillInput(account=str(account_id), manifest=backfill_key(name, MANIFEST), concurrency=2)
    await parts.temporal.start_backfill(name, wanted)
    return redirect(f"{PATH}/{name}", "comparison_started")


@router.get(PATH + "/{comparisonId}")
async def show_comparison(
    request: Request, parts: Parts, account_id: AccountId, items: OwnItems, comparisonId: str
) -> Response:
    """The sheet."""
    standings = await parts.database.read(_standings, account_id, [item.key or "" for item in items])
    state: BackfillState | None = None
    with suppress(TemporalAwayError):
        state, _ = await parts.temporal.backfill_state(comparisonId)
    pairs: dict[tuple[str, str], Pair] = {}
    for item in items:
        garment = item.garments[0]
        names = (_name(item.person), _name(garment.garment_image_url))
        pair = pairs.setdefault(names, Pair(*names, CATEGORIES[garment.category or ""], {}))
        pair.drawings[item.engine or ""] = _drawing(comparisonId, standings.get(item.key or ""))
    return page(
        request,
        "admin/comparison.html",
        name=comparisonId,
        state=state,
        waits_for=sentence_of(state.reason) if state is not None and state.reason else "",
        pairs=list(pairs.values()),
        engines=list(dict.fromkeys(item.engine for item in items)),
        ended=all(each.status in (COMPLETED, FAILED) for pair in pairs.values() for each in pair.drawings.values()),
    )


@router.get(PATH + "/{comparisonId}/{kind}/{picture}", dependencies=[Depends(_own_items)])
async def show_picture(
    request: Request,
    *,
    parts: Parts,
    decoders: PageDecoders,
    account_id: AccountId,
    comparisonId: str,
    kind: str,
    picture: str,
) -> Response:
    """A picture of the sheet, small unless the query says ``full``."""
    if f"{kind}/" not in (PICTURES, RESULTS):
        raise PageRefused(404, UNKNOWN)
    try:
        data = await parts.store.get(f"{backfill_prefix(comparisonId)}{kind}/{picture}")
    except ObjectMissingError:
        raise PageRefused(404, UNKNOWN) from None
    side = None if "full" in request.query_params else PREVIEW
    shown = await decoders.in_thread(account_id, lambda: encode_webp(decode_image(data, STORED_LIMITS, max_side=side)))
    return Response(shown, media_type="image/webp", headers={"Cache-Control": "private, max-age=3600"})


@router.post(PATH + "/{comparisonId}/delete", dependencies=[Depends(_own_items)])
async def delete_comparison(parts: Parts, account_id: AccountId, comparisonId: str) -> Response:
    """End it if it still runs, and delete its pictures."""
    with suppress(RunNotFoundError):
        await parts.temporal.steer_backfill(comparisonId, "cancel")
    await parts.store.delete_prefix(backfill_prefix(comparisonId))
    await parts.store.delete(own_backfills_prefix(str(account_id)) + comparisonId)
    return redirect(PATH, "comparison_deleted")


def _problems(photos: Sequence[Upload], garments: Sequence[object], engines: Sequence[str]) -> dict[str, str]:
    errors = {}
    if not 0 < len(photos) <= MOST_PHOTOS:
        errors["photos"] = f"Choose 1 to {MOST_PHOTOS} photos."
    if not 0 < len(garments) <= MOST_GARMENTS:
        errors["garments"] = f"Choose 1 to {MOST_GARMENTS} pictures of garments, all kinds together."
    if not engines:
        errors["engines"] = "Choose at least one engine."
    return errors


async def _list_page(
    request: Request,
    parts: ApiParts,
    account_id: uuid.UUID,
    form: Form | None = None,
    errors: Mapping[str, str] | None = None,
) -> Response:
    own = own_backfills_prefix(str(account_id))
    found = await parts.store.list_keys(own + PREFIX)
    return page(
        request,
        "admin/comparisons.html",
        422 if errors else 200,
        names=sorted((each.removeprefix(own) for each in found), reverse=True)[:SHOWN],
        engines=[each.info for each in OFFERED.values()],
        categories=CATEGORIES,
        most_photos=MOST_PHOTOS,
        most_garments=MOST_GARMENTS,
        form=form or Form(),
        errors=errors or {},
    )


def _name(key: str | None) -> str:
    return (key or "").rpartition("/")[2]


def _standings(session: Session, account_id: uuid.UUID, keys: Sequence[str]) -> dict[str, ItemStanding]:
    found = {key: backfills.find_item(session, account_id=account_id, key=key) for key in keys}
    return {key: standing for key, standing in found.items() if standing is not None}


def _drawing(name: str, standing: ItemStanding | None) -> Drawing:
    if standing is None or standing.job is None:
        return Drawing("waiting")
    job, report = standing.job, report_of(standing.job)
    if job.erased_at is not None:
        return Drawing(FAILED, said="It was erased.")
    if job.status == FAILED:
        return Drawing(FAILED, said=sentence_of(job.error_code or "", job.error_advice))
    if job.status == PROCESSING or standing.picture is None:
        return Drawing(PROCESSING)
    return Drawing(
        COMPLETED,
        picture=_name(backfill_result_key(name, standing.item.key)),
        milliseconds=job.generation_ms,
        drawing_milliseconds=report.timings_ms.get("stage_rendering") if report else None,
        checks=[(CHECKS.get(each, words_for(each)), value) for each, value in report.checks.items()] if report else [],
    )
