"""What this engine is."""

from __future__ import annotations

from dataclasses import asdict

from engines import provenance
from engines.base import EngineInfo
from engines.warp.hints import HONOURED

REVISION = provenance.WARP.revision

MAX_GARMENTS = 4

WARP = EngineInfo(
    **asdict(provenance.WARP),
    trained=False,
    max_garments=MAX_GARMENTS,
    hints=HONOURED,
)
