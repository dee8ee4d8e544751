"""Items of a backfill made whole: defaults filled in, every field judged, a key for each.

Items and outcomes lie in the object store as pages of JSON lines.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel

from domain.object_keys import BACKFILLS, PICTURES, backfill_of_key
from imaging.errors import ImageError
from imaging.remote_url import check_remote_url
from intake.backfill_rows import Problem
from intake.job import SentGarment
from workflows.backfills.contracts import BackfillItem, ItemDefaults, ItemGarment, ItemOutcome
from workflows.contracts import GarmentHints, ObjectRef

DERIVED_KEY_DIGITS = 24

OWN_PICTURES = re.compile(rf"{BACKFILLS}[^/]+/{PICTURES}")

# fmt: off
FIRST_FIELDS = (
    "productId", "garmentImageUrl", "garmentBackImageUrl", "category", "garmentCategory", "size", "customerSize",
    "garmentState", "tuckState", "viewAngle",
)
# fmt: on
"""What keys have been made from since there are any, in this order, given or not. What comes later counts where it is
given: an item that was done under an older version is not done again under a newer one."""

WHICH_GARMENT = ("product_id", "garment_image_url", "garment_back_image_url")
"""Defaults that only count where an item does not say at all which garment it means."""


@dataclass
class WholeItems:
    """Items that can be carried out, and what is wrong with the others."""

    items: list[BackfillItem] = field(default_factory=list)
    """Each with a key, a person and at least one garment in ``garments``."""
    problems: list[Problem] = field(default_factory=list)


def whole_items(rows: Sequence[tuple[int, BackfillItem]], defaults: ItemDefaults) -> WholeItems:
    """Fill every item with the defaults and judge it."""
    found = WholeItems()
    seen: dict[str, int] = {}
    for row, item in rows:
        try:
            made = _whole(item, defaults)
            key = made.key or ""
            if (earlier := seen.setdefault(key, row)) != row:
                like = "has the key of" if item.key else "is the same as"
                raise ValueError(f"key: {like} row {earlier}.")
        except ValueError as error:
            found.problems.append(Problem(row, str(error)))
        else:
            found.items.append(made)
    return found


def stored_pictures(items: Iterable[BackfillItem]) -> dict[str, str]:
    """Every object that items name, with the field that first does."""
    keys: dict[str, str] = {}
    for item in items:
        keys.setdefault(item.person or "", "person")
        for name, value in _pictures(item):
            if value.startswith(BACKFILLS):
                keys.setdefault(value, name)
    return keys


def folders_used(items: Iterable[BackfillItem]) -> set[str]:
    """Ids of the backfills, or names of the folders, that hold pictures of the items."""
    return {backfill_of_key(key) for key in stored_pictures(items)}


def sent_garment(garment: ItemGarment, prefix: str, stored: dict[str, ObjectRef]) -> SentGarment:
    """A garment as any caller would describe it.

    Args:
        garment: Of a whole item.
        prefix: What stands before the names of its fields in error messages.
        stored: What lies under the keys that it names.
    """

    def side(value: str | None) -> str | ObjectRef | None:
        return None if value is None else stored.get(value, value)

    front, back = side(garment.garment_image_url), side(garment.garment_back_image_url)
    hints = GarmentHints.model_validate(garment, from_attributes=True)
    return SentGarment(garment.product_id, garment.category, hints, front, back, prefix)


def _whole(item: BackfillItem, defaults: ItemDefaults) -> BackfillItem:
    own = ItemGarment.model_validate(item.model_dump(include=set(ItemGarment.model_fields), by_alias=False))
    if item.garments and own != ItemGarment():
        raise ValueError("garments: stand beside fields of a single garment.")
    person = _own_object("person", item.person or defaults.person)
    garments = [
        _whole_garment(f"garments[{index}]." if item.garments else "", garment, defaults)
        for index, garment in enumerate(item.garments or [own])
    ]
    whole = BackfillItem(key=item.key, person=person, garments=garments)
    return whole if whole.key else whole.model_copy(update={"key": _derived_key(whole)})


def _whole_garment(prefix: str, garment: ItemGarment, defaults: ItemDefaults) -> ItemGarment:
    named = garment.product_id is not None or garment.garment_image_url is not None
    gaps = {
        name: getattr(defaults, name)
        for name in ItemGarment.model_fields
        if getattr(garment, name) is None and not (named and name in WHICH_GARMENT)
    }
    whole = garment.model_copy(update=gaps)
    if whole.product_id is None:
        for name, value in (("garmentImageUrl", whole.garment_image_url), ("category", whole.category)):
            if value is None:
                raise ValueError(f"{prefix}{name}: is needed unless productId is given.")
    pictures = {
        name: None if value is None else _stored_or_remote(f"{prefix}{alias}", value)
        for name, alias, value in (
            ("garment_image_url", "garmentImageUrl", whole.garment_image_url),
            ("garment_back_image_url", "garmentBackImageUrl", whole.garment_back_image_url),
        )
    }
    return whole.model_copy(update=pictures)


def _stored_or_remote(name: str, value: str) -> str:
    if not value.startswith("https:"):
        return _own_object(name, value, "an https:// address or ")
    try:
        return check_remote_url(value)
    except ImageError as error:
        raise ValueError(f"{name}: {error.detail}.") from None


def _own_object(name: str, key: str | None, otherwise: str = "") -> str:
    if key is None:
        raise ValueError(f"{name}: is missing.")
    if not key.startswith(BACKFILLS) or ".." in key.split("/"):
        raise ValueError(f"{name}: must be {otherwise}the key of an object below {BACKFILLS}, not {key[:80]!r}.")
    return key


def _derived_key(item: BackfillItem) -> str:
    """From everything that counts, which a picture's name within whatever backfill it was uploaded for does."""
    garments = [dict.fromkeys(FIRST_FIELDS) | garment.model_dump(exclude_none=True) for garment in item.garments]
    fields = {**dict.fromkeys(FIRST_FIELDS), "person": item.person, "key": None, "garments": garments}
    content = OWN_PICTURES.sub("", json.dumps(fields, ensure_ascii=False, separators=(",", ":")))
    return "item-" + hashlib.sha256(content.encode()).hexdigest()[:DERIVED_KEY_DIGITS]


def _pictures(item: BackfillItem) -> Iterator[tuple[str, str]]:
    for garment in item.garments:
        for name, value in (
            ("garmentImageUrl", garment.garment_image_url),
            ("garmentBackImageUrl", garment.garment_back_image_url),
        ):
            if value is not None:
                yield name, value


PAGE_ITEMS = 100
"""Small enough to be read anew for every item, and rewritten for a few outcomes."""

CONTENT_TYPE = "application/jsonl"


def pages_of(items: Sequence[BackfillItem]) -> Iterator[bytes]:
    """The pages that these items fill."""
    for start in range(0, len(items), PAGE_ITEMS):
        yield lines_of(items[start : start + PAGE_ITEMS])


def lines_of(models: Iterable[BaseModel]) -> bytes:
    """One line of JSON each, without what says nothing."""
    return "".join(model.model_dump_json(exclude_defaults=True) + "\n" for model in models).encode()


def read_page(page: bytes) -> list[BackfillItem]:
    """The items of a page."""
    return [BackfillItem.model_validate_json(line) for line in page.splitlines()]


def read_outcomes(page: bytes) -> dict[int, ItemOutcome]:
    """The outcomes of a page, by number."""
    outcomes = (ItemOutcome.model_validate(json.loads(line)) for line in page.splitlines())
    return {outcome.number: outcome for outcome in outcomes}
