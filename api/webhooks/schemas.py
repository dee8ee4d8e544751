"""What travels over the wire for webhooks."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from fastapi import Path
from pydantic import AfterValidator, BaseModel, Field, StrictBool, ValidationInfo, WithJsonSchema, create_model
from pydantic_core import PydanticCustomError

from api.json_body import Answer, MayBeLeftOut, WireModel
from api.products.schemas import NO_NULL, Storable
from domain.tables import WebhookDelivery, WebhookEndpoint
from domain.webhooks import EVENTS, LONGEST_DESCRIPTION, Event, message_id
from imaging.errors import ImageError
from imaging.remote_url import MAX_URL_LENGTH, check_remote_url

TRUSTED_NETWORKS = "trusted_networks"
"""Key of the validation's context: networks that endpoints may lead to, besides public hosts."""


def _public(url: str, info: ValidationInfo) -> str:
    try:
        return check_remote_url(url, (info.context or {}).get(TRUSTED_NETWORKS, ()))
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

    event: MayBeLeftOut[Event] = Field(None, description="By default the first that the endpoint wants.")


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


class _Told(Answer):
    mode: Literal["test", "live"] = Field(description="`test` for jobs of test keys, and for examples.")


class _EndedJob(_Told):
    job_id: uuid.UUID
    metadata: dict[str, str] = Field(description="As the request carried it.")


class CompletedJob(_EndedJob):
    """A job that has its picture."""

    status: Literal["completed"]
    generation_time_ms: int = Field(ge=0)


class FailedJob(_EndedJob):
    """A job that failed and was not billed."""

    status: Literal["failed"]
    error_code: str
    error: str = Field(description="A sentence that may be shown.")


class ReadyProduct(_Told):
    """A product that can be tried on."""

    product_id: str
    external_id: str | None
    revision: int = Field(ge=1, description="Counts up with every change.")


class VolumeLeft(_Told):
    """Generations."""

    left: int = Field(ge=0, description="In the period's volume and in packs.")
    included: int = Field(ge=0, description="In a period of the plan.")


def _message(name: str, event: Event, data: type[_Told]) -> type[BaseModel]:
    fields: dict[str, Any] = {"type": (Literal[event], ...), "timestamp": (datetime, ...), "data": (data, ...)}
    return create_model(name, __base__=Answer, __doc__=f"{EVENTS[event]}.", **fields)


MESSAGES: dict[Event, type[BaseModel]] = {
    "tryon.completed": _message("TryOnCompleted", "tryon.completed", CompletedJob),
    "tryon.failed": _message("TryOnFailed", "tryon.failed", FailedJob),
    "product.ready": _message("ProductReady", "product.ready", ReadyProduct),
    "volume.low": _message("VolumeLow", "volume.low", VolumeLeft),
    "volume.exhausted": _message("VolumeExhausted", "volume.exhausted", VolumeLeft),
}
"""What is sent, for the OpenAPI document."""


class DeliveryList(Answer):
    """One page of deliveries, newest first."""

    deliveries: list[DeliveryBody]
    next_cursor: str | None = Field(None, description="For the next page; null on the last one.")
