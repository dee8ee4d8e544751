"""The garment's network."""
