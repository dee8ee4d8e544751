"""The catalogue of registered garments: one row a product, found by its id or by the caller's own name for it.

Another account's product is as unknown as one that never was. Every change counts the revision up and rows are never
deleted: a product that is no longer wanted is archived, and may be brought back. A registration, one request to add or
change a product, keeps its pictures in a folder of its own, so that two changes of one product at the same time, or one
step that runs twice, never write over a picture that a row or a job refers to.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from domain.errors import TryOnError
from domain.tables import Account, Place, Product, beyond
from domain.webhooks import announce

_STAMP = "%Y%m%dT%H%M%SZ"

_REGISTRATION = re.compile(r"(\d{8}T\d{6}Z)-([0-9a-f]{32})")


def new_registration_id(now: datetime | None = None) -> str:
    """When it began, in UTC and to the second, and 32 hexadecimal digits that are nobody else's."""
    return f"{(now or datetime.now(UTC)).astimezone(UTC):{_STAMP}}-{uuid.uuid4().hex}"


def began_at(registration_id: str) -> datetime | None:
    """When a registration began; ``None`` for a text that is none."""
    match = _REGISTRATION.fullmatch(registration_id)
    try:
        return datetime.strptime(match[1], _STAMP).replace(tzinfo=UTC) if match else None
    except ValueError:
        return None


def product_id_of(registration_id: str) -> uuid.UUID:
    """The id of the product that a registration adds, if it adds one: the same however often a step is repeated.

    Raises:
        ValueError: It is no registration's id.
    """
    match = _REGISTRATION.fullmatch(registration_id)
    if match is None:
        raise ValueError(f"{registration_id!r} is no registration")
    return uuid.UUID(match[2])


ACTIVE, ARCHIVED = "active", "archived"

ID_PREFIX = "prod_"

RESERVED_PREFIXES = (ID_PREFIX, "test_")
"""Names of callers may not begin so: they would be taken for an id of ours, or for a product of test keys."""

LONGEST_EXTERNAL_ID = 128  # characters of a caller's own name for a product

_PUBLIC_ID = re.compile(ID_PREFIX + "[0-9a-f]{32}")

_PICTURES = ("front", "back")


@dataclass(frozen=True)
class Saved:
    """What a registration came to: whether it added the product, and whether anything is different from before."""

    product: Product
    created: bool
    changed: bool


def public_id(product_id: uuid.UUID) -> str:
    """What callers call a product."""
    return ID_PREFIX + product_id.hex


def parse_public_id(text: str) -> uuid.UUID | None:
    """The id behind what `public_id` makes; ``None`` for any other text."""
    return uuid.UUID(text.removeprefix(ID_PREFIX)) if _PUBLIC_ID.fullmatch(text) else None


def is_reserved(external_id: str) -> bool:
    """Whether callers may not use this name."""
    return external_id.lower().startswith(RESERVED_PREFIXES)


def find_product(session: Session, *, account_id: uuid.UUID, product_id: uuid.UUID) -> Product | None:
    """A product of this account, archived or not."""
    return session.scalar(select(Product).where(Product.id == product_id, Product.account_id == account_id))


def find_for_tryon(session: Session, *, account_id: uuid.UUID, product_id_text: str) -> Product | None:
    """The active product that a try-on names by our id or by the caller's own."""
    product_id = parse_public_id(product_id_text)
    if product_id is None:
        product = find_named(session, account_id=account_id, external_id=product_id_text)
    else:
        product = find_product(session, account_id=account_id, product_id=product_id)
    return product if product is not None and product.status == ACTIVE else None


def find_named(session: Session, *, account_id: uuid.UUID, external_id: str) -> Product | None:
    """The product with this name of the account's own, archived or not."""
    # PostgreSQL does not take a null character even in a question.
    if len(external_id) > LONGEST_EXTERNAL_ID or "\0" in external_id or is_reserved(external_id):
        return None
    return session.scalar(select(Product).where(Product.external_id == external_id, Product.account_id == account_id))


def list_products(
    session: Session,
    *,
    account_id: uuid.UUID,
    limit: int,
    status: str | None = ACTIVE,
    after: Place | None = None,
    search: str = "",
) -> Sequence[Product]:
    """An account's products, newest first; of one status or, with ``None``, of both.

    What is searched for, the name holds somewhere, or the caller's own name begins with; in any case of letters.
    """
    newest = (Product.created_at.desc(), Product.id.desc())
    query = select(Product).where(Product.account_id == account_id).order_by(*newest).limit(limit)
    if "\0" in search:  # PostgreSQL does not take it even in a question
        return []
    if search:
        named = Product.external_id.istartswith(search, autoescape=True)
        query = query.where(or_(Product.name.icontains(search, autoescape=True), named))
    if status is not None:
        query = query.where(Product.status == status)
    return session.scalars(query.where(*beyond(after, Product.created_at, Product.id, newer=False))).all()


