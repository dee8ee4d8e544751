"""Skin that a new garment bares: where it is, its form, tone, light and texture."""
