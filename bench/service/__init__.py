"""How fast the service answers: ``python -m bench.service``."""
