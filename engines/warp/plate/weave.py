"""The weave of a cloth, drawn on beyond where the photo shows it.

Mirrored at its edge, cloth brings along what else is there: pockets, a fly upside down, the gap between the legs. Its
weave alone is noise with the spectrum of a plain piece of it (Galerne, Gousseau and Morel, "Random phase textures",
IEEE Transactions on Image Processing 20, 2011).
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.channels import largest_channel
from engines.garment.regions import BoolMask, window_of
from engines.warp.grain import white_noise

PIECE = 0.20
"""Side of the piece that is learnt from, in shoulder widths."""

THREAD = 0.03
"""Size up to which a weave is carried on, in shoulder widths (standard deviation): the rest is shade."""

UNEVEN, FAR = 98.0, 0.5
"""Percentage of a piece whose details are smaller than what it is judged by, the least being the plainest; and how much
that counts for more, at the distance of the height of the cloth from its upper edge."""

MOST = 0.10
"""Largest difference of a weave from the colour of the cloth; what is more are buttons and seams."""

LEAST_SIDE = 8
"""Side of the smallest piece that shows a weave, pixels."""


def weave(photo: NDArray[np.float32], cloth: BoolMask, shape: tuple[int, int], unit: float) -> NDArray[np.float32]:
    """Weave for an area of any size.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        cloth: ``(height, width)``, where the cloth is seen.
        shape: Height and width of the area, pixels.
        unit: Shoulder width in pixels.

    Returns:
        ``(*shape, 3)`` float32, what it adds to the cloth's colour; 0 where no piece is large enough to show it.
    """
    side = round(PIECE * unit)
    window = window_of(cloth)
    found = np.zeros((*shape, 3), np.float32)
    if side < LEAST_SIDE or min(cloth[window].shape) < side:
        return found
    around = np.ascontiguousarray(photo[window])
    fine = around - cv2.GaussianBlur(around, (0, 0), THREAD * unit)
    place = _plainest(fine, cloth[window], side)
    if place is None:
        return found
    top, left = place
    piece = np.clip(fine[top : top + side, left : left + side], -MOST, MOST)
    piece -= piece.mean(axis=(0, 1))
    height, width = max(shape[0], side), max(shape[1], side)
    canvas = np.zeros((height, width, 3), np.float32)
    canvas[:side, :side] = piece
    phase = np.fft.rfft2(white_noise((height, width), 0))
    phase /= np.maximum(np.abs(phase), 1e-9)
    spectrum = np.fft.rfft2(canvas, axes=(0, 1)) * phase[..., None]
    spread = np.sqrt(height * width) / side
    drawn = np.fft.irfft2(spectrum, s=(height, width), axes=(0, 1)) * spread
    return np.asarray(drawn[: shape[0], : shape[1]], np.float32)


def _plainest(fine: NDArray[np.float32], cloth: BoolMask, side: int) -> tuple[int, int] | None:
    """Row and column where the piece with the fewest seams begins; None where no piece is cloth alone."""
    within = cv2.erode(cloth.astype(np.uint8), np.ones((side, side), np.uint8), anchor=(0, 0), borderValue=0)
    step = max(side // 2, 1)
    rows, columns = np.nonzero(within[::step, ::step])
    if not len(rows):
        return None
    size = largest_channel(np.abs(fine))
    starts = np.stack([rows, columns], axis=1) * step
    uneven = np.array([np.percentile(size[y : y + side : 2, x : x + side : 2], UNEVEN) for y, x in starts])
    best = starts[int(np.argmin(uneven * (1.0 + FAR * starts[:, 0] / len(cloth))))]
    return int(best[0]), int(best[1])
