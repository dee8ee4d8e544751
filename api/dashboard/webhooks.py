"""The pages of webhooks: endpoints, what was sent to each, and its secret."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from pydantic import ValidationError

from api.cursor import cursor_after, read_cursor
from api.dashboard.forms import Form, SentForm, capitalised, read_id
from api.dashboard.rendering import page, query_with, redirect
from api.errors import PageRefused
from api.parts import ApiParts, Parts
from api.routes import AccountId
from api.webhooks.schemas import TRUSTED_NETWORKS, CreateWebhook
from domain import webhooks
from domain.errors import CATALOGUE, TryOnError
from domain.tables import WebhookEndpoint
from domain.webhooks import EVENTS, EndpointTerms, Event
from imaging.remote_url import MAX_URL_LENGTH
from intake.complaints import complaints_of

DELIVERIES_ON_A_PAGE = 50

UNKNOWN = CATALOGUE["webhook_not_found"].sentence

EVENT = "event_"
"""What begins the name of the box of an event."""

REASONS = {
    webhooks.BY_OWNER: "You switched it off.",
    webhooks.GONE: "It answered 410 (Gone), so we switched it off.",
    webhooks.FAILING: f"It took nothing for {webhooks.FAILING_FOR.days} days, so we switched it off.",
}

router = APIRouter()


async def _own_endpoint(parts: Parts, account_id: AccountId, webhookId: str) -> WebhookEndpoint:
    endpoint_id = read_id(webhookId, UNKNOWN)
    return await parts.database.read(webhooks.find_endpoint, account_id=account_id, endpoint_id=endpoint_id)


OwnEndpoint = Annotated[WebhookEndpoint, Depends(_own_endpoint)]
"""A route's argument: the endpoint of the account that its address names."""


@router.get("/webhooks")
async def list_endpoints(request: Request, parts: Parts, account_id: AccountId) -> Response:
    """All of them, and a form for another."""
    return await _list_page(request, parts, account_id)


@router.post("/webhooks")
async def create_endpoint(request: Request, form: SentForm, parts: Parts, account_id: AccountId) -> Response:
    """Add one, and show it."""
    terms, errors = _terms(form, parts)
    if terms is not None:
        try:
            made = await parts.database.write(webhooks.create_endpoint, account_id=account_id, terms=terms)
            return redirect(f"/webhooks/{made.id}", "webhook_created")
        except TryOnError as error:
            errors = {"": f"{error.sentence} {error.entry.remedy}"}
    return await _list_page(request, parts, account_id, form, errors)


@router.get("/webhooks/{webhookId}")
async def show_endpoint(request: Request, parts: Parts, endpoint: OwnEndpoint) -> Response:
    """What it is told of, its secret, and what was sent to it."""
    return await _endpoint_page(request, parts, endpoint)


@router.post("/webhooks/{webhookId}")
async def change_endpoint(request: Request, form: SentForm, parts: Parts, endpoint: OwnEndpoint) -> Response:
    """Change its address, its events or its description."""
    terms, errors = _terms(form, parts)
    if terms is None:
        return await _endpoint_page(request, parts, endpoint, form, errors)
    changes = {"url": terms.url, "events": terms.events, "description": terms.description}
    await parts.database.write(
        webhooks.change_endpoint, account_id=endpoint.account_id, endpoint_id=endpoint.id, changes=changes
    )
    return redirect(f"/webhooks/{endpoint.id}", "webhook_changed")


@router.post("/webhooks/{webhookId}/rotate")
async def rotate_secret(parts: Parts, endpoint: OwnEndpoint) -> Response:
    """Make another secret; both sign for a day."""
    await parts.database.write(webhooks.rotate_secret, account_id=endpoint.account_id, endpoint_id=endpoint.id)
    return redirect(f"/webhooks/{endpoint.id}", "webhook_rotated")


@router.post("/webhooks/{webhookId}/example")
async def send_example(form: SentForm, parts: Parts, endpoint: OwnEndpoint) -> Response:
    """Send an example of one of its events."""
    chosen = next((each for each in EVENTS if each == form.text("event")), None)
    await parts.database.write(
        webhooks.send_example, account_id=endpoint.account_id, endpoint_id=endpoint.id, event=chosen
    )
    return redirect(f"/webhooks/{endpoint.id}", "webhook_sending")


