import numpy as np
import pytest

from engines.base import Hints
from engines.garment.cutout import cut_out
from engines.garment.upper_landmarks import find_upper_landmarks
from engines.sizes import fit_of
from engines.warp.body.model import measure_body
from engines.warp.drape.upper import drape_upper
from engines.warp.sizing import FITTING, LOOSEST, TIGHTEST, Sizing, sizing_of_top
from tests.engines.drawings import draw_garment
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
    sizing = sizing_of_top(fit_of(size, customer_size))
    assert (sizing.girth, sizing.length) == pytest.approx((girth, length))


def test_larger_sizes_stand_wider_and_hang_lower() -> None:
    body = measure_body(draw_mannequin().person_map)
    cloth = cut_out(draw_garment("t-shirt").picture)
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


def test_who_says_nothing_gets_what_fits() -> None:
    assert sizing_of_top(Hints().fit) is FITTING
