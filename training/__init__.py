"""Training of the embedded engine's networks. See README.md here."""
