"""The ``tryon`` command."""
