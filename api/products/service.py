"""Products: from a request's bytes to a registered garment; finding, changing and archiving them.

Reading a request runs in a thread and waits for nothing.
"""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass
from typing import Annotated

import structlog
from fastapi import Depends

from api.cursor import cursor_after, read_cursor
from api.json_body import PictureReader, ignored_fields, parse_body
from api.parts import ApiParts, Parts
from api.products.schemas import CreateProduct, UpdateProduct
from api.routes import AccountId
from domain import products
from domain.errors import CATALOGUE, Audience, TryOnError
from domain.object_keys import product_upload_key, registration_prefix
from domain.products import new_registration_id
from domain.tables import Product
from gateway.calls import RunFailedError, TemporalAwayError
from imaging.decoder_pool import DecoderPool
from imaging.limits import ImageLimits
from intake.job import Picture, inspect_pictures
from runtime.object_store import ObjectStoreUnavailableError
from workflows.contracts import BACK, FRONT, ObjectRef
from workflows.products.contracts import CLEARABLE, PictureSource, ProductFields, RegisterProductInput

log = structlog.get_logger(__name__)


CLEARED_BY = {column: column for column in CLEARABLE} | {"back": "garment_back_image_url"}
"""What a product need not have, and the field of the request that sets it."""

NEEDED = {"name": "name", "category": "category", "garment_image_url": FRONT, "status": "status"}
"""Fields that a change may leave out and not empty, and their names on the wire."""


@dataclass(frozen=True)
class ReadProduct:
    """A request whose fields are right; its pictures have not been looked at yet.

    Attributes:
        fields: What is to be set.
        clear: What is to be emptied.
        front: An inline picture, or the address of one; nothing if it stays as it is. Likewise ``back``.
    """

    fields: ProductFields
    clear: list[str]
    front: Picture | str | None
    back: Picture | str | None
    ignored_fields: list[str]

    @property
    def pictures(self) -> list[Picture]:
        """Every inline picture."""
        return [side for side in (self.front, self.back) if isinstance(side, Picture)]


def read_body(body: bytes, model: type[CreateProduct | UpdateProduct], limits: ImageLimits) -> ReadProduct:
    """Parse and judge the description of a product, or what is to change of one.

    Raises:
        TryOnError: ``json_invalid``, and what `read_product` raises.
    """
    product, inline = parse_body(body, model)
    return read_product(product, PictureReader(limits, inline))


def read_product(product: CreateProduct | UpdateProduct, reader: PictureReader) -> ReadProduct:
    """Judge the rest of what is right field by field.

    What the description of a whole product leaves out is empty. A change leaves it as it is, and null empties a field.

    Raises:
        TryOnError: ``field_invalid`` for null where it cannot be; ``malformed_data_uri``, ``garment_url_refused``.
    """
    own = type(product).model_fields.keys()
    said = set(own)
    if isinstance(product, UpdateProduct):  # unknown fields count as set too, and one may be called as an attribute is
        said = product.model_fields_set - (product.model_extra or {}).keys()
    empty = {name for name in own & said if getattr(product, name) is None}
    if wrong := {wire_name: "cannot be null." for name, wire_name in NEEDED.items() if name in empty}:
        raise TryOnError("field_invalid", fields=wrong)
    fields = {name: getattr(product, name) for name in own & ProductFields.model_fields.keys()}
    pictures = reader.pictures({FRONT: product.garment_image_url, BACK: product.garment_back_image_url})
    return ReadProduct(
        fields=ProductFields.model_validate(fields),
        clear=[column for column, field in CLEARED_BY.items() if field in empty],
        front=pictures[FRONT],
        back=pictures[BACK],
        ignored_fields=ignored_fields(product),
    )


