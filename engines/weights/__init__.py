"""Weights on disk: what a file must hold, that it does, and how it gets there."""
