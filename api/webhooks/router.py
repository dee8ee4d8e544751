"""The routes of webhook endpoints and of what was delivered to them."""

from __future__ import annotations

import uuid
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import JSONResponse

from api import openapi
from api.body_limit import body_of
from api.cursor import cursor_after, read_cursor
from api.json_body import check_media_type, ignored_fields, ignored_header, parse_body
from api.openapi import GATE, JSON_BODY, SENDING, read_by_hand, refusals, success
from api.parts import ApiParts, Parts
from api.products.schemas import Cursor
from api.routes import AccountId, RoutePolicy
from api.webhooks.schemas import (
    TRUSTED_NETWORKS,
    ChangeWebhook,
    CreateWebhook,
    DeliveryBody,
    DeliveryId,
    DeliveryList,
    SecretWebhookBody,
    SendExample,
    WebhookBody,
    WebhookId,
    WebhookList,
)
from domain import webhooks
from domain.errors import ErrorCode, TryOnError
from domain.webhooks import EndpointTerms

WEBHOOKS_PATH = "/api/v1/webhooks"
WEBHOOK_PATH = WEBHOOKS_PATH + "/{webhookId}"
DELIVERIES_PATH = WEBHOOK_PATH + "/deliveries"

router = APIRouter(tags=["webhooks"])


def _id_of(text: str, unknown: ErrorCode = "webhook_not_found") -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError:
        raise TryOnError(unknown) from None


def _context(parts: ApiParts) -> dict[str, Any]:
    return {TRUSTED_NETWORKS: parts.settings.webhooks.networks()}


@router.post(
    WEBHOOKS_PATH,
    operation_id="createWebhook",
    summary="Add an endpoint that is told of events",
    status_code=201,
    response_description="Added, with its secret.",
    response_model=SecretWebhookBody,
    responses={
        201: success(always=["Location"], sometimes=["X-Ignored-Fields"], examples=openapi.SECRET_WEBHOOKS),
        **refusals(*GATE, *JSON_BODY, "webhook_url_refused", "webhooks_too_many"),
    },
    openapi_extra=read_by_hand(CreateWebhook, examples=openapi.CREATE_WEBHOOKS),
)
@RoutePolicy(scope="webhooks")
async def create_webhook(request: Request, parts: Parts, account_id: AccountId) -> Response:
    """Messages are signed as Standard Webhooks says; keep the secret, which is told only here and in the dashboard."""
    check_media_type(request.headers)
    wanted, _ = parse_body(body_of(request), CreateWebhook, _context(parts))
    terms = EndpointTerms(wanted.url, wanted.events, wanted.description, wanted.enabled)
    made = await parts.database.write(webhooks.create_endpoint, account_id=account_id, terms=terms)
    body = SecretWebhookBody.of(made).model_dump(mode="json")
    headers = {"Location": f"{WEBHOOKS_PATH}/{made.id}", **ignored_header(ignored_fields(wanted))}
    return JSONResponse(body, 201, headers=headers)


@router.get(
    WEBHOOKS_PATH,
    operation_id="listWebhooks",
    summary="The account's webhook endpoints, oldest first",
    response_description="All of them.",
    responses={200: success(examples=openapi.WEBHOOK_LISTS), **refusals(*GATE)},
)
@RoutePolicy(scope="reading")
async def list_webhooks(parts: Parts, account_id: AccountId) -> WebhookList:
    """Without their secrets."""
    found = await parts.database.read(webhooks.list_endpoints, account_id=account_id)
    return WebhookList(webhooks=[WebhookBody.of(each) for each in found])


@router.get(
    WEBHOOK_PATH,
    operation_id="getWebhook",
    summary="One webhook endpoint",
    response_description="The endpoint.",
    responses={200: success(examples=openapi.WEBHOOKS), **refusals(*GATE, "webhook_not_found")},
)
@RoutePolicy(scope="reading")
async def get_webhook(parts: Parts, account_id: AccountId, webhookId: WebhookId) -> WebhookBody:
    """Without its secret."""
    endpoint_id = _id_of(webhookId)
    return WebhookBody.of(
        await parts.database.read(webhooks.find_endpoint, account_id=account_id, endpoint_id=endpoint_id)
    )


@router.patch(
    WEBHOOK_PATH,
    operation_id="updateWebhook",
    summary="Change some fields of a webhook endpoint, or switch it on or off",
    response_description="The endpoint as it is now.",
    response_model=WebhookBody,
    responses={
        200: success(sometimes=["X-Ignored-Fields"], examples=openapi.WEBHOOKS),
        **refusals(*GATE, *JSON_BODY, "webhook_not_found", "webhook_url_refused"),
    },
    openapi_extra=read_by_hand(ChangeWebhook, examples={"switch on again": {"enabled": True}}),
)
@RoutePolicy(scope="webhooks")
async def update_webhook(request: Request, parts: Parts, account_id: AccountId, webhookId: WebhookId) -> Response:
    """Messages that wait go to the address as it is when they are sent."""
    check_media_type(request.headers)
    endpoint_id = _id_of(webhookId)
    wanted, _ = parse_body(body_of(request), ChangeWebhook, _context(parts))
    changes = {name: getattr(wanted, name) for name in ChangeWebhook.model_fields if name in wanted.model_fields_set}
    changed = await parts.database.write(
        webhooks.change_endpoint, account_id=account_id, endpoint_id=endpoint_id, changes=changes
    )
    return JSONResponse(WebhookBody.of(changed).model_dump(mode="json"), headers=ignored_header(ignored_fields(wanted)))


