"""Backups of the embedded stack: one file with the database, the secrets, the pictures worth keeping and a manifest."""