@router.post("/webhooks/deliveries/{deliveryId}/resend")
async def send_again(parts: Parts, account_id: AccountId, deliveryId: str) -> Response:
    """Send a message again."""
    delivery_id = read_id(deliveryId, CATALOGUE["webhook_delivery_not_found"].sentence)
    sent = await parts.database.write(webhooks.send_again, account_id=account_id, delivery_id=delivery_id)
    return redirect(f"/webhooks/{sent.endpoint_id}", "webhook_sending")


@router.post("/webhooks/{webhookId}/switch")
async def switch_endpoint(form: SentForm, parts: Parts, endpoint: OwnEndpoint) -> Response:
    """Switch it on or off."""
    on = form.text("to") == "on"
    await parts.database.write(
        webhooks.change_endpoint,
        account_id=endpoint.account_id,
        endpoint_id=endpoint.id,
        changes={"enabled": on},
    )
    return redirect(f"/webhooks/{endpoint.id}", "webhook_on" if on else "webhook_off")


@router.get("/webhooks/{webhookId}/delete")
async def ask_to_delete(request: Request, endpoint: OwnEndpoint) -> Response:
    """Ask before it goes."""
    return page(request, "webhooks/delete.html", endpoint=endpoint)


@router.post("/webhooks/{webhookId}/delete")
async def delete_endpoint(parts: Parts, endpoint: OwnEndpoint) -> Response:
    """Delete it with what is known of deliveries to it."""
    await parts.database.write(webhooks.delete_endpoint, account_id=endpoint.account_id, endpoint_id=endpoint.id)
    return redirect("/webhooks", "webhook_deleted")


def _terms(form: Form, parts: ApiParts) -> tuple[EndpointTerms | None, dict[str, str]]:
    """What a form asks for, judged by the model of the API; or a sentence for each field that is wrong."""
    chosen: list[Event] = [each for each in EVENTS if f"{EVENT}{each}" in form]
    errors: dict[str, str] = {}
    if not chosen:
        errors["events"] = "Choose at least one event."
    fields = {"url": form.text("url"), "description": form.text("description"), "events": chosen or list(EVENTS)}
    try:
        wanted = CreateWebhook.model_validate(fields, context={TRUSTED_NETWORKS: parts.settings.webhooks.networks()})
    except ValidationError as error:
        return None, {**capitalised(complaints_of(error.errors())), **errors}
    if errors:
        return None, errors
    return EndpointTerms(wanted.url, wanted.events, wanted.description), {}


async def _list_page(
    request: Request,
    parts: ApiParts,
    account_id: uuid.UUID,
    form: Form | None = None,
    errors: Mapping[str, str] | None = None,
) -> Response:
    return page(
        request,
        "webhooks/list.html",
        422 if errors else 200,
        endpoints=await parts.database.read(webhooks.list_endpoints, account_id=account_id),
        most=webhooks.MOST_ENDPOINTS,
        form=form or Form(),
        errors=errors or {},
        events=EVENTS,
        longest_url=MAX_URL_LENGTH,
        longest_description=webhooks.LONGEST_DESCRIPTION,
    )


async def _endpoint_page(
    request: Request,
    parts: ApiParts,
    endpoint: WebhookEndpoint,
    form: Form | None = None,
    errors: Mapping[str, str] | None = None,
) -> Response:
    after = request.query_params.get("after")
    try:
        before = read_cursor(after) if after else None
    except TryOnError:
        raise PageRefused(404, "There is no such page of deliveries.") from None

    most = DELIVERIES_ON_A_PAGE + 1
    found = await parts.database.read(webhooks.list_deliveries, endpoint_id=endpoint.id, limit=most, before=before)
    shown, query, path = found[:DELIVERIES_ON_A_PAGE], request.query_params, f"/webhooks/{endpoint.id}"
    return page(
        request,
        "webhooks/show.html",
        422 if errors else 200,
        endpoint=endpoint,
        reason=REASONS.get(endpoint.disabled_reason or "", ""),
        deliveries=shown,
        most_attempts=webhooks.MOST_ATTEMPTS,
        message_id=webhooks.message_id,
        first=query_with(query, path, after=None) if after else None,
        older=query_with(query, path, after=cursor_after(shown[-1])) if len(found) > len(shown) else None,
        form=form or Form(),
        errors=errors or {},
        events=EVENTS,
        longest_url=MAX_URL_LENGTH,
        longest_description=webhooks.LONGEST_DESCRIPTION,
    )
