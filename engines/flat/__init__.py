"""An engine for tests of everything around engines."""
