"""FASHN VTON v1.5: one garment at a time, drawn in pixels 576 by 864 of them, with a pose map instead of a mask."""
