"""Which engines there are, where their weights come from, and under which licences.

Light, and apart from the engines, for those who tell people about them without loading any.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Provenance:
    """What has to be known of an engine before its pictures may be sold.

    Attributes:
        commercial_use: Whether the weights' licence is known to allow it.
        source: Repository of the weights.
        revision: Which state of it, or of an engine without weights.
        device: What it is made for: ``cpu`` or ``cuda``.
        memory_mb: Memory of the device that it needs, weights included, in MiB; 0 where it hardly matters.
    """

    name: str
    code_licence: str
    weights_licence: str
    commercial_use: bool
    source: str
    revision: str
    device: str
    memory_mb: int = 0


WARP = Provenance(
    name="warp",
    code_licence="Apache-2.0",
    weights_licence="Apache-2.0",  # of the networks that find the person; there are no others
    commercial_use=True,
    source="built in",
    revision="15",  # counted up with every change of the pictures that this engine makes
    device="cpu",
)

KLEIN = Provenance(
    name="klein",
    code_licence="Apache-2.0",
    weights_licence="Apache-2.0",
    commercial_use=True,
    # The distilled network of 3.9 billion parameters; the larger ones forbid commercial use.
    source="black-forest-labs/FLUX.2-klein-4B",
    # The commit of its repository that this engine was written for.
    revision="e7b7dc27f91deacad38e78976d1f2b499d76a294",
    device="cuda",
    # Reckoned, not measured. Two bytes for each weight in bfloat16: 7.8 GB for the transformer (3.88 billion), 8.0 GB
    # for the text encoder (4.0 billion) and 0.2 GB for the VAE (84 million) are 16.0 GB or 14.9 GiB; 2 GiB are for the
    # picture that is drawn. By default the text encoder is lent the GPU for each new prompt and lies beside the others
    # while it works. Where it computes elsewhere, 10 GiB should do: 7.4 for the others, 2 for the picture.
    memory_mb=17 * 1024,
)

FASHN = Provenance(
    name="fashn",
    code_licence="Apache-2.0",
    weights_licence="Apache-2.0",
    commercial_use=True,
    source="fashn-ai/fashn-vton-1.5",
    # No commit of the weights could be looked up when this was written; what is fetched is in the folder's manifest.
    revision="main",
    device="cuda",
    # The card that the publishers name for one picture at a time; batches need more. Not measured by this project.
    memory_mb=8192,
)

PROVENANCES = (WARP, KLEIN, FASHN)
"""Of every engine."""
