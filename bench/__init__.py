"""Measurements: ``make bench`` prints a table and writes JSON beside it. Nothing here asserts anything."""
