"""What happens in which order. Deterministic and light: no I/O, no pixels, no database."""
