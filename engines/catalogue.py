"""Every engine: a new one is its folder and a line here. Nothing heavy is imported."""

from __future__ import annotations

from collections.abc import Mapping

import engines.fashn.about
import engines.flat.about
import engines.klein.about
import engines.warp.about
from engines.registration import Registration

ENGINES: Mapping[str, Registration] = {
    each.info.name: each
    for each in (
        engines.warp.about.ENGINE,
        engines.klein.about.ENGINE,
        engines.fashn.about.ENGINE,
        engines.flat.about.ENGINE,
    )
}
"""By name."""

OFFERED: Mapping[str, Registration] = {name: each for name, each in ENGINES.items() if not each.for_tests}
"""Those for customers."""

AUTOMATIC = ("klein", "warp")
"""``auto`` stands for the first of these that can be set up here; the last one can be set up everywhere."""


def nameable(route: str) -> set[str]:
    """The engines that a route may name: those for customers, and a test engine if it is the only one named."""
    return {*OFFERED, *({route.strip()} & ENGINES.keys())}
