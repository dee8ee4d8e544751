"""The account's catalogue of registered garments."""
