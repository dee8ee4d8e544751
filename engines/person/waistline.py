"""The row on the spine where a top ends and a bottom begins, by their colours.

It is the row that tells most about colour: above and below it the colours are as unlike as can be. Nothing has to be
known of either garment, so that tops of several colours, which no single place of the chest shows, are divided where
they end. (The gain is the Jensen-Shannon divergence of both sides: Lin, "Divergence measures based on the Shannon
entropy", IEEE Transactions on Information Theory 37, 1991.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.person.body import Body
from engines.person.colour_models import Region
from engines.person.networks import Floats

DEFAULT_WAIST = 0.92
"""Where tops end when nothing can be seen, on the scale shoulders 0, hips 1."""

BELOW_PHOTO = 9.0
"""The same where the photo ends before the top does."""

_LEAST_THIGH = 0.5
"""How far down from the hips, at 0, to the knees, at 1, a photo must reach to show a bottom in the top's colours."""

_HIGHEST, _LOWEST, _ROWS = 0.35, 1.75, 56
"""Between which heights on that scale it is looked for, and in how many rows."""

_BESIDE = 0.35
"""How far from the spine, in shoulder widths, colours have a say: hands and sleeves hang further out."""

_BINS, _LIGHTNESS_BIN, _CHROMA_BIN = 8, 12.5, 15.0
"""Colours are counted in so many steps of L, a and b, of those sizes in CIELAB units."""

_AS_GOOD = 0.95
"""Share of the largest gain that the row of a waistband or belt, which belongs to the bottom, has above it."""

_BELT, _PLAIN = 2, 0.4
"""How many rows such a belt is high, at most, and the gain from which top and bottom are so unlike that it is seen."""

_HIPS = 1.0
"""Height above which a photo that ends shows no bottom, unless its colours change plainly."""

_LEAST_PIXELS = 100
_LEAST_GAIN = 0.05
"""In nats per row; folds and shade alone make some four hundredths."""

_SHORT, _USUAL, _LONG, _ODD_SAY = 0.6, (0.8, 1.2), 1.5, 0.75
"""Tops that end above the first height are rare, and prints on the chest are not; coats that end at the last are, and
hems of skirts are not. The gain counts that much less there, growing to all of it between the usual heights."""

_CHEST, _SKIN_COLOURED = 0.6, 0.5
"""Down to which height a top covers nearly everybody, and the share of skin's colours there above which it is the top
that has them."""

_SEAM, _ENDS, _BLOCKS = 0.55, (0.85, 1.3), 0.07
"""A row above the first height is the seam of a top in two colours, and not its end, where between the second and the
third heights there is another one with that gain."""

_LEAST_BARE = 0.3
"""Share of skin in what lies just below a cropped top."""

_JUST_BELOW = 6
"""In rows."""


def ends_early(body: Body) -> bool:
    """Whether the photo ends where one colour down to its edge is rather a top than a top and a bottom."""
    return float(body.shape[0] - body.hips[1]) < _LEAST_THIGH * float(body.knees[1] - body.hips[1])


def waist_row(body: Body, lab: Floats, inside: Region, like_skin: Region) -> float | None:
    """Where the colours change from top to bottom.

    Args:
        body: The person's frame of reference.
        lab: ``(height, width, 3)`` CIELAB.
        inside: ``(height, width)`` bool, the person.
        like_skin: ``(height, width)`` bool, what may be skin by its colour and has no say, unless the chest is that.

    Returns:
        Shoulders 0, hips 1; nothing where they never change, or too little is seen.
    """
    column = inside & (body.aside < _BESIDE) & (body.height > _HIGHEST) & (body.height < _LOWEST)
    chest = column & (body.height < _CHEST)
    skin_coloured = chest.any() and like_skin[chest].mean() > _SKIN_COLOURED
    cloth = column if skin_coloured else column & ~like_skin
    if cloth.sum() < _LEAST_PIXELS:
        return None
    shares = _shares(_row_of(body, cloth), lab[cloth])
    gains = _gains(shares) * np.interp(_heights(), (_SHORT, *_USUAL, _LONG), (_ODD_SAY, 1.0, 1.0, _ODD_SAY))
    best = _above_belt(gains, int(gains.argmax()))
    last = _heights()[np.flatnonzero(shares.any(axis=1))[-1]]
    if gains[best] < (_LEAST_GAIN if last > _HIPS else _PLAIN):
        return None
    if _heights()[best] < _SEAM and not _bare_below(best, body, column, like_skin):
        second = np.concatenate([np.zeros(best), _gains(shares[best:])])
        end = int(second.argmax())
        best = end if second[end] > _BLOCKS and _ENDS[0] <= _heights()[end] <= _ENDS[1] else best
    return float(_heights()[best])


def _above_belt(gains: NDArray[np.float64], best: int) -> int:
    """The uppermost row near the best one that is as good: below it lies what is like neither top nor bottom."""
    if gains[best] < _PLAIN:
        return best
    rows = np.arange(max(best - _BELT, 0), best + 1)
    return int(rows[gains[rows] >= _AS_GOOD * gains[best]][0])


def _heights() -> NDArray[np.float64]:
    """``(rows,)`` upper ends of the rows."""
    return _HIGHEST + np.arange(_ROWS) * (_LOWEST - _HIGHEST) / _ROWS


def _row_of(body: Body, where: Region) -> NDArray[np.intp]:
    rows = ((body.height[where] - _HIGHEST) * (_ROWS / (_LOWEST - _HIGHEST))).astype(np.intp)
    return np.minimum(rows, _ROWS - 1)  # single precision may round the last row up


def _shares(rows: NDArray[np.intp], lab: Floats) -> NDArray[np.float64]:
    """``(rows, colours)``: share of each colour in each row; zeros where a row shows no cloth."""
    steps = (lab / (_LIGHTNESS_BIN, _CHROMA_BIN, _CHROMA_BIN) + (0.0, _BINS / 2, _BINS / 2)).astype(np.intp)
    steps = np.clip(steps, 0, _BINS - 1)
    colour = (steps[:, 0] * _BINS + steps[:, 1]) * _BINS + steps[:, 2]
    counts = np.bincount(rows * _BINS**3 + colour, minlength=_ROWS * _BINS**3).reshape(_ROWS, -1)
    return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))


def _gains(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """``(rows,)``: by how many nats per row colours are better known when divided above each row."""
    before = np.cumsum(shares, axis=0)
    above = np.concatenate([np.zeros_like(before[:1]), before[:-1]])
    known = _known(above) + _known(before[-1] - above) - _known(before[-1:])
    return np.asarray(known / max(float(before[-1].sum()), 1.0))


def _known(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """``(n,)`` log-likelihood of ``(n, colours)`` counts under their own shares."""
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-12)
    return np.asarray((counts * np.log(np.maximum(share, 1e-12))).sum(axis=1))


def _bare_below(row: int, body: Body, column: Region, like_skin: Region) -> bool:
    """Whether a midriff shows just below a row."""
    rows = _row_of(body, column)
    below = (rows >= row) & (rows < row + _JUST_BELOW)
    return bool(like_skin[column][below].mean() > _LEAST_BARE) if below.any() else False
