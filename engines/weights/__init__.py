"""Weights on disk: what a file must hold, checking it, and fetching it."""
