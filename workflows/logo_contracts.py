"""What crosses Temporal when an account sets its logo."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from workflows.contracts import Contract, Identifier, ObjectRef, Url


class SetWatermarkInput(Contract):
    """Fetch a logo and make it the account's watermark."""

    account_id: Identifier
    logo_url: Url
    enabled: bool = True


class FetchLogoInput(Contract):
    """Get a logo and keep it."""

    account_id: Identifier
    logo_url: Url


class FetchedLogo(Contract):
    """The kept copy: a PNG without metadata, and its size in pixels."""

    picture: ObjectRef
    width: Annotated[int, Field(ge=1)]
    height: Annotated[int, Field(ge=1)]


class SaveWatermarkInput(Contract):
    """Set a logo that was fetched."""

    account_id: Identifier
    logo_url: Url
    logo: FetchedLogo
    enabled: bool = True


class WatermarkSetting(Contract):
    """What is set now."""

    enabled: bool
    logo_url: Url
    logo: FetchedLogo
