"""The HTTP side: one folder per area, and what all of them share beside them."""
