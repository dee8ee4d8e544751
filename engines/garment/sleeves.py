"""See `engines.garment.upper_landmarks`."""

from engines.garment.upper_landmarks import POINTS as POINTS
from engines.garment.upper_landmarks import Sleeve as Sleeve
