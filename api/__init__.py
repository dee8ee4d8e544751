"""The HTTP side: a folder or a module per area, and what all of them share beside them."""
