"""No shadow ends where an old sleeve did."""

import numpy as np

from engines.base import Label
from engines.warp.body.model import LEFT, measure_body
from engines.warp.composite.arms import arm_places, under_cuffs
from engines.warp.composite.freed_arms import freed_arms
from tests.engines.mannequin import draw_mannequin


def test_the_shadow_on_an_arm_does_not_change_where_its_old_sleeve_ended() -> None:
    mannequin = draw_mannequin(sleeves="short")
    body = measure_body(mannequin.person_map)
    old = mannequin.person_map.labels == Label.UPPER
    places = arm_places(body)
    left = under_cuffs(body, places, dict.fromkeys(places, 0.0))
    freed = freed_arms(old, mannequin.person_map.labels == Label.ARMS, places, body.shoulder_width)
    shadow = 1 - freed * (1 - left)
    place = places[LEFT]
    sleeve = old & (place.near < 0.5)
    ended = float(place.share[sleeve].max())
    # What was hidden just above the cuff, beside what was seen just below it.
    above = sleeve & (place.share > ended - 0.10) & (place.share < ended - 0.06)
    assert ended > 0.3
    np.testing.assert_allclose(shadow[above], left[above], atol=0.02)
    assert left[above].max() < 0.05


def test_the_chest_keeps_its_shadow() -> None:
    mannequin = draw_mannequin(sleeves="short", arms="out")
    body = measure_body(mannequin.person_map)
    old = mannequin.person_map.labels == Label.UPPER
    x, y = body.point(0.5).round().astype(int)
    seen = mannequin.person_map.labels == Label.ARMS
    assert freed_arms(old, seen, arm_places(body), body.shoulder_width)[y, x] == 0.0


def test_no_line_crosses_an_arm_at_the_end_of_its_old_sleeve() -> None:
    mannequin = draw_mannequin(sleeves="short", arms="out")
    body = measure_body(mannequin.person_map)
    old, seen = (mannequin.person_map.labels == label for label in (Label.UPPER, Label.ARMS))
    places = arm_places(body)
    place = places[LEFT]
    ended = float(place.share[old & (place.near < 0.5)].max())
    at_end = (place.near < 0.5) & (np.abs(place.share - ended) < 0.01)
    assert freed_arms(old, seen, places, body.shoulder_width)[at_end].min() > 0.7
