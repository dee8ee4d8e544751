"""The widget for pages of shops."""
