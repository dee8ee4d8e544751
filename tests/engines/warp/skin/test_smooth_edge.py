"""The outline of a bare leg is one smooth line."""

import numpy as np

from engines.warp.body.bare_parts import BarePart

UNIT = 200.0


def leg(slope: float) -> BarePart:
    """A strip of a leg that runs aside by so much for each row."""
    rows, columns = np.indices((300, 400), np.float32)
    aside = np.abs(columns - 40.0 - slope * rows) if slope <= 1.0 else np.abs(rows - 40.0 - columns / slope)
    on = (aside < 30.0) & (rows > 20) & (rows < 280) & (columns < 380)
    nothing = np.zeros(on.shape, np.float32)
    return BarePart(on, nothing, nothing, bend=0.5)


def roughness(cover: np.ndarray) -> float:
    """How far the right edge is off a straight line, pixels."""
    rows = np.arange(80, 220)
    # Column 50 lies within the leg in all of these rows.
    edge = cover[80:220, 50:].sum(axis=1)
    return float((edge - np.polyval(np.polyfit(rows, edge, 1), rows)).std())
