"""The photo without the old garment: what was behind it, the skin beside it, the other garment under it."""