def register_product(session: Session, *, account_id: uuid.UUID, new_id: uuid.UUID, values: Mapping[str, Any]) -> Saved:
    """Add a product, or change the one that has the same ``external_id``; an archived one becomes active again.

    It is added with ``new_id``, and at least ``name``, ``category`` and ``front`` among the values of its columns.
    Registering under that id again changes nothing.

    Raises:
        TryOnError: ``account_blocked``: the account was erased, and nothing may be kept for it any more.
    """
    if session.scalar(select(Account.erased_at).where(Account.id == account_id)):
        raise TryOnError("account_blocked")
    external_id = values.get("external_id")
    product = _registered(session, account_id, new_id, external_id)
    if product is None:
        try:
            with session.begin_nested():
                now = datetime.now(UTC)
                missing = dict.fromkeys(column.key for column in Product.__table__.columns if column.nullable)
                own = {"id": new_id, "account_id": account_id, "status": ACTIVE, "revision": 1}
                product = Product(**{**missing, **values, **own, "created_at": now, "updated_at": now})
                session.add(product)
            return _announced(session, Saved(product, created=True, changed=True))
        except IntegrityError:
            # Another registration of the same name was quicker, and is what there is to change now.
            product = _registered(session, account_id, new_id, external_id)
            if product is None:
                raise
    changed = _apply(product, {**values, "status": ACTIVE})
    return _announced(session, Saved(product, created=product.id == new_id, changed=changed))


def change_product(
    session: Session, *, account_id: uuid.UUID, product_id: uuid.UUID, values: Mapping[str, Any]
) -> Saved:
    """Change these columns of a product.

    Raises:
        TryOnError: ``product_not_found``, or ``external_id_taken`` by another product of the account.
    """
    product = _locked(session, account_id, product_id)
    try:
        with session.begin_nested():
            changed = _apply(product, values)
        return _announced(session, Saved(product, created=False, changed=changed))
    except IntegrityError:
        holder = _registered(session, account_id, product_id, values.get("external_id"))
        if holder is None or holder.id == product_id:
            raise
        raise TryOnError("external_id_taken") from None


def archive_product(session: Session, *, account_id: uuid.UUID, product_id: uuid.UUID) -> None:
    """Hide a product from try-ons; does nothing to one that is archived.

    Raises:
        TryOnError: ``product_not_found``.
    """
    _apply(_locked(session, account_id, product_id), {"status": ARCHIVED})


def list_picture_keys(session: Session, *, account_id: uuid.UUID) -> set[str]:
    """Keys of every picture that a product of the account refers to."""
    own = select(Product.front, Product.back).where(Product.account_id == account_id)
    rows = session.execute(own.execution_options(yield_per=1000))
    return {picture["key"] for row in rows for picture in row if picture is not None}


def _announced(session: Session, saved: Saved) -> Saved:
    """Tell the account's webhooks of a revision that can be tried on."""
    product = saved.product
    if saved.changed and product.status == ACTIVE:
        data = {"productId": public_id(product.id), "externalId": product.external_id, "revision": product.revision}
        announce(session, "product.ready", data, account_id=product.account_id, now=product.updated_at)
    return saved


def _locked(session: Session, account_id: uuid.UUID, product_id: uuid.UUID) -> Product:
    """The product, which nobody else changes until the transaction ends."""
    query = select(Product).where(Product.id == product_id, Product.account_id == account_id)
    product = session.scalar(query.with_for_update())
    if product is None:
        raise TryOnError("product_not_found")
    return product


def _registered(session: Session, account_id: uuid.UUID, new_id: uuid.UUID, external_id: str | None) -> Product | None:
    named = Product.id == new_id if external_id is None else Product.external_id == external_id
    return session.scalar(select(Product).where(named, Product.account_id == account_id).with_for_update())


def _apply(product: Product, values: Mapping[str, Any]) -> bool:
    """Set what is different, and count that as one revision; says whether anything was."""
    different = {}
    for column, value in values.items():
        old = getattr(product, column)
        pictures = column in _PICTURES and old is not None and value is not None
        # Pictures are compared by what they hold, wherever they lie.
        if old["sha256"] != value["sha256"] if pictures else old != value:
            different[column] = value
    for column, value in different.items():
        setattr(product, column, value)
    if different:
        product.revision += 1
        product.updated_at = datetime.now(UTC)
    return bool(different)
