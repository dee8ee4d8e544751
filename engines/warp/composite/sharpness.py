"""How sharp a photo is, so that cloth laid into it is neither crisper nor softer than the rest."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.channels import brightness, on_channels
from engines.garment.regions import window_of
from engines.warp.pieces import Piece

PROBE_SIGMA = 1.0
"""Known blur added to compare edges with, pixels."""

KERNEL_VARIANCE = 0.55
"""What sampling and the two-pixel difference themselves add to the variance of an edge, square pixels."""

SHARPEST, SOFTEST = 0.45, 2.5
"""Range of believable edge blur, pixels (standard deviation)."""

CLOTH_BLUR, OUTLINE_BLUR = 0.64, 0.55
"""Edge blur of cloth as it comes out of the rasteriser, pixels, and of people's outlines in sharp photos, however much
sharper their prints may be."""

DRAWN_BLUR = 0.75
"""Edge blur of a print that was shrunk and bent onto the body, pixels."""

DETAIL, CRISPNESS = 0.9, 0.6
"""Size of the detail that shrinking and bending wear off, pixels, and how much of it is given back at most."""

FALLBACK = 0.8
"""Edge blur assumed where a picture has no clear edges."""


def edge_blur(photo: NDArray[np.float32], area: NDArray[np.bool_]) -> float:
    """Estimate the blur of the sharpest edges in an area.

    At a step edge blurred by sigma, adding a further blur s lowers the gradient by sqrt(sigma² + s²) / sigma
    (Zhuo and Sim, Defocus map estimation from a single image, 2011).

    Args:
        photo: ``(h, w, 3)`` float32, 0 to 1.
        area: ``(h, w)`` bool, where to look.

    Returns:
        Standard deviation in pixels, between `SHARPEST` and `SOFTEST`.
    """
    grey = brightness(photo)
    before = _gradient(grey)
    after = _gradient(np.asarray(cv2.GaussianBlur(grey, (0, 0), PROBE_SIGMA), dtype=np.float32))
    crest = before >= cv2.dilate(before, np.ones((3, 3), dtype=np.uint8)) - 1e-6
    strong = area & crest & (before > 0.12)
    if strong.sum() < 40:
        return FALLBACK
    ratio = before[strong] / np.maximum(after[strong], 1e-4)
    variance = PROBE_SIGMA**2 / np.maximum(ratio**2 - 1, 1e-3) - KERNEL_VARIANCE
    return float(np.clip(np.sqrt(max(float(np.percentile(variance, 30)), 0.0)), SHARPEST, SOFTEST))


def crisper(picture: NDArray[np.float32], cover: NDArray[np.float32], blur: float) -> NDArray[np.float32]:
    """The picture with cloth as crisp as a photo that is sharper than drawn cloth, up to the cloth's own edge.

    Args:
        picture: ``(h, w, 3)`` float32, 0 to 1.
        cover: ``(h, w)`` float32 cover of the cloth, 0 to 1.
        blur: Edge blur of the photo, pixels.
    """
    lacking = float(np.clip((DRAWN_BLUR - blur) / (DRAWN_BLUR - SHARPEST), 0, 1))
    inner = cv2.erode((cover > 0.98).astype(np.uint8), np.ones((3, 3), np.uint8))
    window = window_of(inner > 0)
    part = picture[window]
    if lacking == 0 or not part.size:
        return picture
    fine = part - cv2.GaussianBlur(part, (0, 0), DETAIL)
    sharp = part + fine * on_channels(np.float32(CRISPNESS * lacking) * inner[window].astype(np.float32))
    # Beyond the colours on both sides of a seam it would draw a pale line beside it, and a dark one.
    around = np.ones((3, 3), np.uint8)
    crisp = picture.copy()
    crisp[window] = np.clip(sharp, cv2.erode(part, around), cv2.dilate(part, around))
    return crisp


def softened(piece: Piece, blur: float, exposed: np.float32) -> Piece:
    """The piece as bright as the photo lets it be, with edges as sharp or as soft as the photo's own.

    Args:
        piece: As the rasteriser drew it.
        blur: Edge blur of the photo, pixels.
        exposed: Factor of brightness.
    """
    colour = piece.colour * exposed
    lacking = blur**2 - CLOTH_BLUR**2
    if lacking < 0.04:
        return _sharpened(replace(piece, colour=colour), CLOTH_BLUR / max(blur, OUTLINE_BLUR))
    sigma = float(np.sqrt(lacking))
    colour = np.asarray(cv2.GaussianBlur(colour, (0, 0), sigma), dtype=np.float32)
    alpha = np.asarray(cv2.GaussianBlur(piece.alpha, (0, 0), sigma), dtype=np.float32)
    return replace(piece, colour=colour, alpha=alpha)


def _sharpened(piece: Piece, steeper: float) -> Piece:
    """The piece with an outline so many times as steep, in the same place."""
    window = piece.window
    alpha, colour = piece.alpha.copy(), piece.colour.copy()
    part = piece.alpha[window]
    alpha[window] = np.clip((part - 0.5) * np.float32(steeper) + 0.5, 0, 1)
    colour[window] *= on_channels(alpha[window] / np.maximum(part, 1e-3))
    return replace(piece, colour=colour, alpha=alpha)


def _gradient(grey: NDArray[np.float32]) -> NDArray[np.float32]:
    """Magnitude of the central differences, change per pixel."""
    kernel = np.array([[-0.5, 0.0, 0.5]], dtype=np.float32)
    across = cv2.filter2D(grey, cv2.CV_32F, kernel)
    down = cv2.filter2D(grey, cv2.CV_32F, kernel.T)
    return np.hypot(across, down).astype(np.float32)