@router.delete(
    WEBHOOK_PATH,
    operation_id="deleteWebhook",
    summary="Delete a webhook endpoint, with its deliveries",
    status_code=204,
    response_description="It is told of nothing more.",
    responses={204: success(), **refusals(*GATE, *SENDING, "webhook_not_found")},
)
@RoutePolicy(scope="webhooks")
async def delete_webhook(parts: Parts, account_id: AccountId, webhookId: WebhookId) -> None:
    """An attempt that is under way may still arrive."""
    await parts.database.write(webhooks.delete_endpoint, account_id=account_id, endpoint_id=_id_of(webhookId))


@router.post(
    WEBHOOK_PATH + "/rotate",
    operation_id="rotateWebhookSecret",
    summary="Make another secret for a webhook endpoint",
    response_description="The endpoint with its new secret.",
    responses={200: success(examples=openapi.SECRET_WEBHOOKS), **refusals(*GATE, *SENDING, "webhook_not_found")},
)
@RoutePolicy(scope="webhooks")
async def rotate_webhook_secret(parts: Parts, account_id: AccountId, webhookId: WebhookId) -> SecretWebhookBody:
    """For 24 hours messages carry a signature by each of the two."""
    endpoint_id = _id_of(webhookId)
    return SecretWebhookBody.of(
        await parts.database.write(webhooks.rotate_secret, account_id=account_id, endpoint_id=endpoint_id)
    )


@router.post(
    WEBHOOK_PATH + "/example",
    operation_id="sendWebhookExample",
    summary="Send an example of an event to a webhook endpoint",
    status_code=202,
    response_description="It is being sent.",
    responses={
        202: success(examples=openapi.DELIVERIES),
        **refusals(*GATE, *JSON_BODY, "webhook_not_found", "webhook_off"),
    },
    openapi_extra=read_by_hand(SendExample, examples={"one event": {"event": "tryon.completed"}}, required=False),
)
@RoutePolicy(scope="webhooks")
async def send_webhook_example(
    request: Request, parts: Parts, account_id: AccountId, webhookId: WebhookId
) -> DeliveryBody:
    """It has `"mode": "test"`, and is signed and repeated like any other message."""
    endpoint_id, body = _id_of(webhookId), body_of(request)
    event = parse_body(body, SendExample)[0].event if body else None
    return DeliveryBody.of(
        await parts.database.write(webhooks.send_example, account_id=account_id, endpoint_id=endpoint_id, event=event)
    )


@router.get(
    DELIVERIES_PATH,
    operation_id="listWebhookDeliveries",
    summary="What was sent to a webhook endpoint, newest first",
    response_description="One page.",
    responses={
        200: success(examples=openapi.DELIVERY_PAGES),
        **refusals(*GATE, "field_invalid", "webhook_not_found"),
    },
)
@RoutePolicy(scope="reading")
async def list_webhook_deliveries(
    parts: Parts,
    account_id: AccountId,
    webhookId: WebhookId,
    limit: Annotated[int, Query(ge=1, le=100, description="Deliveries on a page.")] = 50,
    cursor: Cursor = None,
) -> DeliveryList:
    """Follow nextCursor until it is null. They are kept for 30 days."""
    before, endpoint_id, read = read_cursor(cursor) if cursor else None, _id_of(webhookId), parts.database.read
    endpoint = await read(webhooks.find_endpoint, account_id=account_id, endpoint_id=endpoint_id)
    found = await read(webhooks.list_deliveries, endpoint_id=endpoint.id, limit=limit + 1, before=before)
    return DeliveryList(
        deliveries=[DeliveryBody.of(each) for each in found[:limit]],
        next_cursor=cursor_after(found[limit - 1]) if len(found) > limit else None,
    )


@router.post(
    DELIVERIES_PATH + "/{deliveryId}/resend",
    operation_id="resendWebhookDelivery",
    summary="Send a message again",
    status_code=202,
    response_description="The new delivery.",
    responses={
        202: success(examples=openapi.DELIVERIES),
        **refusals(*GATE, *SENDING, "webhook_not_found", "webhook_delivery_not_found", "webhook_off"),
    },
)
@RoutePolicy(scope="webhooks")
async def resend_webhook_delivery(
    parts: Parts, account_id: AccountId, webhookId: WebhookId, deliveryId: DeliveryId
) -> DeliveryBody:
    """A delivery of its own, with the same body and the same `webhook-id`."""
    endpoint_id, delivery_id = _id_of(webhookId), _id_of(deliveryId, "webhook_delivery_not_found")
    return DeliveryBody.of(
        await parts.database.write(
            webhooks.send_again, account_id=account_id, endpoint_id=endpoint_id, delivery_id=delivery_id
        )
    )