class ProductService:
    """The rules between the router and the parts, for one account."""

    def __init__(self, parts: ApiParts, account_id: uuid.UUID) -> None:
        self.parts = parts
        self.account_id = account_id

    async def find(self, product_id: str) -> Product:
        """A product, archived or not.

        Raises:
            TryOnError: ``product_not_found`` for one that is unknown or another account's.
        """
        read, identifier, found = self.parts.database.read, products.parse_public_id(product_id), None
        if identifier is not None:
            found = await read(products.find_product, account_id=self.account_id, product_id=identifier)
        if found is None:
            raise TryOnError("product_not_found")
        return found

    async def page(
        self, *, limit: int, status: str, cursor: str | None, search: str = ""
    ) -> tuple[list[Product], str | None]:
        """One page of products, newest first, and the cursor of the next one; ``status`` may be ``all``.

        Raises:
            TryOnError: ``field_invalid``: the cursor is none.
        """
        after = None if cursor is None else read_cursor(cursor)
        found = await self.parts.database.read(
            products.list_products,
            account_id=self.account_id,
            limit=limit + 1,
            status=None if status == "all" else status,
            after=after,
            search=search,
        )
        shown = list(found[:limit])
        return shown, cursor_after(shown[-1]) if len(found) > limit else None

    async def archive(self, product_id: str) -> None:
        """Hide a product from try-ons."""
        product = await self.find(product_id)
        await self.parts.database.write(products.archive_product, account_id=self.account_id, product_id=product.id)

    async def bring_back(self, product_id: str) -> None:
        """Let a product that was archived be tried on again."""
        product = await self.find(product_id)
        await self.parts.database.write(
            products.change_product,
            account_id=self.account_id,
            product_id=product.id,
            values={"status": products.ACTIVE},
        )

    async def named(self, external_id: str) -> Product | None:
        """The product with this name of the caller's own, archived or not."""
        return await self.parts.database.read(products.find_named, account_id=self.account_id, external_id=external_id)

    async def register(
        self, read: ReadProduct, decoders: DecoderPool, product_id: str | None = None
    ) -> tuple[Product, bool]:
        """Add a product, or change the one named, by a workflow that is waited for.

        Returns:
            The product, and whether it was added.

        Raises:
            TryOnError: A picture was refused; ``external_id_taken``; ``storage_unavailable`` or ``busy``, which in
                rare cases come after the row was saved.
        """
        media_types = await inspect_pictures(read.pictures, self.parts.limits, decoders, self.account_id)
        registration_id = new_registration_id()
        try:
            registration = RegisterProductInput(
                registration_id=registration_id,
                account_id=str(self.account_id),
                product_id=product_id,
                fields=read.fields,
                clear=read.clear,
                front=await self._source(registration_id, FRONT, read.front, media_types),
                back=await self._source(registration_id, BACK, read.back, media_types),
            )
        except BaseException:
            await self._forget(registration_id)
            raise
        # A start without an answer may have begun a run, which cleans up after itself; if it has not, what was uploaded
        # is the daily sweep's. Deleted here, it could be the pictures of a product that was saved.
        try:
            saved = await self.parts.temporal.register_product(
                registration, seconds=self.parts.settings.api.product_timeout_seconds
            )
        except TimeoutError:
            raise TryOnError("busy") from None
        except TemporalAwayError as error:
            log.warning("the outcome of a registration is not known", run=registration_id, reason=str(error)[:200])
            raise TryOnError("storage_unavailable") from error
        except RunFailedError as error:
            raise refusal_named(error.code, error.detail) from error
        return await self.find(saved.product_id), saved.created

    async def _source(
        self, registration_id: str, field: str, side: Picture | str | None, media_types: dict[str, str]
    ) -> PictureSource | None:
        if side is None:
            return None
        if isinstance(side, str):
            return PictureSource(field=field, url=side)
        data, content_type = side.data or b"", media_types[field]
        key = product_upload_key(str(self.account_id), registration_id, field)
        ref = await asyncio.to_thread(ObjectRef.of, self.parts.store.bucket, key, data, content_type)
        await self.parts.store.put(key, data, content_type)
        return PictureSource(field=field, stored=ref)

    async def _forget(self, registration_id: str) -> None:
        try:
            await self.parts.store.delete_prefix(registration_prefix(str(self.account_id), registration_id))
        except ObjectStoreUnavailableError:
            log.warning("uploads of a refused product are left behind", registration_id=registration_id)


async def _service(parts: Parts, account_id: AccountId) -> ProductService:
    return ProductService(parts, account_id)


Service = Annotated[ProductService, Depends(_service)]
"""A route's argument: the products of the account that asks."""


def refusal_named(code: str | None, field: str | None) -> TryOnError:
    """What a registration that failed with this code, on account of this field, says to the caller."""
    if code not in CATALOGUE:
        return TryOnError("storage_unavailable")
    entry = CATALOGUE[code]
    fields = {} if field is None else {field: entry.sentence}
    if entry.status is not None:
        return TryOnError(code, fields=fields)
    # Some codes belong to jobs, where what is found out after the answer has no status.
    if entry.audience is Audience.OPERATOR:
        return TryOnError("busy")
    return TryOnError("product_picture_refused", fields=fields)
