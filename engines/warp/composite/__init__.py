"""Plate and drape become one picture: light, sharpness, and what stays in front."""
