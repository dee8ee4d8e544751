"""Whether the weights of an engine may be used commercially here."""

from __future__ import annotations

from engines.base import EngineInfo, EngineUnavailable


def check_licence(info: EngineInfo, acknowledged: str | None) -> None:
    """See that an engine may be used by a service that bills for its pictures.

    Args:
        info: The engine.
        acknowledged: Names, with commas between them, of the engines whose licences the operator has taken on, if any:
            by an agreement with the owner of the weights, or because nothing is earned with them.

    Raises:
        EngineUnavailable: Its weights forbid commercial use, or nothing is known of their licence.
    """
    names = [name.strip() for name in (acknowledged or "").split(",") if name.strip()]
    if info.commercial_use or info.name in names:
        return
    every = ",".join([*names, info.name])
    raise EngineUnavailable(
        f"The weights of {info.name} ({info.source}: {info.weights_licence}) are not known to allow commercial use. "
        f"Set TRYON_LICENCE_ACKNOWLEDGED={every} if you have the right to use them."
    )
