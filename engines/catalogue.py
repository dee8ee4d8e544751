"""Every engine: what it is, under which licences, and where its weights come from. Nothing heavy is imported here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engines.base import EngineInfo
from engines.fashn.about import FASHN, FASHN_WEIGHTS
from engines.klein.about import KLEIN, KLEIN_WEIGHTS
from engines.warp.hints import WARP
from engines.weights.fetch import Repository

ENGINES: Mapping[str, EngineInfo] = {info.name: info for info in (WARP, KLEIN, FASHN)}
"""By name."""

WEIGHTS: Mapping[str, Sequence[Repository]] = {KLEIN.name: KLEIN_WEIGHTS, FASHN.name: FASHN_WEIGHTS}
"""Where the weights of the generative engines come from, by the engine's name."""
