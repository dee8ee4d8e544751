"""Lays cloth on the body: one module for each part of the body, and the geometry that they share."""
