"""What this engine is."""

from __future__ import annotations

from engines.base import EngineInfo
from engines.warp.hints import HONOURED

REVISION = "6"
"""Counted up with every change of the pictures this engine makes."""

MAX_GARMENTS = 4

WARP = EngineInfo(
    name="warp",
    code_licence="Apache-2.0",
    weights_licence="Apache-2.0",  # of the networks that find the person; there are no others
    commercial_use=True,
    source="built in",
    revision=REVISION,
    device="cpu",
    trained=False,
    max_garments=MAX_GARMENTS,
    hints=HONOURED,
)
