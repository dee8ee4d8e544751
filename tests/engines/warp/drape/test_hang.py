from collections.abc import Callable

import numpy as np
import pytest

from engines.base import Category, Hints
from engines.garment.cloth import Cloth
from engines.garment.upper_landmarks import find_upper_landmarks
from engines.garment_kinds import GarmentKind
from engines.sizes import fit_of
from engines.warp.body.model import BodyModel, measure_body
from engines.warp.drape.full import drape_full
from engines.warp.drape.hang import FITTING, LOOSEST, TIGHTEST, Sizing, sized, sizing_of
from engines.warp.drape.lower import drape_lower
from engines.warp.drape.upper import drape_upper
from engines.warp.ribbon import Drape
from tests.engines.drawings import draw_garment
from tests.engines.hanging_drawings import cloth_of, cut, dress, shorts, skirt, trousers
from tests.engines.mannequin import draw_mannequin


@pytest.mark.parametrize(
    ("size", "customer_size", "girth", "length"),
    [
        ("M", "M", 1.0, 1.0),
        ("L", "M", 1.06, 1.025),
        ("S", "L", 0.88, 0.95),
        ("6XL", "XXS", LOOSEST, 1.15),
        ("XXS", "6XL", TIGHTEST, 0.85),
        ("M", "38", 1.0, 1.0),
    ],
)
def test_a_size_is_six_hundredths_of_girth(size: str, customer_size: str, girth: float, length: float) -> None:
    sizing = sizing_of(fit_of(size, customer_size), Category.UPPER_BODY)
    assert (sizing.girth, sizing.length) == pytest.approx((girth, length))


def test_larger_sizes_stand_wider_and_hang_lower() -> None:
    body = measure_body(draw_mannequin().person_map)
    cloth = cut(draw_garment("t-shirt").picture)
    marks = find_upper_landmarks(cloth)
    widths, hems = [], []
    for girth in (0.88, 1.0, 1.12, 1.24):
        drape = drape_upper(cloth, marks, body, sizing=Sizing(girth, 1.0 + (girth - 1.0) * 0.4))
        belly = np.abs(body.heights - 0.7) < 0.02
        widths.append(float(drape.pieces[0].alpha[belly].sum()))
        hems.append(drape.checks["hem_height"])
    assert widths == sorted(widths)
    assert widths[3] > 1.15 * widths[1]
    assert hems == sorted(hems)
    assert hems[3] > hems[1]


@pytest.mark.parametrize(
    ("size", "customer_size", "girth", "length"),
    [("L", "M", 1.06, 1.012), ("S", "L", 0.88, 0.976), ("W32/L34", "W32/L32", 1.0, 1.06), ("M", "M", 1.0, 1.0)],
)
def test_below_the_waist_a_named_length_counts(size: str, customer_size: str, girth: float, length: float) -> None:
    sizing = sizing_of(fit_of(size, customer_size), Category.LOWER_BODY)
    assert (sizing.girth, sizing.length) == pytest.approx((girth, length))


SHORT_DRESS = cloth_of([(0, 110), (55, 70), (110, 95), (112, 190), (90, 340), (150, 520), (155, 600), (0, 600)])
Drapes = Callable[[BodyModel, Sizing], Drape]


def lower(cloth: Cloth) -> Drapes:
    return lambda body, sizing: drape_lower(cloth, body, under_tucked_top=True, sizing=sizing)


def full(cloth: Cloth, kind: GarmentKind = GarmentKind.DRESS) -> Drapes:
    return lambda body, sizing: drape_full(cloth, body, kind, sizing=sizing)


@pytest.mark.parametrize(
    "drape",
    [
        lower(trousers()),
        lower(shorts()),
        lower(skirt(hem=500)),
        full(SHORT_DRESS),
        full(dress(legs=True), GarmentKind.JUMPSUIT),
    ],
    ids=["trousers", "shorts", "skirt", "dress", "jumpsuit"],
)
def test_larger_bottoms_and_dresses_are_wider_and_longer(drape: Drapes) -> None:
    body = measure_body(draw_mannequin(960, 760).person_map)
    thighs = (body.heights > 1.25) & (body.heights < 1.30)
    areas, ends = [], []
    for sizing in (Sizing(0.88, 0.96), FITTING, Sizing(1.18, 1.04)):
        alpha = drape(body, sizing).alpha
        areas.append(float(alpha[thighs].sum()))
        ends.append(int(np.flatnonzero(alpha.max(axis=1) > 0.5)[-1]))
    assert areas == sorted(set(areas))
    assert areas[2] > 1.06 * areas[1]
    assert ends == sorted(set(ends))


def test_a_waistband_takes_up_most_of_what_is_too_wide() -> None:
    half, inside, down = np.full(3, 100.0), np.full(3, 90.0), np.array([0.0, 0.5, 1.0])
    assert sized(half, 1.2, inside, down) == pytest.approx([108, 114, 120])
    assert sized(half, 0.8, inside, down) == pytest.approx([92, 90.45, 90.45])
    assert (sized(half, 0.7, np.full(3, 105.0), down) == 100).all()


def test_who_says_nothing_gets_what_fits() -> None:
    assert all(sizing_of(Hints().fit, category) is FITTING for category in Category)
