"""Skin that comes to light: where it is, its form, its tone, its light and its texture."""
