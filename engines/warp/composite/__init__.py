"""Combines plate and drape into one picture: light, sharpness, and the things that stay in front."""
