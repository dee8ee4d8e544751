"""What this engine is. Nothing heavy is imported here."""

from __future__ import annotations

from engines.registration import EngineInfo, Registration

FLAT = EngineInfo(
    name="flat",
    code_licence="Apache-2.0",
    weights_licence="Apache-2.0",  # of the networks that find the person
    commercial_use=True,
    source="built in",
    revision="1",
    device="cpu",
    trained=False,
    max_garments=4,
)

ENGINE = Registration(FLAT, "engines.flat.engine:FlatEngine", for_tests=True)
