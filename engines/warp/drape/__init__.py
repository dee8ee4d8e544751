"""Laying cloth on the body: one module for each part of the body, and what they are strung from."""
