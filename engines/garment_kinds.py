"""The kinds of garment that the service knows, and what follows from each.

Callers describe garments in their own words; `engines.kind_folding` finds the kind in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum


class Category(StrEnum):
    """The part of the body a garment covers."""

    UPPER_BODY = "upper_body"
    LOWER_BODY = "lower_body"
    FULL_BODY = "full_body"


class Layer(IntEnum):
    """How far from the skin a garment is worn over others of its part of the body."""

    INNER = 0
    MID = 1
    OUTER = 2


class GarmentKind(StrEnum):
    """A kind of garment; the value is its name in prompts and in the docs."""

    T_SHIRT = "t-shirt"
    SHIRT = "shirt"
    BLOUSE = "blouse"
    POLO_SHIRT = "polo shirt"
    TANK_TOP = "tank top"
    CROP_TOP = "crop top"
    BODYSUIT = "bodysuit"
    TUNIC = "tunic"
    KURTA = "kurta"
    SWEATER = "sweater"
    SWEATSHIRT = "sweatshirt"
    HOODIE = "hoodie"
    CARDIGAN = "cardigan"
    WAISTCOAT = "waistcoat"
    BLAZER = "blazer"
    JACKET = "jacket"
    COAT = "coat"
    CAPE = "cape"
    JEANS = "jeans"
    TROUSERS = "trousers"
    CHINOS = "chinos"
    LEGGINGS = "leggings"
    JOGGERS = "joggers"
    SHORTS = "shorts"
    SKIRT = "skirt"
    DRESS = "dress"
    JUMPSUIT = "jumpsuit"
    ROMPER = "romper"
    DUNGAREES = "dungarees"
    SUIT = "suit"
    TRACKSUIT = "tracksuit"
    PYJAMAS = "pyjamas"
    SAREE = "saree"
    LEHENGA = "lehenga"
    ABAYA = "abaya"
    SWIMSUIT = "swimsuit"

    @property
    def category(self) -> Category:
        """The part of the body that it usually covers; what the caller says about a garment goes before it."""
        return _TRAITS[self].category

    @property
    def layer(self) -> Layer:
        """How far from the skin it is worn."""
        return _TRAITS[self].layer

    @property
    def can_be_open(self) -> bool:
        """Whether it closes in front, so that it can be worn open."""
        return _TRAITS[self].can_be_open

    @property
    def can_be_tucked(self) -> bool:
        """Whether it has a hem that can be tucked into a waistband."""
        return _TRAITS[self].can_be_tucked


@dataclass(frozen=True)
class _Traits:
    category: Category
    layer: Layer = Layer.INNER
    can_be_open: bool = False
    can_be_tucked: bool = False


_TOP = _Traits(Category.UPPER_BODY, can_be_tucked=True)
_BUTTONED_TOP = _Traits(Category.UPPER_BODY, can_be_open=True, can_be_tucked=True)
_SHORT_TOP = _Traits(Category.UPPER_BODY)
_KNITWEAR = _Traits(Category.UPPER_BODY, Layer.MID, can_be_tucked=True)
_OPEN_KNITWEAR = _Traits(Category.UPPER_BODY, Layer.MID, can_be_open=True, can_be_tucked=True)
_WAISTCOAT = _Traits(Category.UPPER_BODY, Layer.MID, can_be_open=True)
_OUTERWEAR = _Traits(Category.UPPER_BODY, Layer.OUTER, can_be_open=True)
_BOTTOMS = _Traits(Category.LOWER_BODY)
_WHOLE = _Traits(Category.FULL_BODY)
_OPEN_WHOLE = _Traits(Category.FULL_BODY, can_be_open=True)
_OVER_ALL = _Traits(Category.FULL_BODY, Layer.OUTER, can_be_open=True)

_TRAITS = {
    GarmentKind.T_SHIRT: _TOP,
    GarmentKind.SHIRT: _BUTTONED_TOP,
    GarmentKind.BLOUSE: _BUTTONED_TOP,
    GarmentKind.POLO_SHIRT: _TOP,
    GarmentKind.TANK_TOP: _TOP,
    GarmentKind.CROP_TOP: _SHORT_TOP,
    GarmentKind.BODYSUIT: _TOP,
    GarmentKind.TUNIC: _TOP,
    GarmentKind.KURTA: _BUTTONED_TOP,
    GarmentKind.SWEATER: _KNITWEAR,
    GarmentKind.SWEATSHIRT: _KNITWEAR,
    GarmentKind.HOODIE: _OPEN_KNITWEAR,
    GarmentKind.CARDIGAN: _OPEN_KNITWEAR,
    GarmentKind.WAISTCOAT: _WAISTCOAT,
    GarmentKind.BLAZER: _OUTERWEAR,
    GarmentKind.JACKET: _OUTERWEAR,
    GarmentKind.COAT: _OUTERWEAR,
    GarmentKind.CAPE: _OUTERWEAR,
    GarmentKind.JEANS: _BOTTOMS,
    GarmentKind.TROUSERS: _BOTTOMS,
    GarmentKind.CHINOS: _BOTTOMS,
    GarmentKind.LEGGINGS: _BOTTOMS,
    GarmentKind.JOGGERS: _BOTTOMS,
    GarmentKind.SHORTS: _BOTTOMS,
    GarmentKind.SKIRT: _BOTTOMS,
    GarmentKind.DRESS: _WHOLE,
    GarmentKind.JUMPSUIT: _WHOLE,
    GarmentKind.ROMPER: _WHOLE,
    GarmentKind.DUNGAREES: _WHOLE,
    GarmentKind.SUIT: _OPEN_WHOLE,
    GarmentKind.TRACKSUIT: _OPEN_WHOLE,
    GarmentKind.PYJAMAS: _OPEN_WHOLE,
    GarmentKind.SAREE: _WHOLE,
    GarmentKind.LEHENGA: _WHOLE,
    GarmentKind.ABAYA: _OVER_ALL,
    GarmentKind.SWIMSUIT: _WHOLE,
}
