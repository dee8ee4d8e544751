"""What this engine is. Nothing heavy is imported here."""

from __future__ import annotations

from engines.registration import EngineInfo, Registration

HONOURED = frozenset({"kind", "tuck_state", "garment_state", "view_angle", "back_picture", "size", "customer_size"})
"""Names of the hints that can change a picture."""

WARP = EngineInfo(
    name="warp",
    code_licence="Apache-2.0",
    weights_licence="Apache-2.0",  # of the networks that find the person and the garment; there are no others
    commercial_use=True,
    source="built in",
    revision="16",  # counted up with every change of the pictures that this engine makes
    device="cpu",
    trained=False,
    max_garments=4,
    hints=HONOURED,
)

ENGINE = Registration(WARP, "engines.warp.engine:build")
