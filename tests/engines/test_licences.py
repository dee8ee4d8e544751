from __future__ import annotations

from dataclasses import replace

import pytest

from engines.base import EngineInfo, EngineUnavailable
from engines.licences import check_licence

FREE = EngineInfo("free", "MIT", "Apache-2.0", True, "somewhere", "1", "cpu", trained=True, max_garments=1)
FORBIDDEN = replace(FREE, name="forbidden", weights_licence="CC BY-NC-SA 4.0", commercial_use=False)


def test_weights_that_may_be_sold_with_need_nothing() -> None:
    check_licence(FREE, None)


@pytest.mark.parametrize("acknowledged", [None, "", " ,"])
def test_others_are_refused_with_their_licence_and_the_way_out(acknowledged: str | None) -> None:
    with pytest.raises(EngineUnavailable, match=r"CC BY-NC-SA 4\.0.*TRYON_LICENCE_ACKNOWLEDGED=forbidden"):
        check_licence(FORBIDDEN, acknowledged)


def test_operator_may_take_it_on_by_name() -> None:
    check_licence(FORBIDDEN, "forbidden")


def test_operator_may_name_several() -> None:
    for acknowledged in ("other,forbidden", " forbidden , other ,"):
        check_licence(FORBIDDEN, acknowledged)
    with pytest.raises(EngineUnavailable, match="TRYON_LICENCE_ACKNOWLEDGED=other,forbidden if"):
        check_licence(FORBIDDEN, "other")
    with pytest.raises(EngineUnavailable):
        check_licence(FORBIDDEN, "forbid")
