import random
import unicodedata

import pytest

from engines.base import Category
from engines.garment_kinds import GarmentKind, Layer
from engines.kind_folding import fold_kind, names_of


@pytest.mark.parametrize("kind", GarmentKind)
def test_every_name_in_the_table_is_that_kind(kind: GarmentKind) -> None:
    for name in names_of(kind):
        assert fold_kind(name) is kind, name


@pytest.mark.parametrize("kind", GarmentKind)
def test_spelling_does_not_matter(kind: GarmentKind) -> None:
    name = kind.value
    for spelling in (name.upper(), name.replace(" ", "-"), name.replace("-", " "), f"  {name}!", f"women's {name}"):
        assert fold_kind(spelling) is kind, spelling


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("denim jacket", GarmentKind.JACKET),
        ("shirt dress", GarmentKind.DRESS),
        ("jeans shorts", GarmentKind.SHORTS),
        ("t shirt dress", GarmentKind.DRESS),
        ("skinny jeans", GarmentKind.JEANS),
        ("dress shirt", GarmentKind.SHIRT),
        ("suit trousers", GarmentKind.TROUSERS),
        ("suit jacket", GarmentKind.BLAZER),
        ("hooded sweatshirt", GarmentKind.HOODIE),
        ("puffer vest", GarmentKind.WAISTCOAT),
        ("vest top", GarmentKind.TANK_TOP),
        ("boiler suit", GarmentKind.JUMPSUIT),
        ("swim shorts", GarmentKind.SHORTS),
        ("denim", GarmentKind.JEANS),
        ("short en jean", GarmentKind.SHORTS),
        ("blue ballgown", GarmentKind.DRESS),
        ("salwar kameez", GarmentKind.KURTA),
    ],
)
def test_the_noun_wins_over_what_modifies_it(text: str, kind: GarmentKind) -> None:
    assert fold_kind(text) is kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("dress with jacket", GarmentKind.DRESS),
        ("pair of jeans", GarmentKind.JEANS),
        ("Dress short sleeve", GarmentKind.DRESS),
        ("pull-on trousers", GarmentKind.TROUSERS),
        ("Jeans, slim fit", GarmentKind.JEANS),
        ("Jackets & Coats", GarmentKind.COAT),
        ("Women > Clothing > Dresses", GarmentKind.DRESS),
        ("T-Shirts & Tops", GarmentKind.T_SHIRT),
        ("Kleid mit Jacke", GarmentKind.DRESS),
    ],
)
def test_what_describes_a_garment_does_not_name_it(text: str, kind: GarmentKind) -> None:
    assert fold_kind(text) is kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Hose", GarmentKind.TROUSERS),
        ("Kurze Hosen", GarmentKind.SHORTS),
        ("Sommerkleider", GarmentKind.DRESS),
        ("Maxiröcke", GarmentKind.SKIRT),
        ("Lederjacke", GarmentKind.JACKET),
        ("Unterhemden", GarmentKind.TANK_TOP),
        ("chemise", GarmentKind.SHIRT),
        ("Chemises de nuit", GarmentKind.DRESS),
        ("veste en jean", GarmentKind.JACKET),
        ("sweat à capuche", GarmentKind.HOODIE),
        ("Pantalons", GarmentKind.TROUSERS),
        ("falda", GarmentKind.SKIRT),
        ("Chaqueta vaquera", GarmentKind.JACKET),
        ("pantalones vaqueros", GarmentKind.JEANS),
        ("traje de baño", GarmentKind.SWIMSUIT),
        ("gonne", GarmentKind.SKIRT),
        ("felpa con cappuccio", GarmentKind.HOODIE),
    ],
)
def test_other_languages(text: str, kind: GarmentKind) -> None:
    assert fold_kind(text) is kind


@pytest.mark.parametrize(
    "text", [None, "", "   ", "top", "denim top", "denim kimono", "kimono", "full body", "address", "💥", "服"]
)
def test_what_names_no_kind_stays_text(text: str | None) -> None:
    assert fold_kind(text) is None


def test_folding_never_raises() -> None:
    generator = random.Random(7)
    letters = "aeiouhs -/'.,>&()\u0301\u200d\u00df\u0130\uff4a\u0e33\ud800\U0001f457" + "jeansdrktw"
    for _ in range(2000):
        text = "".join(generator.choice(letters) for _ in range(generator.randint(0, 64)))
        assert fold_kind(text) in {None, *GarmentKind}
    for number in range(0, 0x11000, 7):
        fold_kind(chr(number) + " jeans " + unicodedata.normalize("NFD", chr(number)))


@pytest.mark.parametrize(
    ("kind", "category", "layer"),
    [
        (GarmentKind.T_SHIRT, Category.UPPER_BODY, Layer.INNER),
        (GarmentKind.SWEATER, Category.UPPER_BODY, Layer.MID),
        (GarmentKind.COAT, Category.UPPER_BODY, Layer.OUTER),
        (GarmentKind.JEANS, Category.LOWER_BODY, Layer.INNER),
        (GarmentKind.JUMPSUIT, Category.FULL_BODY, Layer.INNER),
    ],
)
def test_where_a_kind_is_worn(kind: GarmentKind, category: Category, layer: Layer) -> None:
    assert (kind.category, kind.layer) == (category, layer)


def test_only_tops_are_tucked_and_bottoms_have_no_front_to_open() -> None:
    for kind in GarmentKind:
        assert not kind.can_be_tucked or kind.category is Category.UPPER_BODY
        assert not kind.can_be_open or kind.category is not Category.LOWER_BODY
    assert GarmentKind.JACKET.can_be_open
    assert not GarmentKind.JACKET.can_be_tucked
    assert GarmentKind.SHIRT.can_be_tucked
    assert not GarmentKind.T_SHIRT.can_be_open
