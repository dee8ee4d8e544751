"""Backfills: many jobs of one account, a window of them at a time."""
