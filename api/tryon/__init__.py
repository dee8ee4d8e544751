"""Single and combo try-ons, and polling for their results."""
