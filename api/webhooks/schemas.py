"""What travels over the wire for webhooks."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from fastapi import Path
from pydantic import AfterValidator, Field, StrictBool, WithJsonSchema
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from api.json_body import Answer, WireModel
from api.products.schemas import NO_NULL, Storable
from domain.tables import WebhookDelivery, WebhookEndpoint
from domain.webhooks import LONGEST_DESCRIPTION, Event, message_id
from imaging.errors import ImageError
from imaging.remote_url import MAX_URL_LENGTH, check_remote_url


def _public(url: str) -> str:
    try:
        return check_remote_url(url)
    except ImageError:
        raise PydanticCustomError("webhook_url_refused", "must be a public https:// address on port 443") from None


PublicUrl = Annotated[
    str,
    AfterValidator(_public),
    WithJsonSchema({"type": "string", "format": "public-https-url", "maxLength": MAX_URL_LENGTH}),
]
Events = Annotated[list[Event], Field(min_length=1, max_length=20)]
Description = Annotated[str, Field(max_length=LONGEST_DESCRIPTION, json_schema_extra=NO_NULL), Storable]

WebhookId = Annotated[str, Path(description="Of the endpoint.", json_schema_extra={"format": "uuid"})]
DeliveryId = Annotated[str, Path(description="Of the delivery.", json_schema_extra={"format": "uuid"})]
"""Not UUIDs to FastAPI: what is malformed is as unknown as any other."""


class CreateWebhook(WireModel):
    """Body of ``POST /api/v1/webhooks``."""

    url: PublicUrl = Field(description="https:// address that events are sent to.")
    events: Events = Field(description="Which ones.")
    description: Description = Field("", description="For people.")
    enabled: StrictBool = Field(True, description="Whether events are sent to it.")


class ChangeWebhook(WireModel):
    """Body of ``PATCH /api/v1/webhooks/{webhookId}``: what is to change. What is not sent has no value here."""

    url: PublicUrl = Field(default_factory=str, description="https:// address that events are sent to.")
    events: Events = Field(default_factory=list, description="Which ones.")
    description: Description = Field(default_factory=str, description="For people.")
    enabled: StrictBool = Field(
        default_factory=bool,
        description="Whether events are sent to it; true also switches one on that we switched off.",
    )


class SendExample(WireModel):
    """Body of ``POST /api/v1/webhooks/{webhookId}/example``, which may be left out."""

    event: Event | SkipJsonSchema[None] = Field(None, description="By default the first that the endpoint wants.")


class WebhookBody(Answer):
    """An endpoint."""

    id: uuid.UUID
    url: str
    events: list[Event]
    description: str
    enabled: bool
    disabled_reason: Literal["owner", "gone", "failing"] | None = Field(
        None, description="Why it is off: you wanted it, it answered 410, or it took nothing for three days."
    )
    failing_since: datetime | None = Field(None, description="The first attempt that failed since one succeeded.")
    created_at: datetime

    @classmethod
    def of(cls, endpoint: WebhookEndpoint, **more: Any) -> Self:
        """From its row."""
        columns = {name: getattr(endpoint, name) for name in cls.model_fields if name not in more}
        return cls.model_validate({**columns, **more})


class SecretWebhookBody(WebhookBody):
    """An endpoint with its secret, which is told when it is made and nowhere else but in the dashboard."""

    secret: str = Field(description="What messages are signed with.", pattern="^whsec_")
    previous_secret_until: datetime | None = Field(
        None, description="Until when messages are signed with the secret before this one, too."
    )


class WebhookList(Answer):
    """Every endpoint of the account, oldest first."""

    webhooks: list[WebhookBody]


class AttemptBody(Answer):
    """One attempt to deliver."""

    at: datetime
    milliseconds: int = Field(ge=0, description="How long it took.")
    status: int | None = Field(None, description="Of the answer; null where there was none.")
    fault: str = Field(description="A sentence that says why it does not count as delivered; empty where it does.")
    answer: str = Field(description="The beginning of the answer's body.")


class DeliveryBody(Answer):
    """One message to one endpoint."""

    id: uuid.UUID
    message_id: str = Field(description="The header webhook-id, the same in every attempt and when it is sent again.")
    event: Event
    status: Literal["waiting", "delivered", "failed"]
    created_at: datetime
    next_attempt_at: datetime | None = None
    attempts: list[AttemptBody]

    @classmethod
    def of(cls, delivery: WebhookDelivery) -> Self:
        """From its row."""
        columns = {name: getattr(delivery, name) for name in cls.model_fields}
        return cls.model_validate({**columns, "message_id": message_id(delivery.message_id)})


class DeliveryList(Answer):
    """One page of deliveries, newest first."""

    deliveries: list[DeliveryBody]
    next_cursor: str | None = Field(None, description="For the next page; null on the last one.")
